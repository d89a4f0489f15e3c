use serde_json::{Value, json};

use super::text_of;
use crate::compare::whole;
use crate::rule::{Answer, Function};

pub(super) const LEXICAL_TOKENS: Function = Function {
    name: "lexicalTokens",
    run,
    differences: whole,
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    Ok(json!(shelfward_text::lexical_tokens(&text_of(
        input, "text"
    )?)))
}
