//! The folder that holds the servers of this checkout, and the lock on it.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{Failure, Name, Store};
use crate::run::root;

/// The folder, locked: one command at a time changes what is in it.
pub(super) struct Home {
    path: PathBuf,
    lock: File,
}

/// Others may go through it and see nothing: the user that a server runs as has its files below.
const MODE: u32 = 0o711;

impl Home {
    pub(super) fn locked() -> Result<Self, Failure> {
        let path = path().map_err(Failure::of("the system's temporary folder"))?;
        Self::locked_at(path)
    }

    fn locked_at(path: PathBuf) -> Result<Self, Failure> {
        let what = format!("{} cannot be used", path.display());
        loop {
            make(&path).map_err(Failure::of(&what))?;
            let lock = File::open(&path);
            // Whoever held the lock before may have removed the folder.
            match lock.and_then(|file| file.lock().map(|()| file)) {
                Ok(lock) if same(&lock, &path) => return Ok(Self { path, lock }),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(Failure::of(&what)(e)),
            }
        }
    }

    /// Where a server's files are.
    pub(super) fn folder(&self, store: Store, name: &Name) -> PathBuf {
        self.path.join(format!("{}-{name}", store.name()))
    }

    /// The folders of servers, whether these run or not, in the order of their names.
    pub(super) fn servers(&self) -> Vec<(Store, Name, PathBuf)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut servers: Vec<_> = entries
            .filter_map(|entry| {
                let file_name = entry.file_name();
                let (store, name) = file_name.to_str()?.split_once('-')?;
                let store = Store::ALL.into_iter().find(|s| s.name() == store)?;
                Some((store, name.parse().ok()?, entry.path()))
            })
            .collect();
        servers.sort_by(|a, b| a.2.cmp(&b.2));
        servers
    }

    /// Removes the folder when it is empty, and gives the lock back.
    pub(super) fn leave(self) {
        // What holds servers stays.
        let _ = fs::remove_dir(&self.path);
        drop(self.lock);
    }
}

fn path() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let digest = Sha256::digest(root().as_os_str().as_encoded_bytes());
    let checkout: String = digest.iter().take(6).map(|b| format!("{b:02x}")).collect();
    let temporary = fs::canonicalize(std::env::temp_dir())?;
    Ok(temporary.join(format!("shelfward-stores-{user}-{checkout}")))
}

fn make(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(MODE).create(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    // The temporary folder is everybody's: another may have made one of this name.
    match fs::symlink_metadata(path) {
        Ok(found) if !is_own(&found) => {
            return Err(io::Error::other("it belongs to somebody else; remove it"));
        }
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    match fs::set_permissions(path, Permissions::from_mode(MODE)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn is_own(found: &Metadata) -> bool {
    found.is_dir()
        && found.uid() == rustix::process::geteuid().as_raw()
        && found.mode() & 0o022 == 0
}

/// Whether a path still names an opened file.
fn same(file: &File, path: &Path) -> bool {
    let place = |found: Metadata| (found.dev(), found.ino());
    let opened = file.metadata().map(place).ok();
    opened.is_some() && opened == fs::symlink_metadata(path).map(place).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_holds_the_folder_and_the_last_removes_it() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("home");
        let first = Home::locked_at(path.clone()).ok().unwrap();
        let (sender, receiver) = mpsc::channel();
        let second = path.clone();
        let waits = std::thread::spawn(move || {
            let home = Home::locked_at(second).ok().unwrap();
            sender.send(()).unwrap();
            // Removed by the first and made again by the second.
            assert!(home.path.is_dir());
            home.leave();
        });
        let early = receiver.recv_timeout(Duration::from_millis(200));
        assert!(early.is_err(), "two hold it");
        first.leave();
        waits.join().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn servers_are_found_by_their_folders_and_keep_the_home() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("home");
        let home = Home::locked_at(path.clone()).ok().unwrap();
        for name in ["b-2", "a"] {
            fs::create_dir(home.folder(Store::Postgres, &name.parse().unwrap())).unwrap();
        }
        fs::create_dir(path.join("other-thing")).unwrap();
        let names: Vec<_> = home
            .servers()
            .into_iter()
            .map(|s| s.1.to_string())
            .collect();
        assert_eq!(names, ["a", "b-2"]);
        home.leave();
        assert!(path.is_dir());
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("home");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        assert!(Home::locked_at(path).is_err());
        let link = above.path().join("link");
        std::os::unix::fs::symlink(above.path(), &link).unwrap();
        assert!(Home::locked_at(link).is_err());
    }
}
