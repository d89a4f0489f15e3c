//! How many words each document has.

use std::collections::HashMap;

/// The code of documents that are too long to have one.
const LONG: u8 = u8::MAX;

/// Lengths by document number: a byte each, and whole where that is too little. Nothing is rounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    codes: Vec<u8>,
    long: HashMap<u32, u32>,
}

impl Lengths {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    pub(crate) fn push(&mut self, length: u32) {
        let code = u8::try_from(length).unwrap_or(LONG);
        if code == LONG
            && let Ok(document) = u32::try_from(self.codes.len())
        {
            self.long.insert(document, length);
        }
        self.codes.push(code);
    }

    /// The length of a document; `None` where none has that number.
    pub(crate) fn get(&self, document: u32) -> Option<u32> {
        match self.codes.get(document as usize).copied()? {
            LONG => self.long.get(&document).copied(),
            code => Some(u32::from(code)),
        }
    }

    /// The length, if it is one of those that [`common`](Self::common) lists.
    pub(crate) fn code(&self, document: u32) -> Option<u8> {
        let code = self.codes.get(document as usize).copied();
        code.filter(|code| *code != LONG)
    }

    /// The lengths that have a code: the code of each is the length.
    pub(crate) fn common() -> impl Iterator<Item = u8> {
        0..LONG
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.codes.capacity() + self.long.capacity() * (size_of::<(u32, u32)>() + 1)
    }

    pub(crate) fn shrink(&mut self) {
        self.codes.shrink_to_fit();
        self.long.shrink_to_fit();
    }
}

impl FromIterator<u32> for Lengths {
    fn from_iter<I: IntoIterator<Item = u32>>(lengths: I) -> Self {
        let mut all = Self::default();
        lengths.into_iter().for_each(|length| all.push(length));
        all
    }
}
