//! The ranking written down once more, over documents that are kept as lists of words.

use std::collections::{HashMap, HashSet};

use shelfward_core::Match;
use shelfward_lexical::{Bm25, Hit, SearchOptions};

/// Documents in the order in which they count as added.
#[derive(Default)]
pub(crate) struct Plain {
    documents: Vec<(String, Vec<String>)>,
    /// The words that some document holds, in the order in which they were met, and how many hold
    /// each.
    met: Vec<String>,
    holders: HashMap<String, usize>,
}

/// How far sums may lie apart, as a share of their parts.
const TOLERANCE: f64 = 1e-12;

/// A document that matches.
struct Matching {
    score: f64,
    /// The sum of the parts without their signs.
    size: f64,
    /// At which word it was met, and its place among the documents.
    met: (usize, usize),
    /// For every word of the query what its part was counted from. Documents of which this is equal
    /// have equal scores however they are rounded.
    from: Vec<Option<(usize, usize, usize)>>,
}

impl Plain {
    pub(crate) fn remove(&mut self, id: &str) -> bool {
        let Some(at) = self.documents.iter().position(|(there, _)| there == id) else {
            return false;
        };
        let (_, mut words) = self.documents.remove(at);
        words.sort();
        words.dedup();
        for word in words {
            if let Some(holders) = self.holders.get_mut(&word) {
                *holders -= 1;
                if *holders == 0 {
                    self.holders.remove(&word);
                    self.met.retain(|met| *met != word);
                }
            }
        }
        true
    }

    pub(crate) fn add(&mut self, id: &str, words: Vec<String>) {
        self.remove(id);
        let mut seen = HashSet::new();
        for word in words.iter().filter(|word| seen.insert(*word)) {
            let holders = self.holders.entry(word.clone()).or_insert(0);
            *holders += 1;
            if *holders == 1 {
                self.met.push(word.clone());
            }
        }
        self.documents.push((id.to_owned(), words));
    }

    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.met
    }

    pub(crate) fn average_length(&self) -> f64 {
        let total: usize = self.documents.iter().map(|(_, words)| words.len()).sum();
        if self.documents.is_empty() {
            0.0
        } else {
            number(total) / number(self.documents.len())
        }
    }

    /// The documents that match, by id; nothing where a part divides by next to nothing, so that its
    /// rounding decides.
    fn matches(
        &self,
        bm25: Bm25,
        query: &[&str],
        options: &SearchOptions,
    ) -> Option<HashMap<&str, Matching>> {
        let mut distinct: Vec<&str> = Vec::new();
        for word in query {
            if !distinct.contains(word) {
                distinct.push(word);
            }
        }
        let average = match self.average_length() {
            0.0 => 1.0,
            average => average,
        };
        let stands_for = |asked: &str| -> Vec<(usize, &str)> {
            let prefix = options.prefix && asked.chars().count() > 1;
            let fits = |word: &str| word == asked || prefix && word.starts_with(asked);
            let met = self.met.iter().map(String::as_str).enumerate();
            met.filter(|(_, word)| fits(word)).collect()
        };
        let words: Vec<_> = distinct.iter().map(|word| stands_for(word)).collect();
        let mut found = HashMap::new();
        for (place, (id, text)) in self.documents.iter().enumerate() {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for word in text {
                *counts.entry(word).or_insert(0) += 1;
            }
            let mut best = vec![None; distinct.len()];
            let mut met = None;
            for ((leaf, words), best) in words.iter().enumerate().zip(&mut best) {
                for (at, word) in words {
                    let Some(count) = counts.get(word) else {
                        continue;
                    };
                    met = met.or(Some((leaf * (self.met.len() + 1) + at, place)));
                    let holders = self.holders[*word];
                    let idf = ((number(self.len()) - number(holders) + 0.5)
                        / (number(holders) + 0.5)
                        + 1.0)
                        .ln();
                    let length = 1.0 - bm25.b() + bm25.b() * number(text.len()) / average;
                    let below = number(*count) + bm25.k1() * length;
                    if below.abs() < 1e-3 {
                        return None;
                    }
                    let part = idf * number(*count) * (bm25.k1() + 1.0) / below;
                    if best.is_none_or(|(there, _)| part > there) {
                        *best = Some((part, (*count, text.len(), holders)));
                    }
                }
            }
            let enough = match options.matching {
                Match::Any => best.iter().any(Option::is_some),
                Match::All => best.iter().all(Option::is_some),
            };
            let Some(met) = met.filter(|_| enough) else {
                continue;
            };
            let parts = query.iter().filter_map(|word| {
                let leaf = distinct.iter().position(|other| other == word)?;
                Some(best[leaf]?.0)
            });
            let parts: Vec<f64> = parts.collect();
            let new = Matching {
                score: parts.iter().sum(),
                size: parts.iter().map(|part| part.abs()).sum(),
                met,
                from: best.iter().map(|best| Some(best.as_ref()?.1)).collect(),
            };
            found.insert(id.as_str(), new);
        }
        Some(found)
    }

    /// Checks an answer. Its scores must be those of the formula; its order that of the scores, and
    /// of equal ones that in which the documents are met; and what is not in it must come later.
    pub(crate) fn check(
        &self,
        hits: &[Hit<'_>],
        bm25: Bm25,
        (query, top_k): (&[&str], usize),
        options: &SearchOptions,
    ) -> Result<(), String> {
        let Some(mut matches) = self.matches(bm25, query, options) else {
            return Ok(());
        };
        if hits.len() != matches.len().min(top_k) {
            return Err(format!("{} hits of {}", hits.len(), matches.len()));
        }
        let mut before: Option<Matching> = None;
        for hit in hits {
            let Some(plain) = matches.remove(hit.id) else {
                return Err(format!("{} does not match, or is there twice", hit.id));
            };
            if (plain.score - hit.score).abs() > TOLERANCE * plain.size {
                return Err(format!("{}: {} for {}", hit.id, hit.score, plain.score));
            }
            if before.is_some_and(|before| !before.may_precede(&plain)) {
                return Err(format!("{} is too late", hit.id));
            }
            before = Some(plain);
        }
        let late = |id: &&&str| {
            before
                .as_ref()
                .is_some_and(|b| !b.may_precede(&matches[**id]))
        };
        match matches.keys().find(late) {
            Some(id) => Err(format!("{id} is missing")),
            None => Ok(()),
        }
    }
}

impl Matching {
    fn may_precede(&self, other: &Self) -> bool {
        if self.from == other.from {
            return self.met < other.met;
        }
        self.score >= other.score - TOLERANCE * self.size.max(other.size)
    }
}

fn number(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
