//! Two ranked lists made one.

use std::collections::HashMap;

use super::settings::{Fusion, HybridSettings};

/// Where a leg has a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegRank {
    /// The leg's own score.
    pub score: f64,
    /// The rank in the leg, from 1; `None` where legs were fused by their scores.
    pub rank: Option<u32>,
}

/// A document of the fused list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fused {
    pub(super) id: String,
    pub(super) score: f64,
    pub(super) dense: Option<LegRank>,
    pub(super) sparse: Option<LegRank>,
}

/// One leg: ids with scores, best first, each id once.
pub(super) type Leg = [(String, f64)];

pub(super) fn fuse(
    dense: &Leg,
    sparse: &Leg,
    settings: &HybridSettings,
    top_k: usize,
) -> Vec<Fused> {
    let mut fused = match settings.fusion {
        Fusion::Interleave => interleave(dense, sparse, top_k),
        Fusion::ReciprocalRank | Fusion::WeightedSum => add_up(dense, sparse, settings),
    };
    fused.truncate(top_k);
    fused
}

/// Both legs' parts added up. Equal scores keep the dense leg's documents first.
fn add_up(dense: &Leg, sparse: &Leg, settings: &HybridSettings) -> Vec<Fused> {
    let by_rank = settings.fusion == Fusion::ReciprocalRank;
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut fused: Vec<Fused> = Vec::with_capacity(dense.len() + sparse.len());
    let legs = [
        (dense, settings.weights.dense(), true),
        (sparse, settings.weights.sparse(), false),
    ];
    for (leg, weight, is_dense) in legs {
        let normal = Normal::of(leg);
        for ((id, score), rank) in leg.iter().zip(1_u32..) {
            let at = *places.entry(id).or_insert(fused.len());
            if at == fused.len() {
                fused.push(Fused::new(id));
            }
            let Some(entry) = fused.get_mut(at) else {
                continue;
            };
            entry.score += if by_rank {
                weight / (settings.weights.k() + f64::from(rank))
            } else {
                weight * normal.apply(*score)
            };
            let place = LegRank {
                score: *score,
                rank: by_rank.then_some(rank),
            };
            entry.set(is_dense, place);
        }
    }
    // Stable: what was met first stays first.
    fused.sort_by(|a, b| number(b.score).total_cmp(&number(a.score)));
    fused
}

/// The next new document of each leg in turn.
fn interleave(dense: &Leg, sparse: &Leg, top_k: usize) -> Vec<Fused> {
    let mut taken: HashMap<&str, ()> = HashMap::new();
    let mut fused = Vec::new();
    let mut legs = [
        dense.iter().zip(1_u32..).peekable(),
        sparse.iter().zip(1_u32..).peekable(),
    ];
    while fused.len() < top_k && legs.iter_mut().any(|leg| leg.peek().is_some()) {
        for (leg, is_dense) in legs.iter_mut().zip([true, false]) {
            // A document that the other leg had first is stepped over, and counts in the ranks.
            let next = leg.find(|((id, _), _)| taken.insert(id, ()).is_none());
            if let Some(((id, score), rank)) = next {
                let mut entry = Fused::new(id);
                entry.score = *score;
                let place = LegRank {
                    score: *score,
                    rank: Some(rank),
                };
                entry.set(is_dense, place);
                fused.push(entry);
            }
        }
    }
    fused
}

impl Fused {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            score: 0.0,
            dense: None,
            sparse: None,
        }
    }

    fn set(&mut self, is_dense: bool, place: LegRank) {
        *(if is_dense {
            &mut self.dense
        } else {
            &mut self.sparse
        }) = Some(place);
    }
}

/// A leg's scores carried to 0 to 1.
struct Normal {
    min: f64,
    range: f64,
}

impl Normal {
    fn of(leg: &Leg) -> Self {
        let scores = || leg.iter().map(|(_, score)| *score);
        let min = scores().fold(0.0, f64::min);
        let max = scores().fold(1.0, f64::max);
        Self {
            min,
            range: max - min,
        }
    }

    fn apply(&self, score: f64) -> f64 {
        (score - self.min) / self.range
    }
}

fn number(x: f64) -> f64 {
    if x.is_nan() { f64::NEG_INFINITY } else { x }
}
