use std::cmp::Ordering;

use rayon::prelude::*;
use shelfward_core::Metric;

use crate::bound::{Bounds, LENGTHS, Length, TINY, UNIT, sum_error};
use crate::cancel::CancelFlag;
use crate::exact::ExactQuery;
use crate::line::{F32Line, I8Line, lines};
use crate::matrix::{Matrix, QuantizedRows};
use crate::quantized::{QuantizedQuery, RowScale};
use crate::simd::{Kernels, kernels};
use crate::top::{Floor, best};

/// Which row ids a search looks at.
#[derive(Clone, Copy, Debug)]
pub enum Candidates<'a> {
    /// Every row id that holds a vector.
    All,
    /// These, which are in order and named once each.
    Listed(&'a [u32]),
}

/// Rows that are bounded in one call.
const GROUP: usize = 256;
/// Reading less than this is done before other threads have begun.
const WORTH_SHARING: usize = 4 << 20;

impl Matrix {
    /// The `k` nearest vectors with their scores, the best first, equal scores as `ties` orders them.
    ///
    /// Exact: scores are summed in 64 bits, and which rows are worth that is decided by sums in 32
    /// bits, and in 8 where the matrix is quantized, within bounds of their errors. A query of another
    /// width finds nothing, and so does one that was stopped. Searches over more than a few megabytes
    /// are shared among the threads of rayon's pool.
    pub fn nearest(
        &self,
        query: &[f32],
        candidates: Candidates<'_>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
        cancel: CancelFlag<'_>,
    ) -> Vec<(u32, f64)> {
        self.nearest_with(kernels(), query, candidates, k, ties, cancel)
    }

    pub(crate) fn nearest_with(
        &self,
        kernels: &Kernels,
        query: &[f32],
        candidates: Candidates<'_>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
        cancel: CancelFlag<'_>,
    ) -> Vec<(u32, f64)> {
        if k == 0 || query.len() != self.width() {
            return Vec::new();
        }
        let end = u32::try_from(self.row_ids()).unwrap_or(u32::MAX);
        let mut remaining = match candidates {
            Candidates::All => Remaining::All(end),
            Candidates::Listed(row_ids) => Remaining::Given(
                row_ids
                    .get(..row_ids.partition_point(|s| *s < end))
                    .unwrap_or_default(),
            ),
        };
        let exact = ExactQuery::new(self.metric, query);
        // What has no direction, or is too long or short to be bounded, is compared exactly.
        if let Some(fast) = FastQuery::new(self.metric, query) {
            if let Some(quantized) = &self.quantized
                && remaining.len() > (4 * k).max(GROUP)
            {
                let pass = QuantizedPass::new(self, quantized, &fast, kernels);
                remaining = Remaining::Found(scan(&pass, &remaining, k, cancel));
            }
            if remaining.len() > 2 * k {
                remaining = Remaining::Found(scan(
                    &FloatPass::new(self, &fast, kernels),
                    &remaining,
                    k,
                    cancel,
                ));
            }
        }
        let scored = match remaining {
            Remaining::All(end) => self.scores(&exact, 0..end, cancel),
            Remaining::Given(row_ids) => self.scores(&exact, row_ids.iter().copied(), cancel),
            Remaining::Found(row_ids) => self.scores(&exact, row_ids.into_iter(), cancel),
        };
        // Asked last, so that whatever was left out above is not answered.
        if cancel.is_cancelled() {
            return Vec::new();
        }
        best(scored, k, ties)
    }

    /// The exact scores of these row ids, the `k` best first; a row id that is empty is left out.
    pub fn scored(
        &self,
        query: &[f32],
        row_ids: impl IntoIterator<Item = u32>,
        k: usize,
        ties: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<(u32, f64)> {
        let exact = ExactQuery::new(self.metric, query);
        let scored = self.scores(&exact, row_ids.into_iter(), CancelFlag::NEVER);
        best(scored, k, ties)
    }

    fn scores(
        &self,
        query: &ExactQuery,
        row_ids: impl Iterator<Item = u32>,
        cancel: CancelFlag<'_>,
    ) -> Vec<(u32, f64)> {
        let row_ids = row_ids.take_while(|_| !cancel.is_cancelled());
        let scored = row_ids.filter_map(|row_id| Some((row_id, query.score(self.row(row_id)?))));
        // A zero vector has no cosine.
        scored.filter(|(_, score)| !score.is_nan()).collect()
    }
}

/// The rows that are still to be looked at, in order.
enum Remaining<'a> {
    /// From 0 up to this.
    All(u32),
    Given(&'a [u32]),
    Found(Vec<u32>),
}

impl Remaining<'_> {
    fn len(&self) -> usize {
        match self {
            Self::All(end) => *end as usize,
            Self::Given(row_ids) => row_ids.len(),
            Self::Found(row_ids) => row_ids.len(),
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
        let length = crate::exact::length(&lines(query).collect::<Vec<_>>());
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
    /// Bounds rows of one block of the matrix: those at the places `at` in it, whose row ids are the
    /// block's first and the place.
    fn bound(&self, block: usize, at: &[u32], out: &mut [Bounds]);
    /// The number of rows in a block, as a power of two.
    fn rows_log2(&self) -> u32;
    fn row_bytes(&self) -> usize;
}

/// Bounds by sums in 32 bits.
struct FloatPass<'a> {
    matrix: &'a Matrix,
    query: Vec<F32Line>,
    metric: Metric,
    length: f32,
    error: f32,
    kernels: &'a Kernels,
}

impl<'a> FloatPass<'a> {
    fn new(matrix: &'a Matrix, query: &FastQuery, kernels: &'a Kernels) -> Self {
        let lines: Vec<F32Line> = lines(&query.numbers).collect();
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
    fn bound(&self, block: usize, at: &[u32], out: &mut [Bounds]) {
        let mut sums = [0.0_f32; GROUP];
        let rows = self.matrix.rows.block(block);
        match self.metric {
            Metric::Euclidean => (self.kernels.squares)(&self.query, rows, at, &mut sums),
            _ => (self.kernels.dots)(&self.query, rows, at, &mut sums),
        }
        let first = block << self.rows_log2();
        let lengths = self.matrix.lengths.get(first..).unwrap_or_default();
        for ((out, sum), at) in out.iter_mut().zip(sums).zip(at) {
            let length = lengths.get(*at as usize).copied();
            *out = match Length::read(length.unwrap_or(Length::DEAD)) {
                Length::Known(length) => self.bounds(sum, length),
                Length::Unbounded => Bounds::ANY,
                Length::Dead => Bounds::NONE,
            };
        }
    }

    fn rows_log2(&self) -> u32 {
        self.matrix.rows.rows_log2
    }

    fn row_bytes(&self) -> usize {
        self.matrix.rows.row_len * size_of::<F32Line>()
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
    fn bounds(&self, sum: i32, row: RowScale, length: f32) -> Bounds {
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
    fn bound(&self, block: usize, at: &[u32], out: &mut [Bounds]) {
        let mut sums = [0_i32; GROUP];
        let rows = self.rows.rows.block(block);
        (self.kernels.quantized)(&self.query.words, rows, at, &mut sums);
        let first = block << self.rows_log2();
        let lengths = self.lengths.get(first..).unwrap_or_default();
        let scales = self.rows.scales.get(first..).unwrap_or_default();
        for ((out, sum), at) in out.iter_mut().zip(sums).zip(at) {
            let at = *at as usize;
            let (length, scale) = (lengths.get(at).copied(), scales.get(at).copied());
            *out = match Length::read(length.unwrap_or(Length::DEAD)) {
                Length::Known(length) => self.bounds(sum, scale.unwrap_or_default(), length),
                Length::Unbounded => Bounds::ANY,
                Length::Dead => Bounds::NONE,
            };
        }
    }

    fn rows_log2(&self) -> u32 {
        self.rows.rows.rows_log2
    }

    fn row_bytes(&self) -> usize {
        self.rows.rows.row_len * size_of::<I8Line>()
    }
}

/// The rows that may be among the `k` best, in order.
fn scan<P: Pass>(
    pass: &P,
    remaining: &Remaining<'_>,
    k: usize,
    cancel: CancelFlag<'_>,
) -> Vec<u32> {
    let threads = rayon::current_num_threads();
    let rows = remaining.len();
    let shared = threads > 1 && rows.saturating_mul(pass.row_bytes()) > WORTH_SHARING;
    // More parts than threads, so that one that is held up does not hold up all.
    let part_len = if shared {
        rows.div_ceil(threads * 4)
    } else {
        rows
    };
    let parts: Vec<Part> = match remaining {
        Remaining::All(end) => {
            let step = u32::try_from(part_len.max(1)).unwrap_or(u32::MAX);
            let part = |n: u32| {
                let start = n.saturating_mul(step);
                scan_part(pass, start..start.saturating_add(step).min(*end), k, cancel)
            };
            let count = end.div_ceil(step);
            if shared {
                (0..count).into_par_iter().map(part).collect()
            } else {
                (0..count).map(part).collect()
            }
        }
        Remaining::Given(row_ids) => scan_slots(pass, row_ids, part_len, k, cancel),
        Remaining::Found(row_ids) => scan_slots(pass, row_ids, part_len, k, cancel),
    };
    let mut floor = Floor::new(k);
    let mut reached = Vec::new();
    for part in parts {
        floor.merge(part.floor);
        reached.extend(part.reached);
    }
    let floor = floor.get();
    let reaching = reached.into_iter().filter(|(_, ceiling)| *ceiling >= floor);
    reaching.map(|(row_id, _)| row_id).collect()
}

fn scan_slots<P: Pass>(
    pass: &P,
    row_ids: &[u32],
    part_len: usize,
    k: usize,
    cancel: CancelFlag<'_>,
) -> Vec<Part> {
    let part = |row_ids: &[u32]| scan_part(pass, row_ids.iter().copied(), k, cancel);
    if row_ids.len() > part_len {
        row_ids.par_chunks(part_len.max(1)).map(part).collect()
    } else {
        vec![part(row_ids)]
    }
}

/// What a part of a scan found.
struct Part {
    floor: Floor,
    /// Rows with their ceilings, none of which was below the floor when it was met.
    reached: Vec<(u32, f32)>,
}

fn scan_part<P: Pass>(
    pass: &P,
    row_ids: impl Iterator<Item = u32>,
    k: usize,
    cancel: CancelFlag<'_>,
) -> Part {
    let mut part = Part {
        floor: Floor::new(k),
        reached: Vec::new(),
    };
    let in_block = (1_u32 << pass.rows_log2()) - 1;
    let mut bounds = [Bounds::NONE; GROUP];
    let mut group = [0_u32; GROUP];
    let mut row_ids = row_ids.peekable();
    while let Some(first) = row_ids.peek().copied()
        && !cancel.is_cancelled()
    {
        // As many as fit and lie in one block.
        let mut len = 0;
        let block = first & !in_block;
        while let Some(place) = group.get_mut(len)
            && let Some(row_id) = row_ids.next_if(|row_id| row_id & !in_block == block)
        {
            *place = row_id & in_block;
            len += 1;
        }
        let at = group.get(..len).unwrap_or_default();
        pass.bound((block >> pass.rows_log2()) as usize, at, &mut bounds);
        for (at, bounds) in at.iter().zip(&bounds) {
            if bounds.ceiling >= part.floor.get() && bounds.ceiling > f32::NEG_INFINITY {
                part.floor.raise(bounds.floor);
                part.reached.push((block | at, bounds.ceiling));
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;
    use crate::quantized;
    use crate::simd::PORTABLE;

    /// What the passes say of one row, beside its true score in their unit.
    fn check(metric: Metric, query: &[f32], row: &[f32], kernels: &Kernels) {
        let mut matrix = Matrix::new(metric, row.len(), true);
        matrix.set(0, row);
        let fast = FastQuery::new(metric, query).unwrap();
        let lines: Vec<F32Line> = lines(row).collect();
        let score = ExactQuery::new(metric, query).score(&lines);
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
            pass.bound(0, &[0], &mut bounds);
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

    /// Counts its calls, and sets a flag in the third of them.
    #[derive(Default)]
    struct ThenCancel {
        calls: AtomicUsize,
        flag: AtomicBool,
    }

    impl Pass for ThenCancel {
        fn bound(&self, _: usize, at: &[u32], _: &mut [Bounds]) {
            assert!(
                at.len() <= 4_096,
                "so many rows between two looks at the flag"
            );
            if self.calls.fetch_add(1, Relaxed) == 2 {
                self.flag.store(true, Relaxed);
            }
        }
        fn rows_log2(&self) -> u32 {
            10
        }
        fn row_bytes(&self) -> usize {
            1
        }
    }

    #[test]
    fn a_scan_that_is_given_up_ends_with_the_rows_it_is_at() {
        for candidates in [0..1_000_000, 5..999_990] {
            let pass = ThenCancel::default();
            scan_part(&pass, candidates, 10, CancelFlag::of(&pass.flag));
            assert_eq!(pass.calls.into_inner(), 3);
        }
    }

    #[test]
    fn what_is_given_up_finds_nothing_rather_than_a_part() {
        let mut matrix = Matrix::new(Metric::Dot, 2, false);
        (0..500).for_each(|row_id| matrix.set(row_id, &[1.0, 2.0]));
        let ties = |a: u32, b: u32| a.cmp(&b);
        let flag = AtomicBool::new(false);
        // The second is too long to be bounded, so each row is looked at exactly.
        for query in [[1.0, 1.0], [1e30, 1.0]] {
            for candidates in [Candidates::All, Candidates::Listed(&[3, 4, 5])] {
                flag.store(false, Relaxed);
                let found = matrix.nearest(&query, candidates, 2, ties, CancelFlag::of(&flag));
                assert_eq!(found.len(), 2);
                flag.store(true, Relaxed);
                let found = matrix.nearest(&query, candidates, 2, ties, CancelFlag::of(&flag));
                assert!(found.is_empty());
            }
        }
    }

    #[test]
    fn the_worst_query_for_a_row_stays_within_its_bounds() {
        let mut rng = fastrand::Rng::with_seed(11);
        for width in [64_usize, 96, 384, 1_024] {
            for _ in 0..40 {
                let mut next = || rng.f32() * 2.0 - 1.0;
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
