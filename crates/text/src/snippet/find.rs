//! Finding the word that a snippet is placed around.

use crate::fold::Folder;
use crate::invisible::is_left_out;
use crate::runs::{Run, Runs, Shape};
use crate::word_places::Unfolded;
use crate::words::{Parts, WordRule};

/// The byte offset of the first word of `text` that begins with one of `words`.
pub(super) fn first_word<W: AsRef<str>>(text: &str, words: &[W], rule: WordRule) -> Option<usize> {
    let mut folder = Folder::new(rule.folding());
    match rule {
        WordRule::Seed => {
            let words = folded(words, |word| word.to_lowercase());
            Runs::without_marks(text)
                .find(|run| begins(folder.lower_case(run.text, run.shape), &words))
                .map(|run| run.at)
        }
        WordRule::Unicode | WordRule::UnicodeFolded => {
            let words = folded(words, |word| folder.fold(word, Shape::of(word)).to_owned());
            Runs::with_marks(text)
                .find(|run| begins(folder.fold(run.text, run.shape), &words))
                .map(|run| run.at)
        }
        WordRule::UnicodeBigrams | WordRule::UnicodeBigramsFolded => {
            let sought = Sought::new(words, &mut folder);
            Runs::with_marks(text).find_map(|run| sought.first_in(run, &mut folder))
        }
    }
}

fn folded<W: AsRef<str>>(words: &[W], mut fold: impl FnMut(&str) -> String) -> Vec<String> {
    let words = words.iter().map(|word| fold(word.as_ref()));
    // Every word begins with nothing.
    words.filter(|word| !word.is_empty()).collect()
}

fn begins(run: &str, words: &[String]) -> bool {
    words.iter().any(|word| run.starts_with(word.as_str()))
}

/// Words as they are sought where some letters are written without spaces.
struct Sought {
    /// Parts of such letters, found anywhere in a run of them.
    inside: Vec<String>,
    /// Parts of other letters, which a part of the text begins with.
    opening: Vec<String>,
}

impl Sought {
    fn new<W: AsRef<str>>(words: &[W], folder: &mut Folder) -> Self {
        let mut sought = Self {
            inside: Vec::new(),
            opening: Vec::new(),
        };
        for word in words {
            let word = word.as_ref().trim_matches(is_left_out);
            // One that holds anything else is no word.
            if Runs::with_marks(word)
                .next()
                .is_none_or(|run| run.text != word)
            {
                continue;
            }
            for part in Parts::of(word) {
                let folded = folder.fold(part.text, Shape::of(part.text)).to_owned();
                if part.unspaced {
                    sought.inside.push(folded);
                } else {
                    sought.opening.push(folded);
                }
            }
        }
        sought
    }

    fn first_in(&self, run: Run<'_>, folder: &mut Folder) -> Option<usize> {
        let mut at = run.at;
        for part in Parts::of(run.text) {
            let folded = folder.fold(part.text, Shape::of(part.text));
            if part.unspaced {
                let first = self
                    .inside
                    .iter()
                    .filter_map(|word| folded.find(word.as_str()));
                if let Some(first) = first.min() {
                    return Some(at + Unfolded::of(part.text).given(first, folder));
                }
            } else if begins(folded, &self.opening) {
                return Some(at);
            }
            at += part.text.len();
        }
        None
    }
}
