//! Making a database cluster and starting a server on it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::super::Failure;
use super::super::run_as::RunAs;
use crate::run::output;

/// The role and the database of tests. The role may do everything.
const NAME: &str = "shelfward";

/// The settings of a server for tests. They stand in its own file, so that a test which starts the
/// server again has them too.
const SETTINGS: [(&str, &str); 5] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("max_connections", "200"),
    // Every commit is still written before it returns (`synchronous_commit` is on), and what was
    // written outlives a killed server in the system's cache. Only a machine that stops loses it,
    // and with the machine the tests.
    ("fsync", "off"),
    // In the data folder, so that a killed server leaves nothing outside.
    ("dynamic_shared_memory_type", "mmap"),
];

/// Where a cluster is to be, and what for.
pub(super) struct Cluster<'a> {
    /// The folder of the server's user.
    pub(super) own: &'a Path,
    pub(super) bin: &'a Path,
    pub(super) run_as: &'a RunAs,
    pub(super) port: u16,
    pub(super) password: &'a str,
}

pub(super) enum NotStarted {
    PortTaken,
    Because(Failure),
}

impl Cluster<'_> {
    /// Makes the cluster, starts the server, makes the database. Answers the server's version.
    pub(super) fn start(&self) -> Result<String, NotStarted> {
        let version = self.version().map_err(NotStarted::Because)?;
        self.init().map_err(NotStarted::Because)?;
        self.serve()?;
        self.database().map_err(NotStarted::Because)?;
        Ok(version)
    }

    pub(super) fn url(&self) -> String {
        let (password, port) = (self.password, self.port);
        format!("postgres://{NAME}:{password}@127.0.0.1:{port}/{NAME}")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.own.join("log")
    }

    fn data(&self) -> PathBuf {
        self.own.join("data")
    }

    /// `18.6`, of `postgres (PostgreSQL) 18.6`. It is asked first, since it tells whether the
    /// server's user can run the programs at all.
    fn version(&self) -> Result<String, Failure> {
        let mut command = self.run_as.command(self.bin.join("postgres"));
        let said = output(command.arg("--version")).map_err(|why| {
            let asked = "the server's programs cannot be run";
            let hint = "they need setpriv where the caller is root, and a temporary folder (TMPDIR) \
                        that every user can reach and run programs from";
            Failure::Missing(format!("{asked}: {}; {hint}", why.trim()))
        })?;
        Ok(said
            .split_whitespace()
            .last()
            .unwrap_or_default()
            .to_owned())
    }

    fn init(&self) -> Result<(), Failure> {
        let file = self.own.join("password");
        self.write_password(&file)
            .map_err(Failure::of("the file of the password"))?;
        let mut init = self.run_as.command(self.bin.join("initdb"));
        init.args(["--username", NAME, "--auth", "scram-sha-256", "--pwfile"])
            .arg(&file)
            .args(["--encoding", "UTF8", "--locale", "C.UTF-8"])
            .args(["--no-sync", "--no-instructions", "--pgdata"])
            .arg(self.data());
        let port = self.port.to_string();
        for (name, value) in SETTINGS.into_iter().chain([("port", port.as_str())]) {
            init.args(["-c", &format!("{name}={value}")]);
        }
        let done = output(&mut init);
        fs::remove_file(&file).map_err(Failure::of("the file of the password"))?;
        done.map(drop)
            .map_err(|why| self.failure("its data could not be made", &why))
    }

    fn write_password(&self, file: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut opened = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)?;
        opened.write_all(self.password.as_bytes())?;
        self.run_as.give(file)
    }

    /// Starts the server, in a session of its own, and waits until it answers.
    fn serve(&self) -> Result<(), NotStarted> {
        let mut start = self.run_as.command(self.bin.join("pg_ctl"));
        start.args(["start", "--silent", "--wait", "--timeout", "60", "--pgdata"]);
        start.arg(self.data()).arg("--log").arg(self.log());
        let Err(why) = output(&mut start) else {
            return Ok(());
        };
        let log = self.end_of_log();
        if log.contains("Address already in use") {
            return Err(NotStarted::PortTaken);
        }
        let why = format!("{}\nits log ends with:\n{log}", why.trim());
        Err(NotStarted::Because(self.failure("it did not start", &why)))
    }

    fn database(&self) -> Result<(), Failure> {
        let port = self.port.to_string();
        let mut create = self.run_as.command(self.bin.join("psql"));
        create
            .env("PGPASSWORD", self.password)
            .args(["--no-psqlrc", "--quiet", "--no-password"])
            .args(["--host", "127.0.0.1", "--port", &port])
            .args(["--username", NAME, "--dbname", "postgres"])
            .args(["--command", &format!("create database {NAME}")]);
        output(&mut create)
            .map(drop)
            .map_err(|why| self.failure("its database could not be made", &why))
    }

    /// The log's last lines, read as the server's user: the file is in that user's hands.
    fn end_of_log(&self) -> String {
        let mut tail = self.run_as.command("tail");
        output(tail.args(["-n", "20"]).arg(self.log())).unwrap_or_default()
    }

    fn failure(&self, what: &str, why: &str) -> Failure {
        let why = without(why.trim(), self.password);
        Failure::Failed(format!("postgres: {what}: {why}"))
    }
}

/// A text with a secret taken out.
fn without(text: &str, secret: &str) -> String {
    text.replace(secret, "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_holds_the_password_and_a_failure_does_not() {
        let run_as = RunAs::choose();
        let cluster = Cluster {
            own: Path::new("own"),
            bin: Path::new("bin"),
            run_as: &run_as,
            port: 20_000,
            password: "abc123",
        };
        let url = cluster.url();
        assert_eq!(url, "postgres://shelfward:abc123@127.0.0.1:20000/shelfward");
        let Failure::Failed(said) = cluster.failure("it did not start", &url) else {
            panic!("a server that does not start is no missing one");
        };
        assert_eq!(
            said,
            "postgres: it did not start: postgres://shelfward:…@127.0.0.1:20000/shelfward"
        );
    }
}
