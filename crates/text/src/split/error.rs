//! Why a splitter is refused.

use crate::span::Span;

/// Why a document is not split: the settings cannot be meant, or a splitter's answer does not fit
/// its text. The message holds no text of a document.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// Pieces of no characters.
    #[error("{option} is 0, and a piece holds at least one character: set {option} to 1 or more")]
    NoSize {
        /// The setting.
        option: &'static str,
    },
    /// Pieces that would repeat all of the one before, or more.
    #[error(
        "overlap_chars is {overlap}, and the next piece would not get ahead: set it below {option}, \
         which is {size}"
    )]
    OverlapNotBelowSize {
        /// The overlap, in characters.
        overlap: usize,
        /// The setting of the size.
        option: &'static str,
        /// The size, in characters.
        size: usize,
    },
    /// Pieces that would have to be longer than they may be.
    #[error(
        "min_chars is {min_chars}, and no piece may be longer than max_chars, which is {max_chars}: \
         set min_chars below it"
    )]
    MinCharsNotBelowMaxChars {
        /// The least that a piece should hold, in characters.
        min_chars: usize,
        /// The most, in characters.
        max_chars: usize,
    },
    /// A splitter of the caller's answered a place that is not in the document.
    #[error(
        "piece {piece} of {uri:?} is at {}..{}, which is no part of its text: a span is in byte \
         offsets, inside the text and on characters", span.start, span.end
    )]
    OffsetsMismatch {
        /// The document.
        uri: String,
        /// Which piece that the splitter answered, from 0.
        piece: usize,
        /// What it answered.
        span: Span,
    },
}

/// As it is read, also where `main` or `unwrap` prints it.
impl std::fmt::Debug for SplitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Refuses a size of 0.
pub(crate) fn check_size(option: &'static str, size: usize) -> Result<(), SplitError> {
    if size == 0 {
        return Err(SplitError::NoSize { option });
    }
    Ok(())
}

/// Refuses an overlap with which the pieces would not get ahead.
pub(super) fn check_overlap(
    overlap: usize,
    option: &'static str,
    size: usize,
) -> Result<(), SplitError> {
    check_size(option, size)?;
    if overlap >= size {
        return Err(SplitError::OverlapNotBelowSize {
            overlap,
            option,
            size,
        });
    }
    Ok(())
}

/// The least that a piece should hold: what is given, or a quarter of the most, up to 250.
pub(super) fn min_chars(given: Option<usize>, max_chars: usize) -> Result<usize, SplitError> {
    match given {
        Some(min_chars) if min_chars >= max_chars => Err(SplitError::MinCharsNotBelowMaxChars {
            min_chars,
            max_chars,
        }),
        Some(min_chars) => Ok(min_chars),
        None => Ok((max_chars / 4).min(250)),
    }
}
