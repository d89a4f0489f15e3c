//! The error of every store call.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::filter::FilterError;
use crate::metadata::MetadataError;
use crate::names::{CollectionName, NameError};
use crate::record::Key;
use crate::spec::SpecError;

/// The answer of a store call.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store call failed: what kind of failure, of which operation, on what, whether to try
/// again, and what lies under it.
///
/// Its text is one line and holds no document text, no secret and no path. Its `Debug` is that text
/// with what lies under it, also on one line.
pub struct StoreError(Box<Failure>);

// Boxed, so that the answer of a call is not as large as its rarest failure.
struct Failure {
    kind: ErrorKind,
    operation: Operation,
    collection: Option<CollectionName>,
    record: Option<Key>,
    attempts: u32,
    nothing_done: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the port's member of the same name")]
pub enum Operation {
    Connect,
    Create,
    Open,
    List,
    DropCollection,
    Health,
    Close,
    Upsert,
    Delete,
    Search,
    Fetch,
    Replace,
    DeleteMatching,
    DeleteAll,
    UpdateMetadata,
    Scan,
    Count,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Create => "create the collection",
            Self::Open => "open the collection",
            Self::List => "list collections",
            Self::DropCollection => "drop the collection",
            Self::Health => "check health",
            Self::Close => "close",
            Self::Upsert => "upsert",
            Self::Delete => "delete by key",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Replace => "replace",
            Self::DeleteMatching => "delete by filter",
            Self::DeleteAll => "delete all",
            Self::UpdateMetadata => "update metadata",
            Self::Scan => "scan",
            Self::Count => "count",
        })
    }
}

/// What kind of failure it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such collection.
    #[error("there is no such collection; create it first")]
    NoCollection,
    /// The collection of this handle was dropped, or dropped and created again.
    #[error("the collection was dropped since it was opened; open it again")]
    StaleHandle,
    /// The collection is a library's, which is read inside a scope.
    #[error(
        "the collection is a library's: open it by LibraryIndex, which reads inside a scope, or by open_unscoped, which reads everything"
    )]
    IsLibrary,
    /// The spec contradicts itself, or an existing collection differs.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// A name is refused.
    #[error("{0}")]
    Name(#[from] NameError),
    /// A filter is refused.
    #[error("{0}")]
    Filter(#[from] FilterError),
    /// Metadata is refused.
    #[error("{0}")]
    Metadata(#[from] MetadataError),
    /// A vector is refused.
    #[error("{0}")]
    Vector(#[from] VectorProblem),
    /// The request contradicts itself or the collection.
    #[error("{0}")]
    Invalid(String),
    /// A ceiling of the library or of the store is passed.
    #[error("{what}: {given} given, at most {max} are allowed")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What was given.
        given: u64,
        /// The limit.
        max: u64,
    },
    /// The store cannot do this. Refused before anything was sent.
    #[error("this store cannot do that: {0}")]
    Unsupported(&'static str),
    /// Some records of the call were not written; the others were.
    #[error("{} of the records were not written: {}", .0.len(), first_failures(.0))]
    PartialWrite(Vec<FailedRecord>),
    /// A delete was sent in parts, and one of them failed. Those before it were done.
    #[error(
        "the deletes of {sent} of {of} records were done before the store failed; delete the rest again"
    )]
    PartialDelete {
        /// How many records the parts named that were done.
        sent: u64,
        /// How many the whole delete named.
        of: u64,
    },
    /// Another writer changed what this call was about while it ran; nothing of this call was done.
    #[error("changed by another writer meanwhile: {0}; nothing was written, look again and repeat")]
    Conflict(&'static str),
    /// The store took the write, and what it did could not be verified: looking at it failed, or late
    /// writes came behind it each time it was repeated.
    #[error(
        "the store took the write, and what it did could not be verified; look again before relying on it"
    )]
    Unverified,
    /// The store cannot be reached or is overloaded.
    #[error("the store is unavailable")]
    Unavailable,
    /// The store serves one process at a time, and another one has it open.
    #[error("another process has the store open, which serves one at a time; end that one first")]
    InUse,
    /// The store did not answer in time.
    #[error("the store did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The store has no room for the write, of which nothing was done.
    #[error("the store is full; nothing was written")]
    Full,
    /// The user, the password or a right is refused; it says which right is needed.
    #[error("permission denied: {0}")]
    Denied(&'static str),
    /// What is stored cannot be read.
    #[error("what is stored cannot be read: {0}")]
    Corrupt(&'static str),
    /// The store broke its contract.
    #[error("the store answered outside its contract: {0}")]
    Contract(String),
    /// Anything else that the engine reports.
    #[error("the engine failed")]
    Engine,
}

/// What is wrong with a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorProblem {
    /// Another number of dimensions than the collection's.
    #[error("a vector of {given} dimensions, where the collection's have {width}")]
    Width {
        /// The width given.
        given: usize,
        /// The collection's.
        width: u32,
    },
    /// A component that is NaN or infinite.
    #[error("the vector's component {at} is not finite")]
    NotFinite {
        /// Its position.
        at: usize,
    },
    /// All zeros under cosine.
    #[error("a zero vector has no direction, and so no cosine")]
    Zero,
    /// So large or so small that its length is not a normal float.
    #[error("the vector's length overflows or vanishes as a 32-bit float; scale it towards 1")]
    Length,
}

/// A record that a store did not write, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedRecord {
    /// Which.
    pub key: Key,
    /// Why, in the store's words.
    pub reason: String,
}

impl FailedRecord {
    /// A record and why it was not written.
    pub fn new(key: Key, reason: impl Into<String>) -> Self {
        Self {
            key,
            reason: reason.into(),
        }
    }
}

fn first_failures(failed: &[FailedRecord]) -> String {
    let mut shown: Vec<_> = failed
        .iter()
        .take(3)
        .map(|f| format!("{} ({})", f.key, f.reason))
        .collect();
    if failed.len() > shown.len() {
        shown.push(format!("and {} more", failed.len() - shown.len()));
    }
    shown.join(", ")
}

/// Whether the same call may do better later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// The same call may succeed later, and does no harm where part of it was done.
    Temporary,
    /// Nothing was changed, or what was is named, and the same call fails again.
    Permanent,
    /// It is not known whether the call took effect. Look before calling again.
    Unknown,
}

impl StoreError {
    /// A failure of a kind in an operation.
    pub fn new(operation: Operation, kind: impl Into<ErrorKind>) -> Self {
        Self(Box::new(Failure {
            kind: kind.into(),
            operation,
            collection: None,
            record: None,
            attempts: 1,
            nothing_done: false,
            source: None,
        }))
    }

    /// The collection that the call was about.
    #[must_use]
    pub fn on(mut self, collection: &CollectionName) -> Self {
        self.0.collection = Some(collection.clone());
        self
    }

    /// The one record of the call that it is about.
    #[must_use]
    pub fn of_record(mut self, key: &Key) -> Self {
        self.0.record = Some(key.clone());
        self
    }

    /// How often the adapter tried.
    #[must_use]
    pub fn after_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// Says that nothing of the call was done, as where a write never got its turn or was never sent.
    /// It makes [`Timeout`](ErrorKind::Timeout), [`Unavailable`](ErrorKind::Unavailable) and
    /// [`Engine`](ErrorKind::Engine) [`Temporary`](Persistence::Temporary); other kinds say it themselves.
    #[must_use]
    pub fn nothing_done(mut self) -> Self {
        self.0.nothing_done = matches!(
            self.0.kind,
            ErrorKind::Timeout(_) | ErrorKind::Unavailable | ErrorKind::Engine
        );
        self
    }

    /// What lies under it. Its text must hold no secret: it is shown in error chains.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The operation that failed.
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// The collection, where the call was about one.
    pub fn collection(&self) -> Option<&CollectionName> {
        self.0.collection.as_ref()
    }

    /// The record, where the call failed by one of several.
    pub fn record(&self) -> Option<&Key> {
        self.0.record.as_ref()
    }

    /// Whether the same call may do better later.
    pub fn persistence(&self) -> Persistence {
        if self.0.nothing_done {
            return Persistence::Temporary;
        }
        match &self.0.kind {
            ErrorKind::Unavailable | ErrorKind::InUse | ErrorKind::Conflict(_) => {
                Persistence::Temporary
            }
            ErrorKind::Unverified | ErrorKind::PartialDelete { .. } => Persistence::Unknown,
            ErrorKind::Timeout(_) | ErrorKind::Engine => {
                let reads = matches!(
                    self.0.operation,
                    Operation::Search
                        | Operation::Fetch
                        | Operation::Scan
                        | Operation::Count
                        | Operation::List
                        | Operation::Health
                        | Operation::Open
                        | Operation::Connect
                );
                match (&self.0.kind, reads) {
                    (ErrorKind::Timeout(_), true) => Persistence::Temporary,
                    (ErrorKind::Engine, true) => Persistence::Permanent,
                    _ => Persistence::Unknown,
                }
            }
            _ => Persistence::Permanent,
        }
    }

    /// Whether it says that nothing of the call was done: it was refused, never got its turn, or was
    /// undone whole.
    pub fn changed_nothing(&self) -> bool {
        self.0.nothing_done
            || self.is_refusal()
            || matches!(self.0.kind, ErrorKind::Conflict(_) | ErrorKind::Full)
    }

    /// Whether the call was refused before anything was sent or changed.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Spec(_)
                | ErrorKind::Name(_)
                | ErrorKind::Filter(_)
                | ErrorKind::Metadata(_)
                | ErrorKind::Vector(_)
                | ErrorKind::Invalid(_)
                | ErrorKind::Limit { .. }
                | ErrorKind::Unsupported(_)
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {}", self.0.operation)?;
        if let Some(collection) = &self.0.collection {
            let joined = match self.0.operation {
                // It is the collection itself that was to be made, opened or dropped.
                Operation::Create | Operation::Open | Operation::DropCollection => "",
                _ => " in",
            };
            write!(f, "{joined} {collection}")?;
        }
        if self.0.attempts > 1 {
            write!(f, " after {} attempts", self.0.attempts)?;
        }
        if let Some(record) = &self.0.record {
            let record = crate::metadata::shown(&record.to_string());
            write!(f, ": record {record}")?;
        }
        write!(f, ": {}", self.0.kind)
    }
}

crate::debug_as_chain!(StoreError);

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}
