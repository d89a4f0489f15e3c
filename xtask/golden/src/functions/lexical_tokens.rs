use serde_json::{Value, json};
use shelfward_text::lexical_tokens;

use crate::compare::{Compared, answers};

pub(super) fn run(input: &Value, case: &Value) -> Compared {
    let text = input.get("text").and_then(Value::as_str).ok_or("no text")?;
    answers(case, Ok(json!(lexical_tokens(text))), 0.0)
}
