//! Where a text is worth showing.

use std::cmp::Reverse;

use super::is_white;
use crate::grapheme::{break_behind, cut};
use crate::sentence::each_start;
use crate::span::Span;
use crate::split::{trimmed, word_end, word_start};

/// A word of the query in the text.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) span: Span,
    /// Which of the query's words it is.
    pub(super) word: usize,
    /// How many characters stand ahead of its start and of its end.
    pub(super) chars: Span,
}

/// The place of the matches that are worth the most together and within `max_chars` of each other, each
/// word counting once; of several such, those that stand closest, then the first.
pub(super) fn best(matches: &[Match], weights: &[u64], max_chars: usize) -> Option<Span> {
    let mut counts = vec![0_u32; weights.len()];
    let weight = |found: &Match| weights.get(found.word).copied().unwrap_or(0);
    let mut sum = 0_u64;
    let mut best: Option<((u64, Reverse<usize>), Span)> = None;
    let mut left = matches.iter().peekable();
    for right in matches {
        if let Some(count) = counts.get_mut(right.word) {
            *count += 1;
            sum += if *count == 1 { weight(right) } else { 0 };
        }
        // Every match is taken in once and dropped once.
        while let Some(first) = left.peek() {
            let count = counts.get_mut(first.word);
            let wide = right.chars.end.saturating_sub(first.chars.start) > max_chars;
            let Some(count) = count.filter(|n| **n > 1 || wide && !std::ptr::eq(*first, right))
            else {
                break;
            };
            *count -= 1;
            sum -= if *count == 0 { weight(first) } else { 0 };
            left.next();
        }
        let Some(first) = left.peek() else { continue };
        let extent = right.chars.end.saturating_sub(first.chars.start);
        let worth = (sum, Reverse(extent));
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            let span = Span {
                start: first.span.start,
                end: right.span.end,
            };
            best = Some((worth, span));
        }
    }
    best.map(|(_, span)| span)
}

/// What is shown of a text: at most `max_chars` characters with all of `core` that fits, from the start
/// of its sentence if that is near, between words.
pub(super) fn around(text: &str, core: Span, max_chars: usize) -> Span {
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let behind = part(core.start, text.len());
    let length = part(core.start, core.end).chars().count();
    let Some(room) = max_chars.checked_sub(length) else {
        let end = core.start
            + word_end(behind, max_chars, max_chars).unwrap_or_else(|| cut(behind, max_chars));
        return trimmed(text, core.start, end).unwrap_or(core);
    };
    let after = part(core.end, text.len()).chars().take(room).count();
    let ahead = (room / 2).max(room - after);
    let start = begin(text, core.start, ahead, ahead.max(room * 2 / 3));
    let start = core.start - part(start, core.start).trim_start_matches(is_white).len();

    let room = room.saturating_sub(part(start, core.start).chars().count());
    let past = part(core.end, text.len());
    // White space ahead of a word takes the room of one.
    let blank = past.len() - past.trim_start_matches(is_white).len();
    let room = room.saturating_sub(usize::from(blank > 0));
    let more = word_end(part(core.end + blank, text.len()), room, room / 4 * 3);
    let end = core.end + more.filter(|more| *more > 0).map_or(0, |more| blank + more);
    trimmed(text, start, end).unwrap_or(core)
}

/// Where what is shown ahead of a match at `at` begins: at its sentence if that is at most `sentence`
/// characters ahead, else at a word at most `chars` ahead.
fn begin(text: &str, at: usize, chars: usize, sentence: usize) -> usize {
    let ahead = text.get(..at).unwrap_or_default();
    let back = |chars: usize| match chars.checked_sub(1) {
        Some(back) => ahead.char_indices().nth_back(back).map_or(0, |(at, _)| at),
        None => ahead.len(),
    };
    let mut found = None;
    each_start(text, back(sentence), at, |at, begins| {
        if begins {
            found = Some(at);
        }
        true
    });
    let reach = back(chars);
    if let Some(found) = found {
        return found;
    }
    if reach == 0 {
        return 0;
    }
    // A word may begin right there.
    let from = break_behind(ahead, reach);
    let rest = ahead.get(from..).unwrap_or_default();
    if ahead
        .get(..from)
        .is_some_and(|ahead| ahead.ends_with(is_white))
    {
        return from;
    }
    from + word_start(rest, rest.len() / 4 * 3)
}
