//! Exact dense search: every vector is looked at.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use shelfward_core::{Metric, Record};

/// The `k` best records with their scores, best first, equal scores in the order of their keys.
///
/// Holds `k` candidates at a time, so nothing but the answer is ever sorted.
pub(crate) fn nearest<'a>(
    records: impl Iterator<Item = &'a Record>,
    query: &[f32],
    metric: Metric,
    k: usize,
) -> Vec<(f64, &'a Record)> {
    let query_length = length(query);
    top(
        records.map(|record| (score(metric, query, query_length, &record.vector), record)),
        k,
    )
}

/// The `k` best of scored records, best first, equal scores in the order of their keys.
pub(crate) fn top<'a>(
    scored: impl Iterator<Item = (f64, &'a Record)>,
    k: usize,
) -> Vec<(f64, &'a Record)> {
    let mut worst_on_top: BinaryHeap<Candidate<'a>> = BinaryHeap::new();
    for (score, record) in scored {
        let candidate = Candidate { score, record };
        if worst_on_top.len() < k {
            worst_on_top.push(candidate);
        } else if worst_on_top.peek().is_some_and(|worst| candidate < *worst) {
            worst_on_top.pop();
            worst_on_top.push(candidate);
        }
    }
    worst_on_top
        .into_sorted_vec()
        .into_iter()
        .map(|c| (c.score, c.record))
        .collect()
}

/// Ordered best first: "less" is better.
struct Candidate<'a> {
    score: f64,
    record: &'a Record,
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| self.record.key.cmp(&other.record.key))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate<'_> {}

fn score(metric: Metric, query: &[f32], query_length: f64, vector: &[f32]) -> f64 {
    let score = match metric {
        Metric::Dot => dot(query, vector),
        Metric::Euclidean => {
            let squared: f64 = pairs(query, vector).map(|(a, b)| (a - b) * (a - b)).sum();
            -squared.sqrt()
        }
        // Rounding may carry a cosine past its bounds.
        _ => (dot(query, vector) / (query_length * length(vector))).clamp(-1.0, 1.0),
    };
    // Minus zero would be ordered as another score than zero.
    score + 0.0
}

// Sums of 32-bit products in 64 bits: exact enough that equal vectors have equal scores whatever
// their order, and that nothing overflows.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    pairs(a, b).map(|(a, b)| a * b).sum()
}

fn length(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

fn pairs<'a>(a: &'a [f32], b: &'a [f32]) -> impl Iterator<Item = (f64, f64)> + 'a {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)))
}
