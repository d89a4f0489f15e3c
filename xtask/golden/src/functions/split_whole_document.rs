use serde_json::Value;
use shelfward_text::WholeDocument;

use super::split;
use crate::rule::{Answer, Function};

pub(super) const SPLIT_WHOLE_DOCUMENT: Function = Function {
    name: "split_whole_document",
    run,
    differences: split::differences,
    deviations: &[split::WHITE_SPACE],
};

fn run(input: &Value) -> Answer {
    split::run(input, "wholeDocument", &WholeDocument)
}
