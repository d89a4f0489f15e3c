//! Units of JavaScript: the originals count UTF-16 code units where ours counts bytes or characters.

/// The place in UTF-16 code units of a byte offset, which must lie on a character.
pub(crate) fn units(text: &str, byte_offset: usize) -> Option<usize> {
    text.get(..byte_offset)
        .map(|before| before.encode_utf16().count())
}

/// The same, for answers that cannot do without.
pub(crate) fn place(text: &str, byte_offset: usize) -> Result<usize, String> {
    units(text, byte_offset).ok_or_else(|| "an offset inside a character".to_owned())
}

/// The length in UTF-16 code units.
pub(crate) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Whether there is a character that counts twice there and once here.
pub(crate) fn has_pairs(text: &str) -> bool {
    text.chars().any(|character| character.len_utf16() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_pairs_twice() {
        let text = "é🙂x";
        assert_eq!(units(text, 2), Some(1));
        assert_eq!(units(text, 6), Some(3));
        assert_eq!(units(text, 3), None);
        assert_eq!(length(text), 4);
        assert!(has_pairs(text) && !has_pairs("é"));
    }
}
