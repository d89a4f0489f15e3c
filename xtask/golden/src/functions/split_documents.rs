use serde_json::{Value, json};
use shelfward_text::{Document, Piece, Span, split_documents};

use super::split::sha256;
use super::text_of;
use crate::compare::whole;
use crate::rule::{Answer, Function};
use crate::utf16::units;

pub(super) const SPLIT_DOCUMENTS: Function = Function {
    name: "split_documents",
    run,
    differences: whole,
    deviations: &[],
};

fn run(input: &Value) -> Answer {
    let given = input.get("documents").and_then(Value::as_array);
    let mut answer = Vec::new();
    for document in given.ok_or("no documents")? {
        let (uri, text) = (text_of(document, "uri")?, text_of(document, "text")?);
        let document = Document {
            uri: &uri,
            text: &text,
            pages: None,
        };
        let pieces = split_documents(&[document], &lines).map_err(|e| e.to_string())?;
        for piece in pieces {
            answer.push(json!({
                "id": piece.id,
                "docUri": piece.uri,
                "index": piece.index,
                "text": piece.text,
                "charStart": units(&text, piece.span.start),
                "charEnd": units(&text, piece.span.end),
                "contentHash": sha256(&piece.text),
            }));
        }
    }
    Ok(Value::Array(answer))
}

/// A piece for each line, empty ones too.
fn lines(text: &str) -> Vec<Piece> {
    let mut at = 0;
    let pieces = text.split('\n').map(|line| {
        let span = Span {
            start: at,
            end: at + line.len(),
        };
        at = span.end + 1;
        Piece {
            span,
            own_start: span.start,
            heading: None,
        }
    });
    pieces.collect()
}
