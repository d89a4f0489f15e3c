//! Which characters are written without spaces between words.

/// The letters that [`WordRule::UnicodeBigrams`](crate::WordRule::UnicodeBigrams) cuts into
/// pairs: first and last of each range, in ascending order.
///
/// Code blocks stand in for the Script property, which is not among our dependencies. The ranges
/// may cover symbols and gaps, since only letters and numbers are ever looked up; ideographs of
/// blocks yet to come on planes 2 and 3 are inside already. Digits stay out, Thai ones too: a
/// number is a word in every script.
const UNSPACED: [(char, char); 19] = [
    ('\u{0E01}', '\u{0E4E}'),   // Thai, up to but not with its digits
    ('\u{1100}', '\u{11FF}'),   // Hangul Jamo
    ('\u{3005}', '\u{3007}'),   // iteration mark, closing mark, ideographic zero
    ('\u{3021}', '\u{3029}'),   // Hangzhou numerals one to nine
    ('\u{3031}', '\u{3035}'),   // kana repeat marks of vertical text
    ('\u{3038}', '\u{303C}'),   // Hangzhou ten to thirty, vertical iteration mark, masu mark
    ('\u{3041}', '\u{309F}'),   // Hiragana, with its iteration marks
    ('\u{30A1}', '\u{30FA}'),   // Katakana
    ('\u{30FC}', '\u{30FF}'),   // prolonged sound mark, Katakana iteration marks, koto
    ('\u{3131}', '\u{318E}'),   // Hangul Compatibility Jamo
    ('\u{31F0}', '\u{31FF}'),   // Katakana Phonetic Extensions
    ('\u{3400}', '\u{4DBF}'),   // CJK Unified Ideographs Extension A
    ('\u{4E00}', '\u{9FFF}'),   // CJK Unified Ideographs
    ('\u{A960}', '\u{A97F}'),   // Hangul Jamo Extended-A
    ('\u{AC00}', '\u{D7FB}'),   // Hangul Syllables, Hangul Jamo Extended-B
    ('\u{F900}', '\u{FAFF}'),   // CJK Compatibility Ideographs
    ('\u{FF66}', '\u{FFDC}'),   // half-width Katakana and Hangul
    ('\u{16FE3}', '\u{16FE3}'), // old Chinese iteration mark
    ('\u{1AFF0}', '\u{1B16F}'), // Kana Extended-B, Supplement, Extended-A, Small Extension
];

/// The planes set aside for ideographs (Extensions B and later, compatibility supplement).
const IDEOGRAPHIC_PLANES: (char, char) = ('\u{20000}', '\u{3FFFF}');

/// Whether `letter` is Han, Hiragana, Katakana, Hangul or Thai.
///
/// Meant for letters and numbers only; of any other character it may say either.
pub(crate) fn is_unspaced(letter: char) -> bool {
    UNSPACED
        .iter()
        .chain(std::iter::once(&IDEOGRAPHIC_PLANES))
        .take_while(|(first, _)| *first <= letter)
        .any(|(_, last)| letter <= *last)
}

/// Whether `letter` is Hangul, which has spaces between words for all that.
pub(crate) fn is_hangul(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FB}' | '\u{FFA1}'..='\u{FFDC}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_ascend() {
        // `is_unspaced` stops at the first range that begins behind the letter.
        let ends: Vec<char> = UNSPACED
            .into_iter()
            .chain([IDEOGRAPHIC_PLANES])
            .flat_map(|(first, last)| [first, last])
            .collect();
        assert!(ends.is_sorted());
    }

    #[test]
    fn knows_its_scripts() {
        for letter in "漢々〆〇〻ぁゟァヿーヽㇿｦﾝﾞ가힣ㄱᄀᇿꥠ豈𠀀𰀀กๆเ\u{31350}\u{1B001}".chars()
        {
            assert!(is_unspaced(letter), "{letter}");
        }
        for letter in "aé1٣๑１Ａㄅꀀກកကབ①㈠\u{17000}".chars() {
            assert!(!is_unspaced(letter), "{letter}");
        }
    }
}
