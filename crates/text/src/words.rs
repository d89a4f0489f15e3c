//! What the words of a text are.

use crate::script::is_unspaced;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// How a text is cut into the words that are indexed and searched.
///
/// A text and the queries put to it must be cut by the same rule, so a collection records the
/// one that it was built with. In JSON: `"seed"`, `"unicode"`, `"unicode-bigrams"`.
///
/// | text | `Seed` | `Unicode` | `UnicodeBigrams` |
/// |---|---|---|---|
/// | `L'Été` | l, été | l, été | l, été |
/// | `हिन्दी` | ह, न, द | हिन्दी | हिन्दी |
/// | `İstanbul` | i, stanbul | i̇stanbul | i̇stanbul |
/// | `東京都 v2` | 東京都, v2 | 東京都, v2 | 東京, 京都, v2 |
///
/// # What holds
///
/// - Under every rule, a word cut again is itself: `words(w)` is `[w]` for each `w` in
///   `words(text)`. Joining the words by spaces and cutting that gives the same words.
/// - Under every rule, `words(a + " " + b)` is `words(a)` followed by `words(b)`.
/// - Under [`Unicode`](Self::Unicode) and [`UnicodeBigrams`](Self::UnicodeBigrams), composed and
///   decomposed spellings (canonically equivalent texts) have the same words, and what a word
///   becomes depends on its own letters alone. Under [`Seed`](Self::Seed) neither holds:
///   its lower case of Σ can depend on letters beyond a full stop, a colon or an apostrophe.
///
/// No rule folds more than case: `ﬁ` is not `fi`, `ß` is not `ss`, `é` is not `e`, and a final
/// `ς` is not `σ`. The zero-width joiner and non-joiner part words under every rule.
///
/// Letter tables grow with Unicode. A new release of this crate or of the compiler may know
/// letters that the last one did not; texts with such letters are then worth indexing again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WordRule {
    /// The whole text in lower case, then unbroken runs of letters and numbers (the general
    /// categories L and N). No normalisation; combining marks part words like punctuation.
    Seed,
    /// Unbroken runs of letters, numbers **and the combining marks after them**, each in lower
    /// case and composed (NFC). Marks with no letter or number before them are left out.
    ///
    /// This keeps together what vowel signs and loose accents hold together, as in Hindi, Thai
    /// or a decomposed `é`.
    #[default]
    Unicode,
    /// As [`Unicode`](Self::Unicode), with Han, Hiragana, Katakana, Hangul and Thai letters cut
    /// into overlapping pairs, so that a word inside such a run is found.
    ///
    /// A letter takes its marks along. A run of one letter is a word as it is, and so is
    /// whatever stands between two runs: `更新v2手順` is `更新`, `v2`, `手順`. Digits are never
    /// cut, `〇` and the Hangzhou numerals excepted, which are written like ideographs.
    UnicodeBigrams,
}

impl WordRule {
    /// The words of `text`, in order, repetitions included. None is empty.
    ///
    /// Takes any text; one without letters and numbers has no words.
    ///
    /// ```
    /// use shelfward_text::WordRule;
    ///
    /// assert_eq!(WordRule::Unicode.words("Ce\u{301}line's 2 TEAS"), ["céline", "s", "2", "teas"]);
    /// assert_eq!(WordRule::UnicodeBigrams.words("図書館"), ["図書", "書館"]);
    /// ```
    #[must_use]
    pub fn words(self, text: &str) -> Vec<String> {
        match self {
            Self::Seed => lexical_tokens(text),
            Self::Unicode => runs(text).map(fold).collect(),
            Self::UnicodeBigrams => {
                let mut words = Vec::new();
                for run in runs(text) {
                    push_parts(run, &mut words);
                }
                words
            }
        }
    }
}

/// The words of `text` under [`WordRule::Seed`].
///
/// ```
/// assert_eq!(shelfward_text::lexical_tokens("Don't e-mail №7!"), ["don", "t", "e", "mail", "7"]);
/// ```
#[must_use]
pub fn lexical_tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|character| kind(character) != Kind::Letter)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What a character does in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Letters and numbers: they make words.
    Letter,
    /// Combining marks: they belong to the letter before them.
    Mark,
    /// Everything else: it parts words.
    Gap,
}

fn kind(character: char) -> Kind {
    if character.is_ascii() {
        // The greater part of most texts, answered without a table.
        return if character.is_ascii_alphanumeric() {
            Kind::Letter
        } else {
            Kind::Gap
        };
    }
    match character.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Kind::Letter,
        GeneralCategoryGroup::Mark => Kind::Mark,
        _ => Kind::Gap,
    }
}

fn is_mark(character: char) -> bool {
    kind(character) == Kind::Mark
}

/// The unbroken runs of letters with their marks, as they stand in `text`. Each begins with a
/// letter.
///
/// Neither composing nor lower-casing moves the edge of a run (a test walks every character), so
/// runs can be found first and folded one by one. That keeps the lower case of Σ a matter of its
/// own word: cut from a whole text, the initials `Α.Σ.` would end in a `ς` that the query `Σ`
/// does not find.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| kind(character) == Kind::Gap)
        .map(|run| run.trim_start_matches(is_mark))
        .filter(|run| !run.is_empty())
}

/// A run in the form that words are compared in: composed, lower case, composed.
///
/// Composed again, because lower case can undo it: `J` with a caron has no single character,
/// but `j` with a caron has.
fn fold(run: &str) -> String {
    if run.is_ascii() {
        return run.to_ascii_lowercase();
    }
    run.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Cuts a run where letters written without spaces meet others, and adds the words of each part.
fn push_parts(run: &str, words: &mut Vec<String>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest
            .find(|character| !is_mark(character) && is_unspaced(character) != unspaced)
            .unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        // Folded only now, so that a part is what it would be on its own.
        let word = fold(part);
        if unspaced {
            push_pairs(word, words);
        } else {
            words.push(word);
        }
        rest = tail;
    }
}

/// Adds the overlapping pairs of letters (with their marks) of `run`, or a lone letter as it is.
fn push_pairs(run: String, words: &mut Vec<String>) {
    let starts: Vec<usize> = run
        .char_indices()
        .filter(|(_, character)| !is_mark(*character))
        .map(|(at, _)| at)
        .collect();
    if starts.len() < 2 {
        words.push(run);
        return;
    }
    // A pair ends where the letter after it begins, the last one where the run ends.
    let ends = starts.iter().copied().skip(2).chain([run.len()]);
    let pairs = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| run.get(*start..end));
    words.extend(pairs.map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lets runs be found before they are folded, and a folded word be folded again.
    #[test]
    fn folding_one_character_moves_no_edge() {
        for character in '\0'..=char::MAX {
            let composed: String = character.nfc().collect();
            let lower = composed.to_lowercase();
            for form in [&composed, &lower] {
                let kinds: Vec<Kind> = form.chars().map(kind).collect();
                let sound = match kind(character) {
                    Kind::Letter => {
                        kinds.first() == Some(&Kind::Letter) && !kinds.contains(&Kind::Gap)
                    }
                    Kind::Mark => kinds.iter().all(|kind| *kind == Kind::Mark),
                    // A symbol may come apart into a symbol and its marks: still no word.
                    Kind::Gap => {
                        kinds.first() == Some(&Kind::Gap) && !kinds.contains(&Kind::Letter)
                    }
                };
                assert!(sound, "U+{:04X}", u32::from(character));
                let letters = form.chars().filter(|c| kind(*c) == Kind::Letter);
                if kind(character) == Kind::Letter {
                    for letter in letters {
                        let code = u32::from(character);
                        assert_eq!(is_unspaced(letter), is_unspaced(character), "U+{code:04X}");
                    }
                }
            }
            assert_eq!(
                lower.to_lowercase(),
                lower,
                "U+{:04X}",
                u32::from(character)
            );
        }
    }
}
