//! What the words of a text are.

use crate::fold::Folder;
use crate::runs::{InWord, Runs, Shape};
use crate::script::is_unspaced;
use serde::{Deserialize, Serialize};

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
/// | `Text·datei`, a soft hyphen at the dot | text, datei | textdatei | textdatei |
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
/// `ς` is not `σ`.
///
/// # What is not seen
///
/// Under [`Unicode`](Self::Unicode) and [`UnicodeBigrams`](Self::UnicodeBigrams), characters that
/// are not seen are left out of the word that they stand in, so that it is found in every spelling:
/// the soft hyphen (U+00AD), the zero-width joiner and non-joiner (U+200D, U+200C), the word joiner
/// (U+2060), direction marks and isolates, variation selectors, and whatever else Unicode calls
/// default-ignorable. Those that stand in the place of a separation part words: the zero-width space
/// (U+200B), the invisible operators of formulas (U+2061 to U+2064), and the fillers that look like
/// a blank (U+3164, U+FFA0). Under [`Seed`](Self::Seed) all but letters and numbers part words.
///
/// # Versions
///
/// What words a rule answers is of a [`version`](Self::version). An index of words is right for the
/// version that it was made by alone, so it records it. Version 1 of `unicode` and
/// `unicode-bigrams` parted words at all that is not seen, marks excepted; theirs is now 2.
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
    /// The name of the rule, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Unicode => "unicode",
            Self::UnicodeBigrams => "unicode-bigrams",
        }
    }

    /// The version of the rule in this release: a higher one than in a release whose rule of this
    /// name answered other words for some text.
    #[must_use]
    pub fn version(self) -> u32 {
        match self {
            Self::Seed => 1,
            Self::Unicode | Self::UnicodeBigrams => 2,
        }
    }

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
        let mut words = Vec::new();
        self.for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    /// Hands the words of `text` to `each`, as [`words`](Self::words) answers them, without
    /// allocating each: what an indexer calls. A word is lent for the call only.
    ///
    /// ```
    /// use shelfward_text::WordRule;
    ///
    /// let mut letters = 0;
    /// WordRule::Unicode.for_each_word("Tea for two", |word| letters += word.chars().count());
    /// assert_eq!(letters, 9);
    /// ```
    pub fn for_each_word(self, text: &str, mut each: impl FnMut(&str)) {
        let mut folder = Folder::default();
        match self {
            // The lower case of a text without Σ and İ is that of its runs. These two make it a
            // matter of the whole text, and a second text is the price.
            Self::Seed if text.contains(['Σ', 'İ']) => {
                for run in Runs::without_marks(&text.to_lowercase()) {
                    each(run.text);
                }
            }
            Self::Seed => {
                for run in Runs::without_marks(text) {
                    each(folder.lower_case(run.text, run.shape));
                }
            }
            Self::Unicode => {
                for run in Runs::with_marks(text) {
                    each(folder.fold(run.text, run.shape));
                }
            }
            Self::UnicodeBigrams => {
                for run in Runs::with_marks(text) {
                    if run.shape == Shape::Ascii {
                        each(folder.fold(run.text, run.shape));
                        continue;
                    }
                    for part in Parts::of(run.text) {
                        let word = folder.fold(part.text, Shape::of(part.text));
                        if part.unspaced {
                            for_each_pair(word, &mut each);
                        } else {
                            each(word);
                        }
                    }
                }
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
    WordRule::Seed.words(text)
}

/// A stretch of a run that is written without spaces throughout, or with them throughout.
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    pub(crate) unspaced: bool,
}

/// A run cut where letters written without spaces meet others.
///
/// It is cut before it is folded, so that a part becomes what it would be on its own.
pub(crate) struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(run: &'a str) -> Self {
        Self { rest: run }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let unspaced = is_unspaced(self.rest.chars().next()?);
        let end = self
            .rest
            .find(|character| {
                is_unspaced(character) != unspaced && !InWord::of(character).is_attached()
            })
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Part { text, unspaced })
    }
}

/// Hands on the overlapping pairs of letters (with their marks) of `run`, or a lone letter as it
/// is.
fn for_each_pair(run: &str, each: &mut impl FnMut(&str)) {
    let mut starts = run
        .char_indices()
        .filter(|(_, character)| !InWord::of(*character).is_attached())
        .map(|(at, _)| at);
    let (Some(mut start), Some(mut middle)) = (starts.next(), starts.next()) else {
        each(run);
        return;
    };
    // A pair ends where the letter after it begins, the last one where the run ends.
    for end in starts.chain([run.len()]) {
        if let Some(pair) = run.get(start..end) {
            each(pair);
        }
        (start, middle) = (middle, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    /// What lets runs be found before they are folded, and a folded word be folded again.
    #[test]
    fn folding_one_character_moves_no_edge() {
        for character in '\0'..=char::MAX {
            let composed: String = character.nfc().collect();
            let lower = composed.to_lowercase();
            for form in [&composed, &lower] {
                let kinds: Vec<InWord> = form.chars().map(InWord::of).collect();
                let sound = match InWord::of(character) {
                    InWord::Letter => {
                        kinds.first() == Some(&InWord::Letter) && !kinds.contains(&InWord::Gap)
                    }
                    InWord::Mark => kinds.iter().all(|kind| *kind == InWord::Mark),
                    InWord::LeftOut => kinds == [InWord::LeftOut] && *form == character.to_string(),
                    // A symbol may come apart into a symbol and its marks: still no word.
                    InWord::Gap => {
                        kinds.first() == Some(&InWord::Gap) && !kinds.contains(&InWord::Letter)
                    }
                };
                assert!(sound, "U+{:04X}", u32::from(character));
                let letters = form.chars().filter(|c| InWord::of(*c) == InWord::Letter);
                if InWord::of(character) == InWord::Letter {
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
