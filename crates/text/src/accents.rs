//! What is folded of letters beside their case.

use crate::runs::InWord;
use crate::script::is_unspaced;
use unicode_normalization::UnicodeNormalization;

/// Whether `mark` is an accent, a point or a sign that words are also written without. Marks without
/// which a letter is another one are not: vowel signs of Indic scripts and Thai, and voicing of kana.
pub(crate) fn is_accent(mark: char) -> bool {
    matches!(mark,
        '\u{300}'..='\u{36F}'         // Latin, Greek, Cyrillic
        | '\u{483}'..='\u{487}'       // Church Slavonic
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}'..='\u{5C2}' | '\u{5C4}'..='\u{5C5}'
        | '\u{5C7}'                   // Hebrew
        | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}'
        | '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E4}' | '\u{6E7}'..='\u{6E8}'
        | '\u{6EA}'..='\u{6ED}' | '\u{898}'..='\u{89F}' | '\u{8CA}'..='\u{8E1}'
        | '\u{8E3}'..='\u{8FF}'       // Arabic
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// What a letter that no table takes apart is written as without it.
pub(crate) fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' | 'ɖ' => "d",
        'þ' => "th",
        'ł' => "l",
        'ħ' => "h",
        'ŧ' => "t",
        'ŋ' => "n",
        'ı' => "i",
        'ς' => "σ",
        // Alef with wasla.
        '\u{671}' => "\u{627}",
        _ => return None,
    })
}

/// A letter taken apart: into its accents, and into what a compatibility character stands for where
/// that is a part of a word.
pub(crate) fn of_letter(letter: char) -> impl Iterator<Item = char> {
    let stands_for = std::iter::once(letter).nfkd();
    let mut kinds = stands_for.clone().map(InWord::of);
    let is_word = kinds.next() == Some(InWord::of(letter))
        && kinds.all(|kind| kind != InWord::Gap)
        // Pairs are cut before letters are folded.
        && !stands_for.clone().any(is_unspaced);
    let canonical = (!is_word).then(|| std::iter::once(letter).nfd());
    let compatible = is_word.then_some(stands_for);
    (compatible.into_iter().flatten()).chain(canonical.into_iter().flatten())
}
