use serde_json::{Value, json};

use super::{count_of, text_of};
use crate::compare::whole;
use crate::rule::{Answer, Function};

pub(super) const FIXED_CHUNKS: Function = Function {
    name: "fixed_chunks",
    run,
    differences: whole,
    deviations: &[],
};

pub(super) const FIXED_CHUNKS_PROPERTIES: Function = Function {
    name: "fixed_chunks_properties",
    run: properties,
    differences: whole,
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    Ok(json!(chunks(input)?))
}

/// How many pieces there are, the size if none is longer, and whether all words are in them.
fn properties(input: &Value) -> Answer {
    let chunks = chunks(input)?;
    let text = text_of(input, "text")?;
    let size = count_of(input, "size").ok_or("no size")?;
    let longest = chunks.iter().map(|chunk| chunk.chars().count()).max();
    let kept = chunks.iter().flat_map(|chunk| chunk.split_whitespace());
    Ok(json!({
        "count": chunks.len(),
        "max_chars": longest.unwrap_or(0).max(size),
        "words_kept_in_order": kept.eq(text.split_whitespace()),
    }))
}

fn chunks(input: &Value) -> Result<Vec<String>, String> {
    let text = text_of(input, "text")?;
    let size = count_of(input, "size").ok_or("no size")?;
    let spans = shelfward_text::fixed(&text, size).map_err(|e| e.to_string())?;
    let chunks = spans.iter().filter_map(|span| span.slice(&text));
    Ok(chunks.map(str::to_owned).collect())
}
