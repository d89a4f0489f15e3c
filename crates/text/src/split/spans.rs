//! What the splitters with overlap share: stretches of a text, before they are pieces.

use super::boundaries::{Boundaries, repeat_from, word_cut};
use crate::grapheme::{break_behind, cut, cut_behind, is_edge, trim_end, trim_start};
use crate::span::Span;

const SCRAP: usize = 50;

/// A stretch of the text that becomes a piece.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) heading: Option<&'a str>,
    /// The head of a table whose rows it goes on with.
    pub(super) head: Option<Span>,
    /// It fits in a piece, and is not cut for the heading that was put in front of it.
    pub(super) whole: bool,
}

impl<'a> Stretch<'a> {
    pub(super) fn new(start: usize, end: usize, heading: Option<&'a str>) -> Self {
        Self {
            start,
            end,
            heading,
            head: None,
            whole: false,
        }
    }

    /// How many characters it has, with the head of its table.
    fn chars(&self, text: &str) -> usize {
        let head = self.head.map_or(0, |head| head_chars(text, head));
        head + chars(slice(text, self.start, self.end))
    }
}

/// How many characters the head of a table has, with the line end behind it.
pub(super) fn head_chars(text: &str, head: Span) -> usize {
    chars(slice(text, head.start, head.end)) + 1
}

/// How long pieces are, and where they begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The most characters ahead of joining and overlap.
    pub(super) max_chars: usize,
    pub(super) overlap: usize,
    pub(super) min_chars: usize,
    pub(super) boundaries: Boundaries,
}

impl Sizes {
    /// Below so many characters a piece is a scrap, and is joined to the one before.
    pub(super) fn scrap(&self) -> usize {
        match self.boundaries {
            Boundaries::Words => SCRAP.min(self.max_chars / 4),
            Boundaries::Characters => SCRAP,
        }
    }

    /// Whether a piece from `first` to `end` is not too long for what is joined.
    pub(super) fn has_room(&self, text: &str, first: &Stretch<'_>, end: usize) -> bool {
        if self.boundaries == Boundaries::Characters {
            return true;
        }
        let head = first.head.map_or(0, |head| head_chars(text, head));
        let most = self
            .max_chars
            .saturating_add(self.min_chars.max(self.scrap()));
        let most = most.saturating_sub(head).saturating_add(1);
        is_shorter(slice(text, first.start, end), most)
    }
}

pub(crate) fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

pub(super) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Whether `text` has fewer characters, without counting on past them.
fn is_shorter(text: &str, than: usize) -> bool {
    than > 0 && text.chars().nth(than - 1).is_none()
}

/// The paragraphs of `text[start..end]`: what stands between blank lines.
pub(super) fn paragraphs<'a>(
    text: &str,
    start: usize,
    end: usize,
    heading: Option<&'a str>,
) -> Vec<Stretch<'a>> {
    let mut paragraphs = Vec::new();
    let mut begin = start;
    let mut scan = start;
    let mut push = |begin: usize, upto: usize| {
        if begin < upto {
            paragraphs.push(Stretch::new(begin, upto, heading));
        }
    };
    while let Some(found) = slice(text, scan, end).find('\n') {
        let line_end = scan + found;
        let behind = slice(text, line_end + 1, end);
        let blank = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        scan = line_end + 1 + blank;
        if slice(text, scan, end).starts_with('\n') {
            push(begin, line_end);
            scan += 1;
            begin = scan;
        }
    }
    push(begin, end);
    paragraphs
}

/// Joins neighbours under one heading for as long as they stay within `max_chars` together.
pub(super) fn pack<'a>(text: &str, units: Vec<Stretch<'a>>, max_chars: usize) -> Vec<Stretch<'a>> {
    let mut packed: Vec<Stretch<'a>> = Vec::new();
    let mut length = 0_usize;
    for unit in units {
        if let Some(last) = packed.last_mut() {
            // The white space between them counts.
            let longer = length + chars(slice(text, last.end, unit.end));
            if longer <= max_chars && last.heading == unit.heading && unit.head.is_none() {
                last.end = unit.end;
                length = longer;
                continue;
            }
        }
        length = unit.chars(text);
        packed.push(unit);
    }
    packed
}

/// Cuts what is longer than `max_chars`: at the latest white space in the last tenth, or else at
/// the last edge of a word or at the limit. By characters, what follows begins `overlap` of them
/// ahead of the cut.
pub(super) fn hard_cut<'a>(text: &str, units: Vec<Stretch<'a>>, sizes: &Sizes) -> Vec<Stretch<'a>> {
    let Sizes {
        max_chars, overlap, ..
    } = *sizes;
    let words = sizes.boundaries == Boundaries::Words;
    let mut pieces = Vec::new();
    for unit in units {
        let mut start = unit.start;
        let whole = unit.whole && sizes.has_room(text, &unit, unit.end);
        loop {
            let left = slice(text, start, unit.end);
            let end = match words {
                _ if whole => unit.end,
                true => start + word_cut(left, max_chars, (max_chars / 10).max(1)),
                false => start + hard_end(left, max_chars, overlap),
            };
            pieces.push(Stretch { start, end, ..unit });
            if end >= unit.end {
                break;
            }
            if words {
                start = end;
                continue;
            }
            // However long a grapheme at the cut is, what follows gets ahead.
            let least = start + cut(left, 1);
            let by = Boundaries::Characters;
            start = overlap_start(text, start, end, overlap, by)
                .max(least)
                .min(end);
        }
    }
    pieces
}

/// Where a stretch that begins with `left` is cut.
fn hard_end(left: &str, max_chars: usize, overlap: usize) -> usize {
    let Some((limit, _)) = left.char_indices().nth(max_chars) else {
        return left.len();
    };
    // What the next one repeats must be less than this one holds.
    let floor = left.char_indices().nth(overlap).map_or(0, |(at, _)| at);
    last_blank(left, limit, max_chars, floor).unwrap_or_else(|| cut_behind(left, max_chars, floor))
}

/// The latest white space at `limit`, which is `size` characters on, or in the last tenth ahead of
/// it; behind `floor` in any case.
pub(super) fn last_blank(piece: &str, limit: usize, size: usize, floor: usize) -> Option<usize> {
    let behind = rest(piece, limit).chars().next().map_or(0, char::len_utf8);
    let mut back = piece.get(..limit + behind)?.char_indices().rev();
    let mut reach = back.by_ref().take((size / 10).max(1).saturating_add(1));
    reach
        .find(|(at, character)| *at > floor && character.is_whitespace() && is_edge(piece, *at))
        .map(|(at, _)| at)
}

/// Joins what is shorter than `min_chars` to what stands before it under the same heading.
pub(super) fn join_scraps<'a>(
    text: &str,
    stretches: Vec<Stretch<'a>>,
    min_chars: usize,
    sizes: &Sizes,
) -> Vec<Stretch<'a>> {
    let mut joined: Vec<Stretch<'a>> = Vec::new();
    for stretch in stretches {
        let scrap = is_shorter(slice(text, stretch.start, stretch.end), min_chars);
        match joined.last_mut() {
            Some(last)
                if scrap
                    && last.heading == stretch.heading
                    && sizes.has_room(text, last, stretch.end) =>
            {
                last.end = stretch.end;
            }
            _ => joined.push(stretch),
        }
    }
    joined
}

/// Joins what is shorter than the least to what follows, until it is long enough.
pub(super) fn merge_forward<'a>(
    text: &str,
    stretches: Vec<Stretch<'a>>,
    sizes: &Sizes,
) -> Vec<Stretch<'a>> {
    let mut merged: Vec<Stretch<'a>> = Vec::new();
    let mut open: Option<(Stretch<'a>, usize)> = None;
    for stretch in stretches {
        let (run, length) = match open.take() {
            Some((run, _)) if !sizes.has_room(text, &run, stretch.end) => {
                merged.push(run);
                (stretch, chars(slice(text, stretch.start, stretch.end)))
            }
            Some((run, length)) => {
                let length = length + chars(slice(text, run.end, stretch.end));
                let end = stretch.end;
                (Stretch { end, ..run }, length)
            }
            None => (stretch, chars(slice(text, stretch.start, stretch.end))),
        };
        if length < sizes.min_chars {
            open = Some((run, length));
        } else {
            merged.push(run);
        }
    }
    if let Some((run, _)) = open {
        match merged.last_mut() {
            Some(last) if sizes.has_room(text, last, run.end) => last.end = run.end,
            _ => merged.push(run),
        }
    }
    merged
}

/// A piece as a place in the text that was cut.
pub(super) struct Cut {
    pub(super) span: Span,
    pub(super) own_start: usize,
    /// Where the stretch begins that it was made of, whose headings are its.
    pub(super) stretch_start: usize,
    pub(super) head: Option<Span>,
}

/// The pieces: each but the first begins up to `overlap` characters earlier, and all are trimmed.
pub(super) fn pieces(
    text: &str,
    stretches: &[Stretch<'_>],
    overlap: usize,
    boundaries: Boundaries,
) -> Vec<Cut> {
    let mut pieces: Vec<Cut> = Vec::new();
    let mut before: Option<usize> = None;
    for stretch in stretches {
        let own = trimmed(text, stretch.start, stretch.end);
        // No piece reaches back beyond where the one before begins. The rows of a table have its head
        // in front of them, and nothing else.
        let floor = before.filter(|_| stretch.head.is_none());
        let reach = floor.map_or(stretch.start, |floor| {
            overlap_start(text, floor, stretch.start, overlap, boundaries)
        });
        before = Some(stretch.start);
        let Some(own) = own else {
            continue;
        };
        let last = pieces.last().map(|last| last.span);
        let begins_behind = |span: &Span| last.is_none_or(|last| span.start > last.start);
        let repeats = (reach < stretch.start)
            .then(|| trimmed(text, reach, stretch.end))
            .flatten();
        let with_part = || {
            // All of the last piece would come again: its first word is left out.
            let from = next_word(text, last?.start, stretch.start)?;
            trimmed(text, from, stretch.end)
        };
        let span = match repeats {
            Some(span) if begins_behind(&span) => span,
            Some(_) if let Some(span) = with_part() => span,
            _ if begins_behind(&own) => own,
            _ => {
                // White space alone parts the two: this one holds the other.
                if let Some(last) = pieces.last_mut() {
                    last.span.end = last.span.end.max(own.end);
                }
                continue;
            }
        };
        let behind = last.map_or(span.start, |last| span.start.max(last.end));
        // A piece that adds white space alone would only repeat.
        let Some(new) = trimmed(text, behind, span.end) else {
            continue;
        };
        pieces.push(Cut {
            span,
            own_start: new.start,
            stretch_start: stretch.start,
            head: stretch.head,
        });
    }
    pieces
}

/// The stretch without white space at its ends; `None` if nothing is left.
pub(crate) fn trimmed(text: &str, start: usize, end: usize) -> Option<Span> {
    let start = start + trim_start(slice(text, start, end));
    let end = start + trim_end(slice(text, start, end));
    (start < end).then_some(Span { start, end })
}

/// Where what is repeated begins: at most `overlap` characters ahead of `start`, and not ahead of
/// `floor`.
fn overlap_start(
    text: &str,
    floor: usize,
    start: usize,
    overlap: usize,
    boundaries: Boundaries,
) -> usize {
    let Some(back) = overlap.checked_sub(1) else {
        return start;
    };
    let ahead = slice(text, floor, start);
    let reach = ahead.char_indices().nth_back(back).map_or(0, |(at, _)| at);
    floor
        + match boundaries {
            Boundaries::Words => repeat_from(ahead, behind_rows(ahead, reach)),
            Boundaries::Characters => break_behind(ahead, reach),
        }
}

/// `reach`, or where the last row of a table ends behind it: part of a table says nothing.
fn behind_rows(ahead: &str, reach: usize) -> usize {
    let row = match ahead.rfind("\n|") {
        Some(at) => at + 1,
        None if ahead.starts_with('|') => 0,
        None => return reach,
    };
    let end = rest(ahead, row)
        .find('\n')
        .map_or(ahead.len(), |end| row + end);
    reach.max(end)
}

/// Where the first word behind `from`, an edge, begins, if one does ahead of `upto`.
fn next_word(text: &str, from: usize, upto: usize) -> Option<usize> {
    let ahead = slice(text, from, upto);
    let mut at = 0;
    loop {
        at += rest(ahead, at).find(char::is_whitespace)?;
        let word = at + trim_start(rest(ahead, at));
        if word == ahead.len() {
            return None;
        }
        // White space that a mark binds to parts no words.
        if word > at && is_edge(ahead, word) {
            return Some(from + word);
        }
        at += rest(ahead, at).chars().next().map_or(1, char::len_utf8);
    }
}
