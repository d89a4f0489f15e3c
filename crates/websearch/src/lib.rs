#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc = include_str!("../README.md")]

mod candidate;
mod dedup;
mod fusion;
mod merge;
mod setting;
mod url;
mod vocabulary;

pub use candidate::{Candidate, ProviderRanks};
pub use dedup::{DEFAULT_THRESHOLD, semantic_dedup};
pub use fusion::{DEFAULT_K, ProviderWeights, compute_rrf, compute_weighted_rrf};
pub use merge::{FoundPage, MergeSettings, merge_results};
pub use setting::SettingError;
pub use url::normalize_url;
pub use vocabulary::{Vocabulary, build_tf_vector, build_vocabulary};
