use serde_json::{Value, json};
use shelfward_lexical::LexicalIndex;
use shelfward_text::WordRule;

use super::lexical_index_search::built;
use super::lexical_parts::{add, ranking, search};
use super::text_of;
use crate::compare::whole;
use crate::rule::{Answer, Function};

pub(super) const LEXICAL_INDEX_JSON: Function = Function {
    name: "lexicalIndexJson",
    run,
    differences: |input, ours, expected| match input.get("op").and_then(Value::as_str) {
        Some("fromJSON+search") => ranking(input, ours, expected),
        _ => whole(input, ours, expected),
    },
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    match text_of(input, "op")?.as_str() {
        "toJSON" => {
            let index = built(input)?;
            let stats = index.stats();
            Ok(json!({
                "json": index.to_json(),
                "stats": {
                    "documentCount": stats.document_count,
                    "termCount": stats.term_count,
                    "avgDocLength": stats.average_length,
                },
            }))
        }
        "fromJSON" => Ok(restored(input)?.to_json()),
        "fromJSON+search" => search(&restored(input)?, input),
        "addDocument" => {
            let mut index = LexicalIndex::new(WordRule::Seed);
            add(&mut index, input)?;
            Ok(index.to_json())
        }
        other => Err(format!("op is {other}")),
    }
}

fn restored(input: &Value) -> Result<LexicalIndex, String> {
    let saved = input.get("json").unwrap_or(&Value::Null);
    LexicalIndex::from_json(saved, WordRule::Seed).map_err(|e| e.to_string())
}
