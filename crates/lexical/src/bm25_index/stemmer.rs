//! Words reduced to their stems.

use std::borrow::Cow;

use waken_snowball::{Algorithm, stem};

/// How words are reduced to their stems, by the Snowball algorithms.
///
/// Stems are for one language. A word that is longer than 255 bytes is left as it is: no word of a
/// language is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stemmer {
    /// The original Porter stemmer, for English. It stems otherwise than [`English`](Self::English).
    Porter,
    /// Arabic.
    Arabic,
    /// Danish.
    Danish,
    /// Dutch.
    Dutch,
    /// English, also known as Porter2.
    English,
    /// Finnish.
    Finnish,
    /// French.
    French,
    /// German.
    German,
    /// Greek.
    Greek,
    /// Hindi.
    Hindi,
    /// Hungarian.
    Hungarian,
    /// Italian.
    Italian,
    /// Norwegian.
    Norwegian,
    /// Portuguese.
    Portuguese,
    /// Romanian.
    Romanian,
    /// Russian.
    Russian,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
    /// Tamil.
    Tamil,
    /// Turkish.
    Turkish,
}

/// The longest word that is stemmed, in bytes.
const MAX_BYTES: usize = 255;

impl Stemmer {
    /// The stem of a word in lower case.
    pub fn stem(self, word: &str) -> Cow<'_, str> {
        if word.len() > MAX_BYTES {
            return Cow::Borrowed(word);
        }
        stem(self.algorithm(), word)
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::Porter => Algorithm::Porter,
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hindi => Algorithm::Hindi,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        }
    }
}
