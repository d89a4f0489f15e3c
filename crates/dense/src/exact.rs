//! The score of a pair of vectors, in 64 bits.

use shelfward_core::Metric;

use crate::line::{F32Line, FLOATS};

/// A query and what its scores need of it.
pub(crate) struct ExactQuery {
    metric: Metric,
    lines: Vec<F32Line>,
    length: f64,
}

impl ExactQuery {
    pub(crate) fn new(metric: Metric, query: &[f32]) -> Self {
        let lines: Vec<F32Line> = crate::line::lines(query).collect();
        Self {
            metric,
            length: length(&lines),
            lines,
        }
    }

    /// The score of a row; higher is better.
    pub(crate) fn score(&self, row: &[F32Line]) -> f64 {
        let score = match self.metric {
            Metric::Dot => self.dot(row),
            Metric::Euclidean => -sum(&self.lines, row, |a, b| (a - b) * (a - b)).sqrt(),
            // Rounding may carry a cosine past its bounds.
            _ => (self.dot(row) / (self.length * length(row))).clamp(-1.0, 1.0),
        };
        // Minus zero would be ordered as another score than zero.
        score + 0.0
    }

    fn dot(&self, row: &[F32Line]) -> f64 {
        sum(&self.lines, row, |a, b| a * b)
    }
}

pub(crate) fn length(row: &[F32Line]) -> f64 {
    sum(row, row, |a, b| a * b).sqrt()
}

// Sums of 32-bit numbers in 64 bits: exact enough that equal vectors have equal scores whatever their
// place, and that nothing overflows. One sum for each place of a line, so that no addition waits for
// the one before it.
fn sum(a: &[F32Line], b: &[F32Line], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0_f64; FLOATS];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a.0).zip(b.0) {
            *sum += term(f64::from(a), f64::from(b));
        }
    }
    sums.iter().sum()
}
