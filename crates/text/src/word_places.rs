//! The words of a text, and where they stand in it.

use crate::fold::Folder;
use crate::runs::{InWord, Run, Runs, Shape};
use crate::span::Span;
use crate::words::{Parts, Side, WordRule, for_each_pair, letters};
use unicode_normalization::char::compose;

/// Cuts a text into words and says where each stands: what a [`Highlighter`](crate::Highlighter) finds
/// the words of a query by. It must cut as the search does that found the text.
pub trait WordPlaces {
    /// Calls `each` with every word of `text`, folded as it is compared, and with its place in `text`,
    /// in the order of the text.
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span));

    /// Calls `each` with every word that `query` asks for: all its words, unless it is implemented.
    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        self.for_each_word_at(query, &mut |word, _| each(word));
    }
}

impl<W: WordPlaces + ?Sized> WordPlaces for &W {
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        (**self).for_each_word_at(text, each);
    }

    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        (**self).for_each_query_word(query, each);
    }
}

impl WordPlaces for WordRule {
    /// The words of [`words`](WordRule::words), in the same order. Pairs of letters overlap, and hold
    /// the letters.
    ///
    /// ```
    /// use shelfward_text::{WordPlaces, WordRule};
    ///
    /// let mut found = Vec::new();
    /// WordRule::Unicode.for_each_word_at("Ça va?", &mut |word, span| {
    ///     found.push((word.to_owned(), span.start, span.end));
    /// });
    /// assert_eq!(found, [("ça".to_owned(), 0, 3), ("va".to_owned(), 4, 6)]);
    /// ```
    fn for_each_word_at(&self, text: &str, each: &mut dyn FnMut(&str, Span)) {
        let mut folder = Folder::new(self.folding());
        match self {
            Self::Seed if text.contains(['Σ', 'İ']) => {
                let lower = text.to_lowercase();
                let mut places = Lowered::of(text);
                for run in Runs::without_marks(&lower) {
                    let start = places.given(run.at);
                    let end = places.given(run.at + run.text.len());
                    each(run.text, Span { start, end });
                }
            }
            Self::Seed => {
                for run in Runs::without_marks(text) {
                    each(folder.lower_case(run.text, run.shape), place(&run));
                }
            }
            Self::Unicode | Self::UnicodeFolded => {
                for run in Runs::with_marks(text) {
                    each(folder.fold(run.text, run.shape), place(&run));
                }
            }
            Self::UnicodeBigrams | Self::UnicodeBigramsFolded => {
                for run in Runs::with_marks(text) {
                    let mut at = run.at;
                    for part in Parts::of(run.text) {
                        let start = at;
                        at += part.text.len();
                        if part.unspaced {
                            pairs(part.text, start, &mut folder, each);
                        } else {
                            let word = folder.fold(part.text, Shape::of(part.text));
                            each(word, Span { start, end: at });
                        }
                    }
                }
            }
        }
    }

    fn for_each_query_word(&self, query: &str, each: &mut dyn FnMut(&str)) {
        WordRule::for_each_query_word(*self, query, each);
    }
}

fn place(run: &Run<'_>) -> Span {
    Span {
        start: run.at,
        end: run.at + run.text.len(),
    }
}

/// The letters and the overlapping pairs of letters of a part that stands at `start`.
fn pairs(part: &str, start: usize, folder: &mut Folder, each: &mut dyn FnMut(&str, Span)) {
    let word = folder.fold(part, Shape::of(part)).to_owned();
    let mut unfolded = Unfolded::of(part);
    // Folded and in the text.
    let edges = letters(&word).map(|folded| (folded, unfolded.given(folded, folder)));
    let edges = edges.chain([(word.len(), part.len())]);
    for_each_pair(edges, Side::Text, |from, to| {
        let span = Span {
            start: start + from.1,
            end: start + to.1,
        };
        each(word.get(from.0..to.0).unwrap_or_default(), span);
    });
}

/// Where the letters of a part stand that was folded.
pub(crate) struct Unfolded<'a> {
    part: &'a str,
    characters: std::str::CharIndices<'a>,
    /// Where the letter begins that is being read, and how long all before it are when folded.
    start: usize,
    folded: usize,
    /// What the letter so far composes to, while one may still join it.
    open: Option<char>,
}

impl<'a> Unfolded<'a> {
    pub(crate) fn of(part: &'a str) -> Self {
        Self {
            part,
            characters: part.char_indices(),
            start: 0,
            folded: 0,
            open: None,
        }
    }

    /// Where in the part the letter stands that is at `folded_at` when it is folded. Never asked for
    /// one ahead of the last that was asked for.
    pub(crate) fn given(&mut self, folded_at: usize, folder: &mut Folder) -> usize {
        while self.folded <= folded_at {
            let Some((at, character)) = self.characters.clone().next() else {
                break;
            };
            match InWord::of(character) {
                InWord::Mark => {
                    if !folder.leaves_out(character) {
                        self.open = None;
                    }
                }
                InWord::LeftOut => {}
                // The conjoining letters of Hangul; any other folds by itself, with its marks.
                InWord::Letter | InWord::Gap => {
                    if let Some(joined) = self.open.and_then(|open| compose(open, character)) {
                        self.open = Some(joined);
                    } else {
                        let letter = self.part.get(self.start..at).unwrap_or_default();
                        let longer = self.folded + folder.fold(letter, Shape::of(letter)).len();
                        if longer > folded_at {
                            return self.start;
                        }
                        (self.folded, self.start) = (longer, at);
                        self.open = Some(character);
                    }
                }
            }
            self.characters.next();
        }
        self.start
    }
}

/// Where the characters of a text stand whose lower case was read.
struct Lowered<'a> {
    characters: std::str::CharIndices<'a>,
    lower: usize,
    end: usize,
}

impl<'a> Lowered<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            characters: text.char_indices(),
            lower: 0,
            end: 0,
        }
    }

    /// The end in the text of what its lower case has up to `lower_at`; never less than the last.
    fn given(&mut self, lower_at: usize) -> usize {
        while self.lower < lower_at
            && let Some((at, character)) = self.characters.next()
        {
            // Either lower case of Σ has two bytes.
            self.lower += character.to_lowercase().map(char::len_utf8).sum::<usize>();
            self.end = at + character.len_utf8();
        }
        self.end
    }
}
