//! What is known of a server: what `up --json` prints, and keeps beside the server's files.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Failure, Name, Store, postgres};

/// A server that was started. It holds a password, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(super) store: Store,
    pub(super) name: Name,
    #[serde(flatten)]
    pub(super) running: Running,
    /// The process that ends the server when its caller is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) guard: Option<u32>,
}

/// What a store says of the server that it started.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) version: String,
    pub(crate) url: String,
    pub(crate) pid: u32,
    pub(crate) port: u16,
    /// The folder of its data.
    pub(crate) data: PathBuf,
    /// The folder of its programs.
    pub(crate) bin: PathBuf,
    /// The file of its log.
    pub(crate) log: PathBuf,
    /// The words to put before a command so that it runs as the server's user; none where that is
    /// the caller.
    pub(crate) run_as: Vec<String>,
}

const FILE: &str = "server.json";

impl Server {
    pub(super) fn new(store: Store, name: &Name, guard: Option<u32>, running: Running) -> Self {
        let name = name.clone();
        Self {
            store,
            name,
            running,
            guard,
        }
    }

    /// The server of a folder, as it runs now: a test may have started it again.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(FILE)).ok()?;
        let mut server: Self = serde_json::from_slice(&text).ok()?;
        if let Some(pid) = server.pid_now() {
            server.running.pid = pid;
        }
        Some(server)
    }

    pub(super) fn is_running(&self) -> bool {
        self.pid_now().is_some()
    }

    fn pid_now(&self) -> Option<u32> {
        match self.store {
            Store::Postgres => postgres::pid(&self.running.data),
        }
    }

    /// Keeps it for its owner alone. It is whole or not there.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let unfinished = folder.join("server.json.new");
        let written = serde_json::to_vec(self)
            .map_err(std::io::Error::other)
            .and_then(|json| {
                let mut options = OpenOptions::new();
                let mut file = options
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&unfinished)?;
                file.write_all(&json)?;
                fs::rename(&unfinished, folder.join(FILE))
            });
        written.map_err(Failure::of("the server's record cannot be kept"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn server(data: &Path) -> Server {
        let running = Running {
            version: "18.6".to_owned(),
            url: "postgres://shelfward:secret@127.0.0.1:20000/shelfward".to_owned(),
            pid: 1,
            port: 20000,
            data: data.to_owned(),
            bin: PathBuf::from("bin"),
            log: PathBuf::from("log"),
            run_as: vec!["setpriv".to_owned()],
        };
        Server::new(Store::Postgres, &Name::default(), None, running)
    }

    #[test]
    fn a_record_is_its_owners_alone_and_comes_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let written = server(&folder.path().join("data"));
        assert!(written.write(folder.path()).is_ok());
        let mode = fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = Server::read(folder.path()).unwrap();
        let json = |server: &Server| serde_json::to_value(server).unwrap();
        assert_eq!(json(&read), json(&written));
        assert!(!read.is_running(), "there is no data");
    }

    #[test]
    fn a_record_that_was_cut_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Server::read(folder.path()).is_none());
        fs::write(folder.path().join(FILE), "{\"store\":\"postgres\"").unwrap();
        assert!(Server::read(folder.path()).is_none());
    }
}
