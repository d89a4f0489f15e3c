//! What the golden functions that split a document share.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shelfward_text::{Document, DocumentPiece, Pages, Splitter, split_documents};

use super::{count_of, read, text_of};
use crate::compare::{Tolerance, parted, same};
use crate::rule::{Answer, Deviation, Difference, Ours};
use crate::utf16::{has_pairs, length, units};

pub(super) const OVERLAP_BELOW_SIZE: Deviation = Deviation {
    name: "overlap-below-size",
    why: "an overlap that is not below the size is refused: the next piece would not get ahead",
    ours: Ours::Refuses,
    applies: |input, _| overlap(input) >= size(input),
};

pub(super) const SIZES_IN_CHARACTERS: Deviation = Deviation {
    name: "sizes-in-characters",
    why: "sizes are counted in Unicode scalar values, not in UTF-16 code units, and no character is \
          cut in two: one beyond U+FFFF counts once, which shows where a size decides",
    ours: Ours::Answers,
    applies: |input, _| has_pairs(&text(input)),
};

pub(super) const WHITE_SPACE: Deviation = Deviation {
    name: "white-space-is-unicodes",
    why: "white space is Unicode's, which has U+0085 and has not U+FEFF",
    ours: Ours::Answers,
    applies: |input, _| text(input).contains(['\u{85}', '\u{FEFF}']),
};

pub(super) const GRAPHEMES: Deviation = Deviation {
    name: "graphemes-stay-whole",
    why: "no cut falls inside a grapheme",
    ours: Ours::Answers,
    applies: |input, _| !text(input).chars().all(stands_alone),
};

pub(super) const LINE_ENDS: Deviation = Deviation {
    name: "line-ends-are-line-feeds",
    why: "CR LF, CR, U+2028 and U+2029 end lines and count as one character, so that a text is cut \
          as it is with line feeds",
    ours: Ours::Answers,
    applies: |input, _| text(input).contains(['\r', '\u{2028}', '\u{2029}']),
};

pub(super) const HARD_CUTS: Deviation = Deviation {
    name: "hard-cuts-between-words",
    why: "a paragraph that is too long is cut at white space in the last tenth of the size where \
          there is some, and not behind a joiner; what follows it moves along",
    ours: Ours::Answers,
    applies: |input, _| has_long_paragraph(&text(input), size(input)),
};

pub(super) const STARTS_INCREASE: Deviation = Deviation {
    name: "starts-increase",
    why: "each piece begins behind where the one before it begins: an overlap that would repeat all \
          of the first piece leaves out its first word, or all of it where that is one word",
    ours: Ours::Answers,
    // A piece further on reaches back no further than to the one before it, so only the second
    // can repeat the first, and the third the second where that has lost its overlap.
    applies: |input, at| (at == 1 || at == 2) && overlap(input) > 0,
};

pub(super) fn text(input: &Value) -> String {
    text_of(input, "text").unwrap_or_default()
}

pub(super) fn options(input: &Value) -> &Value {
    input.get("options").unwrap_or(&Value::Null)
}

fn size(input: &Value) -> usize {
    let size = |key| count_of(options(input), key);
    size("maxChars").or_else(|| size("chars")).unwrap_or(1_000)
}

fn overlap(input: &Value) -> usize {
    count_of(options(input), "overlapChars").unwrap_or(150)
}

/// Whether a paragraph of several words, with the heading ahead of it, is longer than `size`.
fn has_long_paragraph(text: &str, size: usize) -> bool {
    let mut ahead = 0;
    let mut is_long = |paragraph: &str| {
        let chars = paragraph.chars().count();
        let long = ahead + chars > size && paragraph.contains(char::is_whitespace);
        // The white space between the two counts: a blank line of any length.
        ahead = if paragraph.starts_with('#') {
            chars + 2
        } else {
            0
        };
        long
    };
    text.split("\n\n")
        .any(|paragraph| is_long(paragraph.trim()))
}

/// Whether a character is surely a grapheme by itself, whatever stands beside it: of what is not
/// ASCII, letters of European scripts and ideographs are enough here.
fn stands_alone(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{48A}'..='\u{590}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
            | '\u{3000}'..='\u{3029}' | '\u{3030}'..='\u{3098}' | '\u{309B}'..='\u{A66E}' | '\u{AC00}'..='\u{D7A3}'
    ) && !matches!(character, '\u{AD}' | '\u{A9}' | '\u{AE}')
}

pub(super) fn run<S: Splitter>(input: &Value, name: &str, splitter: &S) -> Answer {
    let (uri, text) = (text_of(input, "uri")?, text_of(input, "text")?);
    let pages = match input.get("pages") {
        Some(_) => {
            let pages: Vec<String> = read(input, "pages")?;
            Some(Pages::joined_by_blank_lines(pages.iter().map(String::len)))
        }
        None => None,
    };
    let document = Document {
        uri: &uri,
        text: &text,
        pages: pages.as_ref(),
    };
    let pieces = split_documents(&[document], splitter).map_err(|e| e.to_string())?;
    let chunks: Vec<Value> = pieces.iter().map(|piece| chunk(&text, piece)).collect();
    Ok(json!({ "splitter": name, "chunks": chunks }))
}

/// A piece as the original writes it: what is not known is left out, and so is a long text.
fn chunk(text: &str, piece: &DocumentPiece) -> Value {
    let mut chunk = json!({
        "id": piece.id,
        "index": piece.index,
        "charStart": units(text, piece.span.start),
        "charEnd": units(text, piece.span.end),
        "byteStart": piece.span.start,
        "byteEnd": piece.span.end,
        "chars": length(&piece.text),
        "contentHash": sha256(&piece.text),
    });
    if let Some(heading) = &piece.heading {
        chunk["heading"] = json!(heading);
    }
    if let Some(page) = piece.page {
        chunk["page"] = json!(page);
    }
    if length(&piece.text) <= 260 {
        chunk["text"] = json!(piece.text);
    }
    chunk
}

pub(super) fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compared piece by piece, so that a rule about one excuses no other.
pub(super) fn differences(_: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let list = |answer: &Value| -> Vec<Value> {
        let chunks = answer.get("chunks").and_then(Value::as_array);
        chunks.cloned().unwrap_or_default()
    };
    let (our, there) = (list(ours), list(expected));
    let places = 0..our.len().max(there.len());
    let pairs = places.map(|at| {
        let of = |list: &[Value]| list.get(at).cloned().unwrap_or(Value::Null);
        (at, of(&our), of(&there))
    });
    pairs
        .filter(|(_, our, there)| !same(our, there, Tolerance::DOUBLES))
        .map(|(at, our, there)| {
            Difference::answered(at, format!("at {at} {}", parted(&our, &there)))
        })
        .collect()
}
