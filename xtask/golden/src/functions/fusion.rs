//! Fusing ranked lists, and what a search of the web does with its results.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};
use shelfward_websearch::{
    Candidate, DEFAULT_K, DEFAULT_THRESHOLD, ProviderWeights, SettingError, build_tf_vector,
    build_vocabulary, compute_rrf, compute_weighted_rrf, normalize_url, semantic_dedup,
};

use super::{object, some};
use crate::rule::Answer;

#[derive(Deserialize)]
pub(super) struct Ranked {
    dense: Vec<Rank>,
    sparse: Vec<Rank>,
    #[serde(default)]
    options: Weights,
}

#[derive(Deserialize)]
struct Rank {
    id: String,
    rank: u32,
}

/// The weights of two legs; the defaults are those that the original documents.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Weights {
    dense_weight: f64,
    sparse_weight: f64,
    #[serde(alias = "rrfK")]
    k: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            dense_weight: 0.7,
            sparse_weight: 0.3,
            k: 60.0,
        }
    }
}

impl Weights {
    pub(super) fn made(&self) -> Result<FusionWeights, String> {
        FusionWeights::new(self.dense_weight, self.sparse_weight, self.k).map_err(|e| e.to_string())
    }
}

pub(super) fn reciprocal_rank(input: Ranked) -> Answer {
    let list =
        |list: Vec<Rank>| -> Vec<_> { list.into_iter().map(|hit| (hit.id, hit.rank)).collect() };
    let (dense, sparse) = (list(input.dense), list(input.sparse));
    let fused = reciprocal_rank_fusion(&dense, &sparse, &input.options.made()?);
    let hits = fused.into_iter().map(|hit| {
        object([
            ("id", some(hit.id)),
            ("score", some(hit.score)),
            ("denseRank", hit.dense_rank.and_then(some)),
            ("sparseRank", hit.sparse_rank.and_then(some)),
        ])
    });
    Ok(hits.collect())
}

#[derive(Deserialize)]
pub(super) struct Found {
    candidates: Vec<Candidate>,
    k: Option<f64>,
    threshold: Option<f64>,
    #[serde(default)]
    weights: Map<String, Value>,
}

pub(super) fn rrf(input: Found) -> Answer {
    shown(compute_rrf(input.candidates, input.k.unwrap_or(DEFAULT_K)))
}

pub(super) fn weighted_rrf(input: Found) -> Answer {
    let weights = input.weights.iter().map(|(provider, weight)| {
        let weight = weight.as_f64().ok_or("a weight is no number")?;
        Ok((provider.as_str(), weight))
    });
    let weights = ProviderWeights::new(weights.collect::<Result<Vec<_>, String>>()?);
    let weights = weights.map_err(|e| e.to_string())?;
    shown(compute_weighted_rrf(
        input.candidates,
        &weights,
        input.k.unwrap_or(DEFAULT_K),
    ))
}

pub(super) fn dedup(input: Found) -> Answer {
    let threshold = input.threshold.unwrap_or(DEFAULT_THRESHOLD);
    shown(semantic_dedup(input.candidates, threshold))
}

fn shown(answer: Result<Vec<Candidate>, SettingError>) -> Answer {
    answer
        .map(|candidates| json!(candidates))
        .map_err(|e| e.to_string())
}

#[derive(Deserialize)]
pub(super) struct Url {
    url: String,
}

pub(super) fn normalize(input: Url) -> Answer {
    Ok(json!(normalize_url(&input.url)))
}

#[derive(Deserialize)]
pub(super) struct Texts {
    texts: Vec<String>,
}

pub(super) fn tf_vectors(input: Texts) -> Answer {
    let vocabulary = build_vocabulary(&input.texts);
    let vectors = input
        .texts
        .iter()
        .map(|text| build_tf_vector(text, &vocabulary));
    Ok(json!({
        "vocabulary": vocabulary.words(),
        "vectors": vectors.collect::<Vec<_>>(),
        // The vector of a text that was not among them.
        "outside": build_tf_vector("zzz budget", &vocabulary),
    }))
}
