//! The directory of a store, locked by this process for as long as it is open.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shelfward_adapter::sync::lock;

use crate::error::{FileError, FileResult, lacking, to};
use crate::files::file_identity::FileIdentity;
use crate::files::layout::{VERSION, create_dir_synced, sync_dir};

/// Says that the folder is a store's, and of which version.
const MARK: &str = "shelfward-hnsw.store";
const MARK_IN_WRITING: &str = "shelfward-hnsw.store-in-writing";
/// Locked by the process that has the folder open.
const LOCK: &str = "shelfward-hnsw.lock";
const MARK_BEGINS: &str = "shelfward-hnsw ";

pub(crate) struct StoreDir {
    path: PathBuf,
    /// The lock is held for as long as its file is open.
    lock: Mutex<Option<File>>,
    identity: FileIdentity,
}

impl StoreDir {
    /// Opens a folder, and makes it where there is none. Nothing is written into one that is not
    /// this store's.
    pub(crate) fn open(path: &Path) -> FileResult<Self> {
        let is_new = !has_mark(path)?;
        if is_new {
            check_empty(path)?;
            create_dir_synced(path)?;
        }
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join(LOCK))
            .map_err(to(lacking!("the folder's lock file may not be written")))?;
        lock.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => FileError::Locked,
            TryLockError::Error(error) => error.into(),
        })?;
        // Another process may have made it a store while this one looked.
        if is_new && !has_mark(path)? {
            write_mark(path)?;
        }
        Ok(Self {
            path: path.to_owned(),
            identity: FileIdentity::of(&lock, &path.join(LOCK))?,
            lock: Mutex::new(Some(lock)),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets another process open the folder.
    pub(crate) fn unlock(&self) {
        let mut lock = lock(&self.lock);
        if let Some(file) = lock.take() {
            // Closing the file is not enough: a process that another thread is about to begin holds a
            // copy of it until it executes its program. Where this fails, closing does it then.
            let _closed_then = file.unlock();
        }
    }

    /// Refuses a folder that is not the one that was opened: what is written to that is lost.
    pub(crate) fn check_in_place(&self) -> FileResult<()> {
        self.identity.check()
    }

    pub(crate) fn check(&self) -> FileResult<()> {
        if has_mark(&self.path)? {
            Ok(())
        } else {
            Err(FileError::Io(io::ErrorKind::NotFound))
        }
    }
}

impl Drop for StoreDir {
    fn drop(&mut self) {
        self.unlock();
    }
}

/// Whether the folder is a store of this version.
fn has_mark(path: &Path) -> FileResult<bool> {
    let file = match File::open(path.join(MARK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(to(lacking!("the folder's mark may not be read")))?,
    };
    let mut mark = String::new();
    // A mark is short; what is not is not one.
    file.take(64)
        .read_to_string(&mut mark)
        .map_err(|_| FileError::Foreign)?;
    let version = mark.strip_prefix(MARK_BEGINS).map(str::trim_end);
    match version.and_then(|version| version.parse::<u32>().ok()) {
        Some(VERSION) => Ok(true),
        Some(later) if later > VERSION => Err(FileError::Newer),
        _ => Err(FileError::Foreign),
    }
}

fn write_mark(path: &Path) -> FileResult<()> {
    let in_writing = path.join(MARK_IN_WRITING);
    fs::write(&in_writing, format!("{MARK_BEGINS}{VERSION}\n"))
        .map_err(to(lacking!("the folder's mark may not be written")))?;
    File::open(&in_writing)?.sync_all()?;
    fs::rename(&in_writing, path.join(MARK))?;
    sync_dir(path)
}

/// Refuses a folder that holds anything that a store does not begin with.
fn check_empty(path: &Path) -> FileResult<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(to(lacking!("the folder may not be listed")))?,
    };
    for entry in entries {
        let name = entry?.file_name();
        let known = |name: &str| name == LOCK || name == MARK_IN_WRITING;
        if !name.to_str().is_some_and(known) {
            return Err(FileError::Foreign);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::layout::{SYNCED, is_ours};

    #[test]
    fn a_folder_of_something_else_is_left_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        drop(StoreDir::open(&path).unwrap());
        let again = StoreDir::open(&path).unwrap();
        assert!(matches!(StoreDir::open(&path), Err(FileError::Locked)));
        drop(again);

        let newer = format!("{MARK_BEGINS}{}\n", VERSION + 1);
        for (name, content) in [
            ("thesis.txt", "all of it"),
            (MARK, "something"),
            (MARK, ""),
            (MARK, newer.as_str()),
        ] {
            let foreign = tempfile::tempdir().unwrap();
            fs::write(foreign.path().join(name), content).unwrap();
            assert!(StoreDir::open(foreign.path()).is_err(), "{name} {content}");
            assert_eq!(fs::read_dir(foreign.path()).unwrap().count(), 1);
            assert_eq!(
                fs::read_to_string(foreign.path().join(name)).unwrap(),
                content
            );
        }
        // What a store leaves that was killed in its first moments.
        let begun = tempfile::tempdir().unwrap();
        fs::write(begun.path().join(LOCK), "").unwrap();
        fs::write(begun.path().join(MARK_IN_WRITING), "shelf").unwrap();
        StoreDir::open(begun.path()).unwrap().check().unwrap();
    }

    #[test]
    fn the_names_of_folders_that_are_made_are_on_the_disk() {
        let parent = tempfile::tempdir().unwrap();
        let synced = |path: &Path| {
            let before = SYNCED.with_borrow_mut(std::mem::take);
            drop(StoreDir::open(path).unwrap());
            let after = SYNCED.with_borrow_mut(std::mem::take);
            assert!(before.is_empty());
            after
        };
        let [a, b] = ["a", "a/b"].map(|name| parent.path().join(name));
        let made = synced(&b);
        assert_eq!(made[..2], [parent.path().to_owned(), a.clone()]);
        assert!(made.contains(&b), "the mark's name");
        assert!(synced(&b).is_empty(), "nothing was made");
    }

    #[test]
    fn names_of_a_store_are_not_those_of_a_collection() {
        for name in [MARK, MARK_IN_WRITING, LOCK] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
