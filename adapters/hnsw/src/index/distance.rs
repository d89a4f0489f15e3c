//! The one distance of all graphs.

use hnsw_rs::anndists::dist::distances::Distance;

/// The squared Euclidean distance. It orders as the distance does, and it is neither negative nor
/// NaN for whatever numbers there are: the graph would end the thread over either.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SquaredEuclidean;

impl Distance<f32> for SquaredEuclidean {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        // `min` answers the other number when one is NaN.
        shelfward_dense::squared_distance(a, b).min(f32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_squared_distance_and_always_a_number() {
        let ramp: Vec<f32> = (0_u8..37).map(f32::from).collect();
        let zeros = vec![0.0; 37];
        let expected: f32 = ramp.iter().map(|x| x * x).sum();
        assert_eq!(SquaredEuclidean.eval(&ramp, &zeros), expected);
        assert_eq!(SquaredEuclidean.eval(&ramp, &ramp), 0.0);
        assert_eq!(SquaredEuclidean.eval(&[], &[]), 0.0);
        for odd in [f32::NAN, f32::INFINITY, f32::MAX] {
            let distance = SquaredEuclidean.eval(&[odd, 1.0], &[-odd, 0.0]);
            assert_eq!(distance, f32::MAX, "{odd}");
        }
        // Of two widths, what both have counts; the callers see to it that there are none.
        assert_eq!(SquaredEuclidean.eval(&[1.0], &[1.0, 5.0]), 0.0);
    }
}
