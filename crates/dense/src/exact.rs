//! The score of a pair of vectors, in 64 bits.

use shelfward_core::Metric;

/// A query and what its scores need of it.
#[derive(Clone, Copy)]
pub(crate) struct ExactQuery<'q> {
    metric: Metric,
    vector: &'q [f32],
    length: f64,
}

impl<'q> ExactQuery<'q> {
    pub(crate) fn new(metric: Metric, vector: &'q [f32]) -> Self {
        let length = length(vector.iter().copied());
        Self {
            metric,
            vector,
            length,
        }
    }

    /// The score of a vector; higher is better.
    pub(crate) fn score(&self, vector: impl Iterator<Item = f32> + Clone) -> f64 {
        let score = match self.metric {
            Metric::Dot => self.dot(vector),
            Metric::Euclidean => {
                let differences = self.pairs(vector).map(|(a, b)| a - b);
                -differences.map(|d| d * d).sum::<f64>().sqrt()
            }
            // Rounding may carry a cosine past its bounds.
            _ => {
                let both = self.length * length(vector.clone());
                (self.dot(vector) / both).clamp(-1.0, 1.0)
            }
        };
        // Minus zero would be ordered as another score than zero.
        score + 0.0
    }

    fn dot(&self, vector: impl Iterator<Item = f32>) -> f64 {
        self.pairs(vector).map(|(a, b)| a * b).sum()
    }

    fn pairs(&self, vector: impl Iterator<Item = f32>) -> impl Iterator<Item = (f64, f64)> {
        let both = self.vector.iter().zip(vector);
        both.map(|(a, b)| (f64::from(*a), f64::from(b)))
    }
}

// Sums of 32-bit products in 64 bits: exact enough that equal vectors have equal scores whatever
// their order, and that nothing overflows.
pub(crate) fn length(vector: impl Iterator<Item = f32>) -> f64 {
    let squares = vector.map(|x| f64::from(x) * f64::from(x));
    squares.sum::<f64>().sqrt()
}
