use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;
use shelfward_core::Metric;

use crate::bound::{Bounds, LENGTHS, Length, TINY, UNIT, sum_error};
use crate::exact::ExactQuery;
use crate::line::{Line, lines};
use crate::matrix::{Matrix, QuantizedRows};
use crate::quantized::QuantizedQuery;
use crate::simd::{Kernels, kernels};
use crate::top::{Floor, best};

/// Which slots a search looks at.
#[derive(Clone, Copy, Debug)]
pub enum Among<'a> {
    /// Every slot that holds a vector.
    All,
    /// Those in these ranges, which are in order and share no slot.
    Ranges(&'a [Range<u32>]),
}

/// Rows that are bounded in one call.
const BLOCK: usize = 256;
/// Reading less than this is done before other threads have begun.
const WORTH_SHARING: usize = 4 << 20;
/// How many ranges ahead the machine is told of.
const AHEAD: usize = 8;

impl Matrix {
    /// The `k` nearest vectors with their scores, the best first, equal scores as `ties` orders them.
    ///
    /// Exact: scores are summed in 64 bits, and which rows are worth that is decided by sums in 32
    /// bits, and in 8 where the matrix is quantized, within bounds of their errors. A query of another
    /// width finds nothing. Searches over more than a few megabytes are shared among the threads of
    /// rayon's pool.
    pub fn nearest(
        &self,
        query: &[f32],
        among: Among<'_>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(u32, f64)> {
        self.nearest_with(kernels(), query, among, k, ties)
    }

    pub(crate) fn nearest_with(
        &self,
        kernels: &Kernels,
        query: &[f32],
        among: Among<'_>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(u32, f64)> {
        if k == 0 || query.len() != self.width() {
            return Vec::new();
        }
        let mut ranges = self.ranges(among);
        let exact = ExactQuery::new(self.metric, query);
        // What has no direction, or is too long or short to be bounded, is compared exactly.
        let bounded = FastQuery::new(self.metric, query);
        if let Some(fast) = &bounded {
            let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
            if let Some(quantized) = &self.quantized
                && rows > (4 * k).max(BLOCK)
            {
                ranges = scan(
                    &QuantizedPass::new(self, quantized, fast, kernels),
                    &ranges,
                    k,
                );
            }
            let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
            if rows > 2 * k {
                ranges = scan(&FloatPass::new(self, fast, kernels), &ranges, k);
            }
        }
        let slots = ranges.into_iter().flatten();
        best(self.scores(&exact, slots), k, ties)
    }

    /// The exact scores of these slots, the `k` best first; a slot that is empty is left out.
    pub fn scored(
        &self,
        query: &[f32],
        slots: impl IntoIterator<Item = u32>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(u32, f64)> {
        let exact = ExactQuery::new(self.metric, query);
        best(self.scores(&exact, slots.into_iter()), k, ties)
    }

    fn scores(&self, query: &ExactQuery<'_>, slots: impl Iterator<Item = u32>) -> Vec<(u32, f64)> {
        let scored = slots.filter_map(|slot| Some((slot, query.score(self.numbers(slot)?))));
        scored.filter(|(_, score)| !score.is_nan()).collect()
    }

    fn ranges(&self, among: Among<'_>) -> Vec<Range<u32>> {
        let end = u32::try_from(self.slots()).unwrap_or(u32::MAX);
        match among {
            Among::All => std::iter::once(0..end).collect(),
            Among::Ranges(ranges) => {
                let clipped = ranges.iter().map(|r| r.start.min(end)..r.end.min(end));
                clipped.filter(|range| !range.is_empty()).collect()
            }
        }
    }
}

/// A query as the passes take it.
struct FastQuery {
    metric: Metric,
    /// Of length 1 under cosine.
    numbers: Vec<f32>,
    length: f32,
}

impl FastQuery {
    fn new(metric: Metric, query: &[f32]) -> Option<Self> {
        let length = crate::exact::length(query.iter().copied());
        let cosine = metric == Metric::Cosine;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounding is counted in the bounds"
        )]
        let (numbers, length) = if cosine {
            let unit = |x: &f32| (f64::from(*x) / length) as f32;
            (query.iter().map(unit).collect(), 1.0)
        } else {
            (query.to_vec(), length as f32)
        };
        let bounded = if cosine {
            length > 0.0
        } else {
            f64::from(length) == 0.0 || LENGTHS.contains(&f64::from(length))
        };
        bounded.then_some(Self {
            metric,
            numbers,
            length,
        })
    }
}

/// One way of bounding rows.
trait Pass: Sync {
    /// Bounds neighbouring rows of one block of the matrix.
    fn bound(&self, slots: Range<u32>, out: &mut [Bounds]);
    /// Tells the machine that a row will be bounded soon.
    fn prefetch(&self, slot: u32);
    fn rows_in_block(&self) -> usize;
    fn row_bytes(&self) -> usize;
}

/// Bounds by sums in 32 bits.
struct FloatPass<'a> {
    matrix: &'a Matrix,
    query: Vec<Line>,
    metric: Metric,
    length: f32,
    error: f32,
    kernels: &'a Kernels,
}

impl<'a> FloatPass<'a> {
    fn new(matrix: &'a Matrix, query: &FastQuery, kernels: &'a Kernels) -> Self {
        let lines: Vec<Line> = lines(&query.numbers).collect();
        Self {
            matrix,
            error: sum_error(lines.len()),
            query: lines,
            metric: query.metric,
            length: query.length,
            kernels,
        }
    }

    fn bounds(&self, sum: f32, length: f32) -> Bounds {
        match self.metric {
            Metric::Euclidean => Bounds {
                floor: -sum * (1.0 + self.error + 4.0 * UNIT) - TINY,
                ceiling: -sum * (1.0 - self.error - 4.0 * UNIT) + TINY,
            },
            Metric::Dot => Bounds::around(sum, (self.error + 8.0 * UNIT) * self.length * length),
            _ => Bounds::around(sum / length, self.error + 16.0 * UNIT),
        }
    }
}

impl Pass for FloatPass<'_> {
    fn bound(&self, slots: Range<u32>, out: &mut [Bounds]) {
        let (from, to) = (slots.start as usize, slots.end as usize);
        let mut sums = [0.0_f32; BLOCK];
        let sums = sums.get_mut(..to - from).unwrap_or_default();
        let rows = self.matrix.rows.rows(from, to).unwrap_or_default();
        match self.metric {
            Metric::Euclidean => (self.kernels.squares)(&self.query, rows, sums),
            _ => (self.kernels.dots)(&self.query, rows, sums),
        }
        let lengths = self.matrix.lengths.get(from..to).unwrap_or_default();
        for ((out, sum), length) in out.iter_mut().zip(sums).zip(lengths) {
            *out = match Length::read(*length) {
                Length::Known(length) => self.bounds(*sum, length),
                Length::Odd => Bounds::ANY,
                Length::Dead => Bounds::NONE,
            };
        }
    }

    fn prefetch(&self, slot: u32) {
        let row = self.matrix.rows.row(slot as usize);
        (self.kernels.prefetch)(row.unwrap_or_default());
    }

    fn rows_in_block(&self) -> usize {
        self.matrix.rows.rows_in_block
    }

    fn row_bytes(&self) -> usize {
        self.matrix.rows.row_len * size_of::<Line>()
    }
}

/// Bounds by sums of bytes.
struct QuantizedPass<'a> {
    lengths: &'a [f32],
    rows: &'a QuantizedRows,
    query: QuantizedQuery,
    metric: Metric,
    length: f32,
    kernels: &'a Kernels,
}

impl<'a> QuantizedPass<'a> {
    fn new(
        matrix: &'a Matrix,
        rows: &'a QuantizedRows,
        query: &FastQuery,
        kernels: &'a Kernels,
    ) -> Self {
        Self {
            lengths: &matrix.lengths,
            rows,
            query: QuantizedQuery::new(&query.numbers),
            metric: query.metric,
            length: query.length,
            kernels,
        }
    }
}

impl QuantizedPass<'_> {
    // With x' and q' the quantized vectors, q·x − q'·x' = q·(x − x') + (q − q')·x', and the length of
    // x' is at most that of x and of its error. What is added for each is rounding.
    fn bounds(&self, sum: i32, row: crate::quantized::RowScale, length: f32) -> Bounds {
        #[expect(
            clippy::cast_precision_loss,
            reason = "rounding is counted in the error"
        )]
        let dot = sum as f32 * (self.query.scale * row.scale);
        let most = self.length * (length + row.error);
        let error = (self.length * row.error + self.query.error * (length + row.error))
            * (1.0 + 16.0 * UNIT)
            + 16.0 * UNIT * most;
        match self.metric {
            Metric::Euclidean => {
                let squares = self.length * self.length + length * length;
                let distance = squares - 2.0 * dot;
                Bounds::around(-distance, 2.0 * error + 16.0 * UNIT * squares + TINY)
            }
            Metric::Dot => Bounds::around(dot, error),
            _ => Bounds::around(
                dot / length,
                error / length * (1.0 + 8.0 * UNIT) + 8.0 * UNIT,
            ),
        }
    }
}

impl Pass for QuantizedPass<'_> {
    fn bound(&self, slots: Range<u32>, out: &mut [Bounds]) {
        let (from, to) = (slots.start as usize, slots.end as usize);
        let mut sums = [0_i32; BLOCK];
        let sums = sums.get_mut(..to - from).unwrap_or_default();
        let rows = self.rows.rows.rows(from, to).unwrap_or_default();
        (self.kernels.quantized)(&self.query.words, rows, sums);
        let lengths = self.lengths.get(from..to).unwrap_or_default();
        let scales = self.rows.scales.get(from..to).unwrap_or_default();
        for (((out, sum), length), scale) in out.iter_mut().zip(sums).zip(lengths).zip(scales) {
            *out = match Length::read(*length) {
                Length::Known(length) => self.bounds(*sum, *scale, length),
                Length::Odd => Bounds::ANY,
                Length::Dead => Bounds::NONE,
            };
        }
    }

    fn prefetch(&self, slot: u32) {
        let row = self.rows.rows.row(slot as usize);
        (self.kernels.prefetch_bytes)(row.unwrap_or_default());
    }

    fn rows_in_block(&self) -> usize {
        self.rows.rows.rows_in_block
    }

    fn row_bytes(&self) -> usize {
        self.rows.rows.row_len * size_of::<crate::line::Bytes>()
    }
}

/// The rows that may be among the `k` best, each as a range.
fn scan<P: Pass>(pass: &P, ranges: &[Range<u32>], k: usize) -> Vec<Range<u32>> {
    let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    let threads = rayon::current_num_threads();
    let part = if threads > 1 && rows.saturating_mul(pass.row_bytes()) > WORTH_SHARING {
        // More parts than threads, so that one that is held up does not hold up all.
        split(ranges, rows.div_ceil(threads * 4))
            .par_iter()
            .map(|part| scan_part(pass, part, k))
            .reduce_with(Part::join)
            .unwrap_or_else(|| Part::new(k))
    } else {
        scan_part(pass, ranges, k)
    };
    let floor = part.floor.get();
    let reaching = part
        .reached
        .into_iter()
        .filter(|(_, ceiling)| *ceiling >= floor);
    reaching
        .map(|(slot, _)| slot..slot.saturating_add(1))
        .collect()
}

/// What a part of a scan found.
struct Part {
    floor: Floor,
    /// Rows with their ceilings, none of which was below the floor when it was met.
    reached: Vec<(u32, f32)>,
}

impl Part {
    fn new(k: usize) -> Self {
        Self {
            floor: Floor::new(k),
            reached: Vec::new(),
        }
    }

    fn join(mut self, other: Self) -> Self {
        self.floor.merge(other.floor);
        self.reached.extend(other.reached);
        self
    }
}

fn scan_part<P: Pass>(pass: &P, ranges: &[Range<u32>], k: usize) -> Part {
    let mut part = Part::new(k);
    let mut bounds = [Bounds::NONE; BLOCK];
    for (at, range) in ranges.iter().enumerate() {
        if let Some(ahead) = ranges.get(at + AHEAD) {
            pass.prefetch(ahead.start);
        }
        for block in blocks(range.clone(), pass.rows_in_block()) {
            let bounds = bounds.get_mut(..block.len()).unwrap_or_default();
            pass.bound(block.clone(), bounds);
            for (slot, bounds) in block.zip(bounds) {
                if bounds.ceiling >= part.floor.get() && bounds.ceiling > f32::NEG_INFINITY {
                    part.floor.raise(bounds.floor);
                    part.reached.push((slot, bounds.ceiling));
                }
            }
        }
    }
    part
}

/// A range cut where the matrix's blocks end, and into pieces of at most [`BLOCK`] rows.
fn blocks(range: Range<u32>, rows_in_block: usize) -> impl Iterator<Item = Range<u32>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let to_end = rows_in_block - at as usize % rows_in_block;
        let len = u32::try_from(to_end.min(BLOCK)).unwrap_or(1);
        let block = at..range.end.min(at.saturating_add(len));
        at = block.end;
        Some(block)
    })
}

/// Ranges in parts of about so many rows.
fn split(ranges: &[Range<u32>], rows: usize) -> Vec<Vec<Range<u32>>> {
    let rows = u32::try_from(rows.max(1)).unwrap_or(u32::MAX);
    let mut parts = vec![Vec::new()];
    let mut room = rows;
    for range in ranges {
        let mut range = range.clone();
        while !range.is_empty() {
            let end = range.end.min(range.start.saturating_add(room));
            if let Some(part) = parts.last_mut() {
                part.push(range.start..end);
            }
            room -= end - range.start;
            range.start = end;
            if room == 0 {
                parts.push(Vec::new());
                room = rows;
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantized;
    use crate::simd::PORTABLE;

    /// What the passes say of one row, beside its true score in their unit.
    fn check(metric: Metric, query: &[f32], row: &[f32], kernels: &Kernels) {
        let mut matrix = Matrix::new(metric, row.len(), true);
        matrix.set(0, row);
        let fast = FastQuery::new(metric, query).unwrap();
        let score = ExactQuery::new(metric, query).score(row.iter().copied());
        let truth = if metric == Metric::Euclidean {
            -(score * score)
        } else {
            score
        };
        let quantized = matrix.quantized.as_ref().unwrap();
        let passes: [&dyn Pass; 2] = [
            &FloatPass::new(&matrix, &fast, kernels),
            &QuantizedPass::new(&matrix, quantized, &fast, kernels),
        ];
        for pass in passes {
            let mut bounds = [Bounds::NONE];
            pass.bound(0..1, &mut bounds);
            let [Bounds { floor, ceiling }] = bounds;
            let holds = f64::from(floor) <= truth && truth <= f64::from(ceiling);
            assert!(holds, "{metric}: {floor} <= {truth} <= {ceiling}");
            // And says something: what is known is known to a few hundredths of the lengths.
            let size = match metric {
                Metric::Cosine => 1.0,
                Metric::Dot => fast.length * matrix.lengths[0],
                _ => (fast.length + matrix.lengths[0]).powi(2),
            };
            assert!(
                ceiling - floor <= 0.06 * size,
                "{metric}: {floor} to {ceiling}"
            );
        }
    }

    #[test]
    fn the_worst_query_for_a_row_stays_within_its_bounds() {
        let mut seed = 11_u64;
        for width in [64_usize, 96, 384, 1_024] {
            for _ in 0..40 {
                let mut next = || {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    f32::from(u16::try_from(seed >> 48).unwrap()) / 32_768.0 - 1.0
                };
                let row: Vec<f32> = (0..width).map(|_| next()).collect();
                let query: Vec<f32> = (0..width).map(|_| next()).collect();
                // All of what quantizing loses lies in this query's direction.
                let (bytes, scale) = quantized::row(&row);
                let held = bytes
                    .flat_map(|bytes| bytes.0)
                    .map(|byte| f32::from(byte) * scale.scale);
                let lost: Vec<f32> = row.iter().zip(held).map(|(x, held)| x - held).collect();
                let near: Vec<f32> = row.iter().map(|x| x * 1.000_01).collect();
                for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
                    for query in [&query, &lost, &near, &row] {
                        check(metric, query, &row, kernels());
                        check(metric, query, &row, &PORTABLE);
                    }
                }
            }
        }
    }
}
