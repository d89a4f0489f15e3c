//! Frames: pieces of a file, each with its length, its number and a checksum.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use crc32fast::Hasher;

use super::codec::{Decoder, Encode};
use crate::error::{FileError, FileResult};

/// What a frame begins with, so that the next one can be looked for behind a broken one.
const MAGIC: [u8; 4] = *b"\xffShF";
/// The mark, the kind, the number, the length and the checksum.
const HEADER_LEN: usize = 4 + 1 + 8 + 4 + 4;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// What the file is.
    Head,
    /// Records of a snapshot, or nodes of a graph.
    Part,
    /// That nothing is missing.
    End,
    /// One write.
    Write,
    /// That the write before it is on the disk.
    Seal,
}

impl FrameKind {
    fn code(self) -> u8 {
        match self {
            Self::Head => 1,
            Self::Part => 2,
            Self::End => 3,
            Self::Write => 4,
            Self::Seal => 5,
        }
    }

    fn of(code: u8) -> Option<Self> {
        [Self::Head, Self::Part, Self::End, Self::Write, Self::Seal]
            .into_iter()
            .find(|kind| kind.code() == code)
    }
}

/// A frame as it was read.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) number: u64,
    pub(crate) payload: Vec<u8>,
}

/// The bytes of a frame. `salt` goes into the checksum, so that no text inside a frame of one log
/// can look like a frame of it.
///
/// `None` when the payload is longer than a frame can be.
pub(crate) fn encode_frame(
    kind: FrameKind,
    number: u64,
    salt: u32,
    payload: &[u8],
) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok()?;
    let mut bytes = Vec::with_capacity(HEADER_LEN.saturating_add(payload.len()));
    bytes.extend_from_slice(&MAGIC);
    bytes.put_u8(kind.code());
    bytes.put_u64(number);
    bytes.put_u32(length);
    bytes.put_u32(checksum(salt, kind, number, length, payload));
    bytes.extend_from_slice(payload);
    Some(bytes)
}

fn checksum(salt: u32, kind: FrameKind, number: u64, length: u32, payload: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(&[kind.code()]);
    hasher.update(&number.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Reads a file's frames in order.
pub(crate) struct FrameReader {
    file: BufReader<File>,
    /// Where the next frame begins.
    at: u64,
    length: u64,
    next_number: u64,
    pub(crate) salt: u32,
}

/// What is found where a frame should begin.
pub(crate) enum Next {
    Frame(Frame),
    /// The file ends here.
    Nothing,
    /// Something that is no whole frame.
    Broken,
}

impl FrameReader {
    pub(crate) fn of(file: File) -> FileResult<Self> {
        let length = file.metadata()?.len();
        Ok(Self {
            file: BufReader::with_capacity(1 << 18, file),
            at: 0,
            length,
            next_number: 0,
            salt: 0,
        })
    }

    /// Where the frames that were read end.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    pub(crate) fn next(&mut self) -> FileResult<Next> {
        let left = self.length.saturating_sub(self.at);
        if left == 0 {
            return Ok(Next::Nothing);
        }
        if left < HEADER_LEN as u64 {
            return Ok(Next::Broken);
        }
        let mut head = [0; HEADER_LEN];
        self.file.read_exact(&mut head)?;
        let Some((kind, number, length, sum)) = read_head(&head)? else {
            return Ok(Next::Broken);
        };
        // Nothing is allocated for a length that the file does not hold.
        if u64::from(length) > left - HEADER_LEN as u64 || number != self.next_number {
            return Ok(Next::Broken);
        }
        let mut payload = vec![0; length as usize];
        self.file.read_exact(&mut payload)?;
        if checksum(self.salt, kind, number, length, &payload) != sum {
            return Ok(Next::Broken);
        }
        self.at += HEADER_LEN as u64 + u64::from(length);
        self.next_number += 1;
        let frame = Frame {
            kind,
            number,
            payload,
        };
        Ok(Next::Frame(frame))
    }

    /// The next frame, where there must be one.
    pub(crate) fn expect(&mut self, kind: FrameKind, missing: &'static str) -> FileResult<Frame> {
        match self.next()? {
            Next::Frame(frame) if frame.kind == kind => Ok(frame),
            _ => Err(FileError::Corrupt(missing)),
        }
    }

    /// The frame behind one that is broken and has no payload, if it is whole and of a kind. Otherwise
    /// nothing is read.
    pub(crate) fn behind_broken(&mut self, kind: FrameKind) -> FileResult<Option<Frame>> {
        let (at, number) = (self.at, self.next_number);
        self.go_to(at + HEADER_LEN as u64, number + 1)?;
        match self.next()? {
            Next::Frame(frame) if frame.kind == kind => Ok(Some(frame)),
            _ => {
                self.go_to(at, number)?;
                Ok(None)
            }
        }
    }

    fn go_to(&mut self, at: u64, number: u64) -> FileResult<()> {
        (self.at, self.next_number) = (at, number);
        self.file.seek(SeekFrom::Start(at))?;
        Ok(())
    }

    /// Whether a whole frame, of this one's or a later number, lies anywhere behind a broken one.
    /// Where none does, the broken one is the last, and a write that was cut off left it.
    pub(crate) fn any_behind(mut self) -> FileResult<bool> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut rest = Vec::new();
        self.file.read_to_end(&mut rest)?;
        let mut from = 0;
        while let Some(found) = find(rest.get(from..).unwrap_or_default(), &MAGIC) {
            let begin = from + found;
            if self.is_frame(rest.get(begin..).unwrap_or_default())? {
                return Ok(true);
            }
            from = begin + 1;
        }
        Ok(false)
    }

    fn is_frame(&self, bytes: &[u8]) -> FileResult<bool> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEADER_LEN>() else {
            return Ok(false);
        };
        let Some((kind, number, length, sum)) = read_head(head)? else {
            return Ok(false);
        };
        let Some(payload) = rest.get(..length as usize) else {
            return Ok(false);
        };
        Ok(number >= self.next_number && checksum(self.salt, kind, number, length, payload) == sum)
    }
}

fn read_head(head: &[u8; HEADER_LEN]) -> FileResult<Option<(FrameKind, u64, u32, u32)>> {
    let Some(rest) = head.strip_prefix(&MAGIC) else {
        return Ok(None);
    };
    let mut take = Decoder::new(rest);
    let kind = FrameKind::of(take.u8()?);
    let (number, length, sum) = (take.u64()?, take.u32()?, take.u32()?);
    Ok(kind.map(|kind| (kind, number, length, sum)))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|at| at == needle)
}
