//! One piece.

use super::spans::trimmed;
use super::{Piece, Splitter};

/// Leaves a text whole, without the white space at its ends. A blank text gives no piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WholeDocument;

impl Splitter for WholeDocument {
    fn split(&self, text: &str) -> Vec<Piece> {
        let span = trimmed(text, 0, text.len());
        span.and_then(|span| Piece::at(text, span))
            .into_iter()
            .collect()
    }
}
