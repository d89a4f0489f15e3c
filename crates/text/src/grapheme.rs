//! Edges of graphemes: what a reader sees as one character is never cut, and what a joiner binds
//! only where there is nowhere else.

use unicode_segmentation::GraphemeCursor;

/// Whether a grapheme begins or a text ends at `at`, which lies on a character.
///
/// The text must begin with a grapheme's edge. It may then be the rest of a longer one, and no
/// more than that rest is ever looked back through.
pub(crate) fn is_edge(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if let (Some(before), Some(behind)) = (before, bytes.get(at))
        && before.is_ascii()
        && behind.is_ascii()
    {
        return (*before, *behind) != (b'\r', b'\n');
    }
    GraphemeCursor::new(at, text.len(), true)
        .is_boundary(text, 0)
        // Only a text that comes in parts can lack what the answer hangs on.
        .unwrap_or(true)
}

/// The last edge at or before `at`, which lies on a character.
pub(crate) fn edge_before(text: &str, at: usize) -> usize {
    if is_edge(text, at) {
        return at;
    }
    let before = GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0);
    before.ok().flatten().unwrap_or(0)
}

/// The first edge at or behind `at`, which lies on a character.
pub(crate) fn edge_behind(text: &str, at: usize) -> usize {
    if is_edge(text, at) {
        return at;
    }
    let behind = GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0);
    behind.ok().flatten().unwrap_or(text.len())
}

/// Where a piece of at most `chars` characters that begins with `text` ends: on an edge, and never
/// at once. Only a grapheme that is longer by itself goes beyond.
pub(crate) fn cut(text: &str, chars: usize) -> usize {
    cut_behind(text, chars, 0)
}

/// The same, where a joiner makes no piece end at or before `floor`.
pub(crate) fn cut_behind(text: &str, chars: usize, floor: usize) -> usize {
    let at = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    match edge_before(text, at) {
        // The first edge behind the first character, should there be no room for that either.
        0 => edge_behind(text, at.max(text.chars().next().map_or(0, char::len_utf8))),
        edge => unjoined(text, edge, floor),
    }
}

/// The last edge at or before `at` that no joiner stands at; any edge where that would be 0.
pub(crate) fn break_before(text: &str, at: usize) -> usize {
    unjoined(text, edge_before(text, at), 0)
}

/// The last edge at or before `edge`, and behind `floor`, that no joiner stands at; `edge` if there
/// is none.
fn unjoined(text: &str, edge: usize, floor: usize) -> usize {
    let mut free = edge;
    while free > floor && is_joined(text, free) {
        let last = text.get(..free).and_then(|ahead| ahead.chars().next_back());
        free = edge_before(text, free - last.map_or(0, char::len_utf8));
    }
    if free > floor { free } else { edge }
}

/// The first edge at or behind `at` that no joiner stands at.
pub(crate) fn break_behind(text: &str, at: usize) -> usize {
    let mut free = edge_behind(text, at);
    while is_joined(text, free) {
        let next = text.get(free..).and_then(|behind| behind.chars().next());
        free = edge_behind(text, free + next.map_or(0, char::len_utf8));
    }
    free
}

/// Whether `at` is an edge that no joiner stands at.
pub(crate) fn is_break(text: &str, at: usize) -> bool {
    !is_joined(text, at) && is_edge(text, at)
}

/// Whether a joiner binds what stands on both sides of `at`: a zero-width one belongs to the
/// grapheme ahead of it, and the word goes on behind it.
fn is_joined(text: &str, at: usize) -> bool {
    let ahead = text.get(..at).and_then(|ahead| ahead.chars().next_back());
    let behind = text.get(at..).and_then(|behind| behind.chars().next());
    let (Some(ahead), Some(behind)) = (ahead, behind) else {
        return false;
    };
    let joins = matches!(ahead, '\u{200C}' | '\u{200D}' | '\u{2060}') || behind == '\u{2060}';
    joins && !ahead.is_whitespace() && !behind.is_whitespace()
}

/// Where `text` begins without its leading white space. White space that a mark binds to is part
/// of a grapheme, and stays.
pub(crate) fn trim_start(text: &str) -> usize {
    let blank = text.len() - text.trim_start().len();
    if is_edge(text, blank) {
        return blank;
    }
    let last = text
        .get(..blank)
        .and_then(|blank| blank.chars().next_back());
    blank - last.map_or(0, char::len_utf8)
}

/// Where `text` ends without its trailing white space, on an edge.
pub(crate) fn trim_end(text: &str) -> usize {
    edge_behind(text, text.trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        // A letter with an accent, a family, a line end, two flags.
        let text = "e\u{301}👩\u{200d}👧\r\n🇫🇷🇩🇪";
        let edges: Vec<usize> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at) && is_edge(text, *at))
            .collect();
        assert_eq!(edges, [0, 3, 14, 16, 24, 32]);
        assert_eq!((edge_before(text, 10), edge_behind(text, 10)), (3, 14));
        assert_eq!((edge_before(text, 20), edge_behind(text, 20)), (16, 24));
        assert_eq!((edge_before(text, 15), edge_behind(text, 15)), (14, 16));
        assert_eq!((edge_before("", 0), edge_behind("", 0)), (0, 0));
    }
}
