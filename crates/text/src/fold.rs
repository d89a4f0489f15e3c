//! The form that words are compared in.

use crate::invisible::is_left_out;
use crate::plain::is_uncased;
use crate::runs::Shape;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Folds runs: without what is not seen, composed (NFC), in lower case, composed again.
///
/// Composed again, because lower case can undo it: `J` with a caron has no single character,
/// but `j` with a caron has.
///
/// It is kept from run to run, so that its buffers are: a text's words cost no allocation each.
#[derive(Default)]
pub(crate) struct Folder {
    word: String,
    composed: String,
}

impl Folder {
    /// A run in the form that words are compared in.
    pub(crate) fn fold<'a>(&'a mut self, run: &'a str, shape: Shape) -> &'a str {
        match shape {
            Shape::Ascii | Shape::Plain => return self.lower_case(run, shape),
            Shape::Any if is_composed(run) && !run.contains(is_left_out) => {
                lower_case(run, &mut self.word);
            }
            Shape::Any => {
                self.composed.clear();
                // Taken out first: it keeps apart what composes.
                let seen = run.chars().filter(|character| !is_left_out(*character));
                self.composed.extend(seen.nfc());
                lower_case(&self.composed, &mut self.word);
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
