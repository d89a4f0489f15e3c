//! Numbers and texts as bytes, little-endian, and back. A length that is read is never trusted: it
//! is compared with the bytes that are there before anything is allocated for it.

use crate::error::{FileError, FileResult};

/// Appends values to bytes.
pub(crate) trait Encode {
    fn put_u8(&mut self, value: u8);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    /// A length, then the bytes.
    fn put_bytes(&mut self, bytes: &[u8]);
    /// How many of something follow.
    fn put_length(&mut self, length: usize);
}

impl Encode for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_length(bytes.len());
        self.extend_from_slice(bytes);
    }

    fn put_length(&mut self, length: usize) {
        // Seven bits a byte, the lowest first: most lengths are short.
        let mut rest = length;
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                return self.push(low & 0x7f);
            }
            self.push(low | 0x80);
        }
    }
}

/// Reads values off the front of bytes.
pub(crate) struct Decoder<'a>(&'a [u8]);

const SHORT: FileError = FileError::Corrupt("a value is cut short");

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn array<const N: usize>(&mut self) -> FileResult<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u8(&mut self) -> FileResult<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u32(&mut self) -> FileResult<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> FileResult<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> FileResult<&'a [u8]> {
        let length = self.length(1)?;
        let (first, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn text(&mut self) -> FileResult<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| FileError::Corrupt("a text is not UTF-8"))
    }

    /// How many of something follow that takes at least `each` bytes; never more than there is
    /// room for in what is left.
    pub(crate) fn length(&mut self, each: usize) -> FileResult<usize> {
        let mut length: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            length |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let length = usize::try_from(length).map_err(|_| SHORT)?;
                let needed = length.checked_mul(each).ok_or(SHORT)?;
                return if needed <= self.0.len() {
                    Ok(length)
                } else {
                    Err(SHORT)
                };
            }
        }
        Err(FileError::Corrupt("a length has no end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_and_nothing_more() {
        let mut bytes = Vec::new();
        bytes.put_u8(7);
        bytes.put_u32(u32::MAX);
        bytes.put_u64(u64::MAX - 1);
        bytes.put_bytes("é".repeat(300).as_bytes());
        let mut take = Decoder::new(&bytes);
        assert_eq!(take.u8().unwrap(), 7);
        assert_eq!(take.u32().unwrap(), u32::MAX);
        assert_eq!(take.u64().unwrap(), u64::MAX - 1);
        assert_eq!(take.text().unwrap(), "é".repeat(300));
        assert!(take.is_empty());
        assert!(take.u8().is_err());
    }

    #[test]
    fn a_length_beyond_what_is_there_is_refused() {
        for length in [6, 1 << 20, usize::MAX] {
            let mut bytes = Vec::new();
            bytes.put_length(length);
            bytes.extend_from_slice(b"short");
            assert!(Decoder::new(&bytes).bytes().is_err(), "{length}");
            assert!(Decoder::new(&bytes).length(4).is_err(), "{length}");
        }
        assert!(Decoder::new(&[0x80; 20]).length(1).is_err());
    }
}
