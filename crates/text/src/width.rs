//! Full-width and half-width forms.

use unicode_normalization::UnicodeNormalization;

/// The ordinary letter that a full-width or half-width one is; any other character is itself.
pub(crate) fn ordinary(character: char) -> char {
    match u32::from(character) {
        0xFF01..=0xFF9F => std::iter::once(character)
            .nfkc()
            .next()
            .unwrap_or(character),
        // Hangul in the order of the compatibility letters, with gaps. NFKC goes on from those to
        // conjoining letters, which are other words.
        at @ 0xFFA1..=0xFFBE => of_code(at - 0xFFA1 + 0x3131, character),
        at @ (0xFFC2..=0xFFC7 | 0xFFCA..=0xFFCF | 0xFFD2..=0xFFD7 | 0xFFDA..=0xFFDC) => {
            let (row, column) = ((at - 0xFFC2) / 8, (at - 0xFFC2) % 8);
            of_code(0x314F + row * 6 + column, character)
        }
        _ => character,
    }
}

fn of_code(code: u32, or: char) -> char {
    char::from_u32(code).unwrap_or(or)
}

/// Whether [`ordinary`] may answer another character.
pub(crate) fn has_width(character: char) -> bool {
    matches!(character, '\u{FF01}'..='\u{FFDC}')
}

/// Whether `character` is a half-width mark of voicing, a letter by its category and a mark in its
/// ordinary form.
pub(crate) fn is_voicing(character: char) -> bool {
    matches!(character, '\u{FF9E}' | '\u{FF9F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_forms_are_those_of_nfkc() {
        for character in '\0'..=char::MAX {
            let code = u32::from(character);
            let ordinary = ordinary(character);
            if !has_width(character) {
                assert_eq!(ordinary, character, "U+{code:04X}");
                continue;
            }
            assert!(
                std::iter::once(ordinary)
                    .nfkc()
                    .eq(std::iter::once(character).nfkc()),
                "U+{code:04X}"
            );
        }
        for (given, expected) in [('Ａ', 'A'), ('ｶ', 'カ'), ('ﾞ', '\u{3099}'), ('ﾡ', 'ㄱ')]
        {
            assert_eq!(ordinary(given), expected);
        }
        assert_eq!(
            (ordinary('ￜ'), ordinary('ￂ'), ordinary('ￊ')),
            ('ㅣ', 'ㅏ', 'ㅕ')
        );
    }
}
