use serde_json::Value;
use shelfward_text::{FixedWithOverlap, FixedWithOverlapOptions};

use super::count_of;
use super::split::{self, options};
use crate::rule::{Answer, Function};

pub(super) const SPLIT_FIXED_WITH_OVERLAP: Function = Function {
    name: "split_fixed_with_overlap",
    run,
    differences: split::differences,
    deviations: &[
        split::OVERLAP_BELOW_SIZE,
        split::SIZES_IN_CHARACTERS,
        split::WHITE_SPACE,
        split::GRAPHEMES,
        split::LINE_ENDS,
        split::STARTS_INCREASE,
    ],
};

fn run(input: &Value) -> Answer {
    let given = options(input);
    let default = FixedWithOverlapOptions::default();
    let splitter = FixedWithOverlap::new(FixedWithOverlapOptions {
        chars: count_of(given, "chars").unwrap_or(default.chars),
        overlap_chars: count_of(given, "overlapChars").unwrap_or(default.overlap_chars),
        word_window: count_of(given, "wordWindow").unwrap_or(default.word_window),
    });
    split::run(
        input,
        "fixedWithOverlap",
        &splitter.map_err(|e| e.to_string())?,
    )
}
