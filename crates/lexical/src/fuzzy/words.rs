//! Reading words with their places.

use shelfward_text::{InWord, Span};
use unicode_normalization::UnicodeNormalization;

/// How an index reads the words of its texts and of the queries put to it.
///
/// A function `Fn(&str) -> Vec<Token>` is one too. The words need not be folded: the index
/// compares whatever it is given in lower case, composed, without accents and without what is not
/// seen, such as soft hyphens, and leaves out a word of which nothing remains.
///
/// ```
/// use shelfward_lexical::fuzzy::{FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, Token};
/// use shelfward_text::Span;
///
/// // Whatever stands between white space is a word: `C++` is one.
/// let split = |text: &str| -> Vec<Token> {
///     let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
///     text.split_whitespace()
///         .map(|word| Token {
///             word: word.to_owned(),
///             span: Span { start: place(word), end: place(word) + word.len() },
///         })
///         .collect()
/// };
/// let mut index = FuzzyIndex::with_tokenizer(FuzzySettings::new([("title", 1.0)]), split)?;
/// index.add_document(FuzzyDocument::new("1").field("title", "Learning C++"))?;
/// assert_eq!(index.search("c++", &FuzzySearch::default()).len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Tokenize: Send + Sync {
    /// Gives every word of `text` to `take`, in the order of the text, with its place in `text`.
    ///
    /// A place that is not a stretch of `text` between two characters gives no mark; the word
    /// counts all the same.
    fn each_word(&self, text: &str, take: &mut dyn FnMut(&str, Span));
}

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word, not empty.
    pub word: String,
    /// Its place in the text that it was read from, in bytes.
    pub span: Span,
}

impl<F: Fn(&str) -> Vec<Token> + Send + Sync> Tokenize for F {
    fn each_word(&self, text: &str, take: &mut dyn FnMut(&str, Span)) {
        for token in self(text) {
            take(&token.word, token.span);
        }
    }
}

/// The words of [`WordRule::Unicode`](shelfward_text::WordRule::Unicode), with an apostrophe inside
/// a word kept: `don't` is one word.
///
/// An apostrophe is U+0027 or U+2019, and it stands inside a word when a letter or number comes
/// right after it and a letter, number or combining mark right before it. At the edges of a word it
/// is a quotation mark, and is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FuzzyWords;

impl Tokenize for FuzzyWords {
    fn each_word(&self, text: &str, take: &mut dyn FnMut(&str, Span)) {
        let mut give = |start: usize, end: usize| {
            let span = Span { start, end };
            if let Some(word) = span.slice(text) {
                take(word, span);
            }
        };
        let mut open: Option<Open> = None;
        for (at, character) in text.char_indices() {
            let end = at + character.len_utf8();
            match (InWord::of(character), &mut open) {
                // The apostrophe before it, if there was one, stands inside.
                (InWord::Letter, word) => {
                    let start = word.as_ref().map_or(at, |word| word.start);
                    *word = Some(Open {
                        start,
                        end,
                        apostrophe: false,
                    });
                }
                (InWord::Mark, Some(word)) if !word.apostrophe => word.end = end,
                (InWord::LeftOut, _) => {}
                (InWord::Gap, Some(word)) if !word.apostrophe && is_apostrophe(character) => {
                    word.apostrophe = true;
                }
                (_, word) => {
                    if let Some(word) = word.take() {
                        give(word.start, word.end);
                    }
                }
            }
        }
        if let Some(word) = open {
            give(word.start, word.end);
        }
    }
}

/// A word that may go on.
struct Open {
    start: usize,
    end: usize,
    /// Whether an apostrophe stands behind its end.
    apostrophe: bool,
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}')
}

/// Writes the form in which a word is compared over `folded`: without what is not seen, composed, in
/// lower case, and without the accents of U+0300 to U+036F. It may be empty.
pub(super) fn fold(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(word);
        folded.make_ascii_lowercase();
        return;
    }
    let seen = word
        .chars()
        .filter(|character| InWord::of(*character) != InWord::LeftOut);
    let lower = seen.nfc().collect::<String>().to_lowercase();
    let bare = lower.nfd().filter(|c| !('\u{300}'..='\u{36F}').contains(c));
    // Composed again, so that a syllable of Hangul is one letter and not three.
    folded.extend(bare.nfc());
}
