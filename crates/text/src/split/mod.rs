//! Documents cut into pieces.

mod boundaries;
mod by_heading;
mod by_paragraph;
mod documents;
mod error;
mod fixed;
mod fixed_with_overlap;
mod layout;
mod line_ends;
mod pages;
mod spans;
mod structure;
mod whole_document;

pub use boundaries::Boundaries;
pub use by_heading::{ByHeading, ByHeadingOptions};
pub use by_paragraph::{ByParagraph, ByParagraphOptions};
pub use documents::{Document, DocumentPiece, split_documents};
pub use error::SplitError;
pub use fixed::fixed;
pub use fixed_with_overlap::{FixedWithOverlap, FixedWithOverlapOptions};
pub use pages::Pages;
pub use structure::structure;
pub use whole_document::WholeDocument;

pub(crate) use boundaries::{word_end, word_start};
pub(crate) use spans::trimmed;

use crate::span::Span;
use serde::{Deserialize, Serialize};

/// Cuts the text of a document into pieces.
///
/// What the splitters of this crate answer, for any text:
///
/// - the pieces stand in the order of the text, and each begins behind where the one before it
///   begins;
/// - together they hold everything but white space;
/// - each has something of its own;
/// - none is empty, begins or ends with white space, or begins or ends inside a grapheme, or behind
///   a zero-width joiner or non-joiner that a word goes on behind, where there is another place;
/// - none begins or ends inside a word that is not longer than a piece by itself, unless
///   [`Boundaries::Characters`] asks for it;
/// - they are those of the same text with line feeds: CR LF, CR, U+2028 and U+2029 end a line as
///   they do, and count as one character.
///
/// A function of a text is a splitter too.
pub trait Splitter {
    /// The pieces of `text`.
    fn split(&self, text: &str) -> Vec<Piece>;
}

impl<F: Fn(&str) -> Vec<Piece>> Splitter for F {
    fn split(&self, text: &str) -> Vec<Piece> {
        self(text)
    }
}

/// A piece of a document: what every splitter answers.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Piece {
    /// What to index and to embed: the part of the document that `span` covers. A piece that goes on
    /// with a table has the table's head in front of it, and those of [`structure`] have blocks
    /// without their signs.
    pub text: String,
    /// Where it stands in the document, in byte offsets.
    pub span: Span,
    /// The end of `span` that is its own. It begins at the first character that is no white space and
    /// that the piece before has not. What stands ahead of it, if anything, is overlap: it repeats the
    /// end of the piece before.
    pub own: Span,
    /// The headings that it stands under, the outermost first, if they are known.
    pub headings: Vec<String>,
    /// The number of the page, from 1, on which what it has of its own begins, if it is known.
    pub page: Option<usize>,
}

impl Piece {
    /// The piece of `text` at a place, all its own; `None` if the place is not in the text.
    #[must_use]
    pub fn at(text: &str, span: Span) -> Option<Self> {
        Some(Self {
            text: span.slice(text)?.to_owned(),
            span,
            own: span,
            headings: Vec::new(),
            page: None,
        })
    }

    /// The heading that it stands under directly.
    #[must_use]
    pub fn heading(&self) -> Option<&str> {
        self.headings.last().map(String::as_str)
    }
}

/// Shows places, never text.
impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Piece")
            .field("span", &self.span)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}
