//! Letters that need no table: most of what most texts in most languages are written with.

/// Whether `character` is known for a letter that stands alone: general category L, composed,
/// and so its lower case, which is one character of this kind too.
///
/// A shortcut: of a letter that is not here, the Unicode tables tell the same, more slowly.
pub(crate) fn is_plain(character: char) -> bool {
    is_cased(character) || is_uncased(character)
}

/// Plain letters with an upper and a lower case: Latin and Cyrillic.
fn is_cased(character: char) -> bool {
    match character {
        // The signs for times and divided by; İ, whose lower case has a mark.
        '\u{D7}' | '\u{F7}' | '\u{130}' => false,
        'a'..='z' | 'A'..='Z' => true,
        '\u{C0}'..='\u{24F}' | '\u{400}'..='\u{481}' | '\u{48A}'..='\u{52F}' => true,
        _ => false,
    }
}

/// Plain letters that are their own lower case: Hebrew, Arabic, Hiragana, Katakana, Han and
/// Hangul.
pub(crate) fn is_uncased(character: char) -> bool {
    matches!(
        character,
        '\u{5D0}'..='\u{5EA}'
            | '\u{620}'..='\u{64A}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::{IsNormalized, is_nfc_quick};
    use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

    #[test]
    fn the_shortcut_says_what_the_tables_say() {
        for letter in ('\0'..=char::MAX).filter(|c| is_plain(*c)) {
            let code = u32::from(letter);
            assert!(
                letter.general_category_group() == GeneralCategoryGroup::Letter,
                "U+{code:04X}"
            );
            let lower: Vec<char> = letter.to_lowercase().collect();
            let [lower] = lower[..] else {
                panic!(
                    "U+{code:04X} has a lower case of {} characters",
                    lower.len()
                );
            };
            assert_eq!(letter.to_string().to_lowercase(), lower.to_string());
            assert!(lower == letter || !is_uncased(letter), "U+{code:04X}");
            // Yes, and not Maybe: it joins nothing that stands before it.
            for form in [letter, lower] {
                let composed = is_nfc_quick(['a', form, form].into_iter());
                assert!(composed == IsNormalized::Yes, "U+{code:04X}");
            }
        }
    }
}
