//! Who writes: this process, or another one that can be killed.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use shelfward::LibraryIndex;
use tokio::sync::oneshot;

use crate::Failure;
use crate::model::{Outcome, lock};
use crate::op::Op;
use crate::store::{self, Kind};

/// Who does a write.
#[derive(Clone)]
pub(crate) enum Writer {
    Here(LibraryIndex),
    There(Arc<Process>),
    /// In the place of each write another one is done, or none.
    #[cfg(test)]
    Sabotaged(LibraryIndex, fn(Op) -> Option<Op>),
}

impl Writer {
    pub(crate) async fn apply(&self, op: Op) -> Outcome {
        match self {
            Self::Here(library) => op.apply(library).await,
            Self::There(process) => process.apply(op).await,
            #[cfg(test)]
            Self::Sabotaged(library, instead) => match instead(op) {
                Some(op) => op.apply(library).await,
                None => Outcome::Done(None),
            },
        }
    }

    /// Whether it can still write.
    pub(crate) fn lives(&self) -> bool {
        match self {
            Self::There(process) => process.lives.load(SeqCst),
            _ => true,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Asked {
    id: u64,
    op: Op,
}

#[derive(Serialize, Deserialize)]
struct Answered {
    id: u64,
    outcome: Outcome,
}

type Waiting = Mutex<HashMap<u64, oneshot::Sender<Outcome>>>;

/// A process that has the store open and writes what it is told to.
pub(crate) struct Process {
    child: Mutex<Child>,
    input: Mutex<ChildStdin>,
    ids: AtomicU64,
    waiting: Waiting,
    lives: AtomicBool,
}

/// What the process says when it has the store open.
const READY: &str = "ready";

impl Process {
    /// Starts one on the store at a place, and waits until it has that open.
    pub(crate) fn start(kind: Kind, place: &str) -> Result<Arc<Self>, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--store", kind.name(), "--write-to", place])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C ends the soak, which ends it.
            .process_group(0)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a writer without its pipes".into());
        };
        let mut lines = BufReader::new(output).lines();
        match lines.next() {
            Some(Ok(line)) if line == READY => {}
            _ => {
                child.wait()?;
                return Err("a writer could not open the store".into());
            }
        }
        let process = Arc::new(Self {
            child: Mutex::new(child),
            input: Mutex::new(input),
            ids: AtomicU64::new(0),
            waiting: Mutex::default(),
            lives: AtomicBool::new(true),
        });
        let reading = process.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A line that was cut off is no answer.
                let Ok(Answered { id, outcome }) = serde_json::from_str(&line) else {
                    break;
                };
                if let Some(waiting) = lock(&reading.waiting).remove(&id) {
                    let _ = waiting.send(outcome);
                }
            }
            reading.lives.store(false, SeqCst);
            // Who waits is told that nobody answers.
            lock(&reading.waiting).clear();
        });
        Ok(process)
    }

    async fn apply(&self, op: Op) -> Outcome {
        let id = self.ids.fetch_add(1, SeqCst);
        let (sender, answer) = oneshot::channel();
        lock(&self.waiting).insert(id, sender);
        let line = serde_json::to_string(&Asked { id, op }).unwrap_or_default() + "\n";
        let sent = lock(&self.input).write_all(line.as_bytes());
        if sent.is_err() || !self.lives.load(SeqCst) {
            lock(&self.waiting).remove(&id);
        }
        let nobody = || Outcome::Unknown("the writer was killed".to_owned());
        answer.await.unwrap_or_else(|_| nobody())
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn kill(&self) -> Result<(), Failure> {
        let mut child = lock(&self.child);
        child.kill()?;
        child.wait()?;
        Ok(())
    }
}

/// The process itself: writes what its standard input says, all at once, until that closes.
pub(crate) async fn serve(kind: Kind, place: &str) -> Result<(), Failure> {
    let store = store::open_at(kind, place).await?;
    let library = store::library(&store, store::COLLECTION).await?;
    say(READY);
    let runtime = tokio::runtime::Handle::current();
    let reading = std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let Ok(Asked { id, op }) = serde_json::from_str(&line) else {
                break;
            };
            let library = library.clone();
            runtime.spawn(async move {
                let outcome = op.apply(&library).await;
                say(&serde_json::to_string(&Answered { id, outcome }).unwrap_or_default());
            });
        }
    });
    tokio::task::spawn_blocking(|| reading.join())
        .await?
        .map_err(|_| "the reader ended")?;
    Ok(())
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Who asked may be gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
