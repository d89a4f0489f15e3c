//! Errors of files and their conversion to `StoreError`: by kind, never with a path.

use std::fmt;
use std::io;
use std::time::Duration;

use shelfward_adapter::error::{Call, Classify, Failure, invalid};
use shelfward_core::{ErrorKind, Operation, StoreError};

/// What may not be done, and the right that it needs.
macro_rules! lacking {
    ($what:literal) => {
        concat!(
            $what,
            "; give this user the right to read and write the store's folder and all that is in it"
        )
    };
}
pub(crate) use lacking;

/// Why files could not be read or written.
#[derive(Debug)]
pub(crate) enum FileError {
    /// The system refused, of this kind. The rest of its message may name a path.
    Io(io::ErrorKind),
    /// The user lacks a right: which, and to which kind of file.
    Denied(&'static str),
    /// The process or the system may open no more files.
    TooManyFiles,
    /// What is in a file cannot be right.
    Corrupt(&'static str),
    /// What is in a file was written by a later version of this store.
    Newer,
    /// The folder holds something that is not this store's.
    Foreign,
    /// Another process has the folder open.
    Locked,
    /// The folder or a file in it was replaced or taken away since it was opened.
    Replaced,
    /// An earlier write to the log failed half way and could not be taken back, so it takes no more.
    Broken,
    /// A change ended in the middle, so what is in memory is not what was written.
    HalfApplied,
}

pub(crate) type FileResult<T> = Result<T, FileError>;

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        match error.raw_os_error() {
            // They have no kind.
            Some(ENFILE | EMFILE) if cfg!(unix) => Self::TooManyFiles,
            _ if is_denied(&error) => {
                Self::Denied(lacking!("a file of the store may not be read or written"))
            }
            _ => Self::Io(error.kind()),
        }
    }
}

fn is_denied(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// Says what it was that the user has no right to.
pub(crate) fn to(lacking: &'static str) -> impl Fn(io::Error) -> FileError {
    move |error| match is_denied(&error) {
        true => FileError::Denied(lacking),
        false => error.into(),
    }
}

impl FileError {
    /// The port's error for it.
    pub(crate) fn during(self, operation: Operation) -> StoreError {
        // No engine is waited for.
        self.into_store_error(Call::new(operation), Duration::ZERO)
    }
}

impl Classify for FileError {
    fn classify(self, _: Duration) -> Failure {
        let kind = match &self {
            Self::Io(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => ErrorKind::Full,
            Self::Denied(lacking) => return ErrorKind::Denied(lacking).into(),
            Self::Io(io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) => {
                invalid("a folder is due here, and this is a file")
            }
            Self::Io(_) | Self::Broken => ErrorKind::Engine,
            Self::TooManyFiles => ErrorKind::Unavailable,
            Self::Corrupt(what) => return ErrorKind::Corrupt(what).into(),
            Self::Newer => {
                return ErrorKind::Unsupported("reading what a later version of it wrote").into();
            }
            Self::Locked => ErrorKind::InUse,
            Self::Foreign | Self::Replaced | Self::HalfApplied => {
                return invalid(self.to_string()).into();
            }
        };
        let failure = Failure::from(kind).with_source(self.to_string());
        match self {
            // It ends a call before it does anything.
            Self::Broken => failure.nothing_done(),
            _ => failure,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(kind) => write!(f, "a file of the store: {kind}"),
            Self::Denied(lacking) => f.write_str(lacking),
            Self::TooManyFiles => f.write_str(
                "too many open files; close collections that are not in use, or raise the limit of \
                 open files",
            ),
            Self::Corrupt(what) => f.write_str(what),
            Self::Newer => f.write_str("a file was written by a later version of the store"),
            Self::Foreign => f.write_str("the folder holds files that are not this store's"),
            Self::Locked => f.write_str("another process has the folder open"),
            Self::Replaced => f.write_str(
                "the folder or a file in it was replaced by another or taken away since it was opened; \
                 close every handle on it, and open it again",
            ),
            Self::Broken => f.write_str(
                "an earlier write to the log failed and could not be taken back; open the store again",
            ),
            Self::HalfApplied => f.write_str(
                "an earlier write panicked in the middle of its change, so what is in memory is not what \
                 was written; open the collection again, or create it again where it is in memory alone",
            ),
        }
    }
}

impl std::error::Error for FileError {}

/// The error of a call on a handle that was closed.
pub(crate) fn closed(operation: Operation) -> StoreError {
    StoreError::new(operation, shelfward_adapter::handle::closed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_or_a_quota_that_is_full_is_told_as_that_and_nothing_else_is() {
        let told = |error: io::Error| FileError::from(error).during(Operation::Upsert);
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        let mut full: Vec<io::Error> = full.map(io::Error::from).into();
        if cfg!(target_os = "linux") {
            // ENOSPC and EDQUOT.
            full.extend([28, 122].map(io::Error::from_raw_os_error));
        }
        for error in full {
            let told = told(error);
            assert!(matches!(told.kind(), ErrorKind::Full), "{told}");
        }
        let other = told(io::ErrorKind::FileTooLarge.into());
        assert!(matches!(other.kind(), ErrorKind::Engine), "{other}");
        let refused = told(io::ErrorKind::PermissionDenied.into());
        assert!(matches!(refused.kind(), ErrorKind::Denied(_)), "{refused}");
        let lock = to("the lock file may not be written");
        let refused = lock(io::ErrorKind::ReadOnlyFilesystem.into()).during(Operation::Connect);
        assert_eq!(
            refused.to_string(),
            "failed to connect: permission denied: the lock file may not be written"
        );
        let other = lock(io::ErrorKind::NotFound.into());
        assert!(
            matches!(other, FileError::Io(io::ErrorKind::NotFound)),
            "{other}"
        );
        let no_folder = told(io::ErrorKind::NotADirectory.into());
        assert!(
            matches!(no_folder.kind(), ErrorKind::Invalid(_)),
            "{no_folder}"
        );
    }

    #[test]
    fn a_log_that_takes_no_more_writes_says_that_nothing_was_done() {
        let error = FileError::Broken.during(Operation::Upsert);
        assert!(error.changed_nothing(), "{error}");
    }
}
