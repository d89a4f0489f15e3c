//! Vectors in clusters, as texts make them: many subjects, and texts that vary around each.

use std::sync::Arc;

use fastrand::Rng;

/// How many clusters there are for so many vectors.
fn clusters(count: usize) -> usize {
    (count / 100).clamp(10, 1_000)
}

/// `count` vectors of length 1, and `queries` more that are drawn alike.
pub fn drawn(count: usize, queries: usize, width: usize) -> (Vec<Arc<[f32]>>, Vec<Vec<f32>>) {
    let mut numbers = Rng::with_seed(7);
    let centres: Vec<Vec<f32>> = (0..clusters(count))
        .map(|_| (0..width).map(|_| normal(&mut numbers)).collect())
        .collect();
    let mut draw = || -> Vec<f32> {
        let centre = &centres[numbers.usize(..centres.len())];
        // As far from the centre as the centres are from each other, so that clusters overlap.
        let moved: Vec<f32> = centre.iter().map(|x| x + normal(&mut numbers)).collect();
        let length = moved.iter().map(|x| x * x).sum::<f32>().sqrt();
        moved.iter().map(|x| x / length).collect()
    };
    let vectors = (0..count).map(|_| draw().into()).collect();
    (vectors, (0..queries).map(|_| draw()).collect())
}

/// A number that is normally distributed, nearly: the sum of twelve even ones.
fn normal(numbers: &mut Rng) -> f32 {
    let even = |bits: u64| f32::from(u16::try_from(bits & 0xffff).unwrap_or(0)) / 65_536.0;
    let sum: f32 = (0..3)
        .map(|_| {
            let bits = numbers.u64(..);
            (0..4).map(|n| even(bits >> (16 * n))).sum::<f32>()
        })
        .sum();
    sum - 6.0
}

/// The mean share of the nearest that was found.
pub fn recall(found: &[Vec<String>], nearest: &[Vec<String>]) -> f64 {
    let mut there = 0_u32;
    let mut wanted = 0_u32;
    for (found, nearest) in found.iter().zip(nearest) {
        for id in nearest {
            wanted += 1;
            there += u32::from(found.contains(id));
        }
    }
    f64::from(there) / f64::from(wanted.max(1))
}
