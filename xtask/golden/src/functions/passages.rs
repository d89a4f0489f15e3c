//! Words, the passages of a conversation, and snippets.

use serde::Deserialize;
use serde_json::json;
use shelfward_text::{ChunkTurns, SnippetAround, Turn, TurnPassage, WordRule};

use super::{Whole, or};
use crate::rule::Answer;
use crate::utf16::place;

#[derive(Deserialize)]
pub(super) struct OneText {
    pub(super) text: String,
}

pub(super) fn lexical_tokens(input: OneText) -> Answer {
    Ok(json!(shelfward_text::lexical_tokens(&input.text)))
}

#[derive(Deserialize)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    #[serde(default)]
    options: TurnOptions,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TurnOptions {
    max_chars: Option<Whole>,
    overlap_turns: Option<Whole>,
}

pub(super) fn turns(input: Turns) -> Answer {
    let usual = ChunkTurns::default();
    let options = usual
        .max_chars(or(input.options.max_chars, usual.max_chars))
        .overlap_turns(or(input.options.overlap_turns, usual.overlap_turns));
    let passages = shelfward_text::chunk_turns(&input.turns, &options);
    passages.iter().map(passage).collect()
}

/// A passage as the original writes it: the offsets beside the turn, in its units, and times that
/// are not known as null.
fn passage(passage: &TurnPassage) -> Answer {
    let turns = passage.turns.iter().map(|turn| {
        Ok(json!({
            "seq": turn.seq,
            "itemId": turn.item_id,
            "start": place(&passage.text, turn.span.start)?,
            "end": place(&passage.text, turn.span.end)?,
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

#[derive(Deserialize)]
pub(super) struct Snippet {
    text: String,
    words: Vec<String>,
    #[serde(default)]
    options: SnippetOptions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SnippetOptions {
    before: Option<Whole>,
    after: Option<Whole>,
}

pub(super) fn snippet(input: Snippet) -> Answer {
    let usual = SnippetAround::default();
    let options = SnippetAround {
        before: or(input.options.before, usual.before),
        after: or(input.options.after, usual.after),
        rule: WordRule::Seed,
        ..usual
    };
    let snippet = shelfward_text::snippet_around(&input.text, &input.words, &options);
    let at = match snippet.at {
        Some(at) => json!(place(&input.text, at)?),
        None => json!(-1),
    };
    Ok(json!({ "at": at, "text": snippet.text }))
}
