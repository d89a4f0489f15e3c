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

use crate::compare::whole;
use crate::rule::Function;

/// Functions by their names in the cases, each run on an input of its type, with what compares its
/// answers.
macro_rules! functions {
    ($($name:literal: $run:path, $differences:path;)*) => {
        [$(Function {
            name: $name,
            run: |input| $run(read(input)?),
            differences: $differences,
        }),*]
    };
}

/// What ours must pass. Where the whole answer is compared, so is the order of ties.
pub(crate) static FUNCTIONS: [Function; 27] = functions! {
    "lexicalTokens": passages::lexical_tokens, whole;
    "chunkTurns": passages::turns, whole;
    "snippetAround": passages::snippet, whole;
    "split_by_heading": split::by_heading, split::differences;
    "split_by_paragraph": split::by_paragraph, split::differences;
    "split_documents": split::by_line, whole;
    "split_fixed_with_overlap": split::fixed_with_overlap, split::differences;
    "split_whole_document": split::whole_document, split::differences;
    "fixed_chunks": split::fixed, whole;
    "fixed_chunks_properties": split::fixed_properties, whole;
    "hybridSearcher": hybrid::run, hybrid::differences;
    "inMemoryFilter": filter::in_memory, whole;
    "libraryIndex": library::run, library::differences;
    "reciprocalRankFusion": fusion::reciprocal_rank, whole;
    "postgresTsQuery": filter::ts_query, filter::by_word;
    "lexicalIndexSearch": lexical::index_search, lexical::ranking;
    "lexicalIndexJson": lexical::index_json, lexical::index_json_differences;
    "bm25Tokenize": lexical::bm25_tokenize, whole;
    "bm25Search": lexical::bm25_search, lexical::ranking;
    "withinOneEdit": lexical::within_one_edit, whole;
    "fuzzyIndexSearch": lexical::fuzzy_search, lexical::fuzzy_ranking;
    "fuzzyIndexSeedExamples": lexical::fuzzy_example, lexical::stated;
    "normalizeUrl": fusion::normalize, whole;
    "computeRRF": fusion::rrf, whole;
    "computeWeightedRRF": fusion::weighted_rrf, whole;
    "semanticDedup": fusion::dedup, whole;
    "tfVectors": fusion::tf_vectors, whole;
};

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
