//! The form that words are compared in.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Folds runs: composed (NFC), in lower case, composed again.
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
    /// A run that is all ASCII in lower case.
    pub(crate) fn fold_ascii<'a>(&'a mut self, run: &'a str) -> &'a str {
        if !run.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return run;
        }
        self.word.clear();
        self.word.push_str(run);
        self.word.make_ascii_lowercase();
        &self.word
    }

    /// A run in the form that words are compared in.
    pub(crate) fn fold<'a>(&'a mut self, run: &'a str) -> &'a str {
        if run.is_ascii() {
            return self.fold_ascii(run);
        }
        if is_composed(run) {
            lower_case(run, &mut self.word);
        } else {
            self.composed.clear();
            self.composed.extend(run.nfc());
            lower_case(&self.composed, &mut self.word);
        }
        if !is_composed(&self.word) {
            self.composed.clear();
            self.composed.extend(self.word.nfc());
            std::mem::swap(&mut self.word, &mut self.composed);
        }
        &self.word
    }

    /// A run in lower case alone.
    pub(crate) fn lower_case<'a>(&'a mut self, run: &'a str) -> &'a str {
        if run.is_ascii() {
            return self.fold_ascii(run);
        }
        lower_case(run, &mut self.word);
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
