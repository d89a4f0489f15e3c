//! The parent's side of a second process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::serve::{PLACE, PROCESS, serve};
use super::task::{Failure, Reply, Task};
use crate::store::StoreUnderTest;
use crate::verdict::{Checked, Finding};

/// How a second process is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processes {
    /// It is not: the program that runs would not know what it was begun for.
    None,
    /// By beginning this program again.
    Real,
    /// By a task of this one that opens the store by itself and is dropped when it is killed: for
    /// the suite's tests of itself.
    Simulated,
}

/// The longest that one answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A second process. It is killed when this is dropped.
pub(crate) struct Peer {
    replies: mpsc::UnboundedReceiver<Reply>,
    body: Body,
}

enum Body {
    Process(Process),
    Task {
        tasks: Option<mpsc::UnboundedSender<Task>>,
        job: JoinHandle<()>,
    },
}

struct Process {
    child: Child,
    input: Option<ChildStdin>,
    scratch: PathBuf,
}

impl Process {
    /// As `kill -9`. One that ended by itself is killed too.
    fn kill(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Peer {
    /// Begins a process on the store at a place. Where it cannot open the store, the answer says why.
    pub(crate) async fn begin(
        how: Processes,
        store: Arc<dyn StoreUnderTest>,
        place: &str,
    ) -> Checked<Result<Self, Failure>> {
        let mut peer = match how {
            Processes::None => return Err(Finding::errors("no second process can be had")),
            Processes::Real => Self::process(place)?,
            Processes::Simulated => Self::task(store, place),
        };
        match peer.reply().await? {
            Reply::Ready => Ok(Ok(peer)),
            Reply::Failed(failure) => Ok(Err(failure)),
            other => Err(Finding::errors(format!(
                "the second process began with {other:?}"
            ))),
        }
    }

    fn process(place: &str) -> Checked<Self> {
        let failed = |e: std::io::Error| {
            Finding::errors(format!("no second process could be begun: {}", e.kind()))
        };
        // What a killed process leaves among temporary files goes with a folder of its own.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let scratch = std::env::temp_dir().join(format!("sfwt-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&scratch).map_err(failed)?;
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .env(PLACE, place)
            .env("TMPDIR", &scratch)
            .env("TMP", &scratch)
            .env("TEMP", &scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or_else(|| Finding::errors("a process without an output"))?;
        let (tell, replies) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A program may print more than its answers.
                if let Ok(reply) = serde_json::from_str(&line)
                    && tell.send(reply).is_err()
                {
                    break;
                }
            }
        });
        let process = Process {
            child,
            input,
            scratch,
        };
        Ok(Self {
            replies,
            body: Body::Process(process),
        })
    }

    fn task(store: Arc<dyn StoreUnderTest>, place: &str) -> Self {
        let (tasks, to_do) = mpsc::unbounded_channel();
        let (tell, replies) = mpsc::unbounded_channel();
        let say = move |reply| {
            let _ = tell.send(reply);
        };
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let process = NEXT.fetch_add(1, Ordering::Relaxed);
        let serving = serve(store, place.to_owned(), to_do, say);
        let job = tokio::spawn(PROCESS.scope(process, serving));
        let tasks = Some(tasks);
        Self {
            replies,
            body: Body::Task { tasks, job },
        }
    }

    /// Tells it what to do, and waits for nothing.
    pub(crate) fn tell(&mut self, task: Task) -> Checked {
        let gone = || Finding::errors("the second process is gone");
        match &mut self.body {
            Body::Process(process) => {
                let line = serde_json::to_string(&task).map_err(|_| gone())?;
                let input = process.input.as_mut().ok_or_else(gone)?;
                writeln!(input, "{line}").map_err(|_| gone())
            }
            Body::Task { tasks, .. } => {
                let tasks = tasks.as_ref().ok_or_else(gone)?;
                tasks.send(task).map_err(|_| gone())
            }
        }
    }

    /// The next thing that it says.
    pub(crate) async fn reply(&mut self) -> Checked<Reply> {
        match tokio::time::timeout(TIMEOUT, self.replies.recv()).await {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(Finding::errors("the second process ended")),
            Err(_) => Err(Finding::errors("the second process does not answer")),
        }
    }

    /// Has something done, and says what was found.
    pub(crate) async fn ask(&mut self, task: Task) -> Checked<Vec<String>> {
        self.tell(task)?;
        self.done().await
    }

    /// What it found when it is done with what it was told.
    pub(crate) async fn done(&mut self) -> Checked<Vec<String>> {
        match self.reply().await? {
            Reply::Done(found) => Ok(found),
            Reply::GaveWay => Ok(Vec::new()),
            other => Err(Finding::errors(format!(
                "the second process answers {other:?}"
            ))),
        }
    }

    /// Kills it, and answers what it still said.
    pub(crate) async fn kill(mut self) -> Vec<Reply> {
        match &mut self.body {
            Body::Process(process) => process.kill(),
            Body::Task { tasks, job } => {
                *tasks = None;
                job.abort();
                let _ = job.await;
            }
        }
        let mut said = Vec::new();
        while let Some(reply) = self.replies.recv().await {
            said.push(reply);
        }
        said
    }

    /// Lets it end by itself, with all that it has open closed.
    pub(crate) async fn end(mut self) -> Checked {
        match &mut self.body {
            Body::Process(process) => process.input = None,
            Body::Task { tasks, .. } => *tasks = None,
        }
        let ended = async {
            while self.replies.recv().await.is_some() {}
            if let Body::Task { job, .. } = &mut self.body {
                let _ = job.await;
            }
        };
        tokio::time::timeout(TIMEOUT, ended)
            .await
            .map_err(|_| Finding::errors("the second process does not end"))?;
        if let Body::Process(process) = &mut self.body {
            let _ = process.child.wait();
        }
        Ok(())
    }
}
