//! How text becomes words.

use std::rc::Rc;
use std::sync::Arc;

use shelfward_text::{Span, WordPlaces, WordRule};

/// Cuts a text into words. An index reads its documents and its queries with one.
pub trait Tokenizer {
    /// Calls `each` with every word of `text`, in order, repetitions included.
    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str));

    /// The word rule and its version, such as `unicode/3`, which an index saved with it names and is
    /// restored by alone. `None`, unless it is implemented: nothing is known of the words, and a saved
    /// index is taken on trust.
    fn rule(&self) -> Option<String> {
        None
    }

    /// Calls `each` with every word of `text` and the place that it is marked at in a snippet.
    ///
    /// Unless it is implemented, each stretch without white space is cut by itself, and a word stands
    /// where it is found in there literally, or else at all of it. That marks nothing where a word goes
    /// on past white space.
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        let mut end = 0;
        for part in text.split_whitespace() {
            let rest = text.get(end..).unwrap_or_default();
            let start = end + rest.len() - rest.trim_start().len();
            end = start + part.len();
            let mut from = 0;
            self.for_each_word(part, &mut |word| {
                let at = part.get(from..).and_then(|rest| rest.find(word));
                let span = at.map_or(Span { start, end }, |at| {
                    from += at + word.len();
                    Span {
                        start: start + from - word.len(),
                        end: start + from,
                    }
                });
                each(word, span);
            });
        }
    }

    /// Calls `each` with every word that `query` asks for. Unless it is implemented, those are all its
    /// words.
    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        self.for_each_word(query, each);
    }

    /// The words that `query` asks for.
    fn query_words(&self, query: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.for_each_query_word(query, &mut |word| words.push(word.to_owned()));
        words
    }

    /// The words of `text`.
    fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.for_each_word(text, &mut |word| words.push(word.to_owned()));
        words
    }
}

impl Tokenizer for WordRule {
    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str)) {
        WordRule::for_each_word(*self, text, each);
    }

    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        WordPlaces::for_each_word_at(self, text, each);
    }

    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        WordRule::for_each_query_word(*self, query, each);
    }

    fn rule(&self) -> Option<String> {
        Some(format!("{}/{}", self.name(), self.version()))
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Tokenizer + ?Sized> Tokenizer for $pointer {
            fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str)) {
                (**self).for_each_word(text, each);
            }

            fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
                (**self).for_each_word_at(text, each);
            }

            fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
                (**self).for_each_query_word(query, each);
            }

            fn rule(&self) -> Option<String> {
                (**self).rule()
            }
        }
    )*};
}

forward!(&T, Box<T>, Rc<T>, Arc<T>);

/// A function that answers the words of a text, as a [`Tokenizer`].
///
/// ```
/// use shelfward_lexical::{LexicalIndex, TokenizerFn};
///
/// let by_space = TokenizerFn(|text: &str| text.split(' ').map(str::to_owned).collect());
/// let mut index = LexicalIndex::new(by_space);
/// index.add_document("a", "GB/s is a unit", None)?;
/// assert_eq!(index.search("GB/s", 10).len(), 1);
/// # Ok::<(), shelfward_lexical::AddError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TokenizerFn<F>(pub F);

impl<F: Fn(&str) -> Vec<String>> Tokenizer for TokenizerFn<F> {
    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str)) {
        (self.0)(text).iter().for_each(|word| each(word));
    }
}
