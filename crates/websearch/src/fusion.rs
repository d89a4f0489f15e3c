//! Reciprocal rank fusion over any number of providers.

use std::collections::HashMap;

use crate::candidate::Candidate;
use crate::setting::{SettingError, checked};

/// The constant that is added to each rank, unless another is wanted.
pub const DEFAULT_K: f64 = 60.0;

/// What each provider weighs. One that is not named weighs 1.
///
/// ```
/// use shelfward_websearch::ProviderWeights;
///
/// let weights = ProviderWeights::new([("brave", 1.5)])?;
/// assert_eq!((weights.of("brave"), weights.of("serper")), (1.5, 1.0));
/// assert!(ProviderWeights::new([("brave", f64::NAN)]).is_err());
/// # Ok::<(), shelfward_websearch::SettingError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderWeights(HashMap<String, f64>);

impl ProviderWeights {
    /// Weights by provider. Of a provider that is named twice, the last one holds.
    ///
    /// # Errors
    /// [`SettingError`] names a weight that is negative, infinite or not a number.
    pub fn new<P: Into<String>>(
        weights: impl IntoIterator<Item = (P, f64)>,
    ) -> Result<Self, SettingError> {
        let weights = weights.into_iter().map(|(provider, weight)| {
            let provider = provider.into();
            let weight = checked(&format!("weights.{provider}"), weight)?;
            Ok((provider, weight))
        });
        Ok(Self(weights.collect::<Result<_, _>>()?))
    }

    /// What a provider weighs.
    pub fn of(&self, provider: &str) -> f64 {
        self.0.get(provider).copied().unwrap_or(1.0)
    }
}

/// Scores each candidate with the sum of `1 / (k + rank)` over its providers' ranks, and sorts them
/// best first. Equal scores stay in the order given.
///
/// With `k` 0, a rank of 0 is an infinite score.
///
/// # Errors
/// [`SettingError`] where `k` is negative, infinite or not a number.
pub fn compute_rrf(candidates: Vec<Candidate>, k: f64) -> Result<Vec<Candidate>, SettingError> {
    compute_weighted_rrf(candidates, &ProviderWeights::default(), k)
}

/// As [`compute_rrf`], with each term multiplied by what its provider weighs.
///
/// ```
/// use shelfward_websearch::{Candidate, DEFAULT_K, ProviderWeights, compute_weighted_rrf};
///
/// let found = |url: &str, ranks: &[(&str, u32)]| Candidate {
///     url: url.to_owned(),
///     provider_ranks: ranks.iter().copied().collect(),
///     ..Candidate::default()
/// };
/// let weights = ProviderWeights::new([("brave", 2.0)])?;
/// let fused = compute_weighted_rrf(
///     vec![found("a", &[("serper", 0)]), found("b", &[("brave", 3), ("serper", 1)])],
///     &weights,
///     DEFAULT_K,
/// )?;
/// assert_eq!(fused[0].url, "b");
/// assert_eq!(fused[0].rrf_score, 2.0 / 63.0 + 1.0 / 61.0);
/// # Ok::<(), shelfward_websearch::SettingError>(())
/// ```
///
/// # Errors
/// As [`compute_rrf`].
pub fn compute_weighted_rrf(
    mut candidates: Vec<Candidate>,
    weights: &ProviderWeights,
    k: f64,
) -> Result<Vec<Candidate>, SettingError> {
    let k = checked("k", k)?;
    for candidate in &mut candidates {
        let terms = candidate.provider_ranks.iter().map(|(provider, rank)| {
            match weights.of(provider) {
                // Nothing, also where the rank and k are 0 and would give no number.
                0.0 => 0.0,
                weight => weight / (k + f64::from(rank)),
            }
        });
        // The sum of nothing is -0 in some releases of the standard library.
        candidate.rrf_score = terms.fold(0.0, |sum, term| sum + term);
    }
    candidates.sort_by(|a, b| b.rrf_score.total_cmp(&a.rrf_score));
    Ok(candidates)
}
