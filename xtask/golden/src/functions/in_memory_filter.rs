use serde_json::{Value, json};
use shelfward_core::{Filter, Metadata};

use crate::compare::{Compared, answers};

pub(super) fn run(input: &Value, case: &Value) -> Compared {
    answers(case, matches(input), 0.0)
}

fn matches(input: &Value) -> Result<Value, String> {
    let metadata = match input.get("metadata") {
        None | Some(Value::Null) => Metadata::new(),
        Some(metadata) => Metadata::from_json(&metadata.to_string()).map_err(|e| e.to_string())?,
    };
    let filter = input
        .get("filter")
        .map_or_else(|| "{}".to_owned(), Value::to_string);
    let filter = Filter::from_json(&filter).map_err(|e| e.to_string())?;
    Ok(json!({ "matches": filter.matches(&metadata) }))
}
