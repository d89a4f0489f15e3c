//! The part of the formula that depends on a document's length.

use crate::inverted::InvertedIndex;

/// The norms of documents: looked up for the usual lengths, counted for the rest.
///
/// Once exactly and once as `f32`, for where a little off is good enough.
pub(super) struct Norms<'a> {
    index: &'a InvertedIndex,
    average: f64,
    exact: [f64; 256],
    near: [f32; 256],
}

/// The code of lengths that have no code of their own.
pub(crate) const LONG: u8 = u8::MAX;

impl<'a> Norms<'a> {
    pub(super) fn of(index: &'a InvertedIndex) -> Self {
        let average = index.average_length();
        let mut exact = [0.0; 256];
        let mut near = [0.0; 256];
        for ((length, exact), near) in (0_u32..).zip(&mut exact).zip(&mut near) {
            *exact = index.bm25.norm(length, average);
            *near = to_f32(*exact);
        }
        Self {
            index,
            average,
            exact,
            near,
        }
    }

    pub(super) fn exact(&self, document: u32) -> f64 {
        match self.code(document) {
            LONG => self.of_long(document),
            code => self.exact[usize::from(code)],
        }
    }

    pub(super) fn near(&self, document: u32) -> f32 {
        match self.code(document) {
            LONG => to_f32(self.of_long(document)),
            code => self.near[usize::from(code)],
        }
    }

    fn code(&self, document: u32) -> u8 {
        let code = self.index.length_codes.get(document as usize);
        code.copied().unwrap_or(LONG)
    }

    #[cold]
    fn of_long(&self, document: u32) -> f64 {
        let length = self.index.lengths.get(document as usize).copied();
        self.index.bm25.norm(length.unwrap_or(0), self.average)
    }
}

/// The nearest `f32`.
pub(super) fn to_f32(x: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest is meant")]
    let near = x as f32;
    near
}
