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

/// A score as a heap orders it. None is not-a-number: sums are of numbers above 0.
#[derive(Clone, Copy, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps every document that may be among the best `k`: all whose score, which is a little off, is
/// not below the `k`-th by more than the slack.
pub(super) struct Candidates {
    k: usize,
    scores: BinaryHeap<Reverse<Score>>,
    kept: Vec<(u32, f32)>,
    cut: f32,
    clean_at: usize,
}

impl Candidates {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            scores: BinaryHeap::new(),
            kept: Vec::new(),
            cut: 0.0,
            clean_at: k.saturating_mul(4).saturating_add(1024),
        }
    }

    /// Nothing below can be among the best any more.
    pub(super) fn cut(&self) -> f32 {
        self.cut
    }

    /// Takes a document into account; one below the cut is not.
    pub(super) fn offer(&mut self, document: u32, score: f32) {
        if score < self.cut {
            return;
        }
        self.kept.push((document, score));
        if self.scores.len() < self.k {
            self.scores.push(Reverse(Score(score)));
        } else if let Some(mut worst) = self.scores.peek_mut()
            && worst.0 < Score(score)
        {
            *worst = Reverse(Score(score));
        }
        if self.scores.len() == self.k
            && let Some(worst) = self.scores.peek()
        {
            self.cut = worst.0.0 * (1.0 - SLACK);
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

    /// The documents, in the order in which they were offered.
    pub(super) fn into_documents(mut self) -> Vec<u32> {
        self.clean();
        self.kept
            .into_iter()
            .map(|(document, _)| document)
            .collect()
    }
}
