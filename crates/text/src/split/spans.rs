//! What the splitters with overlap share: stretches of a text, before they are pieces.

use super::Piece;
use crate::grapheme::{break_behind, cut, cut_behind, is_edge, trim_end, trim_start};
use crate::span::Span;

/// Below so many characters a piece is a scrap, and is joined to the one before.
pub(super) const SCRAP: usize = 50;

/// A stretch of the text that becomes a piece.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) heading: Option<&'a str>,
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
    text: &'a str,
    start: usize,
    end: usize,
    heading: Option<&'a str>,
) -> Vec<Stretch<'a>> {
    let mut paragraphs = Vec::new();
    let mut begin = start;
    let mut scan = start;
    let mut push = |begin: usize, upto: usize| {
        if begin < upto {
            paragraphs.push(Stretch {
                start: begin,
                end: upto,
                heading,
            });
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
            if longer <= max_chars && last.heading == unit.heading {
                last.end = unit.end;
                length = longer;
                continue;
            }
        }
        length = chars(slice(text, unit.start, unit.end));
        packed.push(unit);
    }
    packed
}

/// Cuts what is longer than `max_chars`: at the latest white space in the last tenth, or else at
/// the limit. What follows begins `overlap` characters ahead of the cut.
pub(super) fn hard_cut<'a>(
    text: &str,
    units: Vec<Stretch<'a>>,
    max_chars: usize,
    overlap: usize,
) -> Vec<Stretch<'a>> {
    let mut pieces = Vec::new();
    for unit in units {
        let mut start = unit.start;
        loop {
            let left = slice(text, start, unit.end);
            let end = start + hard_end(left, max_chars, overlap);
            pieces.push(Stretch { start, end, ..unit });
            if end >= unit.end {
                break;
            }
            // However long a grapheme at the cut is, what follows gets ahead.
            let least = start + cut(left, 1);
            start = overlap_start(text, start, end, overlap).max(least).min(end);
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
) -> Vec<Stretch<'a>> {
    let mut joined: Vec<Stretch<'a>> = Vec::new();
    for stretch in stretches {
        let scrap = is_shorter(slice(text, stretch.start, stretch.end), min_chars);
        match joined.last_mut() {
            Some(last) if scrap && last.heading == stretch.heading => last.end = stretch.end,
            _ => joined.push(stretch),
        }
    }
    joined
}

/// Joins what is shorter than `min_chars` to what follows, until it is long enough.
pub(super) fn merge_forward<'a>(
    text: &str,
    stretches: Vec<Stretch<'a>>,
    min_chars: usize,
) -> Vec<Stretch<'a>> {
    let mut merged: Vec<Stretch<'a>> = Vec::new();
    let mut open: Option<(Stretch<'a>, usize)> = None;
    for stretch in stretches {
        let (run, length) = match open.take() {
            Some((run, length)) => {
                let length = length + chars(slice(text, run.end, stretch.end));
                let end = stretch.end;
                (Stretch { end, ..run }, length)
            }
            None => (stretch, chars(slice(text, stretch.start, stretch.end))),
        };
        if length < min_chars {
            open = Some((run, length));
        } else {
            merged.push(run);
        }
    }
    if let Some((run, _)) = open {
        match merged.last_mut() {
            Some(last) => last.end = run.end,
            None => merged.push(run),
        }
    }
    merged
}

/// The pieces: each but the first begins up to `overlap` characters earlier, and all are trimmed.
pub(super) fn pieces(text: &str, stretches: &[Stretch<'_>], overlap: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before: Option<usize> = None;
    for stretch in stretches {
        let own = trimmed(text, stretch.start, stretch.end);
        // No piece reaches back beyond where the one before begins.
        let reach = before.map_or(stretch.start, |floor| {
            overlap_start(text, floor, stretch.start, overlap)
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
        pieces.push(Piece {
            span,
            own_start: new.start,
            heading: stretch.heading.map(str::to_owned),
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

/// The edge at most `overlap` characters ahead of `start`, and not ahead of `floor`.
fn overlap_start(text: &str, floor: usize, start: usize, overlap: usize) -> usize {
    let Some(back) = overlap.checked_sub(1) else {
        return start;
    };
    let ahead = slice(text, floor, start);
    let reach = ahead.char_indices().nth_back(back).map_or(0, |(at, _)| at);
    floor + break_behind(ahead, reach)
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
