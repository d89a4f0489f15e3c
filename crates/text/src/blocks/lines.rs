//! Lines of a text.

/// A line without its end.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The byte offset of its first character.
    pub(crate) start: usize,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    /// The byte offset behind its last character.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The lines of a text, which end at a line feed, a carriage return, both in this order, or at
/// the separators U+2028 and U+2029.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let Some(end) = rest.find(['\n', '\r', '\u{2028}', '\u{2029}']) else {
            next = None;
            return Some(Line { start, text: rest });
        };
        let (line, behind) = rest.split_at(end);
        let width = if behind.starts_with("\r\n") {
            2
        } else {
            behind.chars().next().map_or(0, char::len_utf8)
        };
        next = Some(start + end + width);
        Some(Line { start, text: line })
    })
}
