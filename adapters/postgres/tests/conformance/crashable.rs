//! A server of the run's own, which is crashed under its clients and ends with the run.

use std::ffi::OsString;
use std::io::{Error, Result as IoResult};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use shelfward_conformance::CrashableServer;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{ErrorKind, Operation, Result, StoreError, async_trait};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

/// So long a server has to serve again.
const RECOVERY: Duration = Duration::from_secs(30);

/// The server, which is started when it is first asked for.
pub(crate) struct OwnServer {
    starter: OsString,
    running: Mutex<Option<Running>>,
}

struct Running {
    /// Ends the server when its standard input closes.
    starter: Child,
    about: Value,
    /// The server that was started again, if one was.
    again: Option<Child>,
}

fn failed(why: Error) -> StoreError {
    StoreError::new(Operation::Connect, ErrorKind::Unavailable)
        .with_source(format!("the server that may be crashed: {}", why.kind()))
}

impl OwnServer {
    /// By this program, which starts servers.
    pub(crate) fn new(starter: OsString) -> Self {
        Self {
            starter,
            running: Mutex::const_new(None),
        }
    }

    /// Ends the server, with all that it holds.
    pub(crate) async fn end(&self) {
        if let Some(mut running) = self.running.lock().await.take() {
            drop(running.starter.stdin.take());
            let _ = running.starter.wait().await;
            if let Some(mut again) = running.again {
                let _ = again.wait().await;
            }
        }
    }

    async fn start(&self) -> IoResult<Running> {
        let name = format!("crash-{}", std::process::id());
        let mut starter = Command::new(&self.starter)
            .args(["stores", "up", "postgres", "--json"])
            .args(["--until-stdin-closes", "--name", &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = starter
            .stdout
            .take()
            .ok_or(std::io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).await?;
        let about = serde_json::from_str(&line)?;
        Ok(Running {
            starter,
            about,
            again: None,
        })
    }
}

impl Running {
    fn text(&self, name: &str) -> &str {
        self.about
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Kills one process of those that serve a client, whichever, so that all others are ended too.
    async fn kill_a_backend(&self) -> IoResult<()> {
        let sql = "SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'client backend' \
                   AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";
        let pids = super::asked(self.text("url"), sql).await;
        match pids.map_err(Error::other)?.first() {
            Some(pid) => kill(pid).await,
            None => self.kill_all().await,
        }
    }

    /// Kills the process that all others are children of.
    async fn kill_all(&self) -> IoResult<()> {
        let file = format!("{}/postmaster.pid", self.text("data"));
        let pid = tokio::fs::read_to_string(file).await?;
        kill(pid.lines().next().unwrap_or_default()).await
    }

    /// Waits until it serves again, and starts it where it does not come back by itself.
    async fn recover(&mut self, starts: bool) -> IoResult<()> {
        let begun = Instant::now();
        while super::asked(self.text("url"), "SELECT '1'").await.is_err() {
            if begun.elapsed() > RECOVERY {
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            // It does not start until the last process of the one before has ended.
            let ended = match &mut self.again {
                Some(again) => again.try_wait()?.is_some(),
                None => true,
            };
            if starts && ended {
                self.start_again().await?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn start_again(&mut self) -> IoResult<()> {
        let _ = tokio::fs::remove_file(format!("{}/postmaster.pid", self.text("data"))).await;
        let run_as = self.about.get("run_as").and_then(Value::as_array);
        let mut words: Vec<String> = run_as
            .into_iter()
            .flatten()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect();
        words.push(format!("{}/postgres", self.text("bin")));
        let (program, before) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(before).args(["-D", self.text("data")]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        self.again = Some(command.stderr(Stdio::null()).spawn()?);
        Ok(())
    }
}

async fn kill(pid: &str) -> IoResult<()> {
    let killed = Command::new("kill").args(["-9", pid]).status().await?;
    // One that is gone by itself is no crash.
    match killed.success() {
        true => Ok(()),
        false => Err(std::io::ErrorKind::NotFound.into()),
    }
}

#[async_trait]
impl CrashableServer for OwnServer {
    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        let mut running = self.running.lock().await;
        if running.is_none() {
            *running = Some(self.start().await.map_err(failed)?);
        }
        let url = running
            .as_ref()
            .map(|running| running.text("url").to_owned());
        super::connect(&url.unwrap_or_default()).await
    }

    async fn crash(&self, nth: u32) -> Result<()> {
        let mut running = self.running.lock().await;
        let Some(running) = running.as_mut() else {
            return Err(failed(std::io::ErrorKind::NotConnected.into()));
        };
        // Every fourth time all of it, else one process, from which it recovers by itself.
        let all = nth % 4 == 1;
        let killed = if all {
            running.kill_all().await
        } else {
            running.kill_a_backend().await
        };
        killed.map_err(failed)?;
        running.recover(all).await.map_err(failed)
    }
}
