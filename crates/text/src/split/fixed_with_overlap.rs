//! Pieces of a fixed size that overlap.

use super::boundaries::{Boundaries, word_cut};
use super::error::check_overlap;
use super::line_ends::LineFeeds;
use super::spans::{Sizes, Stretch, join_scraps, pieces, rest};
use super::{Piece, SplitError, Splitter};
use crate::grapheme::{cut, is_edge};
use serde::{Deserialize, Serialize};

/// How long the pieces of [`FixedWithOverlap`] are.
///
/// In JSON a missing key keeps its default and an unknown one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct FixedWithOverlapOptions {
    /// The most characters in a piece, before overlap is added: 1,000 unless set.
    pub chars: usize,
    /// How many characters of the piece before are repeated at most: 150 unless set.
    pub overlap_chars: usize,
    /// How many characters ahead of the limit white space is looked for to cut at, rather than the edge
    /// of a word: 40 unless set.
    pub word_window: usize,
    /// Where pieces may begin and end: between words unless set.
    pub boundaries: Boundaries,
}

impl Default for FixedWithOverlapOptions {
    fn default() -> Self {
        Self {
            chars: 1_000,
            overlap_chars: 150,
            word_window: 40,
            boundaries: Boundaries::Words,
        }
    }
}

/// Cuts a text every so many characters, at white space where some is near.
///
/// What is shorter than 50 characters, or than a quarter of `chars`, is joined to the piece before.
///
/// ```
/// use shelfward_text::{FixedWithOverlap, FixedWithOverlapOptions, Splitter};
///
/// let text = "word ".repeat(100);
/// let options = FixedWithOverlapOptions {
///     chars: 100,
///     overlap_chars: 20,
///     ..FixedWithOverlapOptions::default()
/// };
/// let pieces = FixedWithOverlap::new(options)?.split(&text);
/// assert_eq!((pieces[0].span.end, pieces[1].span.start, pieces[1].own.start), (99, 80, 100));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedWithOverlap {
    options: FixedWithOverlapOptions,
}

impl FixedWithOverlap {
    /// A splitter with these settings.
    ///
    /// # Errors
    ///
    /// [`SplitError::NoSize`] if `chars` is 0; [`SplitError::OverlapNotBelowSize`] if the overlap
    /// is not below it.
    pub fn new(options: FixedWithOverlapOptions) -> Result<Self, SplitError> {
        check_overlap(options.overlap_chars, "chars", options.chars)?;
        Ok(Self { options })
    }

    /// Where a piece that begins with `piece` ends.
    fn end(&self, piece: &str) -> usize {
        let FixedWithOverlapOptions {
            chars,
            word_window,
            boundaries,
            ..
        } = self.options;
        if boundaries == Boundaries::Words {
            return word_cut(piece, chars, word_window);
        }
        let Some((limit, _)) = piece.char_indices().nth(chars) else {
            return piece.len();
        };
        let behind = rest(piece, limit).chars().next().map_or(0, char::len_utf8);
        let reach = piece.get(..limit + behind).unwrap_or_default();
        // White space at the far end of the window does not count, nor does the first character
        // behind the start: the piece holds more than that.
        let window = word_window.min(chars - 1);
        let mut back = reach.char_indices().rev().take(window);
        back.find(|(at, character)| character.is_whitespace() && is_edge(piece, *at))
            .map_or_else(|| cut(piece, chars), |(at, _)| at)
    }
}

impl Splitter for FixedWithOverlap {
    fn split(&self, given: &str) -> Vec<Piece> {
        let fed = LineFeeds::of(given);
        let text = fed.text();
        let mut stretches = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = start + self.end(rest(text, start));
            stretches.push(Stretch::new(start, end, None));
            start = end;
        }
        let FixedWithOverlapOptions {
            chars,
            overlap_chars,
            boundaries,
            ..
        } = self.options;
        let sizes = Sizes {
            max_chars: chars,
            overlap: overlap_chars,
            min_chars: 0,
            boundaries,
        };
        let joined = join_scraps(text, stretches, sizes.scrap(), &sizes);
        let cuts = pieces(text, &joined, overlap_chars, boundaries);
        fed.given_pieces(given, cuts, |_| Vec::new())
    }
}
