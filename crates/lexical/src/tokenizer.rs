//! How text becomes words.

use std::rc::Rc;
use std::sync::Arc;

use shelfward_text::WordRule;

/// Cuts a text into words. An index reads its documents and its queries with one.
pub trait Tokenizer {
    /// Calls `each` with every word of `text`, in order, repetitions included.
    fn for_each_word(&self, text: &str, each: &mut dyn FnMut(&str));

    /// The word rule and its version, as `unicode/2`, which an index saved with it names and is
    /// restored by alone. `None`, unless it is implemented: nothing is known of the words, and a saved
    /// index is taken on trust.
    fn rule(&self) -> Option<String> {
        None
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
