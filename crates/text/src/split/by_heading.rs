//! Pieces of whole sections.

use super::boundaries::Boundaries;
use super::by_paragraph::{ByParagraph, ByParagraphOptions};
use super::layout::Layout;
use super::line_ends::LineFeeds;
use super::spans::{Cut, Sizes, Stretch, chars, join_scraps, pieces, slice};
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
    /// How many characters of the piece before are repeated at most: 150 unless set.
    pub overlap_chars: usize,
    /// A section with a shorter text is joined to the next one: a quarter of `max_chars` up to
    /// 250, unless set.
    pub min_chars: Option<usize>,
    /// Deeper headings are text like any other: 6, which is all of them, unless set.
    pub max_level: usize,
    /// Where pieces may begin and end: between words unless set.
    pub boundaries: Boundaries,
}

impl Default for ByHeadingOptions {
    fn default() -> Self {
        Self {
            max_chars: 1_000,
            overlap_chars: 150,
            min_chars: None,
            max_level: 6,
            boundaries: Boundaries::Words,
        }
    }
}

/// Cuts Markdown at its headings (`#` to `######` at the start of a line, outside code fences). A
/// section that is too long is cut between its paragraphs.
///
/// Every piece names the headings that it stands under, the outermost first; short sections that were
/// joined have the first one's. A text without headings is split as by [`ByParagraph`]. A heading with nothing
/// under it goes with the next section, and headings alone give no piece. Sizes are kept as by
/// [`ByParagraph`], headings included.
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
/// let headings: Vec<_> = pieces.iter().map(|piece| piece.heading()).collect();
/// assert_eq!(headings, [Some("Leave"), Some("Pay")]);
/// assert_eq!(pieces[1].text, "# Pay\nOn the last day.");
/// # Ok::<(), shelfward_text::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByHeading {
    paragraphs: ByParagraph,
    max_level: usize,
}

impl ByHeading {
    /// A splitter with these settings.
    ///
    /// # Errors
    ///
    /// As [`ByParagraph::new`].
    pub fn new(options: ByHeadingOptions) -> Result<Self, SplitError> {
        let paragraphs = ByParagraph::new(ByParagraphOptions {
            max_chars: options.max_chars,
            overlap_chars: options.overlap_chars,
            min_chars: options.min_chars,
            boundaries: options.boundaries,
        })?;
        Ok(Self {
            paragraphs,
            max_level: options.max_level,
        })
    }

    /// The sections of a text, each with its stretches and the length of what is under its
    /// heading.
    fn sections<'a>(
        &self,
        text: &'a str,
        layout: &Layout<'_>,
        headings: &[AtxHeading<'a>],
    ) -> Vec<Section<'a>> {
        let section = |start, body, end, heading| {
            let whole = Stretch::new(start, end, heading);
            let sizes = &self.paragraphs.sizes;
            let stretches = if chars(slice(text, start, end)) <= sizes.max_chars {
                vec![whole]
            } else {
                let mut units = layout.units(body, end, heading, sizes);
                match units.first_mut() {
                    Some(first) => first.start = start,
                    None => units.push(whole),
                }
                self.paragraphs.sized(text, units)
            };
            let body_chars = chars(slice(text, body, end).trim());
            Section {
                stretches,
                whole,
                body_chars,
                // Headings count where a piece is to keep to its size.
                length: match sizes.boundaries {
                    Boundaries::Words => chars(slice(text, start, end)),
                    Boundaries::Characters => body_chars,
                },
            }
        };
        let first = headings.first().map_or(text.len(), |heading| heading.start);
        let preface = (first > 0).then(|| section(0, 0, first, None));
        let ends = headings.iter().skip(1).map(|next| next.start);
        let titled = headings
            .iter()
            .zip(ends.chain([text.len()]))
            .map(|(heading, end)| section(heading.start, heading.end, end, Some(heading.text)));
        preface.into_iter().chain(titled).collect()
    }

    /// Joins sections that are too short to stand alone to the next that is not.
    fn joined<'a>(&self, text: &str, sections: Vec<Section<'a>>) -> Vec<Stretch<'a>> {
        let sizes = &self.paragraphs.sizes;
        let min_chars = sizes.min_chars;
        if sections.iter().all(|section| section.body_chars == 0) {
            // Headings alone.
            return Vec::new();
        }
        let mut joined: Vec<Stretch<'a>> = Vec::new();
        let mut open: Option<(Stretch<'a>, usize)> = None;
        for mut section in sections {
            if let Some((run, _)) = open
                && !sizes.has_room(text, &run, section.first_end())
            {
                joined.push(run);
                open = None;
            }
            if section.body_chars == 0 || section.length < min_chars {
                let end = section.whole.end;
                let (run, length) = match open.take() {
                    Some((run, length)) => (Stretch { end, ..run }, length + section.length),
                    None => (section.whole, section.length),
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
        if let Some((run, _)) = open {
            match joined.last_mut() {
                Some(last) if sizes.has_room(text, last, run.end) => last.end = run.end,
                _ => joined.push(run),
            }
        }
        joined
    }

    /// The pieces of a text whose line ends are line feeds.
    fn cuts(&self, text: &str, headings: &[AtxHeading<'_>]) -> Vec<Cut> {
        let layout = Layout::of(text);
        if headings.is_empty() {
            return self.paragraphs.cuts(text, &layout);
        }
        let Sizes {
            overlap,
            boundaries,
            min_chars,
            ..
        } = self.paragraphs.sizes;
        let sizes = &self.paragraphs.sizes;
        let joined = self.joined(text, self.sections(text, &layout, headings));
        let least = if min_chars == 0 {
            sizes.scrap()
        } else {
            min_chars
        };
        let joined = join_scraps(text, joined, least, sizes);
        pieces(text, &joined, overlap, boundaries)
    }
}

/// A heading and what stands under it.
struct Section<'a> {
    stretches: Vec<Stretch<'a>>,
    whole: Stretch<'a>,
    /// The length of what is under the heading, in characters, without white space around it.
    body_chars: usize,
    /// What is compared with the least.
    length: usize,
}

impl Section<'_> {
    /// Where the part ends that goes with a run of short sections ahead.
    fn first_end(&self) -> usize {
        self.stretches
            .first()
            .map_or(self.whole.end, |first| first.end)
    }
}

impl Splitter for ByHeading {
    fn split(&self, text: &str) -> Vec<Piece> {
        let fed = LineFeeds::of(text);
        let headings: Vec<AtxHeading<'_>> = atx_headings(fed.text())
            .filter(|heading| heading.level <= self.max_level)
            .collect();
        let above = above(&headings);
        fed.given_pieces(text, self.cuts(fed.text(), &headings), |at| {
            let mut path = Vec::new();
            let behind = headings.partition_point(|heading| heading.start <= at);
            let mut next = behind.checked_sub(1);
            while let Some(heading) = next.and_then(|at| headings.get(at)) {
                path.push(heading.text.to_owned());
                next = next.and_then(|at| above.get(at).copied().flatten());
            }
            path.reverse();
            path
        })
    }
}

/// For each heading, the one that it stands under.
fn above(headings: &[AtxHeading<'_>]) -> Vec<Option<usize>> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let under = headings.iter().enumerate().map(|(at, heading)| {
        open.retain(|(level, _)| *level < heading.level);
        let above = open.last().map(|(_, above)| *above);
        open.push((heading.level, at));
        above
    });
    under.collect()
}
