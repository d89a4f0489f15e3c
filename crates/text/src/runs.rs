//! The stretches of a text that words are made of.

use crate::plain::is_plain;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// What a character does in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters and numbers: they make words.
    Letter,
    /// Combining marks: they belong to the letter before them.
    Mark,
    /// Everything else: it parts words.
    Gap,
}

pub(crate) fn kind(character: char) -> Kind {
    if character.is_ascii() {
        // The greater part of most texts, answered without a table.
        return if character.is_ascii_alphanumeric() {
            Kind::Letter
        } else {
            Kind::Gap
        };
    }
    if is_plain(character) {
        return Kind::Letter;
    }
    match character.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Kind::Letter,
        GeneralCategoryGroup::Mark => Kind::Mark,
        _ => Kind::Gap,
    }
}

pub(crate) fn is_mark(character: char) -> bool {
    kind(character) == Kind::Mark
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
    #[cfg(feature = "splitters")]
    pub(crate) at: usize,
    pub(crate) text: &'a str,
    /// What it is made of, which the scan learns in passing.
    pub(crate) shape: Shape,
}

/// The runs of a text, in order. Each begins with a letter.
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
    /// Runs of letters and the marks behind them.
    pub(crate) fn with_marks(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            marks_belong: true,
        }
    }

    /// Runs of letters alone, which marks part.
    pub(crate) fn without_marks(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            marks_belong: false,
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
            if kind(character) == Kind::Letter {
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
        while let Some(character) = self.character() {
            match kind(character) {
                Kind::Letter => {}
                Kind::Mark if self.marks_belong => {}
                _ => break,
            }
            shape = shape.with(character);
            self.at += character.len_utf8();
        }
        Some(Run {
            #[cfg(feature = "splitters")]
            at: start,
            text: self.text.get(start..self.at)?,
            shape,
        })
    }
}
