//! Pieces of whole sections.

use super::by_paragraph::{ByParagraph, ByParagraphOptions};
use super::line_ends::LineFeeds;
use super::spans::{SCRAP, Stretch, chars, join_scraps, paragraphs, pieces, slice};
use super::{Piece, SplitError, Splitter};
use crate::blocks::headings::{AtxHeading, atx_headings};
use serde::{Deserialize, Serialize};

/// How long the pieces of [`ByHeading`] are, and which headings begin one.
///
/// In JSON a missing key keeps its default and an unknown one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ByHeadingOptions {
    /// The most characters in a piece, before short ones are joined and overlap is added: 1,000
    /// unless set.
    pub max_chars: usize,
    /// How many characters of the piece before are repeated at most: 150 unless set. Behind a cut
    /// inside a paragraph, up to twice as many are.
    pub overlap_chars: usize,
    /// A section with a shorter text is joined to the next one: a quarter of `max_chars` up to
    /// 250, unless set.
    pub min_chars: Option<usize>,
    /// Deeper headings are text like any other: 6, which is all of them, unless set.
    pub max_level: usize,
}

impl Default for ByHeadingOptions {
    fn default() -> Self {
        Self {
            max_chars: 1_000,
            overlap_chars: 150,
            min_chars: None,
            max_level: 6,
        }
    }
}

/// Cuts Markdown at its headings (`#` to `######` at the start of a line, outside code fences). A
/// section that is too long is cut between its paragraphs.
///
/// Every piece names the heading that it stands under; short sections that were joined have the
/// first one's. A text without headings is split as by [`ByParagraph`]. A heading with nothing
/// under it goes with the next section, and headings alone give no piece.
///
/// ```
/// use shelfward_text::{ByHeading, ByHeadingOptions, Splitter};
///
/// let text = "# Leave\nTwenty days a year.\n\n# Pay\nOn the last day.\n";
/// let options = ByHeadingOptions {
///     overlap_chars: 0,
///     min_chars: Some(0),
///     ..ByHeadingOptions::default()
/// };
/// let pieces = ByHeading::new(options)?.split(text);
/// let headings: Vec<_> = pieces.iter().map(|piece| piece.heading.as_deref()).collect();
/// assert_eq!(headings, [Some("Leave"), Some("Pay")]);
/// assert_eq!(pieces[1].span.slice(text), Some("# Pay\nOn the last day."));
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByHeading {
    sizes: ByParagraph,
    max_level: usize,
}

impl ByHeading {
    /// A splitter with these settings.
    ///
    /// # Errors
    ///
    /// As [`ByParagraph::new`].
    pub fn new(options: ByHeadingOptions) -> Result<Self, SplitError> {
        let sizes = ByParagraph::new(ByParagraphOptions {
            max_chars: options.max_chars,
            overlap_chars: options.overlap_chars,
            min_chars: options.min_chars,
        })?;
        Ok(Self {
            sizes,
            max_level: options.max_level,
        })
    }

    /// The sections of a text, each with its stretches and the length of what is under its
    /// heading.
    fn sections<'a>(&self, text: &'a str, headings: &[AtxHeading<'a>]) -> Vec<Section<'a>> {
        let first = headings.first().map_or(text.len(), |heading| heading.start);
        let preface = (first > 0).then(|| self.section(text, 0, 0, first, None));
        let ends = headings.iter().skip(1).map(|next| next.start);
        let titled = headings
            .iter()
            .zip(ends.chain([text.len()]))
            .map(|(heading, end)| {
                self.section(text, heading.start, heading.end, end, Some(heading.text))
            });
        preface.into_iter().chain(titled).collect()
    }

    fn section<'a>(
        &self,
        text: &'a str,
        start: usize,
        body: usize,
        end: usize,
        heading: Option<&'a str>,
    ) -> Section<'a> {
        let whole = Stretch {
            start,
            end,
            heading,
        };
        let stretches = if chars(slice(text, start, end)) <= self.sizes.max_chars {
            vec![whole]
        } else {
            let mut units = paragraphs(text, body, end, heading);
            match units.first_mut() {
                Some(first) => first.start = start,
                None => units.push(whole),
            }
            self.sizes.sized(text, units)
        };
        Section {
            stretches,
            whole,
            body_chars: chars(slice(text, body, end).trim()),
        }
    }

    /// Joins sections that are too short to stand alone to the next that is not.
    fn joined<'a>(&self, sections: Vec<Section<'a>>) -> Vec<Stretch<'a>> {
        let min_chars = self.sizes.min_chars;
        let mut joined: Vec<Stretch<'a>> = Vec::new();
        let mut open: Option<(Stretch<'a>, usize)> = None;
        for mut section in sections {
            if section.body_chars == 0 || section.body_chars < min_chars {
                let end = section.whole.end;
                let (run, length) = match open.take() {
                    Some((run, length)) => (Stretch { end, ..run }, length + section.body_chars),
                    None => (section.whole, section.body_chars),
                };
                if min_chars > 0 && length >= min_chars {
                    joined.push(run);
                } else {
                    open = Some((run, length));
                }
                continue;
            }
            if let Some((run, _)) = open.take()
                && let Some(first) = section.stretches.first_mut()
            {
                first.start = run.start;
                first.heading = run.heading;
            }
            joined.append(&mut section.stretches);
        }
        if let Some((run, length)) = open {
            match joined.last_mut() {
                Some(last) => last.end = run.end,
                None if length > 0 => joined.push(run),
                // Headings alone.
                None => {}
            }
        }
        joined
    }
}

/// A heading and what stands under it.
struct Section<'a> {
    stretches: Vec<Stretch<'a>>,
    whole: Stretch<'a>,
    /// The length of what is under the heading, in characters, without white space around it.
    body_chars: usize,
}

impl Splitter for ByHeading {
    fn split(&self, text: &str) -> Vec<Piece> {
        let fed = LineFeeds::of(text);
        fed.given_pieces(self.split_lines(fed.text()))
    }
}

impl ByHeading {
    /// The pieces of a text whose line ends are line feeds.
    fn split_lines(&self, text: &str) -> Vec<Piece> {
        let headings: Vec<AtxHeading<'_>> = atx_headings(text)
            .filter(|heading| heading.level <= self.max_level)
            .collect();
        if headings.is_empty() {
            return self.sizes.split_lines(text);
        }
        let joined = self.joined(self.sections(text, &headings));
        let min_chars = match self.sizes.min_chars {
            0 => SCRAP,
            min_chars => min_chars,
        };
        pieces(
            text,
            &join_scraps(text, joined, min_chars),
            self.sizes.overlap,
        )
    }
}
