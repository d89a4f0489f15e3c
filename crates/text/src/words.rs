//! What the words of a text are.

use crate::fold::{Folder, Folding};
use crate::runs::{InWord, Runs, Shape};
use crate::script::is_unspaced;
use serde::{Deserialize, Serialize};

/// How a text is cut into the words that are indexed and searched.
///
/// A text and the queries put to it must be cut by the same rule, so a collection records the
/// one that it was built with. In JSON: [`name`](Self::name).
///
/// | text | `Seed` | `Unicode` | `UnicodeBigrams` | `UnicodeFolded` |
/// |---|---|---|---|---|
/// | `L'Été` | l, été | l, été | l, été | l, ete |
/// | `हिन्दी` | ह, न, द | हिन्दी | हिन्दी | हिन्दी |
/// | `İstanbul` | i, stanbul | i̇stanbul | i̇stanbul | istanbul |
/// | `東京都 v2` | 東京都, v2 | 東京都, v2 | 東, 東京, 京, 京都, 都, v2 | 東京都, v2 |
/// | `ＡＢＣ ｶﾅ` | ａｂｃ, ｶﾅ | abc, カナ | abc, カ, カナ, ナ | abc, カナ |
/// | `Text·datei`, a soft hyphen at the dot | text, datei | textdatei | textdatei | textdatei |
///
/// `UnicodeBigramsFolded` does what both names say.
///
/// # What holds
///
/// - Under every rule, a word asked for is itself: `query_words(w)` is `[w]` for each `w` in
///   `words(text)`. Joining those of `query_words(text)` by spaces and asking for that gives the
///   same words.
/// - Under every rule, `words(a + " " + b)` is `words(a)` followed by `words(b)`, and every word of
///   `query_words(text)` is one of `words(text)`: a text is found by any part of itself.
/// - Under all but [`Seed`](Self::Seed), composed and decomposed spellings (canonically equivalent
///   texts) have the same words, and what a word becomes depends on its own letters alone. Under
///   `Seed` neither holds: its lower case of Σ can depend on letters beyond a full stop, a colon or
///   an apostrophe.
///
/// Under all but `Seed`, full-width and half-width forms are the ordinary letters: `ＡＢＣ１` is
/// `abc1`, and `ｶﾞ` is `ガ`. Without folding nothing else changes but case: `ﬁ` is not `fi`, `ß` is
/// not `ss`, `é` is not `e`, and a final `ς` is not `σ`.
///
/// # What is not seen
///
/// Under all but `Seed`, characters that are not seen are left out of the word that they stand in, so
/// that it is found in every spelling: the soft hyphen (U+00AD), the zero-width joiner and non-joiner
/// (U+200D, U+200C), the word joiner (U+2060), direction marks and isolates, variation selectors, and
/// whatever else Unicode calls default-ignorable. Those that stand in the place of a separation part
/// words: the zero-width space (U+200B), the invisible operators of formulas (U+2061 to U+2064), and
/// the fillers that look like a blank (U+3164, U+FFA0). Under `Seed` all but letters and numbers part
/// words.
///
/// # Versions
///
/// What words a rule answers is of a [`version`](Self::version). An index of words is right for the
/// version that it was made by alone, so it records it. Version 1 of `unicode` and
/// `unicode-bigrams` parted words at all that is not seen, marks excepted; version 2 kept full-width
/// and half-width forms, and had no words of one letter inside a run of unspaced letters.
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
    /// into overlapping pairs, so that a word inside such a run is found. The letters of a text
    /// are words too, so that a word of one letter is.
    ///
    /// A query of two letters or more asks for pairs alone, which say more. A letter takes its
    /// marks along. Whatever stands between two runs is a word: `更新v2手順` is asked for as
    /// `更新`, `v2`, `手順`. Digits are never cut, `〇` and the Hangzhou numerals excepted, which
    /// are written like ideographs.
    UnicodeBigrams,
    /// As [`Unicode`](Self::Unicode), without accents, and with letters that have a plain spelling
    /// in it: `uber` finds `über`, `strasse` `Straße`, `dai hoc` `đại học`, `οδος` `οδός`,
    /// `istanbul` `İstanbul`.
    ///
    /// Left out are the accents of Latin, Greek and Cyrillic, the points of Hebrew, and the vowel
    /// signs, hamza and tatweel of Arabic; й and ў are letters of their own and stay. `ß`, `æ`,
    /// `œ`, `ø`, `đ`, `ð`, `þ`, `ł`, `ħ`, `ŧ`, `ŋ`, `ı` and the final `ς` are `ss`, `ae`, `oe`,
    /// `o`, `d`, `d`, `th`, `l`, `h`, `t`, `n`, `i` and `σ`. Ligatures, letters of formulas, raised
    /// and circled digits and the presentation forms of Arabic are what they stand for: `ﬁ` is
    /// `fi`, `x²` is `x2`. What is part of a letter elsewhere stays, such as vowel signs of Hindi
    /// and Thai and the voicing of kana.
    UnicodeFolded,
    /// As [`UnicodeBigrams`](Self::UnicodeBigrams), folded as by
    /// [`UnicodeFolded`](Self::UnicodeFolded).
    UnicodeBigramsFolded,
}

/// What words are read for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// To be found: all that a text can be found by.
    Text,
    /// To find: what says the most.
    Query,
}

impl WordRule {
    /// Every rule.
    pub const ALL: [Self; 5] = [
        Self::Seed,
        Self::Unicode,
        Self::UnicodeBigrams,
        Self::UnicodeFolded,
        Self::UnicodeBigramsFolded,
    ];

    /// The name of the rule, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Unicode => "unicode",
            Self::UnicodeBigrams => "unicode-bigrams",
            Self::UnicodeFolded => "unicode-folded",
            Self::UnicodeBigramsFolded => "unicode-bigrams-folded",
        }
    }

    /// The version of the rule in this release: a higher one than in a release whose rule of this
    /// name answered other words for some text.
    #[must_use]
    pub fn version(self) -> u32 {
        match self {
            Self::Seed | Self::UnicodeFolded | Self::UnicodeBigramsFolded => 1,
            Self::Unicode | Self::UnicodeBigrams => 3,
        }
    }

    /// How its words are folded. Of no meaning under [`Seed`](Self::Seed), which folds case alone.
    pub(crate) fn folding(self) -> Folding {
        match self {
            Self::UnicodeFolded | Self::UnicodeBigramsFolded => Folding::Accents,
            Self::Seed | Self::Unicode | Self::UnicodeBigrams => Folding::Width,
        }
    }

    /// The words of `text`, in order, repetitions included: what an index holds. None is empty.
    ///
    /// Takes any text; one without letters and numbers has no words.
    ///
    /// ```
    /// use shelfward_text::WordRule;
    ///
    /// assert_eq!(WordRule::Unicode.words("Ce\u{301}line's 2 TEAS"), ["céline", "s", "2", "teas"]);
    /// assert_eq!(WordRule::UnicodeFolded.words("Straße"), ["strasse"]);
    /// assert_eq!(WordRule::UnicodeBigrams.words("図書館"), ["図", "図書", "書", "書館", "館"]);
    /// ```
    #[must_use]
    pub fn words(self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    /// The words that `query` asks for: what is looked up in an index of [`words`](Self::words).
    ///
    /// They are the same words, but for runs of unspaced letters under the rules with bigrams.
    ///
    /// ```
    /// use shelfward_text::WordRule;
    ///
    /// assert_eq!(WordRule::UnicodeBigrams.query_words("図書館 本"), ["図書", "書館", "本"]);
    /// ```
    #[must_use]
    pub fn query_words(self, query: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.for_each_query_word(query, |word| words.push(word.to_owned()));
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
    pub fn for_each_word(self, text: &str, each: impl FnMut(&str)) {
        self.for_each(text, Side::Text, each);
    }

    /// Hands the words of `query` to `each`, as [`query_words`](Self::query_words) answers them.
    pub fn for_each_query_word(self, query: &str, each: impl FnMut(&str)) {
        self.for_each(query, Side::Query, each);
    }

    fn for_each(self, text: &str, side: Side, mut each: impl FnMut(&str)) {
        let mut folder = Folder::new(self.folding());
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
            Self::Unicode | Self::UnicodeFolded => {
                for run in Runs::with_marks(text) {
                    each(folder.fold(run.text, run.shape));
                }
            }
            Self::UnicodeBigrams | Self::UnicodeBigramsFolded => {
                for run in Runs::with_marks(text) {
                    if run.shape == Shape::Ascii {
                        each(folder.fold(run.text, run.shape));
                        continue;
                    }
                    for part in Parts::of(run.text) {
                        let word = folder.fold(part.text, Shape::of(part.text));
                        if part.unspaced {
                            let edges = letters(word).chain([word.len()]);
                            for_each_pair(edges, side, |start, end| {
                                each(word.get(start..end).unwrap_or_default());
                            });
                        } else {
                            each(word);
                        }
                    }
                }
            }
        }
    }
}

/// Whether a query word may stand for every word that begins with it. One of one character stands for
/// itself alone, in every index and store: it begins a large part of all words.
///
/// ```
/// use shelfward_text::is_prefix;
///
/// assert!(is_prefix("pa"));
/// assert!(!is_prefix("p"));
/// ```
#[must_use]
pub fn is_prefix(word: &str) -> bool {
    word.chars().nth(1).is_some()
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

/// Where the letters of a run begin.
pub(crate) fn letters(run: &str) -> impl Iterator<Item = usize> {
    run.char_indices()
        .filter(|(_, character)| !InWord::of(*character).is_attached())
        .map(|(at, _)| at)
}

/// Hands on the overlapping pairs of letters (with their marks) of a run, or a lone letter, and for a
/// text each letter beside them; by their edges, of which `edges` has the beginning of each letter and
/// the end of the run.
///
/// Letters are words of a text for the sake of words of one letter. That costs an index about as many
/// postings again, over few words, and asks nothing of a search: no prefix is expanded, and how often
/// a text holds the letter counts as for any word.
pub(crate) fn for_each_pair<E: Copy>(
    mut edges: impl Iterator<Item = E>,
    side: Side,
    mut each: impl FnMut(E, E),
) {
    let (Some(mut start), Some(mut middle)) = (edges.next(), edges.next()) else {
        return;
    };
    let mut is_lone = true;
    for end in edges {
        if side == Side::Text {
            each(start, middle);
        }
        each(start, end);
        (start, middle, is_lone) = (middle, end, false);
    }
    if is_lone || side == Side::Text {
        each(start, middle);
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
