//! What goes wrong inside a job, and how it is told.

use std::fmt;
use std::time::Duration;

use rusqlite::ffi;
use shelfward_core::{CollectionName, ErrorKind, MetadataError, Operation, StoreError};

/// Why a job failed. Only [`Fail::told`] makes an error for callers of it.
#[derive(Debug)]
pub(crate) enum Fail {
    /// A failure that is named already.
    Kind(ErrorKind),
    /// The engine's; its text may hold SQL or a path and is never shown.
    Engine(rusqlite::Error),
    /// The engine's before a write was committed: nothing was changed.
    Uncommitted(rusqlite::Error),
    /// The caller gave the call up: nothing was changed, and nobody reads the answer.
    GivenUp,
}

pub(crate) type Job<T> = Result<T, Fail>;

impl From<rusqlite::Error> for Fail {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<ErrorKind> for Fail {
    fn from(kind: ErrorKind) -> Self {
        Self::Kind(kind)
    }
}

impl From<MetadataError> for Fail {
    fn from(error: MetadataError) -> Self {
        Self::Kind(error.into())
    }
}

/// A failure to read what is stored.
pub(crate) fn corrupt(what: &'static str) -> Fail {
    Fail::Kind(ErrorKind::Corrupt(what))
}

/// The engine's code for a failure, without the engine's text.
#[derive(Debug)]
struct Code(i32);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SQLite code {}: {}",
            self.0,
            ffi::code_to_str(self.0).to_lowercase()
        )
    }
}

impl std::error::Error for Code {}

/// What lies under a file that could not be opened where the process may open no more of them.
#[derive(Debug, thiserror::Error)]
#[error("too many open files; close stores that are not in use, or raise the limit of open files")]
struct TooManyFiles;

impl TooManyFiles {
    /// The engine does not tell it from other reasons, so another file is opened.
    fn now() -> bool {
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        let opened = std::fs::File::open(if cfg!(windows) { "NUL" } else { "/dev/null" });
        let error = opened.err().and_then(|error| error.raw_os_error());
        cfg!(unix) && matches!(error, Some(ENFILE | EMFILE))
    }
}

impl Fail {
    /// The same failure, of a write that was not committed.
    pub(crate) fn uncommitted(self) -> Self {
        match self {
            Self::Engine(error) => Self::Uncommitted(error),
            other => other,
        }
    }

    /// The error that a caller sees; `waited` is how long a lock is waited for.
    pub(crate) fn told(
        self,
        operation: Operation,
        collection: Option<&CollectionName>,
        waited: Duration,
    ) -> StoreError {
        let error = match self {
            Self::Kind(kind) => StoreError::new(operation, kind),
            Self::GivenUp => StoreError::new(operation, ErrorKind::Engine),
            Self::Engine(error) => of_engine(&error, operation, waited),
            Self::Uncommitted(error) => of_engine(&error, operation, waited).nothing_done(),
        };
        match collection {
            Some(name) => error.on(name),
            None => error,
        }
    }
}

fn of_engine(error: &rusqlite::Error, operation: Operation, waited: Duration) -> StoreError {
    let told = StoreError::new(operation, kind_of(error, waited));
    match failure_of(error) {
        Some(failure) if failure.code == rusqlite::ErrorCode::CannotOpen && TooManyFiles::now() => {
            told.because(TooManyFiles)
        }
        Some(failure) => told.because(Code(failure.extended_code)),
        None => told,
    }
}

fn failure_of(error: &rusqlite::Error) -> Option<&ffi::Error> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _)
        | rusqlite::Error::SqlInputError { error: failure, .. } => Some(failure),
        _ => None,
    }
}

fn kind_of(error: &rusqlite::Error, waited: Duration) -> ErrorKind {
    use rusqlite::ErrorCode::{
        AuthorizationForStatementDenied, CannotOpen, ConstraintViolation, DatabaseBusy,
        DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied, ReadOnly,
        TooBig, TypeMismatch,
    };
    if let Some(failure) = failure_of(error) {
        return match failure.code {
            DatabaseBusy | DatabaseLocked => ErrorKind::Timeout(waited),
            DiskFull => ErrorKind::Full,
            DatabaseCorrupt => ErrorKind::Corrupt("the file is damaged"),
            NotADatabase => ErrorKind::Corrupt("the file is no database of SQLite"),
            // The tables accept whatever a sound store writes.
            ConstraintViolation | TypeMismatch => {
                ErrorKind::Corrupt("the tables contradict themselves")
            }
            ReadOnly | PermissionDenied | AuthorizationForStatementDenied => ErrorKind::Denied,
            CannotOpen => ErrorKind::Unavailable,
            TooBig => ErrorKind::Limit {
                what: "bytes of one record",
                given: MAX_ROW_BYTES.saturating_add(1),
                max: MAX_ROW_BYTES,
            },
            _ if failure.extended_code == ffi::SQLITE_ERROR => {
                ErrorKind::Corrupt("the tables are not as this store makes them")
            }
            _ => ErrorKind::Engine,
        };
    }
    match error {
        // A column of another type than this store writes.
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::QueryReturnedNoRows => ErrorKind::Corrupt("a row is damaged"),
        _ => ErrorKind::Engine,
    }
}

/// What SQLite holds in one row at most.
const MAX_ROW_BYTES: u64 = 1_000_000_000;
