//! Reciprocal rank fusion.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

/// Weights and the constant of [`reciprocal_rank_fusion`]. The defaults are 0.7, 0.3 and 60.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusionWeights {
    dense: f64,
    sparse: f64,
    k: f64,
}

/// Why weights were refused.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} is {given}; it must be a finite number of 0 or more")]
pub struct FusionError {
    name: &'static str,
    given: f64,
}

crate::debug_as_chain!(FusionError);

impl FusionError {
    /// Which was refused: `denseWeight`, `sparseWeight` or `k`.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Default for FusionWeights {
    fn default() -> Self {
        Self {
            dense: 0.7,
            sparse: 0.3,
            k: 60.0,
        }
    }
}

impl FusionWeights {
    /// Both legs count the same, as the Library Index fuses them.
    pub const EQUAL: Self = Self {
        dense: 1.0,
        sparse: 1.0,
        k: 60.0,
    };

    /// Weights of the legs, and the constant `k` that is added to each rank.
    ///
    /// # Errors
    /// [`FusionError`] names the one that is negative, infinite or not a number.
    pub fn new(dense: f64, sparse: f64, k: f64) -> Result<Self, FusionError> {
        for (name, given) in [("denseWeight", dense), ("sparseWeight", sparse), ("k", k)] {
            if !given.is_finite() || given < 0.0 {
                return Err(FusionError { name, given });
            }
        }
        Ok(Self { dense, sparse, k })
    }

    /// What the dense leg counts.
    pub fn dense(&self) -> f64 {
        self.dense
    }

    /// What the sparse leg counts.
    pub fn sparse(&self) -> f64 {
        self.sparse
    }

    /// What is added to each rank.
    pub fn k(&self) -> f64 {
        self.k
    }
}

/// One id of a fused list.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused<I> {
    /// The id.
    pub id: I,
    /// The sum over the legs that found it of `weight / (k + rank)`.
    pub score: f64,
    /// Its rank in the dense list, from 1.
    pub dense_rank: Option<u32>,
    /// Its rank in the sparse list, from 1.
    pub sparse_rank: Option<u32>,
}

/// Fuses two ranked lists of `(id, rank)`, ranks from 1, best first.
///
/// A list that lacks an id adds nothing for it. An id that a list repeats adds each time and keeps
/// its last rank there. Equal scores are ordered by id. With `k` 0, a rank of 0 is an infinite
/// score.
///
/// ```
/// use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};
/// let fused = reciprocal_rank_fusion(
///     &[("a", 1), ("b", 2)],
///     &[("b", 1), ("c", 2)],
///     &FusionWeights::default(),
/// );
/// let ids: Vec<_> = fused.iter().map(|hit| hit.id).collect();
/// assert_eq!(ids, ["b", "a", "c"]);
/// assert_eq!(fused[0].score, 0.7 / 62.0 + 0.3 / 61.0);
/// ```
pub fn reciprocal_rank_fusion<I: Clone + Ord + Hash>(
    dense: &[(I, u32)],
    sparse: &[(I, u32)],
    weights: &FusionWeights,
) -> Vec<Fused<I>> {
    let mut fused: Vec<Fused<I>> = Vec::new();
    let mut places: HashMap<&I, usize> = HashMap::new();
    let legs = [
        (dense, weights.dense, true),
        (sparse, weights.sparse, false),
    ];
    for (list, weight, is_dense) in legs {
        for (id, rank) in list {
            let at = *places.entry(id).or_insert(fused.len());
            if at == fused.len() {
                fused.push(Fused {
                    id: id.clone(),
                    score: 0.0,
                    dense_rank: None,
                    sparse_rank: None,
                });
            }
            let Some(entry) = fused.get_mut(at) else {
                continue;
            };
            entry.score += weight / (weights.k + f64::from(*rank));
            let place = if is_dense {
                &mut entry.dense_rank
            } else {
                &mut entry.sparse_rank
            };
            *place = Some(*rank);
        }
    }
    fused.sort_by(|a, b| by_score(a.score, b.score).then_with(|| a.id.cmp(&b.id)));
    fused
}

/// Higher scores first. Zero weights over a zero rank give no number; that sorts last.
fn by_score(a: f64, b: f64) -> Ordering {
    let number = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    number(b).total_cmp(&number(a))
}
