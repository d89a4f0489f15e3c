//! What a collection can do on its server, as data.
//!
//! # Naming
//! A flag is what the engine does natively and is named by the thing (`prefix`, `scan`); a limit
//! begins with `max_` and is `None` where there is none; a graded ability is an enum named by the
//! thing, from the strongest grade down. Everything is serialisable and printed in the stores page,
//! and every claim is tested twice by the conformance suite: the collection does what it claims, and
//! refuses before any input or output what it excludes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::filter::FilterSupport;
use crate::spec::Metric;

/// What a collection can do. Start from [`Capabilities::exact`] and take away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Capabilities {
    /// What of a filter the engine evaluates.
    pub filter: FilterSupport,
    /// Whether filters may use keys that the spec does not declare.
    pub open_fields: bool,
    /// How good dense search is.
    pub dense: Dense,
    /// Whether a filtered search is full.
    pub full: Full,
    /// The lexical leg, if there is one.
    pub lexical: Option<Lexical>,
    /// How `replace` is served.
    pub replace: Replace,
    /// Whether `delete_matching` is native, and how it counts.
    pub delete_matching: Option<Counting>,
    /// Whether `update_metadata` is native, and how it counts.
    pub update_metadata: Option<Counting>,
    /// Whether `scan` is native.
    pub scan: bool,
    /// Whether `count` is native, and how exact it is.
    pub count: Option<Counting>,
    /// Which writers are ordered.
    pub writers: Writers,
    /// Whether the server may still apply a write whose call was given up. It never does so behind a
    /// later write that returned: with [`Writers::AllProcesses`] the store orders the two by its locks;
    /// with [`Writers::OneProcess`] the library scans after its replaces, narrowings and removals, and
    /// repeats them. It refuses them where there is no scan.
    pub late_writes: bool,
    /// Whether what was written outlives the process.
    pub durable: bool,
    /// The metrics that a collection may have.
    pub metrics: BTreeSet<Metric>,
    /// The largest width.
    pub max_width: Option<u32>,
    /// The most hits of one search.
    pub max_top_k: Option<usize>,
    /// The most records of one upsert or keys of one delete; core cuts larger calls.
    pub max_batch: Option<usize>,
    /// The most bytes of one record's metadata.
    pub max_metadata_bytes: Option<usize>,
    /// The most bytes of one record's text.
    pub max_text_bytes: Option<usize>,
}

crate::debug_as_chain!(CapabilityError);

impl Capabilities {
    /// An exact store in one process that does everything natively and loses nothing.
    pub fn exact() -> Self {
        Self {
            filter: FilterSupport::full(),
            open_fields: true,
            dense: Dense::Exact,
            full: Full::Guaranteed,
            lexical: Some(Lexical::exact()),
            replace: Replace::Atomic,
            delete_matching: Some(Counting::Exact),
            update_metadata: Some(Counting::Exact),
            scan: true,
            count: Some(Counting::Exact),
            writers: Writers::OneProcess,
            late_writes: false,
            durable: false,
            metrics: [Metric::Cosine, Metric::Dot, Metric::Euclidean].into(),
            max_width: None,
            max_top_k: None,
            max_batch: None,
            max_metadata_bytes: None,
            max_text_bytes: None,
        }
    }

    /// Refuses a combination that no caller could be safe with. Asked when a collection is created
    /// or opened.
    ///
    /// # Errors
    /// [`CapabilityError`] names the two that contradict each other.
    pub fn check(&self) -> Result<(), CapabilityError> {
        let all = self.writers == Writers::AllProcesses;
        if all && self.replace != Replace::Atomic {
            return Err(CapabilityError::ComposedReplace);
        }
        if all && self.delete_matching.is_none() {
            return Err(CapabilityError::ComposedDelete);
        }
        Ok(())
    }
}

/// Two capabilities that contradict each other.
///
/// Where an engine lacks a call, the library composes it of others under a lock of its own process.
/// What is composed so is not ordered with the writers of other processes.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityError {
    /// Writers of all processes, and a replace that is composed.
    #[error(
        "it orders the writers of all processes, but replaces by deleting first: declare an atomic replace, or the writers of one process"
    )]
    ComposedReplace,
    /// Writers of all processes, and a delete by filter that is composed.
    #[error(
        "it orders the writers of all processes, but deletes by filter through a scan: declare a native delete by filter, or the writers of one process"
    )]
    ComposedDelete,
}

/// How good dense search is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Dense {
    /// The nearest vectors, exactly.
    Exact,
    /// Most of them.
    Approximate {
        /// The least mean share of the true nearest, between 0 and 1.
        min_recall: f64,
    },
}

/// Whether a filtered search answers `min(top_k, matching)` hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Full {
    /// Always, under the native part of the filter.
    Guaranteed,
    /// Not promised.
    NotPromised,
}

/// A lexical leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Lexical {
    /// How well the words of the answers match.
    pub words: Words,
    /// Whether a stored word may match by its beginning.
    pub prefix: bool,
    /// What the scores are.
    pub scoring: Scoring,
}

impl Lexical {
    /// Exact words, prefixes, BM25 by partition.
    pub fn exact() -> Self {
        Self {
            words: Words::Exact,
            prefix: true,
            scoring: Scoring::Bm25,
        }
    }
}

/// How well the words of a lexical leg's answers match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Words {
    /// Exactly the records that hold the words.
    Exact,
    /// More than those, as with hashed words; core looks at each text again.
    Superset,
    /// By an analyser of the engine's own, as with stemming; not comparable with our words.
    OwnAnalyser,
}

/// What lexical scores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Scoring {
    /// BM25 with k1 1.2 and b 0.75, its statistics kept for each partition.
    Bm25,
    /// The engine's own.
    StoreOwn,
}

/// How `replace` is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Replace {
    /// Natively: readers see the old whole or the new whole, and a failure changes nothing.
    Atomic,
    /// By core: what the selector matches is deleted, then the new is written. Readers may see
    /// nothing of it in between, never both, and a failure leaves part of the new.
    DeleteThenWrite,
}

/// How exact a native count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Counting {
    /// Exactly.
    Exact,
    /// At least so many.
    AtLeast,
    /// The store does not say.
    Unknown,
}

/// Which writers are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Writers {
    /// All, in whatever process.
    AllProcesses,
    /// Those of one process.
    OneProcess,
}
