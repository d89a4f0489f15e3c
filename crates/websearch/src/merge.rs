//! From the answers of several providers to one list.

use std::fmt;

use crate::candidate::{Candidate, ProviderRanks};
use crate::dedup::{DEFAULT_THRESHOLD, semantic_dedup};
use crate::fusion::{DEFAULT_K, ProviderWeights, compute_weighted_rrf};
use crate::setting::SettingError;

/// A page as one provider found it.
#[derive(Clone, Default, PartialEq)]
pub struct FoundPage {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// What the provider shows of it.
    pub snippet: String,
    /// Its whole text, where the provider gave it.
    pub content: Option<String>,
    /// What the provider says of how well it answers.
    pub relevance_score: Option<f64>,
}

/// Shows the address and sizes, never a text.
impl fmt::Debug for FoundPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundPage")
            .field("url", &self.url)
            .field("snippet_bytes", &self.snippet.len())
            .finish_non_exhaustive()
    }
}

/// How [`merge_results`] merges. The defaults are a weight of 1 for each provider, `k` 60 and a
/// threshold of 0.85.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeSettings {
    /// What each provider weighs.
    pub weights: ProviderWeights,
    /// The constant that is added to each rank.
    pub k: f64,
    /// How alike two snippets are, as a cosine, to be taken for the same.
    pub threshold: f64,
}

impl Default for MergeSettings {
    fn default() -> Self {
        Self {
            weights: ProviderWeights::default(),
            k: DEFAULT_K,
            threshold: DEFAULT_THRESHOLD,
        }
    }
}

/// De-duplicates the pages that several providers found, and fuses the providers' rankings. Each
/// provider's pages are given best first and are ranked from 0, so its best page adds
/// `weight / k`.
///
/// # Errors
/// [`SettingError`] names `k` or `threshold` where it is negative, infinite or not a number.
pub fn merge_results<P: Into<String>>(
    answers: impl IntoIterator<Item = (P, Vec<FoundPage>)>,
    settings: &MergeSettings,
) -> Result<Vec<Candidate>, SettingError> {
    let mut candidates = Vec::new();
    for (provider, pages) in answers {
        let provider = provider.into();
        for (page, rank) in pages.into_iter().zip(0..) {
            candidates.push(Candidate {
                url: page.url,
                title: page.title,
                snippet: page.snippet,
                content: page.content,
                relevance_score: page.relevance_score,
                provider_ranks: ProviderRanks::from(vec![(provider.clone(), rank)]),
                provider_sources: vec![provider.clone()],
                rrf_score: 0.0,
                normalized_url: None,
            });
        }
    }
    let distinct = semantic_dedup(candidates, settings.threshold)?;
    compute_weighted_rrf(distinct, &settings.weights, settings.k)
}
