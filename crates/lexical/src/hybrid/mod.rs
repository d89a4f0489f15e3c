//! A BM25 index beside a vector search, and the two fused.
//!
//! [`HybridSearcher`] does it over a collection that is no library, [`LibraryHybridSearcher`] over a
//! library, inside a scope. For most purposes the hybrid search of
//! [`LibraryIndex`](shelfward_core::LibraryIndex) is the better choice: the store keeps both legs in
//! step. These are for a lexical leg with a tokenizer, constants or fusion of one's own.

mod collection;
mod fuse;
mod library;
mod query_words;
mod settings;
mod trail;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use shelfward_core::{EmbedError, StoreError};

use crate::index::{AddError, LexicalIndex, SearchOptions};
use crate::inverted::TooManyExpansions;
use crate::tokenizer::Tokenizer;

pub use collection::{HybridHit, HybridSearcher};
pub use fuse::LegRank;
pub use library::{HybridAnswer, HybridPassage, LibraryHybridSearcher};
pub use settings::{Fusion, HybridSettings};

/// An index that searches share and that documents are added to meanwhile.
pub type SharedIndex<T> = Arc<RwLock<LexicalIndex<T>>>;

/// Why a hybrid search failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// The collection is a library, which is read inside a scope only.
    #[error(
        "the collection is a library (it has the field {field}): search it inside a scope with a LibraryHybridSearcher"
    )]
    IsLibrary {
        /// The field that told.
        field: &'static str,
    },
    /// The collection is kept in partitions, and the filter does not say which one is meant.
    #[error(
        "the filter must pin {field} by one $eq: documents are looked up by id within a partition"
    )]
    NoPartition {
        /// The partition field.
        field: String,
    },
    /// The query is blank.
    #[error("the query is blank; it must hold something to look for")]
    BlankQuery,
    /// The query is longer than the store's handle allows.
    #[error("the query has more than {max} characters")]
    LongQuery {
        /// The most.
        max: usize,
    },
    /// The legs, three times as deep as the answer, would be deeper than allowed.
    #[error(
        "top_k is {given}; it must be at most {max}, since each leg looks for three times as many"
    )]
    TopK {
        /// What was asked for.
        given: usize,
        /// The most.
        max: usize,
    },
    /// The embedder failed, or answered no vector.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The library failed or refused.
    #[error(transparent)]
    Library(#[from] shelfward_core::library::LibraryError),
    /// A passage found no room in the index.
    #[error(transparent)]
    Index(#[from] AddError),
    /// A query word stands for too many words. How many there are would tell of documents that the
    /// asker may not see, so it is not said.
    #[error(
        "a prefix of the query begins more than {max} words; a longer one says better what is meant"
    )]
    TooManyExpansions {
        /// How many it may stand for.
        max: usize,
    },
}

shelfward_core::debug_as_chain!(HybridError);

impl From<TooManyExpansions> for HybridError {
    fn from(TooManyExpansions { max, .. }: TooManyExpansions) -> Self {
        Self::TooManyExpansions { max }
    }
}

/// A hit of the BM25 leg.
struct WordHit {
    id: String,
    score: f64,
    metadata: Option<Value>,
}

/// The most hits of the index that are looked at for one search whose filter drops some.
const MAX_CANDIDATES: usize = 10_000;

/// Hits in their order, each id once: the index may change while more of it is asked for.
#[derive(Default)]
struct Taken {
    ids: HashSet<String>,
    hits: Vec<WordHit>,
}

impl Taken {
    fn extend(&mut self, hits: impl Iterator<Item = WordHit>) {
        let Self { ids, hits: all } = self;
        all.extend(hits.filter(|hit| ids.insert(hit.id.clone())));
    }

    fn len(&self) -> usize {
        self.hits.len()
    }

    fn into_best(mut self, k: usize) -> Vec<WordHit> {
        self.hits.truncate(k);
        self.hits
    }
}

/// The best documents of a shared index.
fn words_leg<T: Tokenizer>(
    index: &RwLock<LexicalIndex<T>>,
    query: &str,
    top_k: usize,
    options: &SearchOptions,
) -> Result<Vec<WordHit>, TooManyExpansions> {
    // A writer whose tokenizer panicked left the index as it was.
    let index = index.read().unwrap_or_else(PoisonError::into_inner);
    let hits = index.search_with(query, top_k, options)?;
    let owned = hits.into_iter().map(|hit| WordHit {
        id: hit.id.to_owned(),
        score: hit.score,
        metadata: hit.metadata.cloned(),
    });
    Ok(owned.collect())
}

/// How deep each leg looks.
fn depth(top_k: usize, max: usize) -> Result<usize, HybridError> {
    match top_k.checked_mul(3).filter(|depth| *depth <= max) {
        Some(depth) => Ok(depth),
        None => Err(HybridError::TopK {
            given: top_k,
            max: max / 3,
        }),
    }
}
