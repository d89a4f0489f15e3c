//! Turns vectors into a graph's points, whose Euclidean distances order as the metric does.

use shelfward_core::Metric;

/// How much longer than the longest vector of today a vector may be.
const HEAD_ROOM: f64 = 1.25;

/// A query so many times longer than any vector would drown their differences in rounding.
const LONGEST_QUERY: f64 = 64.0;

/// Turns vectors into points inside the unit ball.
///
/// - Cosine: each is made 1 long.
/// - Euclidean: all are divided by one bound.
/// - Dot product: they are divided by the bound and given one more number that makes each 1 long; the
///   query's is 0. The squared distance is then a constant minus twice the dot product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MetricTransform {
    metric: Metric,
    /// The longest vector that has a place; without meaning under cosine.
    bound: f64,
}

impl MetricTransform {
    /// A space with room for vectors of these lengths and somewhat longer ones.
    pub(crate) fn around(metric: Metric, longest: f64) -> Self {
        let bound = longest * HEAD_ROOM;
        let usable = bound.is_normal() && bound > 0.0;
        Self {
            metric,
            bound: if usable { bound } else { 1.0 },
        }
    }

    /// A space as it was saved; `None` when it cannot have been.
    pub(crate) fn saved(metric: Metric, bound: f64) -> Option<Self> {
        (bound.is_normal() && bound > 0.0).then_some(Self { metric, bound })
    }

    pub(crate) fn bound(&self) -> f64 {
        self.bound
    }

    /// How many numbers a point has for vectors of a width.
    pub(crate) fn dimensions(&self, width: usize) -> usize {
        match self.metric {
            Metric::Dot => width.saturating_add(1),
            _ => width,
        }
    }

    /// The point of a vector; `None` where it has no place.
    pub(crate) fn point(&self, vector: &[f32]) -> Option<Vec<f32>> {
        let length = length(vector);
        match self.metric {
            Metric::Cosine => divided(vector, length),
            Metric::Euclidean if length <= self.bound => divided(vector, self.bound),
            Metric::Dot if length <= self.bound => {
                let mut point = divided(vector, self.bound)?;
                let ratio = length / self.bound;
                point.push(rounded((1.0 - ratio * ratio).max(0.0).sqrt()));
                Some(point)
            }
            _ => None,
        }
    }

    /// Where a search for a vector begins from; `None` where the graph would not serve it well.
    pub(crate) fn query(&self, vector: &[f32]) -> Option<Vec<f32>> {
        let length = length(vector);
        match self.metric {
            Metric::Cosine => divided(vector, length),
            Metric::Euclidean if length <= self.bound * LONGEST_QUERY => {
                divided(vector, self.bound)
            }
            // How long the query is changes no order.
            Metric::Dot => {
                let mut point = divided(vector, length)?;
                point.push(0.0);
                Some(point)
            }
            _ => None,
        }
    }
}

/// The length of a vector; as 64-bit floats, so that it neither overflows nor vanishes.
pub(crate) fn length(vector: &[f32]) -> f64 {
    let square = |x: &f32| f64::from(*x) * f64::from(*x);
    vector.iter().map(square).sum::<f64>().sqrt()
}

fn divided(vector: &[f32], by: f64) -> Option<Vec<f32>> {
    let scale = 1.0 / by;
    if !scale.is_finite() || !by.is_finite() {
        return None;
    }
    Some(
        vector
            .iter()
            .map(|x| rounded(f64::from(*x) * scale))
            .collect(),
    )
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what is meant")]
fn rounded(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::distance::SquaredEuclidean;
    use hnsw_rs::anndists::dist::distances::Distance;

    fn score(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
        let dot: f64 = a
            .iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum();
        match metric {
            Metric::Cosine => dot / (length(a) * length(b)),
            Metric::Dot => dot,
            _ => {
                let apart: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
                -length(&apart)
            }
        }
    }

    #[test]
    fn distances_order_as_the_metric_does() {
        let vectors: Vec<[f32; 3]> = vec![
            [1.0, 0.0, 0.0],
            [0.5, 0.5, 0.0],
            [-3.0, 1.0, 2.0],
            [0.1, -0.2, 4.0],
            [2.0, 2.0, 2.0],
        ];
        for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
            let longest = vectors.iter().map(|v| length(v)).fold(0.0, f64::max);
            let space = MetricTransform::around(metric, longest);
            for query in [[1.0, 2.0, 0.5], [-1.0, 0.0, 30.0], [0.01, 0.0, 0.0]] {
                let from = space.query(&query).unwrap();
                let distance = |v: &[f32; 3]| {
                    let point = space.point(v).unwrap();
                    assert_eq!(point.len(), space.dimensions(3));
                    assert!(length(&point) <= 1.0 + 1e-6);
                    SquaredEuclidean.eval(&from, &point)
                };
                let mut by_distance = vectors.clone();
                by_distance.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
                let mut by_score = vectors.clone();
                by_score
                    .sort_by(|a, b| score(metric, &query, b).total_cmp(&score(metric, &query, a)));
                assert_eq!(by_distance, by_score, "{metric} {query:?}");
            }
        }
    }

    #[test]
    fn what_has_no_place_has_no_point() {
        let cosine = MetricTransform::around(Metric::Cosine, 1.0);
        assert!(cosine.point(&[0.0, 0.0]).is_none());
        assert!(cosine.point(&[f32::NAN, 0.0]).is_none());
        assert!(cosine.point(&[f32::MAX, f32::MAX]).is_some());
        for metric in [Metric::Dot, Metric::Euclidean] {
            let space = MetricTransform::around(metric, 2.0);
            assert!(space.point(&[0.0, 0.0]).is_some(), "{metric}");
            assert!(space.point(&[2.4, 0.0]).is_some(), "{metric}");
            assert!(space.point(&[2.6, 0.0]).is_none(), "{metric}");
            assert!(space.point(&[f32::NAN, 0.0]).is_none(), "{metric}");
            // Lengths of zero and of almost nothing make a space all the same.
            assert!(
                MetricTransform::around(metric, 0.0)
                    .point(&[0.0, 0.0])
                    .is_some()
            );
            let tiny = MetricTransform::around(metric, length(&[f32::MIN_POSITIVE, 0.0]));
            let point = tiny.point(&[f32::MIN_POSITIVE, 0.0]).unwrap();
            assert!(point.iter().all(|x| x.is_finite()) && length(&point) > 0.5);
        }
        assert!(
            MetricTransform::around(Metric::Dot, 1.0)
                .query(&[0.0])
                .is_none()
        );
        assert!(
            MetricTransform::around(Metric::Euclidean, 1.0)
                .query(&[0.0])
                .is_some()
        );
        assert!(
            MetricTransform::around(Metric::Euclidean, 1.0)
                .query(&[1e9])
                .is_none()
        );
    }
}
