//! Pieces of a fixed size, between words where there is one to end.

use super::boundaries::{Boundaries, word_cut};
use super::error::check_size;
use super::line_ends::LineFeeds;
use super::spans::{last_blank, rest};
use super::{Piece, SplitError};
use crate::grapheme::{cut, trim_end, trim_start};
use crate::span::Span;

/// Cuts `text` into pieces of at most `size` characters (Unicode scalar values), without overlap.
///
/// A piece ends at white space where there is some in its last tenth, or right behind it; else at the
/// last edge of a word; else at `size`, never inside a grapheme. By characters, it ends at `size`
/// where no white space is near. Pieces have no white space at their ends, and none is empty. Only a
/// grapheme that is longer by itself goes beyond `size`.
///
/// ```
/// use shelfward_text::{Boundaries, fixed};
///
/// let text = "Carry-over is capped at five days.";
/// let pieces = fixed(text, 30, Boundaries::Words)?.into_iter();
/// let texts: Vec<String> = pieces.map(|piece| piece.text).collect();
/// assert_eq!(texts, ["Carry-over is capped at five", "days."]);
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
///
/// # Errors
///
/// [`SplitError::NoSize`] if `size` is 0.
pub fn fixed(text: &str, size: usize, boundaries: Boundaries) -> Result<Vec<Piece>, SplitError> {
    check_size("size", size)?;
    let spans = spans(text, size, boundaries).into_iter();
    Ok(spans.filter_map(|span| Piece::at(text, span)).collect())
}

pub(super) fn spans(text: &str, size: usize, boundaries: Boundaries) -> Vec<Span> {
    let fed = LineFeeds::of(text);
    let spans = spans_of_lines(fed.text(), size, boundaries).into_iter();
    spans.map(|span| fed.given_span(span)).collect()
}

fn spans_of_lines(text: &str, size: usize, boundaries: Boundaries) -> Vec<Span> {
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
            Some(_) if boundaries == Boundaries::Words => word_cut(piece, size, (size / 10).max(1)),
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
