//! What is done alike for every server: its folders, its password, its port, its start and its end.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use super::process::{RunAs, signal, within};
use super::state::Server;
use super::{Failure, Store};

/// Where a server is to be, and what for.
pub(super) struct Site {
    folder: PathBuf,
    pub(super) user: RunAs,
    pub(super) port: u16,
    pub(super) password: String,
}

impl Site {
    /// The folder of the server's programs, which everybody can read.
    pub(super) fn engine(&self) -> PathBuf {
        self.folder.join("engine")
    }

    /// The folder that belongs to the user that the server runs as: its data and its log.
    pub(super) fn own(&self) -> PathBuf {
        self.folder.join("server")
    }

    pub(super) fn data(&self) -> PathBuf {
        data(&self.folder)
    }

    pub(super) fn log(&self) -> PathBuf {
        self.own().join("log")
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("server").join("data")
}

/// So many ports are tried: another may take one between the look and the start.
const PORTS: usize = 6;

/// Starts a new server in a folder that is not there yet.
pub(super) fn start(
    store: Store,
    name: &str,
    guard: Option<u32>,
    folder: &Path,
) -> Result<Server, Failure> {
    let engine = store.engine();
    let mut site = Site {
        folder: folder.to_owned(),
        user: RunAs::choose(),
        port: 0,
        password: password().map_err(Failure::of("no randomness"))?,
    };
    make(folder, 0o711)?;
    let version = engine.prepare(&site)?;
    for _ in 0..PORTS {
        make(&site.own(), 0o700)?;
        let given = site.user.give(&site.own());
        given.map_err(Failure::of(
            "the server's folder cannot be given to its user",
        ))?;
        site.port = free_port().map_err(Failure::of("no free port"))?;
        match engine.start(&site) {
            Err(Failure::PortTaken) => {
                remove(&site.own()).map_err(Failure::of("the server's folder"))?;
                continue;
            }
            started => started?,
        }
        engine.ready(&site)?;
        let pid = engine.pid(&site.data()).ok_or_else(|| {
            Failure::Failed("the server ended as soon as it had started".to_owned())
        })?;
        return Ok(Server {
            store,
            name: name.to_owned(),
            version,
            url: engine.url(&site),
            pid,
            port: site.port,
            data: site.data(),
            bin: engine.bin(&site),
            log: site.log(),
            run_as: site.user.words(),
            guard,
        });
    }
    Err(Failure::PortTaken)
}

/// Ends the server of a folder, if it runs, and removes the folder.
pub(super) fn end(store: Store, folder: &Path) -> Result<(), Failure> {
    let (engine, data) = (store.engine(), data(folder));
    // Quickly, then without tidying up, then by force.
    for (how, seconds) in [(Signal::INT, 15), (Signal::QUIT, 5), (Signal::KILL, 5)] {
        let Some(pid) = engine.pid(&data) else { break };
        signal(pid, how);
        within(Duration::from_secs(seconds), || engine.pid(&data).is_none());
    }
    if let Some(pid) = engine.pid(&data) {
        return Err(Failure::Failed(format!("the server {pid} does not end")));
    }
    engine.release(&data);
    remove(folder).map_err(Failure::of("the server's folder cannot be removed"))
}

/// Removes a folder, and again when a process of a killed server still wrote into it.
fn remove(folder: &Path) -> io::Result<()> {
    let mut done = Ok(());
    within(Duration::from_secs(2), || {
        done = match fs::remove_dir_all(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        done.is_ok()
    });
    done
}

fn make(folder: &Path, mode: u32) -> Result<(), Failure> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    // The mode of a new folder is narrowed by the caller's mask.
    made.and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(mode)))
        .map_err(Failure::of("the server's folder cannot be made"))
}

/// A password of 192 random bits, in letters that need no escape in a URL.
fn password() -> io::Result<String> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Ports that the system gives to no client by itself, on Linux and elsewhere: a server that a test
/// kills and starts again finds its own still free.
const FIRST_PORT: u16 = 15_000;

/// A port that nobody listens on.
fn free_port() -> io::Result<u16> {
    let begin = RandomState::new().hash_one(0_u8) % 15_000;
    let ports =
        (0..100).map(|step| FIRST_PORT + u16::try_from((begin + step) % 15_000).unwrap_or(0));
    let mut last = io::Error::other("none was tried");
    for port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(e) => last = e,
        }
    }
    Err(last)
}
