//! Filters on metadata, as the original's memory store evaluates them, and searches for words as it
//! writes them for PostgreSQL.

use serde::Deserialize;
use serde_json::{Value, json};
use shelfward_core::{Filter, Match, QueryWord, WordRule, query_words};
use shelfward_postgres::text_search_query;

use super::{metadata, read};
use crate::compare::{parted, whole};
use crate::rule::{Answer, Difference};

#[derive(Deserialize)]
pub(super) struct Filtered {
    filter: Value,
    #[serde(default)]
    metadata: Value,
}

pub(super) fn in_memory(input: Filtered) -> Answer {
    let filter = Filter::from_json(&input.filter.to_string()).map_err(|e| e.to_string())?;
    Ok(json!({ "matches": filter.matches(&metadata(&input.metadata)?) }))
}

#[derive(Deserialize)]
pub(crate) struct Words {
    text: String,
    #[serde(rename = "match")]
    pub(crate) matching: Match,
    #[serde(default)]
    pub(crate) prefix: bool,
}

pub(super) fn ts_query(input: Words) -> Answer {
    let query = text_search_query(&input.distinct()?, input.matching);
    Ok(json!(query.map_err(|e| e.to_string())?))
}

impl Words {
    pub(crate) fn of(input: &Value) -> Result<Self, String> {
        read(input)
    }

    /// The distinct words of the query, in their order.
    pub(crate) fn distinct(&self) -> Result<Vec<QueryWord>, String> {
        let words = query_words(&self.text, WordRule::Seed, self.prefix);
        let mut distinct: Vec<QueryWord> = Vec::new();
        for word in words.map_err(|e| e.to_string())? {
            if !distinct.contains(&word) {
                distinct.push(word);
            }
        }
        Ok(distinct)
    }
}

/// Word by word where words that are prefixes for the original are whole for us; as one where
/// anything else differs.
pub(super) fn by_word(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let all = Words::of(input).is_ok_and(|words| words.matching == Match::All);
    let operator = if all { " & " } else { " | " };
    let (Some(of_ours), Some(of_theirs)) = (ours.as_str(), expected.as_str()) else {
        return whole(input, ours, expected);
    };
    let terms = |query: &str| query.split(operator).map(str::to_owned).collect::<Vec<_>>();
    let (of_ours, of_theirs) = (terms(of_ours), terms(of_theirs));
    if of_ours.len() != of_theirs.len() {
        return vec![Difference::answered(usize::MAX, parted(ours, expected))];
    }
    let differing = of_ours.iter().zip(&of_theirs).enumerate();
    let differing = differing.filter(|(_, (ours, theirs))| ours != theirs);
    differing
        .map(|(at, (of_ours, theirs))| {
            let is_whole = *theirs == format!("{of_ours}:*");
            let at = if is_whole { at } else { usize::MAX };
            Difference::answered(at, parted(ours, expected))
        })
        .collect()
}
