//! Where sentences begin.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Calls `each` for the characters of `text` from `reach` on that are no white space, up to one that
/// stands at `upto`: with its place, and whether a sentence begins there. Ends where `each` answers
/// false.
///
/// A sentence begins behind a full stop or its like and what closes with it, and behind a blank line;
/// never with a small letter, so that `e.g. this` is none. A rule of its own, since that of UAX 29 reads
/// through long runs of brackets again and again.
pub(crate) fn each_start(
    text: &str,
    reach: usize,
    upto: usize,
    mut each: impl FnMut(usize, bool) -> bool,
) {
    let mut ended = reach == 0;
    let mut line_ends = 0;
    // A sentence that begins at `reach` ended before.
    let before = text.get(..reach).unwrap_or_default().char_indices().rev();
    let from = before.take(8).last().map_or(reach, |(at, _)| at);
    let rest = text.get(from..).unwrap_or_default();
    for (at, character) in rest.char_indices() {
        let at = from + at;
        if at > upto {
            return;
        }
        if character.is_whitespace() {
            line_ends += usize::from(character == '\n');
            continue;
        }
        let begins = (ended || line_ends > 1) && !character.is_lowercase();
        if at >= reach && !each(at, begins) {
            return;
        }
        line_ends = 0;
        ended = ends_sentence(character) || ended && closes(character);
    }
}

/// Whether a character is punctuation that belongs to what stands before it.
pub(crate) fn closes(character: char) -> bool {
    use GeneralCategory as Of;
    matches!(
        character.general_category(),
        Of::ClosePunctuation
            | Of::ConnectorPunctuation
            | Of::DashPunctuation
            | Of::FinalPunctuation
            | Of::OtherPunctuation
    )
}

fn ends_sentence(character: char) -> bool {
    matches!(
        character,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '؟' | '۔' | '।' | '॥' | '։' | '።'
    )
}
