//! Pieces of whole paragraphs.

use super::boundaries::Boundaries;
use super::error::{check_overlap, min_chars};
use super::layout::Layout;
use super::line_ends::LineFeeds;
use super::spans::{Cut, Sizes, Stretch, hard_cut, join_scraps, merge_forward, pack, pieces};
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
    /// How many characters of the piece before are repeated at most: 150 unless set.
    pub overlap_chars: usize,
    /// Shorter pieces are joined to what follows: a quarter of `max_chars` up to 250, unless set.
    pub min_chars: Option<usize>,
    /// Where pieces may begin and end: between words unless set.
    pub boundaries: Boundaries,
}

impl Default for ByParagraphOptions {
    fn default() -> Self {
        Self {
            max_chars: 1_000,
            overlap_chars: 150,
            min_chars: None,
            boundaries: Boundaries::Words,
        }
    }
}

/// Cuts a text between paragraphs, which blank lines part, and packs as many of them into a piece
/// as fit. A paragraph that is too long is cut at white space in the last tenth of a piece, or at the
/// last edge of a word where there is none.
///
/// A piece has at most `max_chars` characters of its own, and up to `min_chars` (or 50) more where a
/// short one was joined to it; `overlap_chars` at most stand in front of them.
///
/// ```
/// use shelfward_text::{ByParagraph, ByParagraphOptions, Splitter};
///
/// let text = "A first one.\n\nA second one.\n\nA third one, which alone is almost as long as may be.";
/// let options = ByParagraphOptions { max_chars: 60, overlap_chars: 0, min_chars: Some(0), ..ByParagraphOptions::default() };
/// let pieces = ByParagraph::new(options)?.split(text);
/// assert_eq!(pieces[0].span.slice(text), Some("A first one.\n\nA second one."));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByParagraph {
    pub(super) sizes: Sizes,
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
        let sizes = Sizes {
            max_chars: options.max_chars,
            overlap: options.overlap_chars,
            min_chars: min_chars(options.min_chars, options.max_chars)?,
            boundaries: options.boundaries,
        };
        Ok(Self { sizes })
    }

    /// Packs paragraphs and cuts those that are too long.
    pub(super) fn sized<'a>(&self, text: &str, units: Vec<Stretch<'a>>) -> Vec<Stretch<'a>> {
        let packed = pack(text, units, self.sizes.max_chars);
        hard_cut(text, packed, &self.sizes)
    }

    /// The pieces of a text whose line ends are line feeds.
    pub(super) fn cuts(&self, text: &str, layout: &Layout<'_>) -> Vec<Cut> {
        let Sizes {
            overlap,
            boundaries,
            ..
        } = self.sizes;
        let sized = self.sized(text, layout.units(0, text.len(), None, &self.sizes));
        let joined = join_scraps(text, sized, self.sizes.scrap(), &self.sizes);
        let merged = merge_forward(text, joined, &self.sizes);
        pieces(text, &merged, overlap, boundaries)
    }
}

impl Splitter for ByParagraph {
    fn split(&self, text: &str) -> Vec<Piece> {
        let fed = LineFeeds::of(text);
        let cuts = self.cuts(fed.text(), &Layout::of(fed.text()));
        fed.given_pieces(text, cuts, |_| Vec::new())
    }
}
