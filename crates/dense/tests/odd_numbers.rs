//! Odd numbers: whatever the fast passes leave out is none of the best.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers drawn by lot, and row_ids that fit"
)]

use std::time::{Duration, Instant};

use shelfward_core::Metric;
use shelfward_dense::{CancelFlag, Candidates, Matrix};

/// Numbers drawn by lot: splitmix64.
struct Lot(u64);

impl Lot {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// From -1 to 1.
    fn unit(&mut self) -> f32 {
        (self.draw() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}

const KINDS: usize = 15;

/// A finite number of one kind.
fn number(lot: &mut Lot, kind: usize) -> f32 {
    match kind {
        0 => lot.unit(),
        1 => lot.unit() * 1e-40,
        2 => lot.unit() * 1e18,
        3 => lot.unit() * 10_f32.powf(lot.below(60) as f32 - 30.0),
        4 => lot.of(&[0.0, -0.0]),
        5 => 1.0,
        6 if lot.once_in(40) => lot.unit(),
        6 => 0.0,
        7 => 1.0 + lot.unit() * 1e-6,
        8 => lot.unit() * 1e12,
        9 => lot.unit() * 1e-12,
        10 => f32::from_bits(lot.below(1 << 23) as u32),
        11 if lot.once_in(50) => lot.unit() * 1e6,
        11 => lot.unit() * 1e-3,
        12 => lot.below(3) as f32 - 1.0,
        13 => f32::MAX * lot.unit(),
        // Any bits but those of infinity and of what is no number.
        _ => f32::from_bits(lot.draw() as u32 & 0xff7f_ffff),
    }
}

fn vector(lot: &mut Lot, width: usize, kind: usize) -> Vec<f32> {
    (0..width).map(|_| number(lot, kind)).collect()
}

/// Vectors of one kind or of all, some of them multiples of earlier ones.
fn vectors(lot: &mut Lot, count: usize, width: usize, kind: Option<usize>) -> Vec<Vec<f32>> {
    let mut vectors: Vec<Vec<f32>> = Vec::new();
    for row_id in 0..count {
        let next = if row_id > 10 && lot.once_in(5) {
            let from = lot.below(row_id);
            let scale = lot.of(&[1.0, 1.0, 2.0, 0.5, -1.0, 1.000_000_1_f32]);
            let scaled = vectors[from].iter().map(|x| x * scale);
            scaled
                .map(|x| if x.is_finite() { x } else { 1.0 })
                .collect()
        } else {
            let kind = kind.unwrap_or_else(|| lot.below(KINDS));
            vector(lot, width, kind)
        };
        vectors.push(next);
    }
    vectors
}

fn bits(found: &[(u32, f64)]) -> Vec<(u32, u64)> {
    found
        .iter()
        .map(|(row_id, score)| (*row_id, score.to_bits()))
        .collect()
}

/// One matrix and a few queries, each answered as by looking at all.
fn round(seed: u64) {
    const WIDTHS: [usize; 15] = [
        1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 384, 1_024, 8_192, 8_193,
    ];
    let lot = &mut Lot(seed);
    let width = lot.of(&WIDTHS);
    let metric = lot.of(&[Metric::Cosine, Metric::Dot, Metric::Euclidean]);
    let count = 300 + lot.below(if width > 1_000 { 300 } else { 2_500 });
    let mut matrix = Matrix::new(metric, width, !lot.once_in(4));
    let kind = if lot.once_in(2) {
        None
    } else {
        Some(lot.below(KINDS))
    };
    let vectors = vectors(lot, count, width, kind);
    let mut live: Vec<u32> = (0..count as u32).collect();
    for (row_id, vector) in live.iter().zip(&vectors) {
        matrix.set(*row_id, vector);
    }
    for _ in 0..lot.below(60) {
        let at = lot.below(live.len());
        matrix.remove(live.remove(at));
    }
    for _ in 0..4 {
        let query = if lot.once_in(2) {
            vectors[lot.below(count)].clone()
        } else {
            let kind = kind.unwrap_or_else(|| lot.below(KINDS));
            vector(lot, width, kind)
        };
        let top_k = lot.of(&[1, 2, 10, 50, 10_000, 0]);
        let ties = |a: u32, b: u32| (a ^ 5).cmp(&(b ^ 5));
        let what = format!("seed {seed}: {metric}, {count} of width {width}, the best {top_k}");
        let all = matrix.scored(&query, live.iter().copied(), top_k, ties);
        let found = matrix.nearest(&query, Candidates::All, top_k, ties, CancelFlag::NEVER);
        assert!(bits(&found) == bits(&all), "{what}");
        // Among some, of which not all are there.
        let some: Vec<u32> = (0..count as u32 + 50).filter(|_| !lot.once_in(3)).collect();
        let there = some
            .iter()
            .copied()
            .filter(|row_id| live.binary_search(row_id).is_ok());
        let all = matrix.scored(&query, there, top_k, ties);
        let found = matrix.nearest(
            &query,
            Candidates::Listed(&some),
            top_k,
            ties,
            CancelFlag::NEVER,
        );
        assert!(bits(&found) == bits(&all), "{what}, candidates some");
    }
}

#[test]
fn whatever_the_numbers_the_answer_is_that_of_looking_at_all() {
    let end = Instant::now() + Duration::from_secs(3);
    // The same rounds each time, as many as there is time for, and some in any case.
    for seed in 1..2_000 {
        if seed > 5 && Instant::now() > end {
            break;
        }
        round(seed);
    }
}
