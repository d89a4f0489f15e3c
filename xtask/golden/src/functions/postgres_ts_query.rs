use serde_json::{Value, json};
use shelfward_core::{Match, QueryWord, WordRule, query_words};
use shelfward_postgres::text_search_query;

use super::{read, text_of};
use crate::compare::{parted, whole};
use crate::rule::{Answer, Deviation, Difference, Function, Ours};

pub(super) const POSTGRES_TS_QUERY: Function = Function {
    name: "postgresTsQuery",
    run,
    differences: by_word,
    deviations: &[
        Deviation {
            name: "prefix-of-one-letter",
            why: "a word of one letter is looked for whole: as a prefix it finds a large part of \
                  any collection",
            ours: Ours::Answers,
            applies: |input, at| {
                let word = words(input)
                    .ok()
                    .and_then(|words| words.into_iter().nth(at));
                prefix(input) && word.is_some_and(|word| word.text.as_str().chars().count() == 1)
            },
        },
        Deviation {
            name: "all-of-many-words",
            why: "all of more than 32 words are refused: the original drops the words behind the \
                  32nd, which widens the answer",
            ours: Ours::Refuses,
            applies: |input, _| {
                matching(input) == Ok(Match::All) && words(input).is_ok_and(|w| w.len() > 32)
            },
        },
    ],
};

fn run(input: &Value) -> Answer {
    let query = text_search_query(&words(input)?, matching(input)?);
    Ok(json!(query.map_err(|e| e.to_string())?))
}

/// The distinct words of the query, in their order.
fn words(input: &Value) -> Result<Vec<QueryWord>, String> {
    let text = text_of(input, "text")?;
    let words = query_words(&text, WordRule::Seed, prefix(input)).map_err(|e| e.to_string())?;
    let mut distinct: Vec<QueryWord> = Vec::new();
    for word in words {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    Ok(distinct)
}

fn matching(input: &Value) -> Result<Match, String> {
    read(input, "match")
}

fn prefix(input: &Value) -> bool {
    input.get("prefix").and_then(Value::as_bool) == Some(true)
}

/// Word by word where words that are prefixes for the original are whole for us; as one where
/// anything else differs.
fn by_word(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let operator = match matching(input) {
        Ok(Match::All) => " & ",
        _ => " | ",
    };
    let terms = |query: &Value| -> Option<Vec<String>> {
        let terms = query.as_str()?.split(operator);
        Some(terms.map(str::to_owned).collect())
    };
    let (Some(of_ours), Some(of_theirs)) = (terms(ours), terms(expected)) else {
        return whole(input, ours, expected);
    };
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
