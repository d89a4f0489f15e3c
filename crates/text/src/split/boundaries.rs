//! Where pieces may begin and end.

use super::spans::{rest, slice};
use crate::grapheme::{cut, is_break, trim_start};
use crate::runs::InWord;
use crate::script::{is_hangul, is_unspaced};
use crate::sentence::{closes, each_start};
use crate::snippet::is_white;
use serde::{Deserialize, Serialize};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Where the pieces of a splitter may begin and end.
///
/// In JSON: `"words"`, `"characters"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundaries {
    /// Never inside a word, unless the word alone is longer than a piece may be.
    ///
    /// What is repeated of the piece before begins at a sentence where one begins within reach, else
    /// at a word. A code fence that fits in a piece is in one piece, and so is each row of a Markdown
    /// table; a table that is cut repeats its head.
    #[default]
    Words,
    /// By counting characters, as the implementation that the golden cases were recorded with does:
    /// overlap begins wherever its length falls, a word is cut where no white space is near, and code
    /// and tables are lines like any other.
    ///
    /// For pieces that must be those of an index that was made so. Texts that are indexed for the first
    /// time have no use for it: half words are found by no query, and embedded all the same.
    Characters,
}

/// What two pieces may be parted by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    White,
    /// A word ends here, or one begins.
    Word,
    /// No letter stands on one of the two sides, but what is read as one goes on: a number behind its
    /// point, a word up to its comma.
    Sign,
}

/// Where a piece ends that begins with `left`, where white space at its start does not count: behind
/// `max` characters at most. As [`word_end`], and inside a word if that is nowhere.
pub(super) fn word_cut(left: &str, max: usize, near: usize) -> usize {
    let blank = trim_start(left);
    let piece = rest(left, blank);
    blank + word_end(piece, max, near).unwrap_or_else(|| cut(piece, max))
}

/// Where the first `max` characters of a text can be cut: at white space in the last `near` of them,
/// else at a word's edge there, else at the last of either, else at any sign, but between two letters
/// of a word never. Its end if there are no more.
pub(crate) fn word_end(text: &str, max: usize, near: usize) -> Option<usize> {
    let Some((limit, _)) = text.char_indices().nth(max) else {
        return Some(text.len());
    };
    let within = slice(text, 0, limit).char_indices().rev().map(|(at, _)| at);
    let (mut word, mut sign) = (None, None);
    for (passed, at) in std::iter::once(limit).chain(within).enumerate() {
        if at == 0 || passed > near && word.is_some() {
            break;
        }
        match gap(text, at) {
            Some(Gap::White) => return Some(at),
            Some(Gap::Word) => word = word.or(Some(at)),
            Some(Gap::Sign) => sign = sign.or(Some(at)),
            None => {}
        }
    }
    word.or(sign)
}

/// Where the first word of a text begins whose beginning is not known to be one: behind white space
/// in the first `near` bytes, else at a word's edge. Its end if there is none.
pub(crate) fn word_start(text: &str, near: usize) -> usize {
    let mut word = None;
    for (at, character) in text.char_indices().skip(1) {
        if at > near && word.is_some() {
            break;
        }
        match gap(text, at) {
            Some(Gap::White) if !is_white(character) => return at,
            Some(Gap::Word) => word = word.or(Some(at)),
            _ => {}
        }
    }
    word.unwrap_or(text.len())
}

/// Where what is repeated of `ahead`, the piece before, begins: at the first sentence from `reach` on,
/// else the first word. Its end if none begins there.
pub(super) fn repeat_from(ahead: &str, reach: usize) -> usize {
    let mut first: Option<(usize, Gap)> = None;
    let mut found = None;
    each_start(ahead, reach, ahead.len(), |at, sentence| {
        if !sentence && first.is_some_and(|(_, gap)| gap == Gap::White) {
            return true;
        }
        let gap = if at == 0 {
            Some(Gap::White)
        } else {
            gap(ahead, at)
        };
        let Some(gap) = gap.filter(|gap| *gap != Gap::Sign) else {
            return true;
        };
        if first.is_none_or(|(_, first)| first == Gap::Word && gap == Gap::White) {
            first = Some((at, gap));
        }
        found = sentence.then_some(at);
        !sentence
    });
    found.or(first.map(|(at, _)| at)).unwrap_or(ahead.len())
}

/// What parts the text at `at`; `None` between the letters of a word, and inside a grapheme.
fn gap(text: &str, at: usize) -> Option<Gap> {
    let next = rest(text, at).chars().next()?;
    let mut back = slice(text, 0, at).chars().rev();
    let last = back.next()?;
    if is_white(last) || is_white(next) {
        return is_break(text, at).then_some(Gap::White);
    }
    if InWord::of(next).is_attached() {
        return None;
    }
    let mut back = std::iter::once(last)
        .chain(back)
        .skip_while(|c| InWord::of(*c).is_attached());
    // What is not seen, or a loose mark, ahead of a word.
    let Some(before) = back.next().filter(|before| !before.is_whitespace()) else {
        return is_break(text, at).then_some(Gap::Sign);
    };
    let gap = match (is_letter(before), is_letter(next)) {
        (true, true) => {
            let unspaced = |letter| is_unspaced(letter) && !is_hangul(letter);
            if !unspaced(before) && !unspaced(next) {
                return None;
            }
            Gap::Word
        }
        _ if opens(before) || before == '_' => Gap::Sign,
        // What follows a word closely belongs to it.
        (_, false) if closes(next) || before == next => Gap::Sign,
        (false, true)
            if matches!(before, '.' | ',' | ':' | '\'' | '’')
                && back.next().is_some_and(is_letter) =>
        {
            Gap::Sign
        }
        _ => Gap::Word,
    };
    is_break(text, at).then_some(gap)
}

fn is_letter(character: char) -> bool {
    InWord::of(character) == InWord::Letter
}

fn opens(character: char) -> bool {
    let category = character.general_category();
    matches!(
        category,
        GeneralCategory::OpenPunctuation | GeneralCategory::InitialPunctuation
    )
}
