//! Pieces of whole paragraphs.

use super::error::{check_overlap, min_chars};
use super::line_ends::LineFeeds;
use super::spans::{
    SCRAP, Stretch, hard_cut, join_scraps, merge_forward, pack, paragraphs, pieces,
};
use super::{Piece, SplitError, Splitter};
use serde::{Deserialize, Serialize};

/// How long the pieces of [`ByParagraph`] are.
///
/// In JSON a missing key keeps its default and an unknown one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ByParagraphOptions {
    /// The most characters in a piece, before short ones are joined and overlap is added: 1,000
    /// unless set.
    pub max_chars: usize,
    /// How many characters of the piece before are repeated at most: 150 unless set. Behind a cut
    /// inside a paragraph, up to twice as many are.
    pub overlap_chars: usize,
    /// Shorter pieces are joined to what follows: a quarter of `max_chars` up to 250, unless set.
    pub min_chars: Option<usize>,
}

impl Default for ByParagraphOptions {
    fn default() -> Self {
        Self {
            max_chars: 1_000,
            overlap_chars: 150,
            min_chars: None,
        }
    }
}

/// Cuts a text between paragraphs, which blank lines part, and packs as many of them into a piece
/// as fit. A paragraph that is too long is cut at white space in the last tenth of a piece, or at the
/// limit where there is none.
///
/// ```
/// use shelfward_text::{ByParagraph, ByParagraphOptions, Splitter};
///
/// let text = "A first one.\n\nA second one.\n\nA third one, which alone is almost as long as may be.";
/// let options = ByParagraphOptions { max_chars: 60, overlap_chars: 0, min_chars: Some(0) };
/// let pieces = ByParagraph::new(options)?.split(text);
/// assert_eq!(pieces[0].span.slice(text), Some("A first one.\n\nA second one."));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByParagraph {
    pub(super) max_chars: usize,
    pub(super) overlap: usize,
    pub(super) min_chars: usize,
}

impl ByParagraph {
    /// A splitter with these settings.
    ///
    /// # Errors
    ///
    /// [`SplitError::NoSize`] if `max_chars` is 0; [`SplitError::OverlapNotBelowSize`] or
    /// [`SplitError::MinCharsNotBelowMaxChars`] if the overlap or `min_chars` is not below it.
    pub fn new(options: ByParagraphOptions) -> Result<Self, SplitError> {
        check_overlap(options.overlap_chars, "max_chars", options.max_chars)?;
        Ok(Self {
            max_chars: options.max_chars,
            overlap: options.overlap_chars,
            min_chars: min_chars(options.min_chars, options.max_chars)?,
        })
    }

    /// Packs paragraphs and cuts those that are too long.
    pub(super) fn sized<'a>(&self, text: &str, units: Vec<Stretch<'a>>) -> Vec<Stretch<'a>> {
        let packed = pack(text, units, self.max_chars);
        hard_cut(text, packed, self.max_chars, self.overlap)
    }
}

impl Splitter for ByParagraph {
    fn split(&self, text: &str) -> Vec<Piece> {
        let fed = LineFeeds::of(text);
        fed.given_pieces(self.split_lines(fed.text()))
    }
}

impl ByParagraph {
    /// The pieces of a text whose line ends are line feeds.
    pub(super) fn split_lines(&self, text: &str) -> Vec<Piece> {
        let sized = self.sized(text, paragraphs(text, 0, text.len(), None));
        let joined = join_scraps(text, sized, SCRAP);
        let merged = merge_forward(text, joined, self.min_chars);
        pieces(text, &merged, self.overlap)
    }
}
