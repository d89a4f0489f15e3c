//! The k-th best of many numbers, without sorting them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Keeps the `k` highest floors seen; the least of them is what a row must reach to be among the
/// `k` best.
pub(crate) struct Floor {
    k: usize,
    lowest_on_top: BinaryHeap<Reverse<Total>>,
    /// Minus infinity until there are `k`.
    floor: f32,
}

impl Floor {
    pub(crate) fn new(k: usize) -> Self {
        Self {
            k,
            lowest_on_top: BinaryHeap::new(),
            floor: f32::NEG_INFINITY,
        }
    }

    /// What a row must be able to reach.
    pub(crate) fn get(&self) -> f32 {
        self.floor
    }

    /// Takes in what a row surely reaches.
    pub(crate) fn raise(&mut self, reached: f32) {
        if self.lowest_on_top.len() < self.k {
            self.lowest_on_top.push(Reverse(Total(reached)));
        } else if reached > self.floor {
            self.lowest_on_top.pop();
            self.lowest_on_top.push(Reverse(Total(reached)));
        } else {
            return;
        }
        if self.lowest_on_top.len() == self.k
            && let Some(Reverse(Total(lowest))) = self.lowest_on_top.peek()
        {
            self.floor = *lowest;
        }
    }

    /// Takes in what another has seen.
    pub(crate) fn merge(&mut self, other: Self) {
        for Reverse(Total(reached)) in other.lowest_on_top {
            self.raise(reached);
        }
    }
}

/// Floats in a total order; a NaN is never pushed by those who use it here.
#[derive(Clone, Copy)]
struct Total(f32);

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

/// The `k` best of scored row ids, best first, equal scores as `ties` orders them.
pub(crate) fn best<T: Copy>(
    mut scored: Vec<(T, f64)>,
    k: usize,
    ties: impl Fn(T, T) -> Ordering,
) -> Vec<(T, f64)> {
    let order = |a: &(T, f64), b: &(T, f64)| b.1.total_cmp(&a.1).then_with(|| ties(a.0, b.0));
    if k == 0 {
        return Vec::new();
    }
    if scored.len() > k {
        scored.select_nth_unstable_by(k - 1, order);
        scored.truncate(k);
    }
    scored.sort_unstable_by(order);
    scored
}
