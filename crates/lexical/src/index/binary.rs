//! The saved form in bytes, version 2: compact, checked, and read in a fraction of the time that
//! indexing takes.
//!
//! All numbers are little-endian. A head of fixed size, then sections one behind the other:
//!
//! ```text
//! head      "SHFLEX" 0x00 0x02 · k1 f64 · b f64 · documents u32 · words u32 · sections 6 × u64
//! rule      that of the words, such as `unicode/3`; empty where the tokenizer names none
//! lengths   u32 for each document
//! ids       for each document, in the order in which they were added: its length (number), its bytes
//! words     for each word, in the order in which they were met: its length (number), its bytes
//! postings  for each word: how many (number), then for each the distance from the document before,
//!           doubled, with the lowest bit set where a count follows (numbers)
//! metadata  JSON: [[position of the document, value], …]
//! checksum  CRC-32 of everything before it, u32
//! ```
//!
//! A *number* is 7 bits a byte, the lowest first, the highest bit set on all bytes but the last.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use serde_json::Value;

use crate::bm25::Bm25;
use crate::inverted::{Dictionary, Full, Parts, Posting, read_number, write_number};
use crate::tokenizer::Tokenizer;

use super::rule::{self, OtherWordRule};
use super::{LexicalIndex, is_too_deep};

const MAGIC: [u8; 6] = *b"SHFLEX";
const VERSION: u16 = 2;
const HEAD: usize = 8 + 8 + 8 + 4 + 4 + SECTIONS * 8;
const SECTIONS: usize = 6;
const CHECKSUM: usize = 4;

/// Why saved bytes were not restored.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// They could not be read.
    #[error("a saved index could not be read")]
    Read(#[source] io::Error),
    /// They are something else.
    #[error("these bytes are no saved index: one begins with SHFLEX")]
    Foreign,
    /// They are of a version that this release does not know.
    #[error(
        "a saved index must be of version 2, which names the rule of its words: this one is of \
         version {given}; build it again from its texts"
    )]
    Version {
        /// The version.
        given: u16,
    },
    /// Their words are not those that the index would be searched by.
    #[error(transparent)]
    Rule(#[from] OtherWordRule),
    /// They end early, or something is behind them.
    #[error("a saved index of {must_be} bytes was cut or added to: there are {given}")]
    Length {
        /// How many bytes there are.
        given: usize,
        /// How many the head tells of.
        must_be: u64,
    },
    /// They are not what was saved.
    #[error("a saved index is damaged: its checksum is another")]
    Damaged,
    /// They contradict themselves, so they were not saved by this crate.
    #[error("a saved index is wrong at {part}: {why}")]
    Wrong {
        /// Which section.
        part: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// They hold more than an index numbers.
    #[error(transparent)]
    Full(#[from] Full),
}

shelfward_core::debug_as_chain!(BytesError);

impl<T: Tokenizer> LexicalIndex<T> {
    /// Writes the index as bytes: words, not texts.
    ///
    /// ```
    /// use shelfward_lexical::LexicalIndex;
    /// use shelfward_text::WordRule;
    ///
    /// let mut index = LexicalIndex::new(WordRule::Unicode);
    /// index.add_document("faq-1", "Reset a password.", None)?;
    /// let mut saved = Vec::new();
    /// index.write_to(&mut saved)?;
    /// let restored = LexicalIndex::read_from(&saved[..], WordRule::Unicode)?;
    /// assert_eq!(restored.search("password", 10), index.search("password", 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, mut to: impl Write) -> io::Result<()> {
        let bytes = self.to_bytes()?;
        to.write_all(&bytes)
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let inverted = &self.inverted;
        let live = || (0..inverted.end()).filter(|number| inverted.is_live(*number));
        let mut sections: [Vec<u8>; SECTIONS] = Default::default();
        let [rule, lengths, ids, words, postings, metadata] = &mut sections;
        rule.extend(rule::named(&self.tokenizer).unwrap_or_default().bytes());
        let mut positions = vec![0_u32; inverted.end() as usize];
        let mut kept: Vec<(u32, &Value)> = Vec::new();
        for (position, number) in (0_u32..).zip(live()) {
            if let Some(place) = positions.get_mut(number as usize) {
                *place = position;
            }
            let length = inverted.length(number).unwrap_or_default();
            lengths.extend(length.to_le_bytes());
            write_text(ids, self.ids.word(number));
            kept.extend(self.metadata.get(&number).map(|value| (position, value)));
        }
        let mut word_count = 0_u32;
        inverted.for_each_word(|word, held| {
            word_count += 1;
            write_text(words, word);
            write_number(postings, held.len() as u64);
            let mut before = 0;
            for posting in held {
                let document = positions.get(posting.document as usize).copied();
                let document = document.unwrap_or_default();
                let many = posting.count > 1;
                write_number(
                    postings,
                    u64::from(document - before) << 1 | u64::from(many),
                );
                if many {
                    write_number(postings, u64::from(posting.count));
                }
                before = document;
            }
        });
        serde_json::to_writer(&mut *metadata, &kept).map_err(io::Error::other)?;

        let body: usize = sections.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(HEAD + body + CHECKSUM);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend(self.bm25().k1().to_le_bytes());
        bytes.extend(self.bm25().b().to_le_bytes());
        bytes.extend(inverted.len().to_le_bytes());
        bytes.extend(word_count.to_le_bytes());
        for section in &sections {
            bytes.extend((section.len() as u64).to_le_bytes());
        }
        sections.iter().for_each(|section| bytes.extend(section));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Restores an index that [`write_to`](Self::write_to) wrote. `tokenizer` must read text as the
    /// one that the index was made with.
    ///
    /// # Errors
    /// [`BytesError`]: bytes of another kind or version, or of another word rule, cut, damaged, or contradicting themselves.
    /// Nothing of them is used then.
    pub fn read_from(mut from: impl Read, tokenizer: T) -> Result<Self, BytesError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(BytesError::Read)?;
        Self::from_bytes(&bytes, tokenizer)
    }

    /// Restores an index from bytes that are in memory, as of a mapped file.
    ///
    /// # Errors
    /// As [`read_from`](Self::read_from).
    pub fn from_bytes(bytes: &[u8], tokenizer: T) -> Result<Self, BytesError> {
        let head = Head::read(bytes)?;
        let [rule, lengths, ids, words, postings, metadata] = head.sections;
        let rule = str::from_utf8(rule).map_err(|_| wrong("rule", "it is no UTF-8"))?;
        rule::check((!rule.is_empty()).then_some(rule), &tokenizer)?;
        let (lengths, rest) = lengths.as_chunks::<4>();
        if lengths.len() != head.documents as usize || !rest.is_empty() {
            return Err(wrong("lengths", "there is not one for each document"));
        }
        let lengths: Vec<u32> = lengths.iter().map(|x| u32::from_le_bytes(*x)).collect();
        let mut named = Dictionary::default();
        let mut ids = Reader::new("ids", ids);
        for _ in 0..head.documents {
            let id = ids.text()?;
            if named.find(id).is_some() {
                return Err(wrong("ids", "one is there twice"));
            }
            named.number(id).ok_or(Full)?;
        }
        ids.end()?;
        let metadata = read_metadata(metadata, head.documents)?;

        let mut parts = Parts::new(head.bm25, lengths);
        let mut words = Reader::new("words", words);
        let mut postings = Reader::new("postings", postings);
        let mut held = Vec::new();
        for _ in 0..head.words {
            let word = words.text()?;
            postings.postings(head.documents, &mut held)?;
            if !parts.is_new(word) {
                return Err(wrong("words", "one is there twice"));
            }
            parts.word(word, &held)?;
        }
        words.end()?;
        postings.end()?;
        Ok(Self {
            tokenizer,
            inverted: parts.finish(),
            ids: named,
            metadata,
        })
    }
}

struct Head<'a> {
    bm25: Bm25,
    documents: u32,
    words: u32,
    sections: [&'a [u8]; SECTIONS],
}

impl<'a> Head<'a> {
    /// Reads the head and finds the sections, of bytes whose checksum is right.
    fn read(bytes: &'a [u8]) -> Result<Self, BytesError> {
        let mut reader = Reader::new("head", bytes);
        if !bytes.starts_with(&MAGIC) {
            return Err(BytesError::Foreign);
        }
        reader.at = MAGIC.len();
        let given = u16::from_be_bytes(reader.take()?);
        if given != VERSION {
            return Err(BytesError::Version { given });
        }
        let k1 = f64::from_le_bytes(reader.take()?);
        let b = f64::from_le_bytes(reader.take()?);
        let documents = u32::from_le_bytes(reader.take()?);
        let words = u32::from_le_bytes(reader.take()?);
        let mut sizes = [0_u64; SECTIONS];
        for size in &mut sizes {
            *size = u64::from_le_bytes(reader.take()?);
        }
        let around = (HEAD + CHECKSUM) as u64;
        let must_be = sizes
            .iter()
            .fold(around, |sum, size| sum.saturating_add(*size));
        if must_be != bytes.len() as u64 {
            let given = bytes.len();
            return Err(BytesError::Length { given, must_be });
        }
        let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if crc32fast::hash(body).to_le_bytes() != checksum {
            return Err(BytesError::Damaged);
        }
        let bm25 = Bm25::new(k1, b).map_err(|_| wrong("head", "k1 and b must be finite"))?;
        let mut sections = [&[][..]; SECTIONS];
        let mut rest = body.get(HEAD..).unwrap_or_default();
        for (section, size) in sections.iter_mut().zip(sizes) {
            // The sizes add up to what is there.
            let size = usize::try_from(size).unwrap_or(rest.len()).min(rest.len());
            (*section, rest) = rest.split_at(size);
        }
        Ok(Self {
            bm25,
            documents,
            words,
            sections,
        })
    }
}

/// Reads a section from its start to its end.
struct Reader<'a> {
    part: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(part: &'static str, bytes: &'a [u8]) -> Self {
        Self { part, bytes, at: 0 }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], BytesError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.first_chunk::<N>().ok_or(BytesError::Length {
            given: self.bytes.len(),
            must_be: (HEAD + CHECKSUM) as u64,
        })?;
        self.at += N;
        Ok(*taken)
    }

    fn number(&mut self) -> Result<u64, BytesError> {
        read_number(self.bytes, &mut self.at).ok_or(wrong(self.part, "it ends early"))
    }

    fn text(&mut self) -> Result<&'a str, BytesError> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let text = rest
            .get(..length)
            .ok_or(wrong(self.part, "it ends early"))?;
        self.at += length;
        str::from_utf8(text).map_err(|_| wrong(self.part, "one is no UTF-8"))
    }

    /// The postings of one word: documents that ascend and exist, and counts of 1 or more.
    fn postings(&mut self, documents: u32, into: &mut Vec<Posting>) -> Result<(), BytesError> {
        into.clear();
        let len = self.number()?;
        if len == 0 || len > u64::from(documents) {
            return Err(wrong(
                self.part,
                "a word is held by none, or by more than there are",
            ));
        }
        let mut before = 0_u64;
        for at in 0..len {
            let code = self.number()?;
            let distance = code >> 1;
            let document = before.saturating_add(distance);
            if document >= u64::from(documents) || (distance == 0 && at > 0) {
                return Err(wrong(
                    self.part,
                    "documents do not ascend, or are not there",
                ));
            }
            let count = if code & 1 == 1 { self.number()? } else { 1 };
            let (Ok(document), Ok(count)) = (u32::try_from(document), u32::try_from(count)) else {
                return Err(wrong(self.part, "a count is too large"));
            };
            if count == 0 {
                return Err(wrong(self.part, "a count is 0"));
            }
            into.push(Posting { document, count });
            before = u64::from(document);
        }
        Ok(())
    }

    fn end(&self) -> Result<(), BytesError> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(wrong(self.part, "something is behind its end"))
        }
    }
}

fn read_metadata(bytes: &[u8], documents: u32) -> Result<HashMap<u32, Value>, BytesError> {
    let pairs: Vec<(u32, Value)> =
        serde_json::from_slice(bytes).map_err(|_| wrong("metadata", "it is no list of pairs"))?;
    if pairs.iter().any(|(_, value)| is_too_deep(value)) {
        return Err(wrong("metadata", "it nests deeper than 64"));
    }
    let len = pairs.len();
    let metadata: HashMap<u32, Value> = pairs.into_iter().collect();
    if metadata.len() != len || metadata.keys().any(|position| *position >= documents) {
        return Err(wrong("metadata", "a document has two, or is not there"));
    }
    Ok(metadata)
}

fn write_text(to: &mut Vec<u8>, text: &str) {
    write_number(to, text.len() as u64);
    to.extend(text.as_bytes());
}

fn wrong(part: &'static str, why: &'static str) -> BytesError {
    BytesError::Wrong { part, why }
}
