//! How an inverted index is asked. Three ways lead to one answer:
//!
//! - [`any`] and [`all`] skip what cannot be among the best, by bounds of blocks;
//! - [`prefix`] sums over every document, for words that stand for many;
//! - [`exhaustive`] is the formula written down. The others are tested against it, and it serves
//!   constants under which bounds do not hold.

mod all;
mod any;
mod cursor;
mod exact;
mod exhaustive;
mod norms;
mod prefix;
mod query;
mod sums;
mod top;

pub(crate) use top::highest_first;

use shelfward_core::Match;

use super::InvertedIndex;
use norms::Norms;
use query::Leaf;
pub use query::{Term, TooManyExpansions};

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The document's number.
    pub document: u32,
    /// Its BM25 score, above 0 under usual constants.
    pub score: f64,
}

/// Which documents a search may find, by number.
pub type Allowed<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// A found document with what decides between equal scores.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    document: u32,
    score: f64,
    /// At which word of the query, in the query's order and a prefix's words in the order in which
    /// the index met them, the document is first met.
    met: u32,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The words of the query, in its order. One that is repeated adds its score each time.
    pub terms: &'a [Term<'a>],
    /// Whether a document must hold one of the words or all of them.
    pub matching: Match,
    /// How many documents are wanted.
    pub top_k: usize,
    /// Whether all documents that score like the last of these are answered too, for whoever orders
    /// equal scores otherwise.
    pub with_ties: bool,
    /// The most words of the index that one prefix may stand for; `None` for no limit.
    pub max_expansions: Option<usize>,
    /// The documents that may be found; `None` for all. Statistics are over all documents
    /// either way.
    pub allowed: Option<Allowed<'a>>,
}

impl InvertedIndex {
    /// The best documents, highest score first.
    ///
    /// Equal scores stand in the order in which the documents are first met, going word by word
    /// through the query, for a prefix through the words it begins in the order in which they were
    /// added, and then through the documents in the order in which they were added.
    ///
    /// # Errors
    /// [`TooManyExpansions`] when a prefix begins more words than [`Search::max_expansions`].
    pub fn search(&self, search: &Search<'_>) -> Result<Vec<Scored>, TooManyExpansions> {
        self.run(search, false)
    }

    /// The same answer by the plain formula, over every document that holds a word of the query.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_exhaustively(
        &self,
        search: &Search<'_>,
    ) -> Result<Vec<Scored>, TooManyExpansions> {
        self.run(search, true)
    }

    fn run(&self, search: &Search<'_>, plainly: bool) -> Result<Vec<Scored>, TooManyExpansions> {
        let mut leaves = query::leaves(self, search)?;
        let lacks_one = search.matching == Match::All && leaves.iter().any(Leaf::is_empty);
        // What no document holds adds to none.
        leaves.retain(|leaf| !leaf.is_empty());
        if search.top_k == 0 || leaves.is_empty() || lacks_one {
            return Ok(Vec::new());
        }
        let task = Task {
            index: self,
            leaves: &leaves,
            norms: Norms::of(self),
            search,
        };
        let mut found = if plainly || !self.bm25.is_usual() {
            exhaustive::search(&task)
        } else {
            let candidates = if leaves.iter().any(|leaf| leaf.words.len() > 1) {
                prefix::search(&task)
            } else {
                match search.matching {
                    Match::Any => any::search(&task),
                    Match::All => all::search(&task),
                }
            };
            exact::scores(&task, candidates)
        };
        found.sort_unstable_by(top::best_first);
        let end = match found.get(search.top_k.saturating_sub(1)) {
            // Scores ascend nowhere, so those that equal the last stand together.
            Some(last) if search.with_ties => {
                found.partition_point(|f| top::highest_first(f.score, last.score).is_le())
            }
            _ => search.top_k,
        };
        found.truncate(end);
        let scored = |found: Ranked| Scored {
            document: found.document,
            score: found.score,
        };
        Ok(found.into_iter().map(scored).collect())
    }
}

/// A search at work.
struct Task<'a> {
    index: &'a InvertedIndex,
    leaves: &'a [Leaf<'a>],
    norms: Norms<'a>,
    search: &'a Search<'a>,
}

impl Task<'_> {
    fn may_find(&self, document: u32) -> bool {
        self.index.is_live(document) && self.search.allowed.is_none_or(|allowed| allowed(document))
    }
}
