//! Headings of Markdown that begin with `#`, at the very start of their lines.

use super::fence::{Place, places};
use super::lines::{Line, lines};

/// A heading, as [`ByHeading`](crate::ByHeading) knows them.
pub(crate) struct AtxHeading<'a> {
    /// The byte offset of its line.
    pub(crate) start: usize,
    /// The byte offset behind its line, ahead of the line's end.
    pub(crate) end: usize,
    /// How many `#` it has: 1 to 6.
    pub(crate) level: usize,
    /// What stands behind them.
    pub(crate) text: &'a str,
}

/// The headings of a text that stand in no code fence.
pub(crate) fn atx_headings(text: &str) -> impl Iterator<Item = AtxHeading<'_>> {
    let lines: Vec<Line<'_>> = lines(text).collect();
    let places = places(&lines);
    let outside = lines
        .into_iter()
        .zip(places)
        .filter(|(_, place)| *place == Place::Outside);
    outside.filter_map(|(line, _)| {
        let (level, text) = heading(line.text)?;
        Some(AtxHeading {
            start: line.start,
            end: line.end(),
            level,
            text,
        })
    })
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let behind = line.trim_start_matches('#');
    let level = line.len() - behind.len();
    if !(1..=6).contains(&level) || !behind.starts_with(BLANK) {
        return None;
    }
    let text = behind.trim_matches(BLANK);
    if text.is_empty() {
        // Blanks alone: the last of them is the text, behind one that parts it from the signs.
        return behind
            .get(1..)
            .and_then(|text| text.get(text.len().checked_sub(1)?..))
            .map(|text| (level, text));
    }
    Some((level, text))
}

const BLANK: [char; 2] = [' ', '\t'];
