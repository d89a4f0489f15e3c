use serde_json::{Value, json};
use shelfward_lexical::fuzzy;

use super::text_of;
use crate::compare::whole;
use crate::rule::{Answer, Function};

pub(super) const WITHIN_ONE_EDIT: Function = Function {
    name: "withinOneEdit",
    run,
    differences: whole,
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    let (a, b) = (text_of(input, "a")?, text_of(input, "b")?);
    Ok(json!(fuzzy::within_one_edit(&a, &b)))
}
