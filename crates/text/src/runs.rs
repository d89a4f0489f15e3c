//! The stretches of a text that words are made of.

use crate::invisible::{is_left_out, parts_words};
use crate::plain::is_plain;
use crate::width::is_voicing;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// What a character does in a word under [`WordRule::Unicode`](crate::WordRule::Unicode).
///
/// ```
/// use shelfward_text::InWord;
///
/// let soft_hyphen = '\u{AD}';
/// assert_eq!(InWord::of('é'), InWord::Letter);
/// assert_eq!(InWord::of(soft_hyphen), InWord::LeftOut);
/// assert_eq!(InWord::of('-'), InWord::Gap);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InWord {
    /// Letters and numbers: they make words.
    Letter,
    /// Combining marks: they belong to the letter before them.
    Mark,
    /// Not seen, and of no meaning to the word: it is the same without them.
    LeftOut,
    /// Everything else: it parts words.
    Gap,
}

impl InWord {
    /// What `character` does.
    #[must_use]
    pub fn of(character: char) -> Self {
        if let Some(known) = shortcut(character) {
            return known;
        }
        if is_left_out(character) {
            return Self::LeftOut;
        }
        if parts_words(character) {
            return Self::Gap;
        }
        // Half-width: what they are otherwise are marks.
        if is_voicing(character) {
            return Self::Mark;
        }
        by_category(character)
    }

    /// Whether a word goes on with it, and none begins.
    pub(crate) fn is_attached(self) -> bool {
        matches!(self, Self::Mark | Self::LeftOut)
    }
}

/// The greater part of most texts, answered without a table.
fn shortcut(character: char) -> Option<InWord> {
    if character.is_ascii() {
        let letter = character.is_ascii_alphanumeric();
        return Some(if letter { InWord::Letter } else { InWord::Gap });
    }
    is_plain(character).then_some(InWord::Letter)
}

fn by_category(character: char) -> InWord {
    match character.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => InWord::Letter,
        GeneralCategoryGroup::Mark => InWord::Mark,
        _ => InWord::Gap,
    }
}

/// What a run is made of: the narrower, the less has to be looked up to fold it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// ASCII letters and digits.
    Ascii,
    /// ASCII and letters that need no table; composed, and without marks.
    Plain,
    /// Anything.
    Any,
}

impl Shape {
    fn with(self, character: char) -> Self {
        match self {
            _ if character.is_ascii() => self,
            Self::Ascii | Self::Plain if is_plain(character) => Self::Plain,
            _ => Self::Any,
        }
    }

    /// The shape of a run.
    pub(crate) fn of(run: &str) -> Self {
        run.chars().fold(Self::Ascii, Self::with)
    }
}

/// An unbroken run of letters, as it stands in the text.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The byte offset of its first letter.
    pub(crate) at: usize,
    pub(crate) text: &'a str,
    /// What it is made of, which the scan learns in passing.
    pub(crate) shape: Shape,
}

/// The runs of a text, in order. Each begins with a letter.
///
/// What is left out of words may stand inside a run, but not at its ends.
///
/// Neither composing nor lower-casing moves the edge of a run (a test walks every character), so
/// runs can be found first and folded one by one. That keeps the lower case of Σ a matter of its
/// own word: cut from a whole text, the initials `Α.Σ.` would end in a `ς` that the query `Σ`
/// does not find.
pub(crate) struct Runs<'a> {
    text: &'a str,
    at: usize,
    marks_belong: bool,
}

impl<'a> Runs<'a> {
    /// Runs of letters, the marks behind them, and between those what is left out.
    pub(crate) fn with_marks(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            marks_belong: true,
        }
    }

    /// Runs of letters alone, which everything else parts.
    pub(crate) fn without_marks(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            marks_belong: false,
        }
    }

    fn role(&self, character: char) -> InWord {
        if self.marks_belong {
            return InWord::of(character);
        }
        match shortcut(character).unwrap_or_else(|| by_category(character)) {
            InWord::Letter => InWord::Letter,
            _ => InWord::Gap,
        }
    }

    /// The character at the scan, which stands on one; `None` at the end.
    fn character(&self) -> Option<char> {
        // A byte is looked at first: decoding costs most of the time on plain text.
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text.get(self.at..)?.chars().next(),
        }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        loop {
            let character = self.character()?;
            if self.role(character) == InWord::Letter {
                break;
            }
            self.at += character.len_utf8();
        }
        let start = self.at;
        let bytes = self.text.as_bytes().get(start..)?;
        let ascii = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        self.at += ascii;
        let mut shape = Shape::Ascii;
        let mut end = self.at;
        while let Some(character) = self.character() {
            match self.role(character) {
                InWord::Letter | InWord::Mark => {
                    // What is left out inside a run has to be taken out of it.
                    if end < self.at {
                        shape = Shape::Any;
                    }
                    end = self.at + character.len_utf8();
                    shape = shape.with(character);
                }
                InWord::LeftOut => {}
                InWord::Gap => break,
            }
            self.at += character.len_utf8();
        }
        Some(Run {
            at: start,
            text: self.text.get(start..end)?,
            shape,
        })
    }
}
