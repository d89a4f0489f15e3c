//! The few postings that do not fill a block: pairs of variable-length numbers.

use super::block::{BLOCK, Posting, Unpacked};
use super::number::{read_number, write_number};

/// Fewer than [`BLOCK`] postings in ascending order of documents.
///
/// Each is the distance from the document before, doubled, with the lowest bit set where a count
/// follows; a word that stands once in a document, as most do, needs no count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    last: u32,
    len: u8,
}

impl Tail {
    /// A tail that counts from `base`.
    pub(crate) fn from(base: u32) -> Self {
        Self {
            last: base,
            ..Self::default()
        }
    }

    /// Empties the tail, which counts from `base` then. It keeps its memory for what follows.
    pub(crate) fn restart(&mut self, base: u32) {
        self.bytes.clear();
        (self.last, self.len) = (base, 0);
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() == BLOCK
    }

    /// Adds a posting of a document above all that are there.
    pub(crate) fn push(&mut self, posting: Posting) {
        let distance = u64::from(posting.document - self.last);
        let many = posting.count > 1;
        write_number(&mut self.bytes, distance << 1 | u64::from(many));
        if many {
            write_number(&mut self.bytes, u64::from(posting.count));
        }
        self.last = posting.document;
        self.len += 1;
    }

    /// The postings; `base` is what the tail counts from.
    pub(crate) fn unpack(&self, base: u32, into: &mut Unpacked) {
        into.len = 0;
        let (mut at, mut document) = (0, base);
        for _ in 0..self.len {
            let code = read_number(&self.bytes, &mut at).unwrap_or_default();
            // Tails are written here, or checked when they are loaded: nothing is cut.
            #[expect(clippy::cast_possible_truncation, reason = "no document is above u32")]
            let distance = (code >> 1) as u32;
            document = document.wrapping_add(distance);
            let count = if code & 1 == 1 {
                #[expect(clippy::cast_possible_truncation, reason = "no count is above u32")]
                let count = read_number(&self.bytes, &mut at).unwrap_or_default() as u32;
                count
            } else {
                1
            };
            into.push(Posting { document, count });
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }
}
