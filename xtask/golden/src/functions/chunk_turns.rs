use serde::Deserialize;
use serde_json::{Value, json};
use shelfward_text::{ChunkTurns, Turn, TurnPassage, chunk_turns};

use crate::compare::{Compared, answers, utf16};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Given {
    max_chars: Option<f64>,
    overlap_turns: Option<f64>,
}

pub(super) fn run(input: &Value, case: &Value) -> Compared {
    let turns = input.get("turns").cloned().unwrap_or_default();
    let turns: Vec<Turn> = serde_json::from_value(turns).map_err(|e| e.to_string())?;
    let given = input.get("options").cloned().unwrap_or_else(|| json!({}));
    let given: Given = serde_json::from_value(given).map_err(|e| e.to_string())?;
    let mut options = ChunkTurns::default();
    if let Some(max) = given.max_chars {
        options.max_chars = whole(max);
    }
    if let Some(overlap) = given.overlap_turns {
        options.overlap_turns = whole(overlap);
    }
    let passages: Vec<Value> = chunk_turns(&turns, &options).iter().map(in_utf16).collect();
    answers(case, Ok(Value::Array(passages)), 0.0)
}

/// What the type here cannot hold, the originals read so: below 0 as 0, and large as no bound.
fn whole(number: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, as meant"
    )]
    let whole = number.max(0.0) as usize;
    whole
}

fn in_utf16(passage: &TurnPassage) -> Value {
    let turns: Vec<Value> = passage
        .turns
        .iter()
        .map(|turn| {
            let (start, end) = (
                utf16(&passage.text, turn.span.start),
                utf16(&passage.text, turn.span.end),
            );
            json!({ "seq": turn.seq, "itemId": turn.item_id, "start": start, "end": end })
        })
        .collect();
    json!({
        "index": passage.index, "text": passage.text, "firstSeq": passage.first_seq,
        "lastSeq": passage.last_seq, "itemIds": passage.item_ids, "startMs": passage.start_ms,
        "endMs": passage.end_ms, "turns": turns,
    })
}
