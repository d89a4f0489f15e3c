use std::sync::Arc;

use shelfward_core::Metric;

use crate::bound::Length;
use crate::exact::length;
use crate::line::{BYTES, F32Line, FLOATS, I8Line, lines};
use crate::quantized::{self, RowScale};

/// Vectors of one width by number, searched exactly.
///
/// Numbers ("row ids") are given by the caller, from 0 on; a row id that was removed may be set again.
/// Vectors are kept as they were given: what a search works with beside them is their lengths and,
/// where asked for, one byte of each number.
///
/// ```
/// use shelfward_core::Metric;
/// use shelfward_dense::{CancelFlag, Candidates, Matrix};
/// let mut matrix = Matrix::new(Metric::Cosine, 2, false);
/// matrix.set(0, &[1.0, 0.0]);
/// matrix.set(1, &[0.0, 1.0]);
/// let found = matrix.nearest(&[1.0, 0.1], Candidates::All, 1, |a, b| a.cmp(&b), CancelFlag::NEVER);
/// assert_eq!(found[0].0, 0);
/// ```
#[derive(Clone, Debug)]
pub struct Matrix {
    pub(crate) metric: Metric,
    width: usize,
    pub(crate) rows: Blocks<F32Line>,
    /// Each row's length; see [`Length`].
    pub(crate) lengths: Vec<f32>,
    pub(crate) quantized: Option<QuantizedRows>,
}

/// The rows a second time, in one byte a number.
#[derive(Clone, Debug)]
pub(crate) struct QuantizedRows {
    pub(crate) rows: Blocks<I8Line>,
    pub(crate) scales: Vec<RowScale>,
}

impl Matrix {
    /// No vectors. With `quantized`, vectors of 64 to 8,192 numbers are stored a second time in a
    /// quarter of the memory, and a search reads those first; what it answers is the same.
    pub fn new(metric: Metric, width: usize, quantized: bool) -> Self {
        let fits = (quantized::MIN_WIDTH..=quantized::MAX_WIDTH).contains(&width);
        let quantized = (quantized && fits).then(|| QuantizedRows {
            rows: Blocks::new(width.div_ceil(BYTES)),
            scales: Vec::new(),
        });
        Self {
            metric,
            width,
            rows: Blocks::new(width.div_ceil(FLOATS)),
            lengths: Vec::new(),
            quantized,
        }
    }

    /// How many numbers a vector has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One more than the highest row id that was ever set.
    pub fn row_ids(&self) -> usize {
        self.lengths.len()
    }

    /// Puts a vector under a row id, in the place of what was there. What a vector has beyond the width is
    /// left out, what it lacks is zero.
    pub fn set(&mut self, row_id: u32, vector: &[f32]) {
        let vector = vector.get(..self.width).unwrap_or(vector);
        let row_id = row_id as usize;
        if row_id >= self.lengths.len() {
            self.lengths.resize(row_id + 1, Length::DEAD);
        }
        self.rows.set(row_id, lines(vector), F32Line::ZERO);
        let zero_is_bounded = self.metric != Metric::Cosine;
        let length = Length::of(self.rows.row(row_id).map_or(0.0, length), zero_is_bounded);
        if let Some(held) = self.lengths.get_mut(row_id) {
            *held = length;
        }
        if let Some(quantized) = &mut self.quantized {
            let (bytes, scale) = quantized::row(vector);
            quantized.rows.set(row_id, bytes, I8Line::ZERO);
            if row_id >= quantized.scales.len() {
                quantized.scales.resize(row_id + 1, RowScale::default());
            }
            if let Some(held) = quantized.scales.get_mut(row_id) {
                *held = scale;
            }
        }
    }

    /// Removes the vector of a row id.
    pub fn remove(&mut self, row_id: u32) {
        if let Some(length) = self.lengths.get_mut(row_id as usize) {
            *length = Length::DEAD;
        }
    }

    /// Removes every vector.
    pub fn clear(&mut self) {
        *self = Self::new(self.metric, self.width, self.quantized.is_some());
    }

    /// A copy of the vector under a row id, as it was given.
    pub fn vector(&self, row_id: u32) -> Option<Arc<[f32]>> {
        let lines = self.row(row_id)?;
        Some(
            lines
                .iter()
                .flat_map(|line| line.0)
                .take(self.width)
                .collect(),
        )
    }

    /// The vector under a row id, in lines.
    pub(crate) fn row(&self, row_id: u32) -> Option<&[F32Line]> {
        let length = *self.lengths.get(row_id as usize)?;
        let row = self.rows.row(row_id as usize)?;
        (Length::read(length) != Length::Dead).then_some(row)
    }
}

/// Rows of equal length in blocks of some megabytes, so that growing copies no more than one.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<T> {
    /// Clones share a block until one of them changes it.
    blocks: Vec<Arc<Vec<T>>>,
    pub(crate) row_len: usize,
    /// The number of rows in a block, as a power of two.
    pub(crate) rows_log2: u32,
}

impl<T: Copy> Blocks<T> {
    fn new(row_len: usize) -> Self {
        const BLOCK_BYTES: usize = 32 << 20;
        let row_len = row_len.max(1);
        let rows = (BLOCK_BYTES / (row_len * size_of::<T>())).max(1);
        Self {
            blocks: Vec::new(),
            row_len,
            rows_log2: rows.ilog2(),
        }
    }

    fn set(&mut self, row: usize, values: impl Iterator<Item = T>, empty: T) {
        let (block, in_block) = (row >> self.rows_log2, self.in_block(row));
        while self.blocks.len() <= block {
            self.blocks.push(Arc::default());
        }
        // A block is filled up to its end before the next begins, unless row ids are left out.
        let whole = self.row_len << self.rows_log2;
        for earlier in self.blocks.iter_mut().take(block) {
            if earlier.len() < whole {
                Arc::make_mut(earlier).resize(whole, empty);
            }
        }
        let start = in_block * self.row_len;
        if let Some(block) = self.blocks.get_mut(block) {
            let block = Arc::make_mut(block);
            if block.len() < start + self.row_len {
                block.resize(start + self.row_len, empty);
            }
            let into = block.get_mut(start..start + self.row_len);
            let values = values.chain(std::iter::repeat(empty));
            for (into, value) in into.unwrap_or_default().iter_mut().zip(values) {
                *into = value;
            }
        }
    }

    /// The row of a number.
    pub(crate) fn row(&self, row: usize) -> Option<&[T]> {
        let start = self.in_block(row) * self.row_len;
        let block = self.blocks.get(row >> self.rows_log2)?;
        block.get(start..start + self.row_len)
    }

    /// A block, which holds the rows whose numbers begin alike.
    pub(crate) fn block(&self, block: usize) -> &[T] {
        self.blocks.get(block).map_or(&[], |block| block.as_slice())
    }

    /// The place of a row in its block.
    fn in_block(&self, row: usize) -> usize {
        row & ((1 << self.rows_log2) - 1)
    }
}
