//! What was found wrong, and counts of what was done.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::model::{Model, lock};
use crate::source::Slot;

/// One promise that was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A passage that the reader could not read at any time of the search.
    OutsideScope,
    /// A text or metadata that was not in force at any time of the read.
    NotInForce,
    /// One answer holds two versions of a source.
    MixedVersions,
    /// A source is not in a state that its writes can have left it in.
    LostOrUndone,
    /// An answer called complete, or a full one, lacks passages.
    Missing,
    /// A score, rank or order that is not right.
    Ranking,
    /// A count that a write answered.
    Count,
    /// A call that failed where it must not, or succeeded where it must not.
    Call,
    /// Memory that grows while nothing changes.
    Memory,
}

/// What was found, with all that there is to look into it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    /// The last that happened to the source.
    pub(crate) log: Vec<String>,
}

/// Findings in full are kept of the first; the rest are counted.
const KEPT: usize = 20;

#[derive(Default)]
pub(crate) struct Findings {
    kept: Mutex<Vec<Finding>>,
    counts: Mutex<BTreeMap<Kind, u64>>,
    done: Mutex<BTreeMap<String, u64>>,
}

impl Findings {
    pub(crate) fn add(&self, kind: Kind, what: String, about: Option<(&Model, Slot)>) {
        *lock(&self.counts).entry(kind).or_default() += 1;
        let mut kept = lock(&self.kept);
        if kept.len() < KEPT {
            let log = about.map_or_else(Vec::new, |(model, slot)| model.log(slot));
            kept.push(Finding { kind, what, log });
        }
    }

    /// Counts something that was done.
    pub(crate) fn did(&self, what: &str) {
        self.did_times(what, 1);
    }

    pub(crate) fn did_times(&self, what: &str, times: u64) {
        let mut done = lock(&self.done);
        match done.get_mut(what) {
            Some(n) => *n += times,
            None => drop(done.insert(what.to_owned(), times)),
        }
    }

    pub(crate) fn counts(&self) -> BTreeMap<Kind, u64> {
        lock(&self.counts).clone()
    }

    pub(crate) fn kept(&self) -> Vec<Finding> {
        lock(&self.kept).clone()
    }

    pub(crate) fn done(&self) -> BTreeMap<String, u64> {
        lock(&self.done).clone()
    }
}
