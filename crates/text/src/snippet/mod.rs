//! The part of a text that shows why it was found.

mod clip;
mod find;
mod highlight;
mod window;

pub use highlight::{Highlight, Highlighter};

use crate::words::WordRule;
use serde::{Deserialize, Serialize};

/// How much of a text a snippet shows, and what its words are.
///
/// In JSON a missing key keeps its default and an unknown one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SnippetAround {
    /// How many characters (Unicode scalar values) ahead of the word the snippet reaches at
    /// least, where the text has them: 80 unless set. It goes on to the start of a word.
    pub before: usize,
    /// How many characters past the start of the word it reaches at least: 120 unless set. It
    /// goes on to the end of a word.
    pub after: usize,
    /// The most characters in the snippet; without it, which is the default, a text without
    /// white space comes back whole. A snippet that is too long loses words at its ends, and
    /// where that is not enough it is cut between two graphemes.
    pub max_chars: Option<usize>,
    /// The rule by which the text was indexed.
    pub rule: WordRule,
}

impl Default for SnippetAround {
    fn default() -> Self {
        Self {
            before: 80,
            after: 120,
            max_chars: None,
            rule: WordRule::default(),
        }
    }
}

/// A part of a text around a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snippet {
    /// The byte offset, in the text as given, of the word that was found; `None` if none was.
    pub at: Option<usize>,
    /// The snippet: every run of white space is one space, with none at the ends.
    pub text: String,
}

/// The part of `text` around its first word that begins with one of `words`.
///
/// The snippet holds whole words. It runs from just behind the last white space at or before
/// `before` characters ahead of the word, or from the text's start, to the first white space at
/// or after `after` characters past the word's start, or to the text's end. If no word is found,
/// it is the text's start. White space is Unicode's, without the no-break spaces (U+00A0, U+2007,
/// U+202F), which keep `1 200` whole.
///
/// `words` are what [`WordRule::query_words`] answers for a query; in any case and spelling they are
/// folded as the text is. One that is no single word under the rule, as `sign in`, is never
/// found. Under the rules with bigrams, letters written without spaces are found wherever
/// they stand in a run, and a word that has others beside them is sought part by part.
///
/// The time is linear in the text, for each word.
///
/// ```
/// use shelfward_text::{SnippetAround, WordRule, snippet_around};
///
/// let text = "Who has the figures?\nI do: the budget is 1,200 units.";
/// let options = SnippetAround { before: 8, after: 12, ..SnippetAround::default() };
/// let snippet = snippet_around(text, &WordRule::Unicode.query_words("Budgets? budget"), &options);
/// assert_eq!(snippet.at, Some(31));
/// assert_eq!(snippet.text, "do: the budget is 1,200");
///
/// let bigrams = SnippetAround { rule: WordRule::UnicodeBigrams, ..options };
/// assert_eq!(snippet_around("昨日図書館で", &["書館"], &bigrams).at, Some(9));
/// ```
#[must_use]
pub fn snippet_around<W: AsRef<str>>(text: &str, words: &[W], options: &SnippetAround) -> Snippet {
    let at = find::first_word(text, words, options.rule);
    let anchor = at.unwrap_or(0);
    let mut window = clip::Window {
        start: start(text, anchor, options.before),
        end: end(text, anchor, options.after),
    };
    if let Some(max_chars) = options.max_chars {
        window = window.clipped(text, anchor, max_chars, options);
    }
    Snippet {
        at,
        text: collapsed(text.get(window.start..window.end).unwrap_or_default()),
    }
}

/// White space at which a snippet may begin and end.
pub(crate) fn is_white(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{A0}' | '\u{2007}' | '\u{202F}')
}

/// Just behind the last white space at or before `before` characters ahead of `anchor`.
fn start(text: &str, anchor: usize, before: usize) -> usize {
    let Some(ahead) = text.get(..anchor) else {
        return 0;
    };
    // The character that stands exactly so far ahead; if there is none, or it is the first, the
    // text is shown from its start.
    let reached = match before.checked_sub(1) {
        Some(back) => ahead.char_indices().nth_back(back).map(|(at, _)| at),
        None => Some(anchor),
    };
    let Some(reached) = reached.filter(|at| *at > 0) else {
        return 0;
    };
    // That character itself may be the white space.
    let width = text.get(reached..).and_then(|rest| rest.chars().next());
    let upto = reached + width.map_or(0, char::len_utf8);
    let last = text.get(..upto).and_then(|ahead| {
        let mut back = ahead.char_indices().rev();
        back.find(|(_, character)| is_white(*character))
    });
    last.map_or(0, |(at, character)| at + character.len_utf8())
}

/// The first white space at or after `after` characters past `anchor`.
fn end(text: &str, anchor: usize, after: usize) -> usize {
    let past = text.get(anchor..).unwrap_or_default();
    let reached = past
        .char_indices()
        .nth(after)
        .map_or(past.len(), |(at, _)| at);
    let rest = past.get(reached..).unwrap_or_default();
    anchor + reached + rest.find(is_white).unwrap_or(rest.len())
}

/// A text with every run of white space as one space, and none at its ends.
fn collapsed(text: &str) -> String {
    let mut collapsed = String::new();
    for word in text.split(is_white).filter(|word| !word.is_empty()) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}
