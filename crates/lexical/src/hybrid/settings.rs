//! How two legs become one answer.

use shelfward_core::fusion::FusionWeights;

/// How the two legs are fused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fusion {
    /// Reciprocal rank fusion: each leg adds `weight / (k + rank)`, ranks from 1.
    #[default]
    ReciprocalRank,
    /// Each leg adds `weight × (score − min) / (max − min)` over its own results, with `min` no
    /// higher than 0 and `max` no lower than 1. Sets no ranks.
    WeightedSum,
    /// No fusion: the next new document of the dense leg, then of the other, in turn, each with its
    /// own leg's score and rank.
    Interleave,
}

/// How a hybrid search fuses. The defaults are reciprocal rank fusion with 0.7 for the dense leg, 0.3 for
/// BM25 and 60.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HybridSettings {
    pub(super) weights: FusionWeights,
    pub(super) fusion: Fusion,
}

impl HybridSettings {
    /// Sets how the legs are fused.
    #[must_use]
    pub fn fusion(self, fusion: Fusion) -> Self {
        Self { fusion, ..self }
    }

    /// Sets the weights of the legs and the constant that is added to each rank.
    #[must_use]
    pub fn weights(self, weights: FusionWeights) -> Self {
        Self { weights, ..self }
    }
}
