//! Searching an index.

use std::collections::HashMap;
use std::sync::Arc;

use shelfward_core::Match;
use shelfward_text::{Highlight, Span};

use super::dictionary::Kind;
use super::document::{FieldText, Kept};
use super::hit::{FieldHit, FuzzyHit, FuzzyRanked, MarkedField};
use super::index::FuzzyIndex;
use super::marks::marks;
use super::passages::add_passages;
use super::rank::{List, Ranked, Wanted, rank};
use super::words::fold;

/// How many hits are asked for, and which of the query's words a document must match.
///
/// ```
/// use shelfward_lexical::fuzzy::FuzzySearch;
///
/// let every_hit = FuzzySearch::default().every_hit().any_word();
/// # assert_eq!(every_hit, FuzzySearch::default().top_k(usize::MAX).any_word());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuzzySearch {
    top_k: usize,
    matching: Match,
}

/// The 10 best documents in which every word matches.
impl Default for FuzzySearch {
    fn default() -> Self {
        Self {
            top_k: 10,
            matching: Match::All,
        }
    }
}

impl FuzzySearch {
    /// At most so many hits. 0 asks for none.
    #[must_use]
    pub fn top_k(mut self, most: usize) -> Self {
        self.top_k = most;
        self
    }

    /// Every document that matches.
    #[must_use]
    pub fn every_hit(self) -> Self {
        self.top_k(usize::MAX)
    }

    /// Documents in which every query word matches, or at least one.
    #[must_use]
    pub fn matching(mut self, matching: Match) -> Self {
        self.matching = matching;
        self
    }

    /// Documents in which at least one query word matches.
    #[must_use]
    pub fn any_word(self) -> Self {
        self.matching(Match::Any)
    }
}

/// A query word, with the stored words that it matches.
struct QueryWord {
    /// How often the query has it.
    times: f64,
    matches: Vec<(u32, Kind)>,
}

impl FuzzyIndex {
    /// The documents that match a query, highest score first, a tie in the order in which they were
    /// added. A query without words finds nothing.
    ///
    /// The words of the query are looked up first; texts are read for the answered hits alone.
    #[must_use]
    pub fn search(&self, query: &str, search: &FuzzySearch) -> Vec<FuzzyHit> {
        if search.top_k == 0 {
            return Vec::new();
        }
        let words = self.look_up(query);
        let ranked = self.ranked(&words, search);
        let matches = words.iter().flat_map(|word| &word.matches);
        let mut matched: Vec<u32> = matches.map(|(id, _)| *id).collect();
        matched.sort_unstable();
        matched.dedup();
        ranked
            .into_iter()
            .filter_map(|found| Some(self.hit(found, self.kept(found.slot)?, &matched)))
            .collect()
    }

    /// As [`search`](Self::search), with ids and scores alone. No text is read.
    #[must_use]
    pub fn rank(&self, query: &str, search: &FuzzySearch) -> Vec<FuzzyRanked> {
        if search.top_k == 0 {
            return Vec::new();
        }
        let words = self.look_up(query);
        let ranked = self.ranked(&words, search).into_iter();
        let named = ranked.filter_map(|found| {
            Some(FuzzyRanked {
                id: Arc::clone(&self.kept(found.slot)?.id),
                score: found.score,
            })
        });
        named.collect()
    }

    /// The distinct words of a query, in the order of their first place.
    fn look_up(&self, query: &str) -> Vec<QueryWord> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut words: Vec<QueryWord> = Vec::new();
        let mut folded = String::new();
        self.tokenizer.each_word(query, &mut |word, _| {
            fold(word, &mut folded);
            if folded.is_empty() {
                return;
            }
            if let Some(word) = places.get(&folded).and_then(|at| words.get_mut(*at)) {
                word.times += 1.0;
                return;
            }
            places.insert(folded.clone(), words.len());
            words.push(QueryWord {
                times: 1.0,
                matches: self.dictionary.matches(&folded),
            });
        });
        words
    }

    fn ranked(&self, words: &[QueryWord], search: &FuzzySearch) -> Vec<Ranked> {
        let wanted = words.iter().map(|word| {
            let lists = word.matches.iter().filter_map(|(id, kind)| {
                let rest = self.postings.get(*id as usize)?;
                Some(List { rest, kind: *kind })
            });
            Wanted {
                times: word.times,
                lists: lists.collect(),
            }
        });
        rank(
            wanted.collect(),
            search.matching,
            search.top_k,
            self.slot_count(),
            &self.levels,
            |slot| self.kept(slot).is_some(),
        )
    }

    fn hit(&self, found: Ranked, kept: &Kept, matched: &[u32]) -> FuzzyHit {
        let settings = &self.settings.given;
        let mut passages = Vec::new();
        let mut fields = Vec::with_capacity(kept.fields.len());
        for (field, text) in &kept.fields {
            let from_here = self.settings.passage_fields.binary_search(field).is_ok();
            let mut marked = |text: &Arc<str>| {
                let marks = self.marks(text, matched);
                if from_here {
                    let (most, width) = (settings.passages, settings.passage_width);
                    add_passages(text, &marks, most, width, &mut passages);
                }
                Highlight::whole(Arc::clone(text), marks)
            };
            let value = match text {
                FieldText::Text(text) => MarkedField::Text(marked(text)),
                FieldText::List(texts) => MarkedField::List(texts.iter().map(marked).collect()),
            };
            let name = self.settings.name(*field).cloned();
            fields.push(FieldHit {
                name: name.unwrap_or_default(),
                value,
            });
        }
        FuzzyHit {
            id: Arc::clone(&kept.id),
            score: found.score,
            fields,
            passages,
        }
    }

    fn marks(&self, text: &str, matched: &[u32]) -> Vec<Span> {
        marks(text, &*self.tokenizer, |word| {
            let id = self.dictionary.id(word);
            id.is_some_and(|id| matched.binary_search(&id).is_ok())
        })
    }
}
