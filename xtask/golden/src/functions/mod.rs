//! The golden functions that ours has, one module each.

mod bm25_search;
mod bm25_tokenize;
mod chunk_turns;
mod filter_input;
mod fixed_chunks;
mod fuzzy_index;
mod hybrid_searcher;
mod in_memory_filter;
mod lexical_index_json;
mod lexical_index_search;
mod lexical_parts;
mod lexical_tokens;
mod library_index;
mod postgres_ts_query;
mod reciprocal_rank_fusion;
mod snippet_around;
mod split;
mod split_by_heading;
mod split_by_paragraph;
mod split_documents;
mod split_fixed_with_overlap;
mod split_whole_document;
mod web_search;
mod within_one_edit;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::rule::Function;

/// What ours must pass.
pub(crate) const FUNCTIONS: [Function; 27] = [
    lexical_tokens::LEXICAL_TOKENS,
    chunk_turns::CHUNK_TURNS,
    snippet_around::SNIPPET_AROUND,
    split_by_heading::SPLIT_BY_HEADING,
    split_by_paragraph::SPLIT_BY_PARAGRAPH,
    split_documents::SPLIT_DOCUMENTS,
    split_fixed_with_overlap::SPLIT_FIXED_WITH_OVERLAP,
    split_whole_document::SPLIT_WHOLE_DOCUMENT,
    fixed_chunks::FIXED_CHUNKS,
    fixed_chunks::FIXED_CHUNKS_PROPERTIES,
    hybrid_searcher::HYBRID_SEARCHER,
    in_memory_filter::IN_MEMORY_FILTER,
    library_index::LIBRARY_INDEX,
    reciprocal_rank_fusion::RECIPROCAL_RANK_FUSION,
    postgres_ts_query::POSTGRES_TS_QUERY,
    lexical_index_search::LEXICAL_INDEX_SEARCH,
    lexical_index_json::LEXICAL_INDEX_JSON,
    bm25_tokenize::BM25_TOKENIZE,
    bm25_search::BM25_SEARCH,
    within_one_edit::WITHIN_ONE_EDIT,
    fuzzy_index::FUZZY_INDEX_SEARCH,
    fuzzy_index::FUZZY_INDEX_SEED_EXAMPLES,
    web_search::NORMALIZE_URL,
    web_search::COMPUTE_RRF,
    web_search::COMPUTE_WEIGHTED_RRF,
    web_search::SEMANTIC_DEDUP,
    web_search::TF_VECTORS,
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

/// Whether something is said here of a function.
pub(crate) fn is_known(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name) || DESCRIBED.contains(&name)
}

/// A member of an input, read as what ours takes.
fn read<T: DeserializeOwned>(input: &Value, name: &str) -> Result<T, String> {
    let member = input.get(name).unwrap_or(&Value::Null);
    T::deserialize(member).map_err(|e| format!("{name}: {e}"))
}

fn text_of(input: &Value, name: &str) -> Result<String, String> {
    read(input, name)
}

/// A member as a number of things. JavaScript has no unsigned type: what is below 0 is 0, and a part
/// of one is none.
fn count_of(input: &Value, name: &str) -> Option<usize> {
    let number = input.get(name)?.as_f64()?;
    // `as` from a float saturates, which is what is meant here.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are cut and held at 0 on purpose"
    )]
    let count = number as usize;
    Some(count)
}
