use crate::embed::EmbedError;
use crate::error::{ErrorKind, Persistence, StoreError};
use crate::filter::FilterError;
use crate::metadata::MetadataError;
use crate::names::{NameError, SourceId};

/// Why a call on a library failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// The request is refused; nothing was asked or changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A name is refused; nothing was asked or changed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Metadata is refused; nothing was asked or changed.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// A filter is refused; nothing was asked or changed.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Embedding failed; nothing was changed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LibraryError {
    /// Whether the same call may do better later.
    pub fn persistence(&self) -> Persistence {
        match self {
            Self::Store(error) => error.persistence(),
            // Only the provider knows; trying again does no harm, since nothing was changed.
            Self::Embed(EmbedError::Provider { .. }) => Persistence::Temporary,
            _ => Persistence::Permanent,
        }
    }

    /// Whether another writer changed the source meanwhile; nothing was written.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Store(error) if matches!(error.kind(), ErrorKind::Conflict(_)))
    }
}

/// Why a request was refused. Each message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The query text is empty or white space alone.
    #[error("the query text is blank; ask for something")]
    BlankQuery,
    /// The query text is too long.
    #[error("the query text has {chars} characters, at most {max} are allowed")]
    LongQuery {
        /// Its length.
        chars: usize,
        /// The limit.
        max: usize,
    },
    /// Too many hits are asked for.
    #[error("top_k is {given}, at most {max} is allowed; narrow the search instead")]
    TopK {
        /// What was asked for.
        given: usize,
        /// The limit.
        max: usize,
    },
    /// No access group is given.
    #[error("a source needs at least one access group; without one nobody could read it")]
    NoGroups,
    /// Too many access groups are given.
    #[error("{groups} access groups are given, at most {max} are allowed")]
    TooManyGroups {
        /// How many.
        groups: usize,
        /// The limit.
        max: usize,
    },
    /// The source has no kind.
    #[error("a source needs a kind, as `session` or `document`")]
    NoKind,
    /// The source has no passages.
    #[error("the source {0} has no passages; remove it, or allow an empty one, to take it out")]
    NoPassages(SourceId),
    /// The source has too many passages.
    #[error("the source {source_id} has {passages} passages, at most {max} are allowed; split it")]
    TooManyPassages {
        /// The source.
        source_id: SourceId,
        /// How many.
        passages: usize,
        /// The limit.
        max: usize,
    },
    /// Nothing is given to change.
    #[error("nothing is given to change; give groups, folder, tags or title")]
    NothingToChange,
    /// A batch of 0.
    #[error("a batch of 0 would never end; it holds at least 1")]
    ZeroBatch,
    /// A field of the library's own is declared by the caller.
    #[error("the field {0} is the library's own and is declared already; choose another name")]
    OwnField(String),
    /// The collection is no library.
    #[error("the collection declares no field {0}, so it is no library; make one with `ensure`")]
    NoLibrary(String),
}
