//! BM25 by its formula, in 64 bits: the suite's own judge of lexical scores.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use shelfward_core::{Match, WordRule};

/// What is asked for by words.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) matching: Match,
    pub(crate) prefix: bool,
}

impl<'a> Query<'a> {
    /// For texts that hold any of the words.
    pub(crate) const fn any(text: &'a str) -> Self {
        Self::new(text, Match::Any)
    }

    /// For texts that hold all of them.
    pub(crate) const fn all(text: &'a str) -> Self {
        Self::new(text, Match::All)
    }

    pub(crate) const fn new(text: &'a str, matching: Match) -> Self {
        Self {
            text,
            matching,
            prefix: false,
        }
    }

    /// Whose words may be the beginnings of others.
    pub(crate) const fn by_prefix(self, prefix: bool) -> Self {
        Self { prefix, ..self }
    }
}

impl fmt::Display for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, matching) = (self.text, self.matching);
        let prefix = if self.prefix { " by prefix" } else { "" };
        write!(f, "{text:?} ({matching:?}{prefix})")
    }
}

impl<'a> From<&'a str> for Query<'a> {
    fn from(text: &'a str) -> Self {
        Self::any(text)
    }
}

/// What scores are computed over: every record of one partition, whatever a search filters.
pub(crate) struct Partition<'a> {
    pub(crate) rule: WordRule,
    /// Each record's id, and its text if it has one.
    pub(crate) records: &'a [(&'a str, Option<&'a str>)],
}

/// The score of a record, and what it is made of.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub(crate) value: f64,
    documents: usize,
    average: f64,
    length: usize,
    terms: Vec<Term>,
}

/// What one word of a query adds.
#[derive(Clone, Debug)]
struct Term {
    word: String,
    holders: usize,
    times: usize,
    adds: f64,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (documents, average, length) = (self.documents, self.average, self.length);
        write!(f, "N {documents}, avgdl {average:.4}, its length {length}")?;
        self.terms.iter().try_for_each(|term| {
            let (word, holders, times, adds) = (&term.word, term.holders, term.times, term.adds);
            write!(f, "; {word:?}: df {holders}, tf {times}, adds {adds:.6}")
        })
    }
}

impl Partition<'_> {
    /// The score of each record that matches.
    pub(crate) fn scores(&self, query: Query<'_>) -> BTreeMap<String, Score> {
        let texts: Vec<(&str, Vec<String>)> = self
            .records
            .iter()
            .filter_map(|(id, text)| Some((*id, self.rule.words(text.as_ref()?))))
            .collect();
        let documents = texts.len();
        let total: usize = texts.iter().map(|(_, words)| words.len()).sum();
        let average = float(total) / float(documents);
        let stored: BTreeSet<&String> = texts.iter().flat_map(|(_, words)| words).collect();
        let term = |word: &str, held: &[String]| {
            let holds = |words: &Vec<String>| words.iter().any(|w| w == word);
            let holders = texts.iter().filter(|(_, words)| holds(words)).count();
            let times = held.iter().filter(|w| *w == word).count();
            let (n, tf) = (float(holders), float(times));
            let idf = (1.0 + (float(documents) - n + 0.5) / (n + 0.5)).ln();
            let norm = 1.0 - 0.75 + 0.75 * float(held.len()) / average;
            Term {
                word: word.to_owned(),
                holders,
                times,
                adds: idf * tf * (1.2 + 1.0) / (tf + 1.2 * norm),
            }
        };
        // What one word of the query adds: with a prefix the best of the stored words that begin so.
        let best = |word: &str, held: &[String]| -> Option<Term> {
            let prefix = query.prefix && word.chars().count() > 1;
            let finds = |stored: &str| stored == word || (prefix && stored.starts_with(word));
            let found = stored.iter().filter(|s| finds(s) && held.contains(s));
            found
                .map(|s| term(s, held))
                .max_by(|a, b| a.adds.total_cmp(&b.adds))
        };
        let words = self.rule.query_words(query.text);
        let mut scores = BTreeMap::new();
        for (id, held) in &texts {
            let found: Vec<Option<Term>> = words.iter().map(|word| best(word, held)).collect();
            let matches = match query.matching {
                Match::Any => found.iter().any(Option::is_some),
                Match::All => !found.is_empty() && found.iter().all(Option::is_some),
            };
            if matches {
                let terms: Vec<Term> = found.into_iter().flatten().collect();
                let score = Score {
                    value: terms.iter().map(|term| term.adds).sum(),
                    documents,
                    average,
                    length: held.len(),
                    terms,
                };
                scores.insert((*id).to_owned(), score);
            }
        }
        scores
    }
}

fn float(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(texts: &[&str], query: &str) -> Score {
        let records: Vec<_> = texts.iter().map(|text| ("a", Some(*text))).collect();
        let partition = Partition {
            rule: WordRule::Unicode,
            records: &records,
        };
        partition.scores(Query::any(query))["a"].clone()
    }

    #[test]
    fn the_judge_itself_agrees_with_values_worked_out_by_hand() {
        // ln((N - n + 0.5) / (n + 0.5) + 1), with the length at the average.
        for (texts, expected) in [
            (&["pink", "pink", "pink"][..], 0.1335),
            (&["rain", "rain"], 0.1823),
            (&["rain"], 0.2877),
        ] {
            assert!((score(texts, texts[0]).value - expected).abs() < 5e-5);
        }
    }

    #[test]
    fn a_score_shows_what_it_is_made_of() {
        let shown = score(&["snow", "rain and rain"], "rain nowhere").to_string();
        let expected = "N 2, avgdl 2.0000, its length 3; \"rain\": df 1, tf 2, adds 0.835575";
        assert_eq!(shown, expected);
    }
}
