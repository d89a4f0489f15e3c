//! Making a snippet no longer than it may be.

use super::{SnippetAround, is_white};
use crate::grapheme::{break_before, break_behind, edge_before};

/// The part of a text that a snippet shows, in byte offsets.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Window {
    /// The window with at most `max_chars` characters, those at `anchor` among them.
    ///
    /// What stands ahead of the word and what stands past it share the room as `before` and
    /// `after` do; what one side does not need, the other gets.
    pub(super) fn clipped(
        self,
        text: &str,
        anchor: usize,
        max_chars: usize,
        options: &SnippetAround,
    ) -> Self {
        // A word may begin inside a grapheme, behind a sign that binds to it.
        let anchor = edge_before(text, anchor).max(self.start);
        let ahead = text.get(self.start..anchor).unwrap_or_default();
        let past = text.get(anchor..self.end).unwrap_or_default();
        let (ahead_chars, past_chars) = (ahead.chars().count(), past.chars().count());
        if ahead_chars.saturating_add(past_chars) <= max_chars {
            return self;
        }
        let share = share(max_chars, options.before, options.after);
        let ahead_room = ahead_chars.min(share.max(max_chars.saturating_sub(past_chars)));
        let first = last_chars(ahead, ahead_room);
        // What the cut at a word's start has freed goes to the other side too.
        let ahead_chars = ahead.get(first..).map_or(0, |kept| kept.chars().count());
        Self {
            start: self.start + first,
            end: anchor + first_chars(past, max_chars - ahead_chars),
        }
    }
}

/// What of `max_chars` falls to the part ahead of the word.
fn share(max_chars: usize, before: usize, after: usize) -> usize {
    let (max, before, after) = (max_chars as u128, before as u128, after as u128);
    // Three widened numbers: neither the product nor the sum overflows, and the quotient is at
    // most `max_chars`.
    let share = (max * before).checked_div(before + after).unwrap_or(0);
    usize::try_from(share).unwrap_or(max_chars)
}

/// Where the last `room` characters of `ahead` begin, moved on to the start of a word if one
/// starts among them, else of a grapheme.
fn last_chars(ahead: &str, room: usize) -> usize {
    let first = match room.checked_sub(1) {
        Some(back) => ahead.char_indices().nth_back(back).map_or(0, |(at, _)| at),
        None => ahead.len(),
    };
    let (left_out, kept) = ahead.split_at(first);
    if left_out.is_empty() || left_out.ends_with(is_white) {
        return first;
    }
    match kept.find(is_white) {
        Some(white) => {
            let rest = kept.get(white..).unwrap_or_default();
            ahead.len() - rest.trim_start_matches(is_white).len()
        }
        None => break_behind(ahead, first),
    }
}

/// Where the first `room` characters of `past` end, moved back to the end of a word if one ends
/// among them, else of a grapheme.
fn first_chars(past: &str, room: usize) -> usize {
    let end = past
        .char_indices()
        .nth(room)
        .map_or(past.len(), |(at, _)| at);
    let (kept, left_out) = past.split_at(end);
    if left_out.is_empty() || left_out.starts_with(is_white) {
        return end;
    }
    // White space that nothing stands before ends no word.
    match kept.trim_start_matches(is_white).rfind(is_white) {
        Some(_) => kept.rfind(is_white).unwrap_or(end),
        None => break_before(past, end),
    }
}
