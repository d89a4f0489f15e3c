//! A Postgres server: the one that a variable names, or one of our own, whose processes are killed.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::Failure;

pub(crate) struct Server {
    url: String,
    own: Option<Own>,
}

/// The command that keeps a server of our own up; its standard input closes with this process.
struct Own {
    command: Child,
    postmaster: i32,
}

#[derive(Deserialize)]
struct Started {
    url: String,
    pid: i32,
}

/// By which `cargo xtask soak` tells where its own program is.
const XTASK: &str = "SHELFWARD_XTASK";

impl Server {
    pub(crate) fn find() -> Result<Self, Failure> {
        if let Ok(url) = std::env::var("DATABASE_URL")
            && !url.is_empty()
        {
            return Ok(Self { url, own: None });
        }
        let xtask =
            std::env::var_os(XTASK).ok_or("neither DATABASE_URL nor a way to start a server")?;
        let mut command = Command::new(xtask)
            .args([
                "stores",
                "up",
                "postgres",
                "--json",
                "--until-stdin-closes",
                "--name",
            ])
            .arg(format!("soak-{}", std::process::id()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C ends this process, which ends the server when it is done with it.
            .process_group(0)
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = command.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let Ok(Started { url, pid }) = serde_json::from_str(&line) else {
            command.wait()?;
            return Err("no server can be started here".into());
        };
        let own = Some(Own {
            command,
            postmaster: pid,
        });
        Ok(Self { url, own })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Kills a process of the server that serves a client. The server ends all others then, and
    /// recovers. Answers whether there was one.
    pub(crate) fn kill_backend(&self, random: &mut fastrand::Rng) -> bool {
        let Some(own) = &self.own else { return false };
        let backends: Vec<i32> = children(own.postmaster)
            .filter(|pid| {
                let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                // `postgres: ROLE DATABASE HOST(PORT) …`; the server's own workers have no host.
                String::from_utf8_lossy(&words).contains("127.0.0.1(")
            })
            .collect();
        let pid = random.choice(backends).and_then(Pid::from_raw);
        pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
    }
}

/// The processes that a process has started, where the system tells.
fn children(parent: i32) -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(move |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // `PID (NAME) STATE PARENT …`, and a name may hold anything.
        let behind = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest.split_whitespace());
        behind.and_then(|mut words| words.nth(1)?.parse().ok()) == Some(parent)
    })
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.command.stdin.take());
        let _ = self.command.wait();
    }
}
