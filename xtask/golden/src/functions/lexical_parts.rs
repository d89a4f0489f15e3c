//! What the golden functions of a lexical index share.

use serde_json::{Map, Value, json};
use shelfward_core::Match;
use shelfward_lexical::{Bm25, Hit, LexicalIndex, SearchOptions, Tokenizer};

use super::{count_of, text_of};
use crate::compare::{Tolerance, ranked, same, whole};
use crate::rule::{Answer, Difference};

/// How many hits are wanted where a case does not say.
pub(super) const TOP_K: usize = 10;

/// The constants of a corpus, each as it is unless given.
pub(super) fn bm25(config: &Value) -> Result<Bm25, String> {
    let usual = Bm25::default();
    let or = |name: &str, default| config.get(name).and_then(Value::as_f64).unwrap_or(default);
    Bm25::new(or("k1", usual.k1()), or("b", usual.b())).map_err(|e| e.to_string())
}

/// Adds `{ id, text, metadata? }`.
pub(super) fn add<T: Tokenizer>(
    index: &mut LexicalIndex<T>,
    document: &Value,
) -> Result<(), String> {
    let (id, text) = (text_of(document, "id")?, text_of(document, "text")?);
    let metadata = document.get("metadata").cloned();
    let added = index.add_document(&id, &text, metadata);
    added.map_err(|e| e.to_string())
}

/// Searches as the input asks.
pub(super) fn search<T: Tokenizer>(index: &LexicalIndex<T>, input: &Value) -> Answer {
    let given = input.get("options").unwrap_or(&Value::Null);
    let matching = match given.get("match").and_then(Value::as_str) {
        None | Some("any") => Match::Any,
        Some("all") => Match::All,
        Some(other) => return Err(format!("match is {other}")),
    };
    let prefix = given.get("prefix") == Some(&Value::Bool(true));
    let options = SearchOptions::default().matching(matching).prefix(prefix);
    let top_k = count_of(input, "topK").unwrap_or(TOP_K);
    let hits = index.search_with(&text_of(input, "query")?, top_k, &options);
    let hits = hits.map_err(|e| e.to_string())?;
    Ok(hits.iter().map(shown).collect())
}

fn shown(hit: &Hit<'_>) -> Value {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), json!(hit.id));
    shown.insert("score".to_owned(), json!(hit.score));
    if let Some(metadata) = hit.metadata {
        shown.insert("metadata".to_owned(), metadata.clone());
    }
    Value::Object(shown)
}

/// Hits stand in their order, equal scores included. Only neighbours whose scores differ, and by
/// less than two runtimes may, stand in either.
pub(super) fn ranking(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let lists = (ours.as_array(), expected.as_array());
    let (Some(ours_list), Some(expected_list)) = lists else {
        return whole(input, ours, expected);
    };
    let score = |hit: &Value| hit.get("score").and_then(Value::as_f64).unwrap_or(f64::NAN);
    let nearly_equal = expected_list.windows(2).any(|pair| match pair {
        [a, b] => score(a) != score(b) && Tolerance::DOUBLES.equal(score(a), score(b)),
        _ => false,
    });
    if !nearly_equal || same(ours, expected, Tolerance::DOUBLES) {
        return whole(input, ours, expected);
    }
    match ranked(ours_list, expected_list, false, Tolerance::DOUBLES) {
        Ok(()) => Vec::new(),
        Err(why) => vec![Difference::answered(0, why)],
    }
}
