use serde_json::Value;
use shelfward_text::{ByHeading, ByHeadingOptions};

use super::count_of;
use super::split::{self, options, text};
use crate::rule::{Answer, Deviation, Function, Ours};

pub(super) const SPLIT_BY_HEADING: Function = Function {
    name: "split_by_heading",
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
        Deviation {
            name: "fences-hold-no-headings",
            why: "a line that begins with # inside a code fence is code, and no heading",
            ours: Ours::Answers,
            applies: |input, _| {
                let fence = |line: &str| {
                    // Behind the marks of lists, too.
                    let line = line
                        .trim_start_matches(|c: char| " \t-*+.)".contains(c) || c.is_ascii_digit());
                    line.starts_with("```") || line.starts_with("~~~")
                };
                text(input).lines().any(fence)
            },
        },
    ],
};

fn run(input: &Value) -> Answer {
    let given = options(input);
    let default = ByHeadingOptions::default();
    let splitter = ByHeading::new(ByHeadingOptions {
        max_chars: count_of(given, "maxChars").unwrap_or(default.max_chars),
        overlap_chars: count_of(given, "overlapChars").unwrap_or(default.overlap_chars),
        min_chars: count_of(given, "minChars"),
        max_level: count_of(given, "maxLevel").unwrap_or(default.max_level),
    });
    split::run(input, "byHeading", &splitter.map_err(|e| e.to_string())?)
}
