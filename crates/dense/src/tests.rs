//! The fast search against the plain one.

use std::cmp::Ordering;

use proptest::prelude::*;
use shelfward_core::Metric;

use crate::cancel::CancelFlag;
use crate::line::{F32Line, I8Line, I16Line, lines};
use crate::matrix::Matrix;
use crate::nearest::Candidates;
use crate::quantized::{self, QuantizedQuery};
use crate::simd::{Kernels, Loop, PORTABLE, kernels};

const METRICS: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::Euclidean];

/// Every vector is scored by the formula itself, and all are sorted.
fn plain(
    metric: Metric,
    vectors: &[Option<Vec<f32>>],
    query: &[f32],
    candidates: &[u32],
    k: usize,
) -> Vec<(u32, f64)> {
    // In the order in which the matrix adds, so that equal scores are equal here and there.
    let sum = |x: &[f32], y: &[f32], term: fn(f64, f64) -> f64| -> f64 {
        let of_place = |place: usize| {
            let pairs = x.iter().zip(y).skip(place).step_by(16);
            pairs.fold(0.0, |sum, (a, b)| sum + term(f64::from(*a), f64::from(*b)))
        };
        (0..16).map(of_place).sum()
    };
    let f = |x: &[f32], y: &[f32]| sum(x, y, |a, b| a * b);
    let score = |x: &[f32]| match metric {
        Metric::Dot => f(query, x),
        Metric::Euclidean => -sum(query, x, |a, b| (a - b) * (a - b)).sqrt(),
        _ => (f(query, x) / (f(query, query).sqrt() * f(x, x).sqrt())).clamp(-1.0, 1.0),
    };
    let mut scored: Vec<(u32, f64)> = candidates
        .iter()
        .filter_map(|row_id| {
            Some((
                *row_id,
                score(vectors.get(*row_id as usize)?.as_ref()?) + 0.0,
            ))
        })
        .filter(|(_, score)| !score.is_nan())
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| ties(a.0, b.0)));
    scored.truncate(k);
    scored
}

// Not the order of the row ids, so that it is seen when it is forgotten.
fn ties(a: u32, b: u32) -> Ordering {
    b.cmp(&a)
}

fn matrix(metric: Metric, width: usize, quantized: bool, vectors: &[Option<Vec<f32>>]) -> Matrix {
    let mut matrix = Matrix::new(metric, width, quantized);
    for (row_id, vector) in (0..).zip(vectors) {
        match vector {
            Some(vector) => matrix.set(row_id, vector),
            None => {
                matrix.set(row_id, &vec![1.0; width]);
                matrix.remove(row_id);
            }
        }
    }
    matrix
}

/// Numbers that are alike, far apart, or hard to add up.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -1.0_f32..1.0,
        2 => prop::sample::select(vec![0.0_f32, -0.0, 1.0, -1.0, 0.5]),
        1 => prop::sample::select(vec![1e-30_f32, 1e-20, -1e-13, 1e15, -1e17, 3e-5, 12_345.678]),
    ]
}

fn vector(width: usize) -> BoxedStrategy<Vec<f32>> {
    prop_oneof![
        6 => prop::collection::vec(number(), width),
        3 => prop::collection::vec(-1.0_f32..1.0, width),
        // One direction in several lengths, and the same vector again and again.
        2 => (1..6_u8).prop_map(move |n| vec![f32::from(n) * 0.1; width]),
        1 => Just(vec![0.0; width]),
    ]
    .boxed()
}

fn case() -> impl Strategy<Value = (Vec<Option<Vec<f32>>>, Vec<f32>, usize)> {
    prop::sample::select(vec![1_usize, 7, 16, 33, 64, 100, 130]).prop_flat_map(|width| {
        let row = prop::option::weighted(0.9, vector(width));
        (
            prop::collection::vec(row, 0..700),
            vector(width),
            1..40_usize,
        )
    })
}

fn check(
    kernels: &Kernels,
    vectors: &[Option<Vec<f32>>],
    query: &[f32],
    k: usize,
    row_ids: Option<&[u32]>,
) {
    let all: Vec<u32> = (0..u32::try_from(vectors.len()).unwrap()).collect();
    for metric in METRICS {
        let expected = plain(metric, vectors, query, row_ids.unwrap_or(&all), k);
        for quantized in [false, true] {
            let matrix = matrix(metric, query.len(), quantized, vectors);
            let candidates = row_ids.map_or(Candidates::All, Candidates::Listed);
            let found = matrix.nearest_with(kernels, query, candidates, k, ties, CancelFlag::NEVER);
            assert_eq!(found, expected, "{metric} quantized: {quantized}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_fast_search_finds_what_the_plain_one_finds((vectors, query, k) in case()) {
        check(kernels(), &vectors, &query, k, None);
    }

    #[test]
    fn so_do_plain_loops((vectors, query, k) in case()) {
        check(&PORTABLE, &vectors, &query, k, None);
    }

    #[test]
    fn among_some(
        (vectors, query, k) in case(),
        row_ids in prop::collection::btree_set(0..720_u32, 0..600),
    ) {
        let row_ids: Vec<u32> = row_ids.into_iter().collect();
        check(kernels(), &vectors, &query, k, Some(&row_ids));
    }

    #[test]
    fn the_loops_of_this_machine_sum_as_the_plain_ones(
        rows in prop::collection::vec(prop::collection::vec(-100.0_f32..100.0, 77), 1..20),
        query in prop::collection::vec(-100.0_f32..100.0, 77),
    ) {
        let query_lines: Vec<F32Line> = lines(&query).collect();
        // Not in order.
        let at: Vec<u32> = (0..rows.len()).rev().map(|n| u32::try_from(n).unwrap()).collect();
        let rows_at: Vec<&Vec<f32>> = rows.iter().rev().collect();
        let row_lines: Vec<F32Line> = rows.iter().flat_map(|row| lines(row)).collect();
        let sums = |kernel: Loop<F32Line, F32Line, f32>| {
            let mut out = vec![f32::NAN; rows.len()];
            kernel(&query_lines, &row_lines, &at, &mut out);
            out
        };
        let length = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>().sqrt();
        let near = |a: f32, b: f32, size: f32| (a - b).abs() <= 2.0 * crate::bound::sum_error(5) * size;
        let (dots, plain) = (sums(kernels().dots), sums(PORTABLE.dots));
        for ((a, b), row) in dots.iter().zip(plain).zip(rows_at) {
            prop_assert!(near(*a, b, length(row) * length(&query)), "{a} {b}");
        }
        let (squares, plain) = (sums(kernels().squares), sums(PORTABLE.squares));
        for (a, b) in squares.iter().zip(plain) {
            prop_assert!(near(*a, b, b), "{a} {b}");
        }
        let words = QuantizedQuery::new(&query).words;
        let bytes: Vec<I8Line> = rows.iter().flat_map(|row| quantized::row(row).0.collect::<Vec<_>>()).collect();
        let sums = |kernel: Loop<I16Line, I8Line, i32>| {
            let mut out = vec![i32::MIN; rows.len()];
            kernel(&words, &bytes, &at, &mut out);
            out
        };
        prop_assert_eq!(sums(kernels().quantized), sums(PORTABLE.quantized));
    }
}

#[test]
fn many_rows_are_shared_among_threads_and_found_alike() {
    let (width, rows, mut rng) = (96, 24_000, fastrand::Rng::with_seed(7));
    let mut next = || rng.f32() * 2.0 - 1.0;
    let vectors: Vec<Option<Vec<f32>>> = (0..rows)
        .map(|n| (n % 17 != 0).then(|| (0..width).map(|_| next()).collect()))
        .collect();
    let query: Vec<f32> = (0..width).map(|_| next()).collect();
    check(kernels(), &vectors, &query, 25, None);
    let row_ids: Vec<u32> = (0..rows).filter(|n| n % 3 < 2).collect();
    check(kernels(), &vectors, &query, 25, Some(&row_ids));
}

#[test]
fn a_thousand_equal_vectors_stand_in_the_order_of_ties() {
    let vectors = vec![Some(vec![0.3; 70]); 1_000];
    check(kernels(), &vectors, &[0.1; 70], 10, None);
}

#[test]
fn the_widest_quantized_vectors_do_not_overflow() {
    let width = quantized::MAX_WIDTH;
    let vectors: Vec<_> = (0..600_u16)
        .map(|n| Some(vec![if n % 2 == 0 { 1.0 } else { -1.0 }; width]))
        .collect();
    check(kernels(), &vectors, &vec![1.0; width], 3, None);
    check(&PORTABLE, &vectors, &vec![-1.0; width], 3, None);
}

#[test]
fn a_slot_is_set_again_and_gives_back_what_it_was_given() {
    let mut matrix = Matrix::new(Metric::Dot, 3, false);
    matrix.set(5, &[1.0, -0.0, f32::MIN_POSITIVE]);
    assert_eq!(matrix.vector(5).unwrap()[1].to_bits(), (-0.0_f32).to_bits());
    assert!(matrix.vector(4).is_none() && matrix.vector(6).is_none());
    matrix.remove(5);
    assert!(matrix.vector(5).is_none());
    matrix.set(5, &[2.0, 2.0, 2.0]);
    assert_eq!(&*matrix.vector(5).unwrap(), &[2.0; 3]);
    assert_eq!(matrix.row_ids(), 6);
    assert!(
        matrix
            .nearest(&[1.0; 4], Candidates::All, 1, ties, CancelFlag::NEVER)
            .is_empty()
    );
    matrix.clear();
    assert_eq!(matrix.row_ids(), 0);
}

proptest! {
    #[test]
    fn distances_between_vectors_anywhere_are_those_of_the_formula(
        numbers in prop::collection::vec(-100.0_f32..100.0, 0..300),
        start in 0..8_usize,
    ) {
        // Neither begins where a line of the cache does.
        let a = numbers.get(start..).unwrap_or_default();
        let b: Vec<f32> = a.iter().rev().map(|x| x * 0.5).collect();
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
        for kernels in [kernels(), &PORTABLE] {
            let found = f64::from((kernels.square)(a, &b));
            let error = f64::from(crate::bound::sum_error(a.len().div_ceil(16)));
            prop_assert!((found - plain).abs() <= 2.0 * error * plain, "{} {}", found, plain);
        }
        prop_assert_eq!((kernels().square)(a, a), 0.0);
    }
}
