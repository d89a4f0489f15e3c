//! Which documents are still among the best.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Ranked;

/// By how much a sum of `f32` may be off, relative to the sum: far more than roundings of as many
/// words as a query can have amount to.
const SLACK: f32 = 1e-4;

/// Highest score first; equal ones by where they were met, then by document.
pub(super) fn best_first(a: &Ranked, b: &Ranked) -> Ordering {
    // Not a number, which unusual constants can give, is last.
    let number = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    (number(b.score).total_cmp(&number(a.score)))
        .then_with(|| a.met.cmp(&b.met))
        .then_with(|| a.document.cmp(&b.document))
}

/// A score without its not-a-number.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Total<S>(S);

impl<S: PartialOrd> Eq for Total<S> where S: PartialEq {}

impl<S: PartialOrd> Ord for Total<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).unwrap_or(Ordering::Equal)
    }
}

/// Keeps every document that may be among the best `k`: all whose score is not below the `k`-th by
/// more than the slack.
pub(super) struct Candidates<T, S> {
    k: usize,
    slack: S,
    scores: BinaryHeap<Reverse<Total<S>>>,
    kept: Vec<(T, S)>,
    cut: S,
    clean_at: usize,
}

impl<T> Candidates<T, f32> {
    /// For scores that are a little off.
    pub(super) fn near(k: usize) -> Self {
        Self::new(k, 1.0 - SLACK, 0.0)
    }
}

impl<T, S: Copy + PartialOrd + std::ops::Mul<Output = S>> Candidates<T, S> {
    fn new(k: usize, slack: S, none: S) -> Self {
        Self {
            k,
            slack,
            scores: BinaryHeap::new(),
            kept: Vec::new(),
            cut: none,
            clean_at: k.saturating_mul(4).saturating_add(1024),
        }
    }

    /// Nothing below can be among the best any more.
    pub(super) fn cut(&self) -> S {
        self.cut
    }

    /// Takes a document into account; one below the cut is not.
    pub(super) fn offer(&mut self, what: T, score: S) {
        if score < self.cut {
            return;
        }
        self.kept.push((what, score));
        if self.scores.len() < self.k {
            self.scores.push(Reverse(Total(score)));
        } else if let Some(mut worst) = self.scores.peek_mut()
            && worst.0 < Total(score)
        {
            *worst = Reverse(Total(score));
        }
        if self.scores.len() == self.k
            && let Some(worst) = self.scores.peek()
        {
            self.cut = worst.0.0 * self.slack;
        }
        if self.kept.len() >= self.clean_at {
            self.clean();
        }
    }

    fn clean(&mut self) {
        let cut = self.cut;
        self.kept.retain(|(_, score)| *score >= cut);
        // Where many stay, cleaning again soon would cost more than it frees.
        self.clean_at = self.clean_at.max(self.kept.len().saturating_mul(2));
    }

    pub(super) fn into_kept(mut self) -> Vec<(T, S)> {
        self.clean();
        self.kept
    }
}
