//! Internal errors and their conversion to `StoreError`.

use std::time::Duration;

use rusqlite::ffi;
use shelfward_adapter::error::{Classify, Failure};
use shelfward_core::ErrorKind;

/// Why a job failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// A failure that is named already.
    Kind(ErrorKind),
    /// The engine's; its text may hold SQL or a path and is never shown.
    Engine(rusqlite::Error),
    /// The engine's before a write was committed: nothing was changed.
    Uncommitted(rusqlite::Error),
    /// The caller is gone: nothing was changed, and nobody reads the answer.
    Cancelled,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

shelfward_adapter::error_conversions!(Error);

/// A failure to read what is stored.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::Kind(ErrorKind::Corrupt(what))
}

const TOO_MANY_FILES: &str =
    "too many open files; close stores that are not in use, or raise the limit of open files";

/// Whether the process may open no more files. The engine does not tell it from other reasons why a
/// file could not be opened, so another one is opened.
fn has_too_many_files() -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    let opened = std::fs::File::open(if cfg!(windows) { "NUL" } else { "/dev/null" });
    let error = opened.err().and_then(|error| error.raw_os_error());
    cfg!(unix) && matches!(error, Some(ENFILE | EMFILE))
}

impl Error {
    /// The same failure, of a write that was not committed.
    pub(crate) fn uncommitted(self) -> Self {
        match self {
            Self::Engine(error) => Self::Uncommitted(error),
            other => other,
        }
    }
}

impl Classify for Error {
    fn classify(self, busy_timeout: Duration) -> Failure {
        match self {
            Self::Kind(kind) => kind.into(),
            Self::Cancelled => ErrorKind::Engine.into(),
            Self::Engine(error) => of_engine(&error, busy_timeout),
            Self::Uncommitted(error) => of_engine(&error, busy_timeout).nothing_done(),
        }
    }
}

fn of_engine(error: &rusqlite::Error, busy_timeout: Duration) -> Failure {
    let failure = Failure::from(kind_of(error, busy_timeout));
    match failure_of(error) {
        Some(code) if code.code == rusqlite::ErrorCode::CannotOpen && has_too_many_files() => {
            failure.with_source(TOO_MANY_FILES)
        }
        Some(code) => failure.with_source(format!(
            "SQLite code {}: {}",
            code.extended_code,
            ffi::code_to_str(code.extended_code).to_lowercase()
        )),
        None => failure,
    }
}

fn failure_of(error: &rusqlite::Error) -> Option<&ffi::Error> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _)
        | rusqlite::Error::SqlInputError { error: failure, .. } => Some(failure),
        _ => None,
    }
}

fn kind_of(error: &rusqlite::Error, busy_timeout: Duration) -> ErrorKind {
    use rusqlite::ErrorCode::{
        AuthorizationForStatementDenied, CannotOpen, ConstraintViolation, DatabaseBusy,
        DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, PermissionDenied, ReadOnly,
        TooBig, TypeMismatch,
    };
    if let Some(failure) = failure_of(error) {
        return match failure.code {
            DatabaseBusy | DatabaseLocked => ErrorKind::Timeout(busy_timeout),
            DiskFull => ErrorKind::Full,
            DatabaseCorrupt => ErrorKind::Corrupt("the file is damaged"),
            NotADatabase => ErrorKind::Corrupt("the file is no database of SQLite"),
            // The tables accept whatever a sound store writes.
            ConstraintViolation | TypeMismatch => {
                ErrorKind::Corrupt("the tables contradict themselves")
            }
            ReadOnly | PermissionDenied | AuthorizationForStatementDenied => ErrorKind::Denied(
                "the store's file may not be written; give this user the right to write it and in its folder, and open \
                 the store again",
            ),
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

/// A write to a store that was opened to be read.
pub(crate) const READ_ONLY: ErrorKind =
    ErrorKind::Unsupported("writing, since it was opened read_only; open it without read_only");

/// What SQLite holds in one row at most.
const MAX_ROW_BYTES: u64 = 1_000_000_000;
