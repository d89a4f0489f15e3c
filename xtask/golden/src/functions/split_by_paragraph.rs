use serde_json::Value;
use shelfward_text::{ByParagraph, ByParagraphOptions};

use super::count_of;
use super::split::{self, options};
use crate::rule::{Answer, Function};

pub(super) const SPLIT_BY_PARAGRAPH: Function = Function {
    name: "split_by_paragraph",
    run,
    differences: split::differences,
    deviations: &[
        split::OVERLAP_BELOW_SIZE,
        split::SIZES_IN_CHARACTERS,
        split::WHITE_SPACE,
        split::GRAPHEMES,
        split::LINE_ENDS,
        split::HARD_CUTS,
        split::STARTS_INCREASE,
    ],
};

fn run(input: &Value) -> Answer {
    let given = options(input);
    let default = ByParagraphOptions::default();
    let splitter = ByParagraph::new(ByParagraphOptions {
        max_chars: count_of(given, "maxChars").unwrap_or(default.max_chars),
        overlap_chars: count_of(given, "overlapChars").unwrap_or(default.overlap_chars),
        min_chars: count_of(given, "minChars"),
    });
    split::run(input, "byParagraph", &splitter.map_err(|e| e.to_string())?)
}
