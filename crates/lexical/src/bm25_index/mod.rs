//! The index with a tokenizer that drops and stems words.

mod stemmer;
mod stop_words;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use shelfward_text::{Span, WordPlaces, WordRule};

use crate::index::LexicalIndex;
use crate::tokenizer::Tokenizer;

pub use stemmer::Stemmer;

/// A [`LexicalIndex`] with a [`Bm25Tokenizer`], which can drop stop words and reduce words to stems: the
/// one to take for texts of one language. Without either it is a `LexicalIndex` with a [`WordRule`],
/// which is simpler.
///
/// ```
/// use shelfward_lexical::{Bm25Index, Bm25Tokenizer, SearchOptions, Stemmer};
///
/// let mut index = Bm25Index::new(Bm25Tokenizer::plain_english());
/// index.add_document("faq-1", "Reset a password from the sign-in page.", None)?;
/// index.add_document("faq-2", "Passwords expire after ninety days.", None)?;
/// assert_eq!(index.search("passwords", 10).len(), 1); // no stemming
///
/// let mut stemmed = Bm25Index::new(Bm25Tokenizer::plain_english().stem(Stemmer::Porter));
/// stemmed.add_document("a", "She runs every morning.", None)?;
/// assert_eq!(stemmed.search("running", 10).len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Bm25Index<T = Bm25Tokenizer> = LexicalIndex<T>;

/// Cuts text into words, and can drop stop words and reduce words to their stems.
///
/// By default it does neither and keeps words of one character, so that no word is silently
/// unfindable. An index must be read with the tokenizer that it was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bm25Tokenizer {
    cut: Cut,
    stop_words: StopWords,
    stemmer: Option<Stemmer>,
}

/// Where words end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// By a word rule.
    Rule(WordRule),
    /// At white space and ASCII punctuation; words of one UTF-16 unit are dropped.
    Punctuation,
}

/// Words that an index does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopWords {
    /// None: every word is held.
    #[default]
    None,
    /// 170 frequent English words, among them single letters and `get`, `can`, `said`.
    English,
    /// The caller's, in lower case.
    These(HashSet<String>),
}

impl StopWords {
    fn hold(&self, word: &str) -> bool {
        match self {
            Self::None => false,
            Self::English => stop_words::ENGLISH.binary_search(&word).is_ok(),
            Self::These(words) => words.contains(word),
        }
    }
}

impl Default for Bm25Tokenizer {
    fn default() -> Self {
        Self::new(WordRule::default())
    }
}

impl Bm25Tokenizer {
    /// The words of a rule, all of them and as they are.
    pub fn new(rule: WordRule) -> Self {
        Self {
            cut: Cut::Rule(rule),
            stop_words: StopWords::None,
            stemmer: None,
        }
    }

    /// Lower case, cut at white space and ASCII punctuation, without words of one UTF-16 unit (a
    /// letter goes, an emoji stays) and English stop words. Typographic quotes and dashes do not
    /// cut. For plain English alone.
    pub fn plain_english() -> Self {
        Self {
            cut: Cut::Punctuation,
            stop_words: StopWords::English,
            stemmer: None,
        }
    }

    /// Sets which words are dropped.
    #[must_use]
    pub fn stop_words(self, stop_words: StopWords) -> Self {
        Self { stop_words, ..self }
    }

    /// Reduces words to their stems, after stop words are dropped, so that `running` finds `runs`.
    /// A prefix then stands for stems that begin with it.
    #[must_use]
    pub fn stem(self, stemmer: Stemmer) -> Self {
        Self {
            stemmer: Some(stemmer),
            ..self
        }
    }

    fn hand_on(&self, word: &str, each: &mut dyn FnMut(&str)) {
        if self.stop_words.hold(word) {
            return;
        }
        match self.stemmer.map(|stemmer| stemmer.stem(word)) {
            // A stem of nothing would stand for every such word.
            Some(stem) if !stem.is_empty() => each(&stem),
            _ => each(word),
        }
    }
}

impl Tokenizer for Bm25Tokenizer {
    /// That of where words end, then which are dropped and how they are stemmed, as
    /// `unicode/3 stop:english stem:porter`.
    fn rule(&self) -> Option<String> {
        let mut rule = match self.cut {
            Cut::Rule(rule) => rule.rule()?,
            Cut::Punctuation => "punctuation/1".to_owned(),
        };
        match &self.stop_words {
            StopWords::None => {}
            StopWords::English => rule += " stop:english",
            // Too many to be named.
            StopWords::These(words) => {
                let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
                let joined = words.into_iter().collect::<Vec<_>>().join("\0");
                rule += &format!(" stop:{:08x}", crc32fast::hash(joined.as_bytes()));
            }
        }
        if let Some(stemmer) = self.stemmer {
            rule += &format!(" stem:{stemmer:?}").to_lowercase();
        }
        Some(rule)
    }

    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        match self.cut {
            Cut::Rule(rule) => rule.for_each_query_word(query, |word| self.hand_on(word, each)),
            Cut::Punctuation => self.for_each_word(query, each),
        }
    }

    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str)) {
        match self.cut {
            Cut::Rule(rule) => rule.for_each_word(text, |word| self.hand_on(word, each)),
            Cut::Punctuation => {
                let lower = lower_case(text);
                for word in lower.split(parts_words).filter(|word| is_long(word)) {
                    self.hand_on(word, each);
                }
            }
        }
    }

    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        match self.cut {
            Cut::Rule(rule) => WordPlaces::for_each_word_at(&rule, text, &mut |word, span| {
                self.hand_on(word, &mut |word| each(word, span));
            }),
            Cut::Punctuation => {
                // What parts words is its own lower case, and nothing else's.
                let lower = lower_case(text);
                let mut start = 0;
                for (given, word) in text.split(parts_words).zip(lower.split(parts_words)) {
                    let end = start + given.len();
                    if is_long(word) {
                        self.hand_on(word, &mut |word| each(word, Span { start, end }));
                    }
                    let parted = text.get(end..).and_then(|rest| rest.chars().next());
                    start = end + parted.map_or(0, char::len_utf8);
                }
            }
        }
    }
}

/// Whether a word has two UTF-16 units or more.
fn is_long(word: &str) -> bool {
    word.chars().map(char::len_utf16).sum::<usize>() >= 2
}

fn lower_case(text: &str) -> Cow<'_, str> {
    let is_lower = text
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// White space as ECMAScript has it, and ASCII punctuation.
fn parts_words(character: char) -> bool {
    match character {
        '\u{FEFF}' => true,
        '\u{85}' => false,
        _ => character.is_whitespace() || character.is_ascii_punctuation(),
    }
}
