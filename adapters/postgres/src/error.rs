//! Internal errors and their conversion to `StoreError`.

use std::io;
use std::time::Duration;

use shelfward_adapter::error::{Classify, Failure, invalid};
use shelfward_core::ErrorKind;
use sqlx_postgres::{PgDatabaseError, PgSeverity};

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// A failure that is named already.
    Kind(ErrorKind),
    /// The driver's or the server's; its text may hold values or an address and is never shown.
    Engine(sqlx_core::Error),
    /// The server did not answer within this time.
    TimedOut(Duration),
    /// No connection was to be had, and why.
    NoConnection(&'static str),
    /// The connection was lost while the write was being committed, and what became of it could not
    /// be found out.
    UnknownCommit,
    /// The caller is gone: nothing was changed, and nobody reads the answer.
    Cancelled,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<sqlx_core::Error> for Error {
    fn from(error: sqlx_core::Error) -> Self {
        Self::Engine(error)
    }
}

shelfward_adapter::error_conversions!(Error);

/// A failure to read what is stored.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::Kind(ErrorKind::Corrupt(what))
}

impl Error {
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
            Self::Engine(_) | Self::TimedOut(_) => true,
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

    /// The same failure, or, where the server gave one of these codes for it, a request that was not
    /// right.
    pub(crate) fn explained(self, codes: &[&str], right: impl Into<String>) -> Self {
        match codes.iter().any(|code| self.is_code(code)) {
            true => Self::Kind(invalid(right)),
            false => self,
        }
    }
}

impl Classify for Error {
    fn classify(self, statement_timeout: Duration) -> Failure {
        let of = |kind: ErrorKind, cause: &str| Failure::from(kind).with_source(cause);
        match self {
            Self::Kind(kind) => kind.into(),
            Self::Cancelled => ErrorKind::Engine.into(),
            Self::TimedOut(after) => ErrorKind::Timeout(after).into(),
            Self::NoConnection(why) => of(ErrorKind::Unavailable, why),
            Self::UnknownCommit => of(
                ErrorKind::Unverified,
                "the connection was lost while the write was committed; look whether it took effect",
            ),
            // Whoever made the database or the role read-only meant writes, too.
            this if this.is_code("25006") => ErrorKind::Denied(
                "the server is a replica, or it, the database or the role is read-only; connect where writes \
                 are taken",
            )
            .into(),
            Self::Engine(error) => {
                let cause = cause(&error);
                let failure = Failure::from(kind_of(error, statement_timeout));
                match cause {
                    Some(cause) => failure.with_source(cause),
                    None => failure,
                }
            }
        }
    }
}

/// What a caller may know of an error of the driver's or the server's: a code, never its text.
fn cause(error: &sqlx_core::Error) -> Option<String> {
    Some(match error {
        sqlx_core::Error::Database(error) => format!("SQLSTATE {}", error.code()?),
        sqlx_core::Error::Io(error) => match error.raw_os_error() {
            // A look-up that fails comes without a code of the system's, and with no kind of its own.
            None if error.kind().to_string() == "uncategorized error" => {
                "the host's name could not be looked up".to_owned()
            }
            _ => format!("the connection failed: {}", error.kind()),
        },
        sqlx_core::Error::Protocol(_) => {
            "the connection ended or spoke another protocol".to_owned()
        }
        _ => return None,
    })
}

/// How long a statement that makes or drops something waits for a table.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// How a URL is written.
pub(crate) const FORM: &str =
    "the URL is written postgres://user:password@host:port/database?option=value";

/// The kind of a failure of the driver's or the server's.
pub(crate) fn kind_of(error: sqlx_core::Error, statement_timeout: Duration) -> ErrorKind {
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
        Some("28P01" | "28000") => ErrorKind::Denied(
            "the server refused the user or the password; look at both, and at its pg_hba.conf",
        ),
        Some("42501") => ErrorKind::Denied(
            "the role lacks a right; see the roles on the page of PostgreSQL for what each needs",
        ),
        Some("3D000") => invalid("the server has no database of that name; create it first"),
        Some("55P03") => ErrorKind::Timeout(LOCK_TIMEOUT),
        Some("57014" | "25P03" | "25P04") => ErrorKind::Timeout(statement_timeout),
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
