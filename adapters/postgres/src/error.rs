//! What goes wrong in a call, and how it is told.

use std::time::Duration;
use std::{fmt, io};

use shelfward_core::{CollectionName, ErrorKind, MetadataError, Operation, StoreError};
use sqlx_postgres::{PgDatabaseError, PgSeverity};

/// Why a job failed. Only [`Fail::told`] makes an error for callers of it.
#[derive(Debug)]
pub(crate) enum Fail {
    /// A failure that is named already.
    Kind(ErrorKind),
    /// The driver's or the server's; its text may hold values or an address and is never shown.
    Engine(sqlx_core::Error),
    /// The server did not answer within this time.
    Silent(Duration),
    /// No connection was to be had, and why.
    NoConnection(&'static str),
    /// The connection was lost while the write was being committed, and what became of it could not
    /// be found out.
    Unknown,
    /// The server takes no writes.
    ReadOnly,
    /// The caller gave the call up: nothing was changed, and nobody reads the answer.
    GivenUp,
}

pub(crate) type Job<T> = Result<T, Fail>;

impl From<sqlx_core::Error> for Fail {
    fn from(error: sqlx_core::Error) -> Self {
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

/// What a caller may know of what lies under a failure: a code, never the server's text.
#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cause {}

impl Fail {
    /// The server's code for the failure, where it is the server's.
    pub(crate) fn code(&self) -> Option<String> {
        match self {
            Self::Engine(sqlx_core::Error::Database(error)) => error.code().map(|c| c.into_owned()),
            _ => None,
        }
    }

    /// Whether the connection is not to be used any more.
    pub(crate) fn breaks_the_connection(&self) -> bool {
        match self {
            Self::Engine(sqlx_core::Error::Database(error)) => {
                let error = error.try_downcast_ref::<PgDatabaseError>();
                let severity = error.map(PgDatabaseError::severity);
                // The last word of a server's process. A commit that it ends may yet have happened.
                let is_last = matches!(severity, Some(PgSeverity::Fatal | PgSeverity::Panic));
                is_last || self.is_connection_lost()
            }
            Self::Engine(_) | Self::Silent(_) => true,
            _ => false,
        }
    }

    /// Whether the connection went away.
    pub(crate) fn is_connection_lost(&self) -> bool {
        match self {
            Self::Engine(sqlx_core::Error::Io(_) | sqlx_core::Error::WorkerCrashed) => true,
            // The driver's word for a connection that ended between two messages.
            Self::Engine(sqlx_core::Error::Protocol(_)) => true,
            Self::Engine(sqlx_core::Error::Database(_)) => {
                let code = self.code().unwrap_or_default();
                code.starts_with("08")
                    || matches!(code.as_str(), "57P01" | "57P02" | "57P03" | "57P05")
            }
            _ => false,
        }
    }

    /// Whether nothing was done for a reason that the next attempt need not meet: the connection went
    /// away, or the server undid it for the sake of another one.
    pub(crate) fn may_be_tried_again(&self) -> bool {
        // serialization_failure, deadlock_detected, and a plan that became stale under us.
        let undone = matches!(self.code().as_deref(), Some("40001" | "40P01" | "0A000"));
        undone || self.is_connection_lost()
    }

    pub(crate) fn is_code(&self, code: &str) -> bool {
        self.code().as_deref() == Some(code)
    }

    /// The error that a caller sees. `waited` is how long a statement may take.
    pub(crate) fn told(
        self,
        operation: Operation,
        collection: Option<&CollectionName>,
        waited: Duration,
        attempts: u32,
    ) -> StoreError {
        // Whoever made the database or the role read-only meant writes, too.
        let this = if self.is_code("25006") {
            Self::ReadOnly
        } else {
            self
        };
        let cause = this.cause();
        let kind = match this {
            Self::Kind(kind) => kind,
            Self::GivenUp => ErrorKind::Engine,
            Self::Unknown => ErrorKind::Unverified,
            Self::ReadOnly => ErrorKind::Denied,
            Self::Silent(after) => ErrorKind::Timeout(after),
            Self::NoConnection(_) => ErrorKind::Unavailable,
            Self::Engine(error) => kind_of(error, waited),
        };
        let mut error = StoreError::new(operation, kind).after_attempts(attempts);
        if let Some(cause) = cause {
            error = error.because(Cause(cause));
        }
        match collection {
            Some(name) => error.on(name),
            None => error,
        }
    }

    fn cause(&self) -> Option<String> {
        match self {
            Self::NoConnection(why) => Some((*why).to_owned()),
            Self::ReadOnly => Some(
                "the server is a replica, or it, the database or the role is read-only; connect where writes \
                 are taken"
                    .to_owned(),
            ),
            Self::Unknown => Some(
                "the connection was lost while the write was committed; look whether it took effect"
                    .to_owned(),
            ),
            Self::Engine(sqlx_core::Error::Database(_)) => {
                self.code().map(|code| format!("SQLSTATE {code}"))
            }
            Self::Engine(sqlx_core::Error::Io(error)) => Some(match error.raw_os_error() {
                // A look-up that fails comes without a code of the system's, and with no kind of its own.
                None if error.kind().to_string() == "uncategorized error" => {
                    "the host's name could not be looked up".to_owned()
                }
                _ => format!("the connection failed: {}", error.kind()),
            }),
            Self::Engine(sqlx_core::Error::Protocol(_)) => {
                Some("the connection ended or spoke another protocol".to_owned())
            }
            _ => None,
        }
    }
}

/// How long a statement that makes or drops something waits for a table.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// How a URL is written.
pub(crate) const FORM: &str =
    "the URL is written postgres://user:password@host:port/database?option=value";

/// The kind of a failure of the driver's or the server's.
pub(crate) fn kind_of(error: sqlx_core::Error, waited: Duration) -> ErrorKind {
    let invalid = |what: &str| ErrorKind::Invalid(what.to_owned());
    let code = match &error {
        sqlx_core::Error::Database(error) => error.code().map(|code| code.into_owned()),
        sqlx_core::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            return invalid(
                "the server's certificate is not trusted, or not for this host, or sslrootcert holds none; \
                 see sslmode and sslrootcert",
            );
        }
        sqlx_core::Error::Io(_)
        | sqlx_core::Error::Protocol(_)
        | sqlx_core::Error::WorkerCrashed => {
            return ErrorKind::Unavailable;
        }
        sqlx_core::Error::Tls(_) => {
            return invalid(
                "TLS could not be agreed on; the server may have none, as sslmode asks for it",
            );
        }
        sqlx_core::Error::PoolTimedOut | sqlx_core::Error::PoolClosed => {
            return ErrorKind::Unavailable;
        }
        sqlx_core::Error::ColumnDecode { .. } | sqlx_core::Error::Decode(_) => {
            return ErrorKind::Corrupt("a row is not as this store writes it");
        }
        sqlx_core::Error::Configuration(_) => {
            return invalid(FORM);
        }
        _ => None,
    };
    match code.as_deref() {
        Some("28P01" | "28000" | "42501") => ErrorKind::Denied,
        Some("3D000") => invalid("the server has no database of that name; create it first"),
        Some("55P03") => ErrorKind::Timeout(LOCK_TIMEOUT),
        Some("57014" | "25P03" | "25P04") => ErrorKind::Timeout(waited),
        Some("40001" | "40P01") => ErrorKind::Conflict("the server undid it for another writer"),
        Some("23505") => ErrorKind::Conflict("another writer wrote a record under one of the keys"),
        Some("42P01") => ErrorKind::StaleHandle,
        Some("42703" | "42704" | "42883" | "42804") => {
            ErrorKind::Corrupt("the table is not as this store makes it")
        }
        Some("53100") => ErrorKind::Full,
        Some("54000" | "54001" | "22023") => invalid(
            "larger than the server takes: a filter, a row that does not fit into a page, or the words \
                 of a text",
        ),
        Some("22021" | "22P05") => {
            invalid("a text holds U+0000, which PostgreSQL stores in none; leave it out")
        }
        Some("57P01" | "57P02" | "57P03" | "57P05" | "53300" | "53200" | "53000") => {
            ErrorKind::Unavailable
        }
        Some(code) if code.starts_with("08") => ErrorKind::Unavailable,
        Some(code) if code.starts_with("22") || code.starts_with("23") => {
            ErrorKind::Corrupt("a row is not as this store writes it")
        }
        _ => ErrorKind::Engine,
    }
}
