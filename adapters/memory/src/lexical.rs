//! BM25 by scanning one partition. Plain on purpose: what faster indexes are compared with.

use std::collections::HashMap;

use shelfward_core::filter::Matcher;
use shelfward_core::{Filter, MAX_PREFIX_EXPANSIONS, Match, QueryWord, Record, Text};

use crate::dense::top;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The `k` best records for the words among those that the filter matches.
///
/// `partition` is every record of the partition that the filter pins: the statistics are over those
/// of them that have a text, whatever the filter. So a score says nothing of another partition, and
/// does not change with who asks.
pub(crate) fn best<'a>(
    partition: impl Iterator<Item = &'a Record>,
    words: &[QueryWord],
    matching: Match,
    filter: &Filter,
    k: usize,
) -> Result<Vec<(f64, &'a Record)>, TooManyExpansions> {
    let words = &counted(words)[..];
    let documents: Vec<Document<'a>> = partition
        .filter(|record| record.text.is_some())
        .map(|record| Document::new(record, words))
        .collect();
    let statistics = Statistics::over(&documents);
    statistics.check_expansions(words)?;
    let matcher = Matcher::new(filter);
    let scored = documents.iter().filter_map(|document| {
        let score = statistics.score(document, words, matching)?;
        matcher
            .matches(&document.record.metadata)
            .then_some((score, document.record))
    });
    Ok(top(scored, k))
}

/// A word of the query, and how often the query says it: each time adds its score.
struct Asked<'q> {
    word: &'q QueryWord,
    times: f64,
}

/// The distinct words of a query, in its order.
fn counted(words: &[QueryWord]) -> Vec<Asked<'_>> {
    let mut places: HashMap<&QueryWord, usize> = HashMap::new();
    let mut asked: Vec<Asked<'_>> = Vec::new();
    for word in words {
        let at = *places.entry(word).or_insert(asked.len());
        match asked.get_mut(at) {
            Some(again) => again.times += 1.0,
            None => asked.push(Asked { word, times: 1.0 }),
        }
    }
    asked
}

/// A prefix of the query begins more stored words than a store may stand it for.
pub(crate) struct TooManyExpansions {
    pub(crate) given: usize,
}

/// A record, with how often it holds each stored word that some query word finds.
struct Document<'a> {
    record: &'a Record,
    counts: HashMap<&'a Text, u32>,
}

impl<'a> Document<'a> {
    fn new(record: &'a Record, words: &[Asked<'_>]) -> Self {
        let mut counts = HashMap::new();
        for stored in record
            .words
            .iter()
            .filter(|stored| words.iter().any(|asked| finds(asked.word, stored)))
        {
            *counts.entry(stored).or_insert(0) += 1;
        }
        Self { record, counts }
    }

    fn length(&self) -> f64 {
        as_f64(self.record.words.len())
    }
}

fn finds(word: &QueryWord, stored: &Text) -> bool {
    if word.prefix {
        stored.as_str().starts_with(word.text.as_str())
    } else {
        *stored == word.text
    }
}

struct Statistics<'a> {
    documents: f64,
    average_length: f64,
    holders: HashMap<&'a Text, u32>,
}

impl<'a> Statistics<'a> {
    fn over(documents: &[Document<'a>]) -> Self {
        let mut holders = HashMap::new();
        for stored in documents.iter().flat_map(|document| document.counts.keys()) {
            *holders.entry(*stored).or_insert(0) += 1;
        }
        let count = as_f64(documents.len());
        let total: f64 = documents.iter().map(Document::length).sum();
        // Where no record has a word the average is read as 1; no score depends on it then.
        let average_length = if total > 0.0 { total / count } else { 1.0 };
        Self {
            documents: count,
            average_length,
            holders,
        }
    }

    fn check_expansions(&self, words: &[Asked<'_>]) -> Result<(), TooManyExpansions> {
        for Asked { word, .. } in words.iter().filter(|asked| asked.word.prefix) {
            let given = self
                .holders
                .keys()
                .filter(|stored| finds(word, stored))
                .count();
            if given > MAX_PREFIX_EXPANSIONS {
                return Err(TooManyExpansions { given });
            }
        }
        Ok(())
    }

    /// The sum over the query's words, each repeated one again; `None` where the record does not
    /// match. A word that several stored words satisfy counts by the best of them.
    fn score(&self, document: &Document<'a>, words: &[Asked<'_>], matching: Match) -> Option<f64> {
        let best_of = |asked: &Asked<'_>| {
            let found = document
                .counts
                .iter()
                .filter(|(stored, _)| finds(asked.word, stored));
            let scores =
                found.map(|(stored, count)| self.term(document, stored, *count) * asked.times);
            scores.fold(None, |best: Option<f64>, score| {
                Some(best.map_or(score, |b| b.max(score)))
            })
        };
        let scores: Vec<Option<f64>> = words.iter().map(best_of).collect();
        let matches = match matching {
            Match::Any => scores.iter().any(Option::is_some),
            Match::All => scores.iter().all(Option::is_some),
        };
        matches.then(|| scores.into_iter().flatten().sum())
    }

    fn term(&self, document: &Document<'a>, stored: &Text, count: u32) -> f64 {
        let holders = f64::from(self.holders.get(stored).copied().unwrap_or_default());
        let idf = ((self.documents - holders + 0.5) / (holders + 0.5) + 1.0).ln();
        let count = f64::from(count);
        let length = document.length() / self.average_length;
        idf * (count * (K1 + 1.0)) / (count + K1 * (1.0 - B + B * length))
    }
}

fn as_f64(n: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "memory holds far fewer than 2^53 of anything"
    )]
    let float = n as f64;
    float
}
