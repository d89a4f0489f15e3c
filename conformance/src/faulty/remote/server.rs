use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfward_core::VectorStore;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};
use tokio::task::{JoinHandle, JoinSet};

use super::RemoteStore;
use crate::faulty::Fault;

/// A server before a store, on a port of its own, which ends with this.
pub struct RemoteServer {
    address: SocketAddr,
    secret: String,
    desk: Arc<Desk>,
    job: JoinHandle<()>,
}

pub(super) type Answer = Box<dyn Any + Send>;
pub(super) type Job = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Where clients lay what is to be done and find what came of it.
pub(super) struct Desk {
    pub(super) store: Arc<dyn VectorStore>,
    jobs: Mutex<HashMap<u64, Job>>,
    answers: Mutex<HashMap<u64, Answer>>,
    next: Mutex<u64>,
    /// One replace at a time.
    turn: Arc<Turns<()>>,
    keeps_locks: bool,
    waits_for_the_silent: bool,
}

/// So long the server waits for a client that has its turn and says nothing.
const SILENCE: Duration = Duration::from_secs(1);

impl RemoteServer {
    /// Begins one before a store.
    ///
    /// # Errors
    /// Where no port is to be had.
    pub async fn begin(store: Arc<dyn VectorStore>, fault: Option<Fault>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk {
            store,
            jobs: Mutex::default(),
            answers: Mutex::default(),
            // Of several digits, so that half a number is another one.
            next: Mutex::new(1_000),
            turn: Arc::default(),
            keeps_locks: fault == Some(Fault::KeepsLockOfTheCutOff),
            waits_for_the_silent: fault == Some(Fault::KeepsLockOfTheSilent),
        });
        let secret = "the-right-word".to_owned();
        let (of_the_server, word) = (desk.clone(), secret.clone());
        let job = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (desk, word) = (of_the_server.clone(), word.clone());
                connections.spawn(async move { desk.serve(stream, &word).await });
            }
        });
        Ok(Self {
            address,
            secret,
            desk,
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

    /// A client of it, that has asked nothing yet.
    pub fn client(&self) -> RemoteStore {
        RemoteStore::new(self.desk.clone(), self.address, &self.secret)
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

impl Desk {
    /// Lays something to do on the desk, and answers its number.
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

    async fn perform(&self, number: &str) -> Option<u64> {
        let number = number.parse().ok()?;
        let job = held(&self.jobs).remove(&number)?;
        let answer = job.await;
        held(&self.answers).insert(number, answer);
        Some(number)
    }

    /// One connection: the secret, then a line for each thing to do.
    async fn serve(&self, stream: TcpStream, secret: &str) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (from, mut to) = stream.into_split();
        let mut lines = BufReader::new(from).lines();
        if lines.next_line().await?.as_deref() != Some(secret) {
            return to.write_all(b"denied\n").await;
        }
        to.write_all(b"welcome\n").await?;
        let mut turn = Turn {
            held: None,
            kept: self.keeps_locks,
        };
        loop {
            let next = lines.next_line();
            let line = if turn.held.is_some() && !self.waits_for_the_silent {
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
                    Some(0)
                }
                Some(("last", number)) => {
                    let done = self.perform(number).await;
                    turn.held = None;
                    done
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
