//! What a second process is told, and what it tells.

use serde::{Deserialize, Serialize};
use shelfward_core::library::IndexSource;
use shelfward_core::{ErrorKind, StoreError};

use super::stream::Stream;
use crate::library::source;
use crate::verdict::{Checked, chain};

/// How many passages the sources of the races have.
pub(crate) const PASSAGES: usize = 5;

/// One thing to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// One write of the source `s1` of the tenant `org1`.
    Write { library: String, write: Write },
    /// What a reader of one group of `org1` can find.
    Visible { library: String, group: String },
    /// One plain record.
    Upsert { collection: String, id: String },
    /// The ids of all records.
    Ids { collection: String },
    /// Writes without an end, from this step on; each that returned is told.
    Stream {
        collection: String,
        stream: Stream,
        from: u32,
    },
}

/// A write that races with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Write {
    /// Passages that all say this letter, for everybody.
    Replace(char),
    /// The few alone may read from now on.
    Narrow,
    /// The source goes.
    Remove,
}

/// What a second process tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The store is open.
    Ready,
    /// The store could not be opened, or a task failed.
    Failed(Failure),
    /// A task is done; what it found, if it looked for something.
    Done(Vec<String>),
    /// A replace gave way to another writer.
    GaveWay,
    /// This step of a stream returned.
    Returned(u32),
}

/// An error of the store, as far as a judge needs it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether its kind says why, rather than that the engine failed.
    pub(crate) typed: bool,
}

impl From<&StoreError> for Failure {
    fn from(error: &StoreError) -> Self {
        Self {
            message: chain(error),
            typed: error.is_refusal()
                || matches!(
                    error.kind(),
                    ErrorKind::InUse
                        | ErrorKind::Unavailable
                        | ErrorKind::Conflict(_)
                        | ErrorKind::Denied(_)
                ),
        }
    }
}

/// The source of the races, all of one letter.
pub(crate) fn letter_source(letter: char) -> Checked<IndexSource> {
    let text = letter.to_string();
    source("s1", ["all", "few"], &[text.as_str(); PASSAGES])
}
