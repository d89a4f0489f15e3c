//! The sentences and lines of a text that hold marks, clipped.

use shelfward_text::{Highlight, Span};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Adds passages of `text` to `found` until it holds `most`: for each mark that no earlier passage's
/// sentence holds, the sentence around it, clipped to about `width` characters.
pub(super) fn add_passages(
    text: &str,
    marks: &[Span],
    most: usize,
    width: usize,
    found: &mut Vec<Highlight>,
) {
    let mut done = 0;
    for (at, mark) in marks.iter().enumerate() {
        if found.len() >= most {
            return;
        }
        if mark.start < done {
            continue;
        }
        let sentence = sentence(text, *mark, done, width);
        let shown = clip(text, sentence, *mark, width);
        done = sentence.end.max(mark.end);
        let inside = marks
            .iter()
            .skip(at)
            .take_while(|mark| mark.end <= shown.end);
        let moved = inside.map(|mark| Span {
            start: mark.start - shown.start,
            end: mark.end - shown.start,
        });
        found.extend(Highlight::at(text, shown, moved));
    }
}

/// The sentence that holds `mark` and begins at `floor` or later, without white space around it.
///
/// A line break ends a sentence; otherwise it is the sentence of UAX #29. Its rules look ahead
/// again and again through a run of spaces or brackets, so only a bounded stretch around the mark is
/// read: a sentence that is longer by far than a passage is cut at white space.
fn sentence(text: &str, mark: Span, floor: usize, width: usize) -> Span {
    let reach = width.saturating_mul(4).max(2_048);
    let stretch = Span {
        start: stretch_start(text, mark.start, floor, reach),
        end: stretch_end(text, mark.end, reach),
    };
    let mut sentence = stretch;
    let pieces = stretch.slice(text).unwrap_or_default();
    for (offset, piece) in pieces.split_sentence_bound_indices() {
        let start = stretch.start + offset;
        let end = start + piece.len();
        if start <= mark.start {
            sentence.start = start;
        }
        if end >= mark.end {
            sentence.end = end;
            break;
        }
    }
    trimmed(text, sentence, mark)
}

fn stretch_start(text: &str, mark: usize, floor: usize, reach: usize) -> usize {
    let far = text
        .floor_char_boundary(mark.saturating_sub(reach))
        .max(floor);
    let before = text.get(far..mark).unwrap_or_default();
    if let Some((at, line_break)) = last(before, is_line_break) {
        return far + at + line_break.len_utf8();
    }
    if far == floor {
        return floor;
    }
    match first(before, is_space) {
        Some((at, space)) => grapheme_before(text, far + at + space.len_utf8()),
        None => grapheme_after(text, far).min(mark),
    }
}

fn stretch_end(text: &str, mark: usize, reach: usize) -> usize {
    let far = text.ceil_char_boundary(mark.saturating_add(reach).min(text.len()));
    let after = text.get(mark..far).unwrap_or_default();
    if let Some((at, _)) = first(after, is_line_break) {
        return mark + at;
    }
    if far == text.len() {
        return far;
    }
    match last(after, is_space) {
        Some((at, _)) => mark + at,
        None => grapheme_before(text, far).max(mark),
    }
}

/// A sentence cut to about `width` characters around its first mark: at white space where there is
/// some, and inside of a grapheme never.
fn clip(text: &str, sentence: Span, mark: Span, width: usize) -> Span {
    let part = |start, end| text.get(start..end).unwrap_or_default();
    let whole = part(sentence.start, sentence.end);
    if whole.chars().nth(width).is_none() {
        return sentence;
    }
    let room = width.saturating_sub(part(mark.start, mark.end).chars().count());
    let before = part(sentence.start, mark.start);
    let after = part(mark.end, sentence.end);
    // A side that is short leaves its room to the other.
    let short = |side: &str| side.chars().take(room).count();
    let (fits_before, fits_after) = (short(before), short(after));
    let room_before = (room / 2).max(room - fits_after).min(fits_before);
    let room_after = room - room_before;

    let mut start = last_chars(before, room_before) + sentence.start;
    if start > sentence.start && !ends_with_space(part(sentence.start, start)) {
        if let Some((at, space)) = first(part(start, mark.start), is_space) {
            start += at + space.len_utf8();
        } else {
            start = grapheme_after(text, start);
        }
    }
    let mut end = first_chars(after, room_after) + mark.end;
    if end < sentence.end && !part(end, sentence.end).starts_with(is_space) {
        if let Some((at, _)) = last(part(mark.end, end), is_space) {
            end = mark.end + at;
        } else {
            end = grapheme_before(text, end);
        }
    }
    let clipped = Span {
        start: grapheme_before(text, start.min(mark.start)).max(sentence.start),
        end: grapheme_after(text, end.max(mark.end)).min(sentence.end),
    };
    trimmed(text, clipped, mark)
}

/// A stretch without the white space around it, but with all of `mark`.
fn trimmed(text: &str, stretch: Span, mark: Span) -> Span {
    let before = text.get(stretch.start..mark.start).unwrap_or_default();
    let after = text.get(mark.end..stretch.end).unwrap_or_default();
    Span {
        start: mark.start - before.trim_start_matches(char::is_whitespace).len(),
        end: mark.end + after.trim_end_matches(char::is_whitespace).len(),
    }
}

fn is_line_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// White space at which a text may be cut. The no-break spaces hold together what they stand in.
fn is_space(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{A0}' | '\u{2007}' | '\u{202F}')
}

fn ends_with_space(text: &str) -> bool {
    text.ends_with(is_space)
}

fn first(text: &str, such: fn(char) -> bool) -> Option<(usize, char)> {
    text.char_indices().find(|(_, character)| such(*character))
}

fn last(text: &str, such: fn(char) -> bool) -> Option<(usize, char)> {
    let mut characters = text.char_indices();
    characters.rfind(|(_, character)| such(*character))
}

/// Where the last `count` characters of a text begin.
fn last_chars(text: &str, count: usize) -> usize {
    let before = count
        .checked_sub(1)
        .map(|at| text.char_indices().nth_back(at));
    match before {
        None => text.len(),
        Some(found) => found.map_or(0, |(at, _)| at),
    }
}

/// Where the first `count` characters of a text end.
fn first_chars(text: &str, count: usize) -> usize {
    text.char_indices()
        .nth(count)
        .map_or(text.len(), |(at, _)| at)
}

/// The nearest edge of a grapheme at `at` or before it.
fn grapheme_before(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

/// The nearest edge of a grapheme at `at` or behind it.
fn grapheme_after(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor
            .next_boundary(text, 0)
            .ok()
            .flatten()
            .unwrap_or(text.len()),
    }
}
