//! Splitting documents.

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shelfward_text::{
    Boundaries, ByHeading, ByHeadingOptions, ByParagraph, ByParagraphOptions, Document,
    DocumentPiece, FixedWithOverlap, FixedWithOverlapOptions, Pages, Piece, Span, Splitter,
    WholeDocument, split_documents,
};

use super::{Whole, or};
use crate::compare::{Tolerance, parted, same};
use crate::rule::{Answer, Difference};
use crate::utf16::{length, units};

#[derive(Deserialize)]
pub(super) struct Split {
    uri: String,
    text: String,
    pages: Option<Vec<String>>,
    #[serde(default)]
    options: Options,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Options {
    max_chars: Option<Whole>,
    overlap_chars: Option<Whole>,
    min_chars: Option<Whole>,
    max_level: Option<Whole>,
    chars: Option<Whole>,
    word_window: Option<Whole>,
}

pub(super) fn by_heading(input: Split) -> Answer {
    let (given, usual) = (&input.options, ByHeadingOptions::default());
    let splitter = ByHeading::new(ByHeadingOptions {
        max_chars: or(given.max_chars, usual.max_chars),
        overlap_chars: or(given.overlap_chars, usual.overlap_chars),
        min_chars: given.min_chars.map(|least| least.0),
        max_level: or(given.max_level, usual.max_level),
        boundaries: Boundaries::Characters,
    });
    run(&input, "byHeading", &splitter.map_err(|e| e.to_string())?)
}

pub(super) fn by_paragraph(input: Split) -> Answer {
    let (given, usual) = (&input.options, ByParagraphOptions::default());
    let splitter = ByParagraph::new(ByParagraphOptions {
        max_chars: or(given.max_chars, usual.max_chars),
        overlap_chars: or(given.overlap_chars, usual.overlap_chars),
        min_chars: given.min_chars.map(|least| least.0),
        boundaries: Boundaries::Characters,
    });
    run(&input, "byParagraph", &splitter.map_err(|e| e.to_string())?)
}

pub(super) fn fixed_with_overlap(input: Split) -> Answer {
    let (given, usual) = (&input.options, FixedWithOverlapOptions::default());
    let splitter = FixedWithOverlap::new(FixedWithOverlapOptions {
        chars: or(given.chars, usual.chars),
        overlap_chars: or(given.overlap_chars, usual.overlap_chars),
        word_window: or(given.word_window, usual.word_window),
        boundaries: Boundaries::Characters,
    });
    run(
        &input,
        "fixedWithOverlap",
        &splitter.map_err(|e| e.to_string())?,
    )
}

pub(super) fn whole_document(input: Split) -> Answer {
    run(&input, "wholeDocument", &WholeDocument)
}

fn run<S: Splitter>(input: &Split, name: &str, splitter: &S) -> Answer {
    let pages = input.pages.as_ref();
    let pages = pages.map(|pages| Pages::joined_by_blank_lines(pages.iter().map(String::len)));
    let document = Document {
        uri: &input.uri,
        text: &input.text,
        pages: pages.as_ref(),
    };
    let pieces = split_documents(&[document], splitter).map_err(|e| e.to_string())?;
    let chunks: Vec<Value> = pieces
        .iter()
        .map(|piece| chunk(&input.text, piece))
        .collect();
    Ok(json!({ "splitter": name, "chunks": chunks }))
}

/// A piece as the original writes it: what is not known is left out, and so is a long text.
fn chunk(text: &str, numbered: &DocumentPiece) -> Value {
    let piece = &numbered.piece;
    let mut chunk = json!({
        "id": numbered.id,
        "index": numbered.index,
        "charStart": units(text, piece.span.start),
        "charEnd": units(text, piece.span.end),
        "byteStart": piece.span.start,
        "byteEnd": piece.span.end,
        "chars": length(&piece.text),
        "contentHash": sha256(&piece.text),
    });
    if let Some(heading) = piece.heading() {
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

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compared piece by piece, so that a rule about one excuses no other.
pub(super) fn differences(_: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let length = |answer: &Value| answer["chunks"].as_array().map_or(0, Vec::len);
    let places = 0..length(ours).max(length(expected));
    places
        .map(|at| (at, &ours["chunks"][at], &expected["chunks"][at]))
        .filter(|(_, our, there)| !same(our, there, Tolerance::DOUBLES))
        .map(|(at, our, there)| Difference::answered(at, format!("at {at} {}", parted(our, there))))
        .collect()
}

#[derive(Deserialize)]
pub(super) struct Documents {
    documents: Vec<Split>,
}

pub(super) fn by_line(input: Documents) -> Answer {
    let mut answer = Vec::new();
    for Split { uri, text, .. } in &input.documents {
        let document = Document {
            uri,
            text,
            pages: None,
        };
        for numbered in split_documents(&[document], &lines).map_err(|e| e.to_string())? {
            let piece = &numbered.piece;
            answer.push(json!({
                "id": numbered.id,
                "docUri": numbered.uri,
                "index": numbered.index,
                "text": piece.text,
                "charStart": units(text, piece.span.start),
                "charEnd": units(text, piece.span.end),
                "contentHash": sha256(&piece.text),
            }));
        }
    }
    Ok(Value::Array(answer))
}

/// A piece for each line, empty ones too.
fn lines(text: &str) -> Vec<Piece> {
    let mut start = 0;
    let pieces = text.split('\n').filter_map(|line| {
        let span = Span {
            start,
            end: start + line.len(),
        };
        start = span.end + 1;
        Piece::at(text, span)
    });
    pieces.collect()
}

#[derive(Deserialize)]
pub(super) struct Fixed {
    text: String,
    size: Whole,
}

pub(super) fn fixed(input: Fixed) -> Answer {
    Ok(json!(chunks(&input)?))
}

/// How many pieces there are, the size if none is longer, and whether all words are in them.
pub(super) fn fixed_properties(input: Fixed) -> Answer {
    let chunks = chunks(&input)?;
    let longest = chunks.iter().map(|chunk| chunk.chars().count()).max();
    let kept = chunks.iter().flat_map(|chunk| chunk.split_whitespace());
    Ok(json!({
        "count": chunks.len(),
        "max_chars": longest.unwrap_or(0).max(input.size.0),
        "words_kept_in_order": kept.eq(input.text.split_whitespace()),
    }))
}

fn chunks(input: &Fixed) -> Result<Vec<String>, String> {
    let pieces = shelfward_text::fixed(&input.text, input.size.0, Boundaries::Characters);
    let pieces = pieces.map_err(|e| e.to_string())?;
    Ok(pieces.into_iter().map(|piece| piece.text).collect())
}
