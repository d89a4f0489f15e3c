//! Which documents are still among the best.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Ranked;
use super::norms::to_f32;

/// By how much a score may be off, relative to it: far more than the roundings of one part.
const SLACK: f32 = 1e-4;

/// By how much more for each part of a sum, which is rounded once for each, and so is the sum that it
/// is compared with: both by half an [`f32::EPSILON`] at most. Twice of that.
const SLACK_PER_PART: f32 = 2.0 * f32::EPSILON;

/// The order of scores, highest first: a total one, whatever the scores are.
pub(crate) fn highest_first(a: f64, b: f64) -> Ordering {
    // Not a number, which unusual constants can give, is last; and the two zeros are one.
    let number = |x: f64| {
        if x.is_nan() {
            f64::NEG_INFINITY
        } else {
            x + 0.0
        }
    };
    number(b).total_cmp(&number(a))
}

/// Highest score first; equal ones by where they were met, then by document.
pub(super) fn best_first(a: &Ranked, b: &Ranked) -> Ordering {
    highest_first(a.score, b.score)
        .then_with(|| a.met.cmp(&b.met))
        .then_with(|| a.document.cmp(&b.document))
}

/// A score, in order.
#[derive(Clone, Copy, PartialEq)]
struct Total(f32);

impl Eq for Total {}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Keeps every document that may be among the best `k`: all whose score is not below the `k`-th by
/// more than the slack.
pub(super) struct Candidates {
    k: usize,
    /// What the `k`-th score is multiplied by to get the cut.
    slack: f32,
    scores: BinaryHeap<Reverse<Total>>,
    kept: Vec<(u32, f32)>,
    cut: f32,
    clean_at: usize,
}

impl Candidates {
    /// The best `k`, for scores that are sums of up to `parts` roundings.
    pub(super) fn new(k: usize, parts: usize) -> Self {
        let parts = to_f32(f64::from(u32::try_from(parts).unwrap_or(u32::MAX)));
        Self {
            k,
            slack: (1.0 - SLACK - parts * SLACK_PER_PART).max(0.0),
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

    /// The documents, in the order in which they were offered.
    pub(super) fn into_documents(mut self) -> Vec<u32> {
        self.clean();
        let documents = self.kept.into_iter().map(|(document, _)| document);
        documents.collect()
    }
}
