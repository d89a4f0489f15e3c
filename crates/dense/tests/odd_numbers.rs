//! Odd numbers: whatever the fast passes leave out is none of the best.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "random numbers, and row ids that fit"
)]

use std::time::{Duration, Instant};

use fastrand::Rng;
use shelfward_core::Metric;
use shelfward_dense::{CancelFlag, Candidates, Matrix};

/// From -1 to 1.
fn unit(rng: &mut Rng) -> f32 {
    rng.f32() * 2.0 - 1.0
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

const KINDS: usize = 15;

/// A finite number of one kind.
fn number(rng: &mut Rng, kind: usize) -> f32 {
    match kind {
        0 => unit(rng),
        1 => unit(rng) * 1e-40,
        2 => unit(rng) * 1e18,
        3 => unit(rng) * 10_f32.powf(rng.usize(..60) as f32 - 30.0),
        4 => one_of(rng, &[0.0, -0.0]),
        5 => 1.0,
        6 if rng.usize(..40) == 0 => unit(rng),
        6 => 0.0,
        7 => 1.0 + unit(rng) * 1e-6,
        8 => unit(rng) * 1e12,
        9 => unit(rng) * 1e-12,
        10 => f32::from_bits(rng.usize(..(1 << 23)) as u32),
        11 if rng.usize(..50) == 0 => unit(rng) * 1e6,
        11 => unit(rng) * 1e-3,
        12 => rng.usize(..3) as f32 - 1.0,
        13 => f32::MAX * unit(rng),
        // Any bits but those of infinity and of what is no number.
        _ => f32::from_bits(rng.u32(..) & 0xff7f_ffff),
    }
}

fn vector(rng: &mut Rng, width: usize, kind: usize) -> Vec<f32> {
    (0..width).map(|_| number(rng, kind)).collect()
}

/// Vectors of one kind or of all, some of them multiples of earlier ones.
fn vectors(rng: &mut Rng, count: usize, width: usize, kind: Option<usize>) -> Vec<Vec<f32>> {
    let mut vectors: Vec<Vec<f32>> = Vec::new();
    for row_id in 0..count {
        let next = if row_id > 10 && rng.usize(..5) == 0 {
            let from = rng.usize(..row_id);
            let scale = one_of(rng, &[1.0, 1.0, 2.0, 0.5, -1.0, 1.000_000_1_f32]);
            let scaled = vectors[from].iter().map(|x| x * scale);
            scaled
                .map(|x| if x.is_finite() { x } else { 1.0 })
                .collect()
        } else {
            let kind = kind.unwrap_or_else(|| rng.usize(..KINDS));
            vector(rng, width, kind)
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
    let rng = &mut Rng::with_seed(seed);
    let width = one_of(rng, &WIDTHS);
    let metric = one_of(rng, &[Metric::Cosine, Metric::Dot, Metric::Euclidean]);
    let count = 300 + rng.usize(..if width > 1_000 { 300 } else { 2_500 });
    let mut matrix = Matrix::new(metric, width, rng.usize(..4) != 0);
    let kind = if rng.usize(..2) == 0 {
        None
    } else {
        Some(rng.usize(..KINDS))
    };
    let vectors = vectors(rng, count, width, kind);
    let mut live: Vec<u32> = (0..count as u32).collect();
    for (row_id, vector) in live.iter().zip(&vectors) {
        matrix.set(*row_id, vector);
    }
    for _ in 0..rng.usize(..60) {
        let at = rng.usize(..(live.len()));
        matrix.remove(live.remove(at));
    }
    for _ in 0..4 {
        let query = if rng.usize(..2) == 0 {
            vectors[rng.usize(..count)].clone()
        } else {
            let kind = kind.unwrap_or_else(|| rng.usize(..KINDS));
            vector(rng, width, kind)
        };
        let top_k = one_of(rng, &[1, 2, 10, 50, 10_000, 0]);
        let ties = |a: u32, b: u32| (a ^ 5).cmp(&(b ^ 5));
        let what = format!("seed {seed}: {metric}, {count} of width {width}, the best {top_k}");
        let all = matrix.scored(&query, live.iter().copied(), top_k, ties);
        let found = matrix.nearest(&query, Candidates::All, top_k, ties, CancelFlag::NEVER);
        assert!(bits(&found) == bits(&all), "{what}");
        // Among some, of which not all are there.
        let some: Vec<u32> = (0..count as u32 + 50)
            .filter(|_| rng.usize(..3) != 0)
            .collect();
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
