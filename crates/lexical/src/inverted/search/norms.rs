//! The part of the formula that depends on a document's length.

use crate::inverted::InvertedIndex;
use crate::inverted::lengths::Lengths;

/// The norms of documents: looked up for the usual lengths, counted for the rest.
///
/// Once exactly and once as `f32`, for where a little off is good enough.
pub(super) struct Norms<'a> {
    index: &'a InvertedIndex,
    average: f64,
    exact: [f64; 256],
    near: [f32; 256],
}

impl<'a> Norms<'a> {
    pub(super) fn of(index: &'a InvertedIndex) -> Self {
        let average = index.average_length();
        let mut exact = [0.0; 256];
        let mut near = [0.0; 256];
        for ((length, exact), near) in Lengths::common().zip(&mut exact).zip(&mut near) {
            *exact = index.bm25.norm(u32::from(length), average);
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
        match self.index.lengths.code(document) {
            Some(code) => self.exact[usize::from(code)],
            None => self.of_long(document),
        }
    }

    pub(super) fn near(&self, document: u32) -> f32 {
        match self.index.lengths.code(document) {
            Some(code) => self.near[usize::from(code)],
            None => to_f32(self.of_long(document)),
        }
    }

    #[cold]
    fn of_long(&self, document: u32) -> f64 {
        let length = self.index.lengths.get(document);
        self.index.bm25.norm(length.unwrap_or(0), self.average)
    }
}

/// The nearest `f32`.
pub(super) fn to_f32(x: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest is meant")]
    let near = x as f32;
    near
}
