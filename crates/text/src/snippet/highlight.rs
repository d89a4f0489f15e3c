//! The words of a query, marked where they stand.

use super::is_white;
use super::window::{Match, around, best};
use crate::grapheme::cut;
use crate::span::Span;
use crate::split::{trimmed, word_end};
use crate::word_places::WordPlaces;
use crate::words::{WordRule, is_prefix};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A text to show, or a part of one, with the places of the words that were found.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Highlight {
    /// What to show.
    pub text: Arc<str>,
    /// The part of the text as given that it shows, in byte offsets.
    pub span: Span,
    /// Where the found words stand in [`text`](Self::text), in byte offsets: in order, none overlapping
    /// another.
    pub marks: Vec<Span>,
}

impl Highlight {
    /// A part of `text` as it stands, with marks that are places in it. What is no place in it is left
    /// out, and so are marks that do not stand in their order; `None` if `span` is none.
    #[must_use]
    pub fn at(text: &str, span: Span, marks: impl IntoIterator<Item = Span>) -> Option<Self> {
        let shown: Arc<str> = span.slice(text)?.into();
        Some(Self::of(shown, span, marks))
    }

    /// As [`at`](Self::at), of a text that is shown whole.
    #[must_use]
    pub fn whole(text: Arc<str>, marks: impl IntoIterator<Item = Span>) -> Self {
        let span = Span {
            start: 0,
            end: text.len(),
        };
        Self::of(text, span, marks)
    }

    fn of(text: Arc<str>, span: Span, marks: impl IntoIterator<Item = Span>) -> Self {
        let mut last = 0;
        let marks = marks.into_iter().filter(|mark| {
            let stands =
                mark.start >= last && mark.slice(&text).is_some_and(|word| !word.is_empty());
            if stands {
                last = mark.end;
            }
            stands
        });
        let marks = marks.collect();
        Self { text, span, marks }
    }

    /// The marked words, as they stand in the text.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.marks.iter().filter_map(|mark| mark.slice(&self.text))
    }

    /// All of the text in order, part by part, with whether it is marked.
    ///
    /// ```
    /// use shelfward_text::{Highlighter, WordRule};
    ///
    /// let found = Highlighter::new(WordRule::Unicode, "tea").whole("Green tea");
    /// let html: String = found
    ///     .parts()
    ///     .map(|(part, marked)| if marked { format!("<mark>{part}</mark>") } else { part.to_owned() })
    ///     .collect();
    /// assert_eq!(html, "Green <mark>tea</mark>");
    /// ```
    pub fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        let end = Span {
            start: self.text.len(),
            end: self.text.len(),
        };
        let mut done = 0;
        let parts = self.marks.iter().chain([&end]).copied().collect::<Vec<_>>();
        parts
            .into_iter()
            .flat_map(move |mark| {
                let plain = Span {
                    start: done,
                    end: mark.start,
                };
                done = mark.end;
                [(plain, false), (mark, true)]
            })
            .filter_map(|(part, marked)| Some((part.slice(&self.text)?, marked)))
            .filter(|(part, _)| !part.is_empty())
    }
}

/// Shows sizes and places, never text.
impl std::fmt::Debug for Highlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlight")
            .field("text_bytes", &self.text.len())
            .field("span", &self.span)
            .field("marks", &self.marks)
            .finish()
    }
}

/// Finds the words of a query in texts, and shows where a text answers it.
///
/// Words are found as the search finds them that it is made like: by its word rule or tokenizer, and as
/// prefixes if it searches by these. Whole words are marked. Where letters are written without spaces,
/// under [`WordRule::UnicodeBigrams`], the letters or pairs of letters that were found are.
///
/// The time is linear in the text.
///
/// ```
/// use shelfward_text::{Highlighter, WordRule};
///
/// let text = "The port is closed. On Monday the harbour master opens the port for small boats.";
/// let query = Highlighter::new(WordRule::Unicode, "When does the port open?").prefix(true).max_chars(45);
/// let found = query.snippet(text);
/// assert_eq!(&*found.text, "harbour master opens the port for small");
/// assert_eq!(found.words().collect::<Vec<_>>(), ["opens", "the", "port"]);
/// ```
#[derive(Clone)]
pub struct Highlighter<T = WordRule> {
    places: T,
    /// In ascending order, each once.
    words: Vec<String>,
    /// What each word is worth beside the others.
    weights: Vec<u64>,
    /// The lengths of words, the longest first.
    lengths: Vec<usize>,
    prefix: bool,
    max_chars: usize,
}

impl<T: WordPlaces> Highlighter<T> {
    /// One for the words of a query, each worth as much as it has characters, since short words are the
    /// frequent ones; [`weights`](Self::weights) says it better where more is known. Snippets have at
    /// most 200 characters.
    pub fn new(places: T, query: &str) -> Self {
        let mut words = Vec::new();
        places.for_each_query_word(query, &mut |word| {
            // Every word begins with nothing.
            if !word.is_empty() {
                words.push(word.to_owned());
            }
        });
        words.sort_unstable();
        words.dedup();
        let mut lengths: Vec<usize> = words.iter().map(String::len).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.dedup();
        Self {
            places,
            weights: words
                .iter()
                .map(|word| word.chars().count() as u64)
                .collect(),
            words,
            lengths,
            prefix: false,
            max_chars: 200,
        }
    }

    /// Whether a query word stands for every word that begins with it, as in a search with prefixes;
    /// one of one character never does, see [`is_prefix`].
    #[must_use]
    pub fn prefix(self, prefix: bool) -> Self {
        Self { prefix, ..self }
    }

    /// The most characters (Unicode scalar values) of a snippet. Only a grapheme that is longer by itself
    /// goes beyond.
    #[must_use]
    pub fn max_chars(self, max_chars: usize) -> Self {
        Self { max_chars, ..self }
    }

    /// What each word of the query is worth, such as how rare it is: the part of a text is shown whose
    /// words are worth the most together. What is no finite number above 0 is worth nothing.
    #[must_use]
    pub fn weights(self, mut weight: impl FnMut(&str) -> f64) -> Self {
        let worth = |weight: f64| {
            if weight.is_finite() {
                weight.max(0.0)
            } else {
                0.0
            }
        };
        let given: Vec<f64> = self.words.iter().map(|word| worth(weight(word))).collect();
        let most = given.iter().copied().fold(0.0, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the greatest, from 0 to 1, in millionths"
        )]
        let scaled = |weight: f64| {
            if most > 0.0 {
                (weight / most * 1e6) as u64
            } else {
                0
            }
        };
        let weights = given.into_iter().map(scaled).collect();
        Self { weights, ..self }
    }

    /// The part of a text that holds the most of the query's words, by what they are worth; of several
    /// such, the one where they stand closest together. Without any, the beginning of the text.
    ///
    /// It begins with a sentence if one begins near, and ends between words. Every run of white space is
    /// one space, with none at the ends; white space is that of [`snippet_around`](crate::snippet_around).
    /// Of a word that is longer than a snippet the beginning is shown.
    #[must_use]
    pub fn snippet(&self, text: &str) -> Highlight {
        let matches = self.matches(text);
        let shown = match best(&matches, &self.weights, self.max_chars) {
            Some(core) => around(text, core, self.max_chars),
            None => beginning(text, self.max_chars),
        };
        collapsed(text, shown, &matches)
    }

    /// All of a text, as it stands, with the query's words marked.
    #[must_use]
    pub fn whole(&self, text: &str) -> Highlight {
        let matches = self.matches(text);
        Highlight::whole(text.into(), joined(&matches))
    }

    /// The words of the query in a text, in order.
    fn matches(&self, text: &str) -> Vec<Match> {
        let mut found = Vec::new();
        if self.words.is_empty() {
            return found;
        }
        self.places.for_each_word_at(text, &mut |word, span| {
            if let Some(word) = self.word(word)
                && span.slice(text).is_some_and(|word| !word.is_empty())
            {
                let chars = Span { start: 0, end: 0 };
                found.push(Match { span, word, chars });
            }
        });
        // A caller's tokenizer may answer them in any order.
        found.sort_by_key(|found| found.span);
        let ends = found
            .iter()
            .flat_map(|found| [found.span.start, found.span.end]);
        let mut ends: Vec<usize> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        let (mut at, mut passed) = (0, 0);
        let count = |end: &usize| {
            passed += text.get(at..*end).unwrap_or_default().chars().count();
            at = *end;
            passed
        };
        let counts: Vec<usize> = ends.iter().map(count).collect();
        let chars = |end: usize| {
            let known = ends.binary_search(&end).ok().and_then(|at| counts.get(at));
            known.copied().unwrap_or(0)
        };
        for found in &mut found {
            found.chars = Span {
                start: chars(found.span.start),
                end: chars(found.span.end),
            };
        }
        found
    }

    /// Which of the query's words a word of the text is; of several that it begins with, the longest.
    fn word(&self, word: &str) -> Option<usize> {
        let find = |word: &str| {
            self.words
                .binary_search_by(|known| known.as_str().cmp(word))
                .ok()
        };
        if !self.prefix {
            return find(word);
        }
        let mut lengths = self.lengths.iter();
        lengths.find_map(|length| {
            let begun = word.get(..*length)?;
            find(begun).filter(|_| begun == word || is_prefix(begun))
        })
    }
}

/// Shows how many words the query has, never which.
impl<T> std::fmt::Debug for Highlighter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter")
            .field("words", &self.words.len())
            .field("prefix", &self.prefix)
            .field("max_chars", &self.max_chars)
            .finish_non_exhaustive()
    }
}

/// The beginning of a text.
fn beginning(text: &str, max_chars: usize) -> Span {
    let start = text.len() - text.trim_start().len();
    let rest = text.get(start..).unwrap_or_default();
    let end = word_end(rest, max_chars, max_chars).unwrap_or_else(|| cut(rest, max_chars));
    trimmed(text, start, start + end).unwrap_or(Span { start, end: start })
}

/// The places of matches, those that overlap made one.
fn joined(matches: &[Match]) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for Match { span, .. } in matches {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(*span),
        }
    }
    joined
}

/// What is shown of a text, every run of white space being one space, with what is marked there.
fn collapsed(text: &str, span: Span, matches: &[Match]) -> Highlight {
    let mut shown = String::new();
    let mut marks: Vec<Span> = Vec::new();
    let places = joined(matches);
    let mut places = places
        .iter()
        .skip_while(|place| place.end <= span.start)
        .peekable();
    let mut open = None;
    let mut white = false;
    for (at, character) in span.slice(text).unwrap_or_default().char_indices() {
        let at = span.start + at;
        if is_white(character) {
            white = !shown.is_empty();
        } else {
            if std::mem::take(&mut white) {
                shown.push(' ');
            }
            if open.is_none() && places.peek().is_some_and(|place| place.start <= at) {
                open = Some(shown.len());
            }
            shown.push(character);
        }
        let behind = at + character.len_utf8();
        while places.next_if(|place| place.end <= behind).is_some() {
            marks.extend(open.take().map(|start| Span {
                start,
                end: shown.len(),
            }));
        }
    }
    marks.extend(open.map(|start| Span {
        start,
        end: shown.len(),
    }));
    Highlight {
        text: shown.into(),
        span,
        marks,
    }
}
