//! 128 postings, packed in as few bits as the widest of them needs.

use bitpacking::{BitPacker, BitPacker4x};

/// How many postings a block holds.
pub(crate) const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// One document that holds a word: its number, and how often it holds the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    pub(crate) count: u32,
}

/// What is known of a full block without unpacking it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Header {
    /// Its highest document, from which the block behind it counts.
    pub(crate) last: u32,
    /// Where its bytes begin, in units of [`UNIT`].
    pub(crate) offset: u32,
    /// The least `norm / count` of its postings; see [`super::bounds`].
    pub(crate) least: f32,
    pub(crate) document_bits: u8,
    pub(crate) count_bits: u8,
}

/// Every half of a block takes a whole number of these bytes.
const UNIT: usize = 16;

impl Header {
    fn start(&self) -> usize {
        self.offset as usize * UNIT
    }
}

/// The bytes of a block's half at so many bits a number.
pub(crate) fn size(bits: u8) -> usize {
    BitPacker4x::compressed_block_size(bits)
}

/// The postings of one block, unpacked. Both halves have [`BLOCK`] entries, of which the first
/// `len` count.
#[derive(Clone)]
pub(crate) struct Unpacked {
    pub(crate) documents: [u32; BLOCK],
    pub(crate) counts: [u32; BLOCK],
    pub(crate) len: usize,
}

impl Unpacked {
    pub(crate) fn new() -> Self {
        Self {
            documents: [0; BLOCK],
            counts: [0; BLOCK],
            len: 0,
        }
    }

    /// Adds a posting; a block takes no more than [`BLOCK`].
    pub(crate) fn push(&mut self, posting: Posting) {
        if let (Some(document), Some(count)) = (
            self.documents.get_mut(self.len),
            self.counts.get_mut(self.len),
        ) {
            (*document, *count) = (posting.document, posting.count);
            self.len += 1;
        }
    }

    pub(crate) fn documents(&self) -> &[u32] {
        &self.documents[..self.len]
    }

    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting> + '_ {
        let pairs = self.documents.iter().zip(&self.counts).take(self.len);
        pairs.map(|(document, count)| Posting {
            document: *document,
            count: *count,
        })
    }

    /// Packs a full block behind `data`. `base` is the `last` of the block before it.
    pub(crate) fn pack(&self, base: Option<u32>, least: f32, data: &mut Vec<u8>) -> Header {
        let less_one = self.counts.map(|count| count - 1);
        let packer = BitPacker4x::new();
        let document_bits = packer.num_bits_strictly_sorted(base, &self.documents);
        let count_bits = packer.num_bits(&less_one);
        let start = data.len();
        let half = start + size(document_bits);
        data.resize(half + size(count_bits), 0);
        packer.compress_strictly_sorted(
            base,
            &self.documents,
            &mut data[start..half],
            document_bits,
        );
        packer.compress(&less_one, &mut data[half..], count_bits);
        Header {
            last: self.documents[BLOCK - 1],
            // A list that is too long for this would have more postings than there are documents.
            offset: u32::try_from(start / UNIT).unwrap_or(u32::MAX),
            least,
            document_bits,
            count_bits,
        }
    }

    pub(crate) fn unpack_documents(&mut self, base: Option<u32>, header: &Header, data: &[u8]) {
        let from = header.start();
        BitPacker4x::new().decompress_strictly_sorted(
            base,
            &data[from..from + size(header.document_bits)],
            &mut self.documents,
            header.document_bits,
        );
        self.len = BLOCK;
    }

    pub(crate) fn unpack_counts(&mut self, header: &Header, data: &[u8]) {
        if header.count_bits == 0 {
            self.counts = [1; BLOCK];
            return;
        }
        let from = header.start() + size(header.document_bits);
        BitPacker4x::new().decompress(
            &data[from..from + size(header.count_bits)],
            &mut self.counts,
            header.count_bits,
        );
        for count in &mut self.counts {
            // Wraps only on bytes that no block was packed into, which loading refuses.
            *count = count.wrapping_add(1);
        }
    }
}
