//! The file that a store was opened on, and whether its path still leads to it.
//!
//! The engine goes on with the file that it opened, whatever is put in its place. So each call looks.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use shelfward_adapter::error::invalid;

use crate::error::{Error, Result};

pub(crate) struct DatabaseFile {
    pub(crate) path: PathBuf,
    opened: FileFingerprint,
    /// Read without a log: right only as long as nobody writes.
    pub(crate) is_immutable: bool,
}

/// A file as it was at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFingerprint {
    file: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl FileFingerprint {
    /// `None` where there is no file, or none that may be looked at.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self {
            file: number_of(&file),
            length: file.len(),
            modified: file.modified().ok(),
        })
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

impl DatabaseFile {
    /// The place of a file that was opened just now; `before` is how it was seen before that, if it
    /// was there.
    pub(crate) fn new(
        path: PathBuf,
        before: Option<FileFingerprint>,
        is_immutable: bool,
    ) -> Result<Self> {
        let place = Self {
            opened: before
                .or_else(|| FileFingerprint::at(&path))
                .ok_or_else(replaced)?,
            path,
            is_immutable,
        };
        place.check()?;
        Ok(place)
    }

    /// Refuses a file that is not the one that was opened.
    pub(crate) fn check(&self) -> Result<()> {
        let now = FileFingerprint::at(&self.path).filter(|now| now.file == self.opened.file);
        let now = now.ok_or_else(replaced)?;
        if self.is_immutable && (now != self.opened || has_log(&self.path)) {
            let text = "the file is written by others since it was opened; open it again";
            return Err(invalid(text).into());
        }
        Ok(())
    }
}

/// The path of a file that the engine keeps beside the store's.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Whether there may be writes in a log beside the file, or what undoes some in a rollback journal.
pub(crate) fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"]
        .iter()
        .any(|end| std::fs::metadata(beside(path, end)).is_ok_and(|log| log.len() > 0))
}

fn replaced() -> Error {
    Error::Kind(invalid(
        "the file was replaced by another or taken away since it was opened; close every handle on it, \
         remove the -wal and -shm that the old one left beside it, and open it again",
    ))
}
