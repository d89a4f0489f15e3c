//! Where pieces may begin and end.

use super::spans::{rest, slice};
use crate::grapheme::{cut, is_break, trim_start};
use crate::runs::InWord;
use crate::script::{is_hangul, is_unspaced};
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
/// `max` characters at most. At white space in the last `near` of them, else at a word's edge there,
/// else at the last of either, else at any sign; between two letters only if nothing else is there.
pub(super) fn word_cut(left: &str, max: usize, near: usize) -> usize {
    let blank = trim_start(left);
    let piece = rest(left, blank);
    let Some((limit, _)) = piece.char_indices().nth(max) else {
        return left.len();
    };
    let within = slice(piece, 0, limit)
        .char_indices()
        .rev()
        .map(|(at, _)| at);
    let (mut word, mut sign) = (None, None);
    for (passed, at) in std::iter::once(limit).chain(within).enumerate() {
        if at == 0 || passed > near && word.is_some() {
            break;
        }
        match gap(piece, at) {
            Some(Gap::White) => return blank + at,
            Some(Gap::Word) => word = word.or(Some(at)),
            Some(Gap::Sign) => sign = sign.or(Some(at)),
            None => {}
        }
    }
    blank + word.or(sign).unwrap_or_else(|| cut(piece, max))
}

/// Where what is repeated of `ahead`, the piece before, begins: at the first sentence from `reach` on,
/// else the first word. Its end if none begins there.
pub(super) fn repeat_from(ahead: &str, reach: usize) -> usize {
    let mut word = None;
    // Whether a sentence has ended, with nothing since but white space or what closes it.
    let mut ended = reach == 0;
    let mut line_ends = 0;
    // A sentence that begins at `reach` ended before.
    let before = slice(ahead, 0, reach).char_indices().rev();
    let from = before.take(8).last().map_or(reach, |(at, _)| at);
    for (at, character) in rest(ahead, from).char_indices() {
        let at = from + at;
        if character.is_whitespace() {
            line_ends += usize::from(character == '\n');
            continue;
        }
        if at >= reach {
            let sentence = (ended || line_ends > 1) && !character.is_lowercase();
            let wanted = sentence || word.is_none_or(|(_, gap)| gap == Gap::Word);
            let gap = if at == 0 {
                Some(Gap::White)
            } else {
                gap(ahead, at).filter(|gap| wanted && *gap != Gap::Sign)
            };
            match gap {
                Some(_) if sentence => return at,
                Some(gap) if word.is_none() || gap == Gap::White => {
                    word = word
                        .filter(|(_, gap)| *gap == Gap::White)
                        .or(Some((at, gap)));
                }
                _ => {}
            }
        }
        line_ends = 0;
        ended = ends_sentence(character) || ended && closes(character);
    }
    word.map_or(ahead.len(), |(at, _)| at)
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

fn closes(character: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, OtherPunctuation,
    };
    let category = character.general_category();
    matches!(
        category,
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | OtherPunctuation
    )
}

fn opens(character: char) -> bool {
    let category = character.general_category();
    matches!(
        category,
        GeneralCategory::OpenPunctuation | GeneralCategory::InitialPunctuation
    )
}

fn ends_sentence(character: char) -> bool {
    matches!(
        character,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '؟' | '۔' | '।' | '॥' | '։' | '።'
    )
}
