//! A place in a text.

use serde::{Deserialize, Serialize};

/// A stretch of a text: byte offsets, from `start` up to but not including `end`.
///
/// A span belongs to one text. Every span that this crate answers lies on character boundaries
/// of the text that it was answered for, so [`slice`](Self::slice) finds it there.
///
/// Spans sort by where they start, then by where they end.
///
/// ```
/// use shelfward_text::Span;
///
/// let span = Span { start: 1, end: 3 };
/// assert_eq!(span.slice("aéb"), Some("é"));
/// assert_eq!(span.slice("é"), None); // 1 falls inside the character
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The byte offset of the first byte inside.
    pub start: usize,
    /// The byte offset just behind the last byte inside.
    pub end: usize,
}

impl Span {
    /// The part of `text` that the span covers.
    ///
    /// `None` if the span runs past the end, cuts a character, or ends before it starts: it was
    /// then made for another text.
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.start..self.end)
    }
}
