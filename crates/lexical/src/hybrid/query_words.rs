use std::collections::HashSet;

use shelfward_core::Match;
use shelfward_text::is_prefix;

use crate::index::SearchOptions;
use crate::tokenizer::Tokenizer;

/// The words of a query, to be looked for in a text that was read: what an index found may be the
/// word of an older text, or of another document under the same id.
pub(super) struct QueryWords {
    words: HashSet<String>,
    options: SearchOptions,
}

impl QueryWords {
    pub(super) fn new<T: Tokenizer>(tokenizer: &T, query: &str, options: SearchOptions) -> Self {
        Self {
            words: tokenizer.query_words(query).into_iter().collect(),
            options,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a text holds what an index would find it by.
    pub(super) fn are_in<T: Tokenizer>(&self, tokenizer: &T, text: &str) -> bool {
        let mut held: HashSet<&str> = HashSet::new();
        tokenizer.for_each_word(text, &mut |word| {
            let stands_for = |asked: &&String| {
                *asked == word
                    || (self.options.prefix && is_prefix(asked) && word.starts_with(asked.as_str()))
            };
            held.extend(self.words.iter().filter(stands_for).map(String::as_str));
        });
        match self.options.matching {
            Match::Any => !held.is_empty(),
            Match::All => held.len() == self.words.len(),
        }
    }
}
