//! Sixteen floats of a row, as wide as a line of the cache.

/// Floats in a line.
pub(crate) const FLOATS: usize = 16;

/// Sixteen floats that begin where a line of the cache begins, so that no load crosses two.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct F32Line(pub(crate) [f32; FLOATS]);

impl F32Line {
    pub(crate) const ZERO: Self = Self([0.0; FLOATS]);
}

/// The numbers in lines, the last of them filled up with zeros, which add nothing to a sum.
pub(crate) fn lines(numbers: &[f32]) -> impl Iterator<Item = F32Line> {
    numbers.chunks(FLOATS).map(|chunk| {
        let mut line = F32Line::ZERO;
        for (into, from) in line.0.iter_mut().zip(chunk) {
            *into = *from;
        }
        line
    })
}

/// Sixty-four bytes of a quantized row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct I8Line(pub(crate) [i8; BYTES]);

/// Numbers in a line of bytes.
pub(crate) const BYTES: usize = 64;

impl I8Line {
    pub(crate) const ZERO: Self = Self([0; BYTES]);
}

/// As many numbers of a quantized query as a [`I8Line`] has of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct I16Line(pub(crate) [i16; BYTES]);

impl I16Line {
    pub(crate) const ZERO: Self = Self([0; BYTES]);
}
