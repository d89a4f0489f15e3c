//! What memory can give: the time of reading so many bytes once and doing next to nothing with them.

use rayon::prelude::*;

/// Bytes to read, shared among as many threads as a search is.
pub(crate) struct Floor(Vec<u64>);

impl Floor {
    pub(crate) fn new(bytes: usize) -> Self {
        Self((0..bytes as u64 / 8).collect())
    }

    pub(crate) fn read(&self) -> u64 {
        let threads = rayon::current_num_threads();
        let part = self.0.len().div_ceil(threads * 4).max(1);
        self.0
            .par_chunks(part)
            .map(sum)
            .reduce(|| 0, u64::wrapping_add)
    }
}

/// Eight sums side by side, so that no addition waits for another.
fn sum(numbers: &[u64]) -> u64 {
    let (eights, _) = numbers.as_chunks::<8>();
    let mut sums = [0_u64; 8];
    for eight in eights {
        for (sum, number) in sums.iter_mut().zip(eight) {
            *sum = sum.wrapping_add(*number);
        }
    }
    sums.iter().fold(0, |a, b| a.wrapping_add(*b))
}
