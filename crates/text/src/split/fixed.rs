//! Pieces of a fixed size, between words where there is one to end.

use super::SplitError;
use super::error::check_size;
use super::line_ends::LineFeeds;
use super::spans::{last_blank, rest};
use crate::grapheme::{cut, trim_end, trim_start};
use crate::span::Span;

/// Cuts `text` into pieces of at most `size` characters (Unicode scalar values), without overlap.
///
/// A piece ends at white space where there is some in its last tenth, or right behind it; else at
/// `size`, never inside a grapheme. The latest white space counts. Pieces have no white space at
/// their ends, and none is empty. Only a grapheme that is longer by itself goes beyond `size`.
///
/// ```
/// use shelfward_text::fixed;
///
/// let text = "Carry-over is capped at five days.";
/// let pieces: Vec<_> = fixed(text, 30)?.into_iter().map(|span| span.slice(text)).collect();
/// assert_eq!(pieces, [Some("Carry-over is capped at five"), Some("days.")]);
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
///
/// # Errors
///
/// [`SplitError::NoSize`] if `size` is 0.
pub fn fixed(text: &str, size: usize) -> Result<Vec<Span>, SplitError> {
    check_size("size", size)?;
    Ok(spans(text, size))
}

pub(super) fn spans(text: &str, size: usize) -> Vec<Span> {
    let fed = LineFeeds::of(text);
    let spans = spans_of_lines(fed.text(), size).into_iter();
    spans.map(|span| fed.given_span(span)).collect()
}

fn spans_of_lines(text: &str, size: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    loop {
        // A cut is an edge, so the rest is all that the next one has to look at.
        at += trim_start(rest(text, at));
        let piece = rest(text, at);
        if piece.is_empty() {
            return spans;
        }
        let next = match piece.char_indices().nth(size) {
            None => piece.len(),
            Some((limit, _)) => {
                last_blank(piece, limit, size, 0).unwrap_or_else(|| cut(piece, size))
            }
        };
        let end = trim_end(piece.get(..next).unwrap_or_default());
        spans.push(Span {
            start: at,
            end: at + end,
        });
        at += next;
    }
}
