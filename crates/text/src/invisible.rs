//! Characters that are not seen, and what they do to the words that they stand in.

/// Whether `character` is not seen and separates nothing, so that a word is the same without it.
///
/// These are the characters that Unicode calls default-ignorable (release 16), except for those
/// that stand in the place of something that would part words; see [`parts_words`]. As in the
/// word boundaries of UAX #29, what formats a word does not part it.
pub(crate) fn is_left_out(character: char) -> bool {
    matches!(character,
        '\u{AD}'                     // soft hyphen
        | '\u{34F}'                  // combining grapheme joiner
        | '\u{61C}'                  // Arabic letter mark
        | '\u{115F}' | '\u{1160}'    // fillers of Hangul syllables
        | '\u{17B4}' | '\u{17B5}'    // inherent vowels of Khmer
        | '\u{180B}'..='\u{180F}'    // Mongolian variation selectors and vowel separator
        | '\u{200C}'..='\u{200F}'    // zero-width non-joiner and joiner, direction marks
        | '\u{202A}'..='\u{202E}'    // directions
        | '\u{2060}'                 // word joiner
        | '\u{2065}'..='\u{206F}'    // isolates, and what is deprecated
        | '\u{FE00}'..='\u{FE0F}'    // variation selectors
        | '\u{FEFF}'                 // zero-width no-break space
        | '\u{FFF0}'..='\u{FFF8}'    // not assigned
        | '\u{1BCA0}'..='\u{1BCA3}'  // shorthand
        | '\u{1D173}'..='\u{1D17A}'  // music
        | '\u{E0000}'..='\u{E0FFF}'  // tags, more variation selectors
    )
}

/// Whether `character`, though not seen, parts words whatever its category: letters that look like
/// a blank.
///
/// The zero-width space and the invisible operators of formulas (U+200B, U+2061 to U+2064) part
/// words too; they are no letters, so nothing has to be said of them.
pub(crate) fn parts_words(character: char) -> bool {
    matches!(character, '\u{3164}' | '\u{FFA0}')
}
