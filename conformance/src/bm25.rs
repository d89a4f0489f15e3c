//! BM25 by its formula, in 64 bits: the suite's own judge of lexical scores.

use std::collections::{BTreeMap, BTreeSet};

use shelfward_core::{Match, WordRule};

/// What scores are computed over: every record of one partition, whatever a search filters.
pub(crate) struct Partition<'a> {
    pub(crate) rule: WordRule,
    /// Each record's id, and its text if it has one.
    pub(crate) records: &'a [(&'a str, Option<&'a str>)],
}

/// What is asked of them.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) query: &'a str,
    pub(crate) matching: Match,
    pub(crate) prefix: bool,
}

impl Partition<'_> {
    /// The score of each record that matches.
    pub(crate) fn scores(&self, asked: Asked<'_>) -> BTreeMap<String, f64> {
        let texts: Vec<(&str, Vec<String>)> = self
            .records
            .iter()
            .filter_map(|(id, text)| Some((*id, self.rule.words(text.as_ref()?))))
            .collect();
        let total: usize = texts.iter().map(|(_, words)| words.len()).sum();
        let average = float(total) / float(texts.len());
        let stored: BTreeSet<&String> = texts.iter().flat_map(|(_, words)| words).collect();
        let idf = |word: &str| {
            let holders = texts
                .iter()
                .filter(|(_, words)| words.iter().any(|w| w == word));
            let n = float(holders.count());
            (1.0 + (float(texts.len()) - n + 0.5) / (n + 0.5)).ln()
        };
        let term = |word: &str, held: &[String]| {
            let times = float(held.iter().filter(|w| *w == word).count());
            let norm = 1.0 - 0.75 + 0.75 * float(held.len()) / average;
            idf(word) * times * (1.2 + 1.0) / (times + 1.2 * norm)
        };
        // What one word of the query adds: with a prefix the best of the stored words that begin so.
        let best = |word: &str, held: &[String]| -> Option<f64> {
            let prefix = asked.prefix && word.chars().count() > 1;
            let finds = |stored: &str| stored == word || (prefix && stored.starts_with(word));
            let found = stored.iter().filter(|s| finds(s) && held.contains(s));
            found.map(|s| term(s, held)).reduce(f64::max)
        };
        let words = self.rule.words(asked.query);
        let mut scores = BTreeMap::new();
        for (id, held) in &texts {
            let found: Vec<Option<f64>> = words.iter().map(|word| best(word, held)).collect();
            let matches = match asked.matching {
                Match::Any => found.iter().any(Option::is_some),
                Match::All => !found.is_empty() && found.iter().all(Option::is_some),
            };
            if matches {
                scores.insert((*id).to_owned(), found.into_iter().flatten().sum());
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

    fn score(texts: &[&str], query: &str) -> f64 {
        let records: Vec<_> = texts.iter().map(|text| ("a", Some(*text))).collect();
        let partition = Partition {
            rule: WordRule::Unicode,
            records: &records[..],
        };
        let asked = Asked {
            query,
            matching: Match::Any,
            prefix: false,
        };
        partition.scores(asked)["a"]
    }

    #[test]
    fn the_judge_itself_agrees_with_values_worked_out_by_hand() {
        // ln((N - n + 0.5) / (n + 0.5) + 1), with the length at the average.
        for (texts, expected) in [
            (&["pink", "pink", "pink"][..], 0.1335),
            (&["rain", "rain"], 0.1823),
            (&["rain"], 0.2877),
        ] {
            assert!((score(texts, texts[0]) - expected).abs() < 5e-5);
        }
    }
}
