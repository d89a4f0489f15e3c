use crate::embed::EmbedError;
use crate::error::{ErrorKind, Persistence, StoreError, VectorProblem};
use crate::filter::FilterError;
use crate::metadata::MetadataError;
use crate::names::{NameError, SourceId};
use crate::scope::GroupsError;

use super::PassageId;

/// Why a call on a library failed. Its `Debug` is its text with what lies under it, on one line.
#[derive(thiserror::Error)]
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
    /// Access groups are refused; nothing was asked or changed.
    #[error(transparent)]
    Groups(#[from] GroupsError),
    /// A passage of a source is refused. Nothing was changed, and what is wrong with it apart from
    /// its vector was found before anything was embedded.
    #[error("the passage {id} is refused: {problem}")]
    Passage {
        /// Which.
        id: PassageId,
        /// What is wrong with it.
        problem: PassageProblem,
    },
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

crate::debug_as_chain!(LibraryError, Refusal);

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

/// What is wrong with a passage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassageProblem {
    /// Its text is empty or white space alone.
    #[error("its text is blank; leave it out")]
    Blank,
    /// Its text or metadata cannot be kept: too large for the store, of another kind than is declared,
    /// with a U+0000 or a reserved key.
    #[error("{0}")]
    Unfit(ErrorKind),
    /// What the embedder answered for it cannot be kept.
    #[error("{}", embedded(.0))]
    Vector(VectorProblem),
}

/// What is wrong with a vector that an embedder answered.
pub(crate) fn embedded(problem: &VectorProblem) -> String {
    match problem {
        VectorProblem::Width { given, width } => format!(
            "the embedder answered a vector of {given} dimensions, and says that its width is {width}; \
             make the two agree"
        ),
        other => format!("the embedder answered what cannot be kept: {other}"),
    }
}

/// Why a request was refused. Each message says what would be right.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
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
    /// Too many passages are asked for by their ids.
    #[error("{given} passages are asked for by id, at most {max} are allowed; ask in parts")]
    TooManyIds {
        /// How many.
        given: usize,
        /// The limit.
        max: usize,
    },
    /// A page of no sources, or of too many.
    #[error("a page of {given} sources is asked for; it may hold 1 to {max}")]
    PageSize {
        /// What was asked for.
        given: usize,
        /// The limit.
        max: usize,
    },
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
    /// A source that was given before in the same call.
    #[error("the source {0} is given twice; which of both is to stay is not known")]
    GivenTwice(SourceId),
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
