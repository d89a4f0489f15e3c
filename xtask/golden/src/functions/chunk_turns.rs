use serde_json::{Value, json};
use shelfward_text::{ChunkTurns, Turn, TurnPassage, chunk_turns};

use super::{count_of, read};
use crate::compare::whole;
use crate::rule::{Answer, Deviation, Function, Ours};
use crate::utf16::{has_pairs, length, units};

pub(super) const CHUNK_TURNS: Function = Function {
    name: "chunkTurns",
    run,
    differences: whole,
    deviations: &[
        Deviation {
            name: "sizes-in-characters",
            why: "sizes are counted in Unicode scalar values, not in UTF-16 code units: a character \
                  beyond U+FFFF counts once, which shows where a size decides",
            ours: Ours::Answers,
            applies: |input, _| size_decides(input) && texts(input).any(has_pairs),
        },
        Deviation {
            name: "next-line-is-white-space",
            why: "white space is Unicode's, which has U+0085: a turn of nothing else is blank",
            ours: Ours::Answers,
            applies: |input, _| {
                let white = |c: char| c.is_whitespace() || c == '\u{FEFF}';
                texts(input).any(|text| text.contains('\u{85}') && text.chars().all(white))
            },
        },
    ],
};

fn run(input: &Value) -> Answer {
    let turns: Vec<Turn> = read(input, "turns")?;
    let passages = chunk_turns(&turns, &options(input));
    passages.iter().map(passage).collect()
}

fn options(input: &Value) -> ChunkTurns {
    let given = input.get("options").unwrap_or(&Value::Null);
    let default = ChunkTurns::default();
    let or = |key, default| count_of(given, key).unwrap_or(default);
    default
        .max_chars(or("maxChars", default.max_chars))
        .overlap_turns(or("overlapTurns", default.overlap_turns))
}

/// A passage as the original writes it: the offsets beside the turn, in its units, and times that
/// are not known as null.
fn passage(passage: &TurnPassage) -> Answer {
    let place = |offset| units(&passage.text, offset).ok_or("an offset inside a character");
    let turns = passage.turns.iter().map(|turn| {
        Ok(json!({
            "seq": turn.seq,
            "itemId": turn.item_id,
            "start": place(turn.span.start)?,
            "end": place(turn.span.end)?,
        }))
    });
    Ok(json!({
        "index": passage.index,
        "text": passage.text,
        "firstSeq": passage.first_seq,
        "lastSeq": passage.last_seq,
        "itemIds": passage.item_ids,
        "startMs": passage.start_ms,
        "endMs": passage.end_ms,
        "turns": turns.collect::<Result<Vec<_>, String>>()?,
    }))
}

fn texts(input: &Value) -> impl Iterator<Item = &str> {
    let turns = input.get("turns").and_then(Value::as_array);
    turns
        .into_iter()
        .flatten()
        .filter_map(|turn| turn.get("text")?.as_str())
}

/// Whether the turns do not fit in one passage by the original's count.
fn size_decides(input: &Value) -> bool {
    let all: usize = texts(input).map(|text| length(text) + 1).sum();
    all.saturating_sub(1) > options(input).max_chars
}
