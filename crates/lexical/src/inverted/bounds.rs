//! What no document of a block can score above.
//!
//! A word adds `idf × (k1 + 1) × count / (count + norm)` to a document, which is
//! `idf × (k1 + 1) / (1 + norm / count)`: the block's best is where `norm / count` is least. The
//! norm depends on the average length, which moves with every document. It is
//! `k1 × (1 − b) + k1 × b × length / average`, so when the average grows by a factor the norm
//! shrinks by no more than that factor. Blocks are therefore bounded under one average for all of
//! them, and a search under another divides by the factor: a bound stays a bound, and only gets a
//! little loose until [`Bounds::holds_for`] asks for new ones.

use crate::bm25::Bm25;

use super::block::Unpacked;
use super::lengths::Lengths;

/// How blocks are bounded: under which constants and which average length.
pub(crate) struct Bounds<'a> {
    pub(crate) bm25: Bm25,
    pub(crate) average: f64,
    pub(crate) lengths: &'a Lengths,
}

impl Bounds<'_> {
    /// The least `norm / count` of a block, rounded down.
    pub(crate) fn least(&self, block: &Unpacked) -> f32 {
        let (mut shortest, mut least) = (None, f64::INFINITY);
        for posting in block.postings() {
            let length = self.lengths.get(posting.document).unwrap_or(0);
            if posting.count == 1 {
                shortest = Some(shortest.unwrap_or(length).min(length));
            } else {
                let norm = self.bm25.norm(length, self.average);
                least = least.min(norm / f64::from(posting.count));
            }
        }
        // Most hold the word once, and of those the shortest has the least: a longer document
        // never has less under constants for which bounds are asked.
        if let Some(length) = shortest {
            least = least.min(self.bm25.norm(length, self.average));
        }
        rounded_down(least)
    }

    /// Whether bounds under `average` are tight enough where the average is `now`.
    pub(crate) fn holds_for(average: f64, now: f64) -> bool {
        (0.9..=1.1).contains(&(average / now))
    }
}

/// The nearest `f32` that is not above.
pub(crate) fn rounded_down(x: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "corrected right below")]
    let near = x as f32;
    if f64::from(near) > x {
        near.next_down()
    } else {
        near
    }
}

/// The nearest `f32` that is not below.
pub(crate) fn rounded_up(x: f64) -> f32 {
    -rounded_down(-x)
}
