//! The folder that holds the servers of this checkout, the lock on it, and the record of a server.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Failure, Store};
use crate::run::root;

/// The folder, locked: one command at a time changes what is in it. It goes with its last server.
pub(super) struct StateDir {
    path: PathBuf,
    _lock: File,
}

/// Others may go through it and see nothing: the user that a server runs as has its files below.
const MODE: u32 = 0o711;

impl StateDir {
    pub(super) fn locked() -> Result<Self, Failure> {
        let user = rustix::process::geteuid().as_raw();
        let digest = Sha256::digest(root().as_os_str().as_encoded_bytes());
        let checkout: String = digest.iter().take(6).map(|b| format!("{b:02x}")).collect();
        let temporary = fs::canonicalize(std::env::temp_dir())
            .map_err(Failure::of("the system's temporary folder"))?;
        Self::locked_at(temporary.join(format!("shelfward-stores-{user}-{checkout}")))
    }

    fn locked_at(path: PathBuf) -> Result<Self, Failure> {
        // A file of the checkout that nobody removes; reading it is enough for a lock.
        let lock = File::open(root().join("xtask/Cargo.toml"));
        let lock = lock.and_then(|file| file.lock().map(|()| file));
        let made = lock.and_then(|lock| make(&path).map(|()| lock));
        let lock = made.map_err(Failure::of(&format!("{} cannot be used", path.display())))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where a server's files are.
    pub(super) fn folder(&self, store: Store, name: &str) -> PathBuf {
        self.path.join(format!("{}-{name}", store.name()))
    }

    /// The folders of servers, whether these run or not, in the order of their names.
    pub(super) fn servers(&self) -> Vec<(Store, String, PathBuf)> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut servers: Vec<_> = entries
            .filter_map(|entry| {
                let file_name = entry.file_name();
                let (store, name) = file_name.to_str()?.split_once('-')?;
                let store = Store::from_str(store, false).ok()?;
                Some((store, name.to_owned(), entry.path()))
            })
            .collect();
        servers.sort_by(|a, b| a.2.cmp(&b.2));
        servers
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        // What holds servers stays.
        let _ = fs::remove_dir(&self.path);
    }
}

fn make(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(MODE).create(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    // The temporary folder is everybody's: another may have made one of this name.
    let found = fs::symlink_metadata(path)?;
    let is_own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if !is_own || found.mode() & 0o022 != 0 {
        return Err(io::Error::other("it belongs to somebody else; remove it"));
    }
    fs::set_permissions(path, Permissions::from_mode(MODE))
}

/// A server that was started: what `up --json` prints, and keeps beside the server's files. It holds
/// a password, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(super) store: Store,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) url: String,
    pub(super) pid: u32,
    pub(super) port: u16,
    /// The folder of its data.
    pub(super) data: PathBuf,
    /// The folder of its programs.
    pub(super) bin: PathBuf,
    /// The file of its log.
    pub(super) log: PathBuf,
    /// The words to put before a command so that it runs as the server's user; none where that is
    /// the caller.
    pub(super) run_as: Vec<String>,
    /// The process that ends the server when its caller is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) guard: Option<u32>,
}

const RECORD: &str = "server.json";

impl Server {
    /// The server of a folder, as it runs now: a test may have started it again.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(RECORD)).ok()?;
        let mut server: Self = serde_json::from_slice(&text).ok()?;
        if let Some(pid) = server.pid_now() {
            server.pid = pid;
        }
        Some(server)
    }

    pub(super) fn is_running(&self) -> bool {
        self.pid_now().is_some()
    }

    fn pid_now(&self) -> Option<u32> {
        self.store.engine().pid(&self.data)
    }

    /// Keeps it for its owner alone. It is whole or not there.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let unfinished = folder.join("server.json.new");
        let json = serde_json::to_string(self).map_err(Failure::of("the server's record"))?;
        write_private(&unfinished, &json)
            .and_then(|()| fs::rename(&unfinished, folder.join(RECORD)))
            .map_err(Failure::of("the server's record cannot be kept"))
    }
}

/// Writes a new file that its owner alone can read.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("state");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        assert!(StateDir::locked_at(path).is_err());
        let link = above.path().join("link");
        std::os::unix::fs::symlink(above.path(), &link).unwrap();
        assert!(StateDir::locked_at(link).is_err());
    }
}
