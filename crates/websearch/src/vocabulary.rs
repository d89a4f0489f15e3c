//! Words of snippets, and how often a text has them.

use std::collections::HashMap;

/// Distinct words, in the order in which they were first met.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    words: Vec<String>,
    places: HashMap<String, usize>,
}

impl Vocabulary {
    /// The words, each at its place.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The place of a word, from 0.
    pub fn place(&self, word: &str) -> Option<usize> {
        self.places.get(word).copied()
    }

    /// The place of a word, which is added if it is new.
    pub(crate) fn add(&mut self, word: &str) -> usize {
        if let Some(place) = self.place(word) {
            return place;
        }
        let place = self.words.len();
        self.words.push(word.to_owned());
        self.places.insert(word.to_owned(), place);
        place
    }
}

/// Shows how many words there are, never the words.
impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Vocabulary");
        shown.field("words", &self.words.len()).finish()
    }
}

/// The distinct words of some texts: in lower case, split at every character other than an ASCII
/// letter, a digit or an underscore. `café` gives `caf`. Soft hyphens and zero-width joiners are left
/// out first: a word is the same with and without them.
///
/// ```
/// use shelfward_websearch::{build_tf_vector, build_vocabulary};
///
/// let vocabulary = build_vocabulary(["Red tea, green tea"]);
/// assert_eq!(vocabulary.words(), ["red", "tea", "green"]);
/// assert_eq!(build_tf_vector("tea and red tea", &vocabulary), [0.25, 0.5, 0.0]);
/// ```
pub fn build_vocabulary<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for text in texts {
        each_word(text.as_ref(), |word| {
            vocabulary.add(word);
        });
    }
    vocabulary
}

/// How often `text` has each word of the vocabulary, divided by how many words it has, those outside
/// of the vocabulary included. All 0 for a text without words.
pub fn build_tf_vector(text: &str, vocabulary: &Vocabulary) -> Vec<f64> {
    let mut counts = vec![0.0; vocabulary.words.len()];
    let mut all = 0.0;
    each_word(text, |word| {
        all += 1.0;
        let place = vocabulary.place(word);
        if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
            *count += 1.0;
        }
    });
    if all > 0.0 {
        counts.iter_mut().for_each(|count| *count /= all);
    }
    counts
}

/// What is not seen in a word: soft hyphen, zero-width non-joiner and joiner, word joiner.
const UNSEEN: [char; 4] = ['\u{AD}', '\u{200C}', '\u{200D}', '\u{2060}'];

pub(crate) fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = text.to_lowercase();
    lower.retain(|character| !UNSEEN.contains(&character));
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = lower.split(|c| !word(c)).filter(|word| !word.is_empty());
    words.for_each(&mut take);
}
