//! The golden functions that ours has. Inputs are read as types of ours, by serde.

mod filter;
mod fusion;
mod hybrid;
mod lexical;
mod library;
mod passages;
mod split;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::{Value, json};
use shelfward_core::Metadata;

pub(crate) use filter::Words as TsWords;

use crate::rule::{Answer, Function};

/// What ours must pass.
pub(crate) static FUNCTIONS: [Function; 27] = [
    Function::new("lexicalTokens", |input| {
        typed(input, passages::lexical_tokens)
    }),
    Function::new("chunkTurns", |input| typed(input, passages::turns)),
    Function::new("snippetAround", |input| typed(input, passages::snippet)),
    Function::new("split_by_heading", |input| typed(input, split::by_heading))
        .compared_by(split::differences),
    Function::new("split_by_paragraph", |input| {
        typed(input, split::by_paragraph)
    })
    .compared_by(split::differences),
    Function::new("split_documents", |input| typed(input, split::by_line)),
    Function::new("split_fixed_with_overlap", |input| {
        typed(input, split::fixed_with_overlap)
    })
    .compared_by(split::differences),
    Function::new("split_whole_document", |input| {
        typed(input, split::whole_document)
    })
    .compared_by(split::differences),
    Function::new("fixed_chunks", |input| typed(input, split::fixed)),
    Function::new("fixed_chunks_properties", |input| {
        typed(input, split::fixed_properties)
    }),
    Function::new("hybridSearcher", |input| typed(input, hybrid::run))
        .compared_by(hybrid::differences),
    Function::new("inMemoryFilter", |input| typed(input, filter::in_memory)),
    Function::new("libraryIndex", |input| typed(input, library::run))
        .compared_by(library::differences),
    // Ties are ordered by id, so the order is compared too.
    Function::new("reciprocalRankFusion", |input| {
        typed(input, fusion::reciprocal_rank)
    }),
    Function::new("postgresTsQuery", |input| typed(input, filter::ts_query))
        .compared_by(filter::by_word),
    Function::new("lexicalIndexSearch", |input| {
        typed(input, lexical::index_search)
    })
    .compared_by(lexical::ranking),
    Function::new("lexicalIndexJson", |input| {
        typed(input, lexical::index_json)
    })
    .compared_by(lexical::index_json_differences),
    Function::new("bm25Tokenize", |input| typed(input, lexical::bm25_tokenize)),
    Function::new("bm25Search", |input| typed(input, lexical::bm25_search))
        .compared_by(lexical::ranking),
    Function::new("withinOneEdit", |input| {
        typed(input, lexical::within_one_edit)
    }),
    Function::new("fuzzyIndexSearch", |input| {
        typed(input, lexical::fuzzy_search)
    })
    .compared_by(lexical::fuzzy_ranking),
    Function::new("fuzzyIndexSeedExamples", |input| {
        typed(input, lexical::fuzzy_example)
    })
    .compared_by(lexical::stated),
    Function::new("normalizeUrl", |input| typed(input, fusion::normalize)),
    // Ties stay in the order given, so the order is compared too.
    Function::new("computeRRF", |input| typed(input, fusion::rrf)),
    Function::new("computeWeightedRRF", |input| {
        typed(input, fusion::weighted_rrf)
    }),
    Function::new("semanticDedup", |input| typed(input, fusion::dedup)),
    Function::new("tfVectors", |input| typed(input, fusion::tf_vectors)),
];

/// What tells how the originals behave, and is not to be imitated.
pub(crate) const DESCRIBED: [&str; 9] = [
    "scopeFilter",
    "inMemoryStore",
    "libraryIndexCalls",
    "storeFilterMatrix",
    "storeRequests",
    "storeFusion",
    "sqlStoreSearch",
    "postgresFilterSql",
    "postgresSearch",
];

/// Runs ours on an input of its type.
fn typed<I: DeserializeOwned>(input: &Value, run: fn(I) -> Answer) -> Answer {
    run(read(input)?)
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|e| e.to_string())
}

/// A number of things. JavaScript has no unsigned type: what is below 0 is 0, and a part of one is
/// none.
#[derive(Clone, Copy)]
pub(crate) struct Whole(pub(crate) usize);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        // `as` from a float saturates, which is what is meant here.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are cut and held at 0 on purpose"
        )]
        let count = number as usize;
        Ok(Self(count))
    }
}

/// A number that a case need not give.
fn or(given: Option<Whole>, usual: usize) -> usize {
    given.map_or(usual, |given| given.0)
}

/// Metadata as a caller gives it, who may give none.
fn metadata(given: &Value) -> Result<Metadata, String> {
    match given {
        Value::Null => Ok(Metadata::new()),
        given => Metadata::from_json(&given.to_string()).map_err(|e| e.to_string()),
    }
}

/// An object of those members that there are.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

/// Runs what waits for a store.
fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|e| e.to_string())?;
    runtime.block_on(work).map_err(|e| e.to_string())
}

type Failure = Box<dyn std::error::Error>;

/// A member of an object that there is.
fn some(value: impl serde::Serialize) -> Option<Value> {
    Some(json!(value))
}
