//! The form that words are compared in.

use crate::accents::{is_accent, of_letter, plain};
use crate::invisible::is_left_out;
use crate::plain::is_uncased;
use crate::runs::{InWord, Shape};
use crate::script::is_unspaced;
use crate::width::{has_width, ordinary};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// What is folded beside case, spelling and what is not seen.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Folding {
    /// Full-width and half-width forms.
    #[default]
    Width,
    /// Those, accents, and letters that have a plain spelling.
    Accents,
}

/// Folds runs: without what is not seen, composed (NFC), in lower case, composed again.
///
/// Composed again, because lower case can undo it: `J` with a caron has no single character,
/// but `j` with a caron has.
///
/// It is kept from run to run, so that its buffers are: a text's words cost no allocation each.
#[derive(Default)]
pub(crate) struct Folder {
    folding: Folding,
    word: String,
    composed: String,
}

impl Folder {
    pub(crate) fn new(folding: Folding) -> Self {
        Self {
            folding,
            ..Self::default()
        }
    }

    /// Whether a mark is left out of what it stands in.
    pub(crate) fn leaves_out(&self, mark: char) -> bool {
        self.folding == Folding::Accents && is_accent(mark)
    }

    /// A run in the form that words are compared in.
    pub(crate) fn fold<'a>(&'a mut self, run: &'a str, shape: Shape) -> &'a str {
        match (shape, self.folding) {
            (Shape::Ascii, _) | (Shape::Plain, Folding::Width) => {
                return self.lower_case(run, shape);
            }
            (_, Folding::Accents) => without_accents(run, &mut self.word),
            (Shape::Any, Folding::Width) => {
                let changes = |character| is_left_out(character) || has_width(character);
                if is_composed(run) && !run.contains(changes) {
                    lower_case(run, &mut self.word);
                } else {
                    self.composed.clear();
                    // Taken out first: it keeps apart what composes.
                    let seen = run.chars().filter(|character| !is_left_out(*character));
                    self.composed.extend(seen.map(ordinary).nfc());
                    lower_case(&self.composed, &mut self.word);
                }
            }
        }
        if !is_composed(&self.word) {
            self.composed.clear();
            self.composed.extend(self.word.nfc());
            std::mem::swap(&mut self.word, &mut self.composed);
        }
        &self.word
    }

    /// A run in lower case alone.
    pub(crate) fn lower_case<'a>(&'a mut self, run: &'a str, shape: Shape) -> &'a str {
        match shape {
            Shape::Ascii => {
                if !run.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    return run;
                }
                self.word.clear();
                self.word.push_str(run);
                self.word.make_ascii_lowercase();
            }
            Shape::Plain => {
                if run.chars().all(is_uncased) {
                    return run;
                }
                self.word.clear();
                self.word.extend(run.chars().flat_map(char::to_lowercase));
            }
            Shape::Any => lower_case(run, &mut self.word),
        }
        &self.word
    }
}

/// Whether a text is known to be composed; one that might not be is composed to find out.
fn is_composed(text: &str) -> bool {
    is_nfc_quick(text.chars()) == IsNormalized::Yes
}

fn lower_case(text: &str, into: &mut String) {
    into.clear();
    if text.contains('Σ') {
        // The one letter whose lower case depends on its neighbours.
        into.push_str(&text.to_lowercase());
    } else {
        into.extend(text.chars().flat_map(char::to_lowercase));
    }
}

/// A run in lower case without accents, each letter by itself.
fn without_accents(run: &str, into: &mut String) {
    into.clear();
    // Kept, since a search for it behind many marks would take quadratic time.
    let mut letter = None;
    for character in run.chars().filter(|character| !is_left_out(*character)) {
        if character.is_ascii() {
            let lower = character.to_ascii_lowercase();
            into.push(lower);
            letter = Some(lower);
            continue;
        }
        let ordinary = ordinary(character);
        // Without case and accents: there a mark makes another letter.
        if is_unspaced(ordinary) {
            into.push(ordinary);
            letter = Some(ordinary).filter(|_| !is_mark(ordinary)).or(letter);
            continue;
        }
        for lower in ordinary.to_lowercase() {
            // What a letter stands for may have an upper case of its own.
            for part in of_letter(lower).flat_map(char::to_lowercase) {
                if let Some(plain) = plain(part) {
                    into.push_str(plain);
                    letter = plain.chars().next_back();
                } else if is_mark(part) {
                    if !is_accent(part) || is_short(part, letter) {
                        into.push(part);
                    }
                } else if part != TATWEEL || !letter.is_some_and(is_arabic) {
                    into.push(part);
                    letter = Some(part);
                }
            }
        }
    }
}

fn is_mark(character: char) -> bool {
    InWord::of(character) == InWord::Mark
}

/// Whether a breve makes й or ў, which are letters of their own.
fn is_short(mark: char, letter: Option<char>) -> bool {
    mark == '\u{306}' && matches!(letter, Some('и' | 'у'))
}

/// The stroke that makes a word longer. Where it makes none longer it stays, for the sake of words that
/// would be empty without it.
const TATWEEL: char = '\u{640}';

fn is_arabic(letter: char) -> bool {
    letter != TATWEEL && matches!(letter, '\u{620}'..='\u{6FF}' | '\u{750}'..='\u{77F}')
}
