//! A page that one or more search providers found.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A page that search providers found. In JSON its members are in camel case, and those that are not
/// there are left out.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// What the provider shows of it. Candidates are compared by it.
    pub snippet: String,
    /// Its whole text, where a provider gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What a provider says of how well it answers; 0 says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<f64>,
    /// Where each provider ranked it, from 0.
    #[serde(default)]
    pub provider_ranks: ProviderRanks,
    /// The providers that found it, each once.
    #[serde(default)]
    pub provider_sources: Vec<String>,
    /// Its score after a fusion, higher being better.
    #[serde(default)]
    pub rrf_score: f64,
    /// The form of its address that is compared; worked out where it is missing or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalized_url: Option<String>,
}

/// Shows the address and sizes, never a text.
impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("url", &self.url)
            .field("snippet_bytes", &self.snippet.len())
            .field("content_bytes", &self.content.as_ref().map(String::len))
            .field("provider_ranks", &self.provider_ranks)
            .field("rrf_score", &self.rrf_score)
            .finish_non_exhaustive()
    }
}

/// The ranks that providers gave, from 0, in the order they were added. A provider has one rank: the
/// first that was added. In JSON a list of pairs, as in `[["brave",0],["serper",3]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, u32)>", into = "Vec<(String, u32)>")]
pub struct ProviderRanks(Vec<(String, u32)>);

impl ProviderRanks {
    /// Adds a provider's rank, from 0. Answers whether it was added: not where the provider has one.
    pub fn add(&mut self, provider: impl Into<String>, rank: u32) -> bool {
        let provider = provider.into();
        let new = self.rank(&provider).is_none();
        if new {
            self.0.push((provider, rank));
        }
        new
    }

    /// The rank that a provider gave, from 0.
    pub fn rank(&self, provider: &str) -> Option<u32> {
        let mut ranks = self.iter();
        ranks
            .find(|(name, _)| *name == provider)
            .map(|(_, rank)| rank)
    }

    /// Every provider with its rank, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0
            .iter()
            .map(|(provider, rank)| (provider.as_str(), *rank))
    }
}

impl From<Vec<(String, u32)>> for ProviderRanks {
    fn from(ranks: Vec<(String, u32)>) -> Self {
        ranks.into_iter().collect()
    }
}

impl From<ProviderRanks> for Vec<(String, u32)> {
    fn from(ranks: ProviderRanks) -> Self {
        ranks.0
    }
}

impl<P: Into<String>> FromIterator<(P, u32)> for ProviderRanks {
    fn from_iter<I: IntoIterator<Item = (P, u32)>>(ranks: I) -> Self {
        let mut seen = HashSet::new();
        let ranks = ranks
            .into_iter()
            .map(|(provider, rank)| (provider.into(), rank));
        Self(
            ranks
                .filter(|(provider, _)| seen.insert(provider.clone()))
                .collect(),
        )
    }
}
