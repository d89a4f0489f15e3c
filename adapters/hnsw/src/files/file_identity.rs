//! Whether a path still leads to the file that was opened there.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, FileResult};

/// A file that is open, and where it was.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    number: (u64, u64),
}

impl FileIdentity {
    pub(crate) fn of(file: &File, path: &Path) -> FileResult<Self> {
        Ok(Self {
            path: path.to_owned(),
            number: number_of(&file.metadata()?),
        })
    }

    /// Refuses a path under which there is another file by now, or none.
    pub(crate) fn check(&self) -> FileResult<()> {
        match fs::metadata(&self.path) {
            Ok(now) if number_of(&now) == self.number => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Err(FileError::Replaced),
        }
    }
}

/// The device and the number of a file on it.
#[cfg(unix)]
fn number_of(file: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;

    (file.dev(), file.ino())
}

/// Elsewhere the system lets nobody replace a file that is open.
#[cfg(not(unix))]
fn number_of(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
