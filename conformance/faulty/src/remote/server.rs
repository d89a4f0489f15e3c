use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use shelfward_core::adapter::StoreAdapter;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::RemoteStore;
use crate::Fault;

/// A server before a store, on a port of its own, which ends with this.
pub struct RemoteServer {
    address: SocketAddr,
    secret: String,
    queue: Arc<JobQueue>,
    job: JoinHandle<()>,
}

pub(super) type Answer = Box<dyn Any + Send>;
pub(super) type Job = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Where clients lay what is to be done and find what came of it.
pub(super) struct JobQueue {
    pub(super) store: Arc<dyn StoreAdapter>,
    jobs: Mutex<HashMap<u64, Job>>,
    answers: Mutex<HashMap<u64, Answer>>,
    next: Mutex<u64>,
    /// Held while a job that has begun is done, so that one that is withdrawn never is.
    performing: Mutex<()>,
    /// One transaction at a time.
    turn: Arc<AsyncMutex<()>>,
    /// The number of the last transaction that was committed. The next one has the next, and so has
    /// the one behind that where the next is lost.
    committed: AtomicU64,
    /// Every change is a crash.
    crashes: watch::Sender<u64>,
    recovers: AtomicBool,
    fault: Option<Fault>,
}

/// So long the server needs to recover from a crash.
pub(super) const RECOVERY: Duration = Duration::from_millis(40);

/// So long a write takes on the faulty server that applies what was given up meanwhile, so long after
/// that.
const WORK: Duration = Duration::from_millis(4);
const LATER: Duration = Duration::from_millis(25);

/// So long the server waits for a client that has its turn and says nothing.
const SILENCE: Duration = Duration::from_secs(1);

impl RemoteServer {
    /// Begins one before a store.
    ///
    /// # Errors
    /// Where no port is to be had.
    pub async fn begin(store: Arc<dyn StoreAdapter>, fault: Option<Fault>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let queue = Arc::new(JobQueue {
            store,
            jobs: Mutex::default(),
            answers: Mutex::default(),
            // Of several digits, so that half a number is another one.
            next: Mutex::new(1_000),
            performing: Mutex::default(),
            turn: Arc::default(),
            committed: AtomicU64::new(0),
            crashes: watch::Sender::new(0),
            recovers: AtomicBool::new(false),
            fault,
        });
        let secret = "the-right-word".to_owned();
        let (of_the_server, word) = (queue.clone(), secret.clone());
        let job = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (queue, word) = (of_the_server.clone(), word.clone());
                connections.spawn(async move {
                    let mut crashes = queue.crashes.subscribe();
                    if queue.recovers.load(Ordering::SeqCst) {
                        return;
                    }
                    tokio::select! {
                        _ = crashes.changed() => {}
                        _ = queue.serve(stream, &word) => {}
                    }
                });
            }
        });
        Ok(Self {
            address,
            secret,
            queue,
            job,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has to be told.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Ends every connection and forgets what is under way, and returns when it serves again.
    pub async fn crash(&self) {
        self.queue.recovers.store(true, Ordering::SeqCst);
        self.queue.crashes.send_modify(|crashes| *crashes += 1);
        tokio::time::sleep(RECOVERY).await;
        self.queue.recovers.store(false, Ordering::SeqCst);
    }

    /// A client of it, that has asked nothing yet.
    pub fn client(&self) -> RemoteStore {
        RemoteStore::new(self.queue.clone(), self.address, &self.secret)
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.job.abort();
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl JobQueue {
    /// Lays something to do on the queue, and answers its number.
    pub(super) fn lay(&self, job: Job) -> u64 {
        let mut next = held(&self.next);
        *next += 1;
        held(&self.jobs).insert(*next, job);
        *next
    }

    /// What came of a number, once.
    pub(super) fn take(&self, number: u64) -> Option<Answer> {
        held(&self.answers).remove(&number)
    }

    /// Takes a job back that was given up. It is not done from then on.
    pub(super) fn withdraw(&self, number: u64) {
        if self.applies_given_up() {
            return;
        }
        let _begun = held(&self.performing);
        held(&self.jobs).remove(&number);
        held(&self.answers).remove(&number);
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn applies_given_up(&self) -> bool {
        self.has(Fault::AppliesGivenUp) || self.has(Fault::AppliesGivenUpOutOfOrder)
    }

    /// Whether it says that it does.
    pub(super) fn late_writes(&self) -> bool {
        self.has(Fault::AppliesGivenUpOutOfOrder)
    }

    async fn perform(&self, number: &str) -> Option<u64> {
        let number = number.parse().ok()?;
        let done = {
            let _begun = held(&self.performing);
            let mut job = held(&self.jobs).remove(&number)?;
            match (&mut job).now_or_never() {
                Some(answer) => Ok(held(&self.answers).insert(number, answer)),
                None => Err(job),
            }
        };
        if let Err(job) = done {
            let answer = job.await;
            held(&self.answers).insert(number, answer);
        }
        Some(number)
    }

    /// Does a job a while later, though nobody waits for it.
    fn apply_later(self: &Arc<Self>, number: String) {
        let queue = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LATER).await;
            queue.perform(&number).await
        });
    }

    /// One connection: the secret, then a line for each thing to do.
    async fn serve(self: &Arc<Self>, stream: TcpStream, secret: &str) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (from, mut to) = stream.into_split();
        let mut lines = BufReader::new(from).lines();
        if lines.next_line().await?.as_deref() != Some(secret) {
            return to.write_all(b"denied\n").await;
        }
        to.write_all(b"welcome\n").await?;
        let mut turn = Turn {
            held: None,
            kept: self.has(Fault::KeepsLockOfTheCutOff),
        };
        loop {
            let next = lines.next_line();
            let line = if turn.held.is_some() && !self.has(Fault::KeepsLockOfTheSilent) {
                tokio::time::timeout(SILENCE, next).await??
            } else {
                next.await?
            };
            let Some(line) = line else {
                return Ok(());
            };
            let done = match line.split_once(' ') {
                None => {
                    turn.held = Some(self.turn.clone().lock_owned().await);
                    Some(self.committed.load(Ordering::SeqCst) + 1)
                }
                Some(("last", number)) => {
                    if self.applies_given_up() {
                        turn.held = None;
                        tokio::select! {
                            // Nothing comes before the answer, but the end.
                            _ = lines.next_line() => {
                                self.apply_later(number.to_owned());
                                return Ok(());
                            }
                            () = tokio::time::sleep(WORK) => {}
                        }
                    }
                    let done = self.perform(number).await;
                    let committed = u64::from(done.is_some());
                    self.committed.fetch_add(committed, Ordering::SeqCst);
                    turn.held = None;
                    done
                }
                Some(("status", number)) => {
                    let committed = self.committed.load(Ordering::SeqCst);
                    Some(u64::from(number.parse().is_ok_and(|n: u64| n <= committed)))
                }
                Some((_, number)) => self.perform(number).await,
            };
            let Some(number) = done else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            to.write_all(format!("{number}\n").as_bytes()).await?;
        }
    }
}

/// The turn of a connection, which ends with it.
struct Turn {
    held: Option<OwnedMutexGuard<()>>,
    kept: bool,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.kept {
            std::mem::forget(self.held.take());
        }
    }
}
