use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::capabilities::Writers;
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, StoreError,
    async_trait,
};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::collection::RemoteCollection;
use super::server::{Answer, JobQueue, RECOVERY};
use crate::Fault;
use shelfward_conformance::layer::LayeredCollection;

/// A client of a [`RemoteServer`](super::RemoteServer). A clone uses the same connections.
#[derive(Clone)]
pub struct RemoteStore(Arc<Wire>);

/// The connections of one client.
pub(super) struct Wire {
    queue: Arc<JobQueue>,
    address: SocketAddr,
    secret: String,
    timeout: Duration,
    fault: Option<Fault>,
    idle: Mutex<Vec<Line>>,
    lost: AtomicBool,
    closed: AtomicBool,
    locks: WriteLocks,
}

type Line = BufReader<TcpStream>;

impl RemoteStore {
    pub(super) fn new(queue: Arc<JobQueue>, address: SocketAddr, secret: &str) -> Self {
        Self(Arc::new(Wire {
            queue,
            address,
            secret: secret.to_owned(),
            timeout: Duration::from_secs(30),
            fault: None,
            idle: Mutex::default(),
            lost: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            locks: WriteLocks::new(),
        }))
    }

    /// The same through another address, with this timeout and a fault if there is one.
    #[must_use]
    pub fn through(&self, address: SocketAddr, timeout: Duration, fault: Option<Fault>) -> Self {
        let mut other = Self::new(self.0.queue.clone(), address, &self.0.secret).0;
        if let Some(wire) = Arc::get_mut(&mut other) {
            (wire.timeout, wire.fault) = (timeout, fault);
        }
        Self(other)
    }

    /// The same with another secret.
    #[must_use]
    pub fn with_secret(&self, secret: &str, fault: Option<Fault>) -> Self {
        let mut other = Self::new(self.0.queue.clone(), self.0.address, secret).0;
        if let Some(wire) = Arc::get_mut(&mut other) {
            wire.fault = fault;
        }
        Self(other)
    }
}

impl Wire {
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Line>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gone(&self, operation: Operation, why: io::Error) -> StoreError {
        self.lost.store(true, Ordering::Relaxed);
        let kind = if self.has(Fault::CallsGoneAFailure) {
            ErrorKind::Engine
        } else {
            ErrorKind::Unavailable
        };
        StoreError::new(operation, kind).with_source(why)
    }

    async fn connect(&self, operation: Operation) -> Result<Line> {
        if self.has(Fault::NeverReconnects) && self.lost.load(Ordering::Relaxed) {
            return Err(StoreError::new(operation, ErrorKind::Unavailable));
        }
        let gone = |why| self.gone(operation, why);
        let stream = TcpStream::connect(self.address).await.map_err(gone)?;
        let mut line = BufReader::new(stream);
        let asked = format!("{}\n", self.secret);
        line.write_all(asked.as_bytes()).await.map_err(gone)?;
        if heard(&mut line).await.map_err(gone)? == "welcome" {
            return Ok(line);
        }
        if self.has(Fault::CallsDenialAFailure) {
            return Err(StoreError::new(operation, ErrorKind::Engine));
        }
        let denied = StoreError::new(operation, ErrorKind::Denied("the fake refuses it"));
        Err(if self.has(Fault::ShowsTheSecret) {
            denied.with_source(format!("{:?} was refused", self.secret))
        } else {
            denied
        })
    }

    /// Says lines one after another, over one connection, and answers what the last is answered. The
    /// number of the transaction that they begin, if they do, goes to `transaction`.
    async fn says(
        &self,
        operation: Operation,
        lines: &[String],
        transaction: &AtomicU64,
    ) -> Result<u64> {
        let there = self.idle().pop();
        let mut line = match there {
            Some(line) => line,
            None => self.connect(operation).await?,
        };
        let mut last = 0;
        for said in lines {
            let talk = async {
                line.write_all(format!("{said}\n").as_bytes()).await?;
                if self.has(Fault::ReadsPartOfAnAnswer) {
                    part(&mut line).await
                } else {
                    heard(&mut line).await
                }
            };
            let heard = if self.has(Fault::TakesLateAnswers) {
                match tokio::time::timeout(self.timeout, talk).await {
                    Ok(heard) => heard,
                    Err(_) => {
                        self.idle().push(line);
                        return Err(StoreError::new(operation, ErrorKind::Timeout(self.timeout)));
                    }
                }
            } else {
                talk.await
            };
            let heard = heard.map_err(|why| self.gone(operation, why))?;
            last = heard.parse().map_err(|_| {
                let what = "an answer that is no number".to_owned();
                StoreError::new(operation, ErrorKind::Contract(what))
            })?;
            if said == TURN {
                transaction.store(last, Ordering::Relaxed);
            }
        }
        self.idle().push(line);
        Ok(last)
    }

    /// Whether a transaction of this number was committed, by a client that believes it is its own.
    pub(super) async fn was_committed(&self, operation: Operation, transaction: u64) -> bool {
        if transaction == 0 {
            return false;
        }
        // Longer than the server needs to recover, as a client that tries again and again waits.
        tokio::time::sleep(4 * RECOVERY).await;
        let asked = [format!("status {transaction}")];
        // Connections that were lost too are found out one by one.
        loop {
            let are_left = !self.idle().is_empty();
            let said = self.says(operation, &asked, &AtomicU64::new(0)).await;
            if said.is_ok() || !are_left {
                return said.is_ok_and(|said| said == 1);
            }
        }
    }

    /// Has a job done by the server: whatever comes before it, and then the job itself. One that is
    /// given up is withdrawn.
    pub(super) async fn has_done<T: Send + 'static>(
        &self,
        operation: Operation,
        before: &[String],
        how: &str,
        transaction: &AtomicU64,
        job: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        if self.closed.load(Ordering::Relaxed) {
            let why = "this handle of the store was closed".to_owned();
            return Err(StoreError::new(operation, ErrorKind::Invalid(why)));
        }
        let number = self.lay(job);
        // One that takes late answers lets them come.
        let _withdrawn = (!self.has(Fault::TakesLateAnswers)).then_some(WithdrawOnDrop {
            queue: &self.queue,
            number,
        });
        let mut lines = before.to_vec();
        lines.push(format!("{how} {number}"));
        let talk = self.says(operation, &lines, transaction);
        let number = if self.has(Fault::WaitsForever) {
            talk.await?
        } else {
            // Given up here, the connection is dropped and not used again.
            let late = |_| StoreError::new(operation, ErrorKind::Timeout(self.timeout));
            // The fault that keeps its connection has to give up first.
            let timeout = self.timeout + Duration::from_millis(200);
            tokio::time::timeout(timeout, talk).await.map_err(late)??
        };
        let answer = self.queue.take(number);
        let answer = answer.and_then(|answer| answer.downcast::<Result<T>>().ok());
        answer.map_or_else(
            || {
                let what = "an answer to something else".to_owned();
                Err(StoreError::new(operation, ErrorKind::Contract(what)))
            },
            |answer| *answer,
        )
    }

    /// Lays a job on the queue.
    pub(super) fn lay<T: Send + 'static>(
        &self,
        job: impl Future<Output = Result<T>> + Send + 'static,
    ) -> u64 {
        self.queue
            .lay(Box::pin(async move { Box::new(job.await) as Answer }))
    }

    pub(super) async fn asks<T: Send + 'static>(
        &self,
        operation: Operation,
        job: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let none = AtomicU64::new(0);
        self.has_done(operation, &[], "do", &none, job).await
    }
}

/// What begins a transaction, which is answered by its number.
pub(super) const TURN: &str = "turn";

/// A job that is withdrawn with this, unless it was done.
struct WithdrawOnDrop<'a> {
    queue: &'a JobQueue,
    number: u64,
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        self.queue.withdraw(self.number);
    }
}

/// What the server says next, to the end of the line.
async fn heard(line: &mut Line) -> io::Result<String> {
    let mut said = String::new();
    line.read_line(&mut said).await?;
    match said.strip_suffix('\n') {
        Some(said) => Ok(said.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// What came of it so far.
async fn part(line: &mut Line) -> io::Result<String> {
    let mut said = [0; 64];
    let read = line.read(&mut said).await?;
    let said = String::from_utf8_lossy(said.get(..read).unwrap_or_default()).into_owned();
    if said.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(said.trim().to_owned())
}

fn declare(mut can: Capabilities, queue: &JobQueue) -> Capabilities {
    can.writers = Writers::AllProcesses;
    can.late_writes = queue.late_writes();
    can
}

#[async_trait]
impl StoreAdapter for RemoteStore {
    fn kind(&self) -> &'static str {
        "remote"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        declare(self.0.queue.store.capabilities(spec), &self.0.queue)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let (store, spec) = (self.0.queue.store.clone(), spec.clone());
        let creating = async move { store.create(&spec).await };
        self.0.asks(Operation::Create, creating).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let (store, name) = (self.0.queue.store.clone(), name.clone());
        let opening = async move { store.open(&name).await };
        let opened = self.0.asks(Operation::Open, opening).await?;
        Ok(opened.map(|behind| -> Arc<dyn CollectionAdapter> {
            let can = declare(behind.capabilities().clone(), &self.0.queue);
            let wire = self.0.clone();
            Arc::new(LayeredCollection(RemoteCollection { behind, can, wire }))
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let store = self.0.queue.store.clone();
        let listing = async move { store.list().await };
        self.0.asks(Operation::List, listing).await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        let (store, name) = (self.0.queue.store.clone(), name.clone());
        let dropping = async move { store.drop_collection(&name).await };
        self.0.asks(Operation::DropCollection, dropping).await
    }

    /// Of this client alone: the server orders replaces, and clients stand for those of several
    /// processes.
    fn write_locks(&self) -> WriteLocks {
        self.0.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        let store = self.0.queue.store.clone();
        let health = async move { store.health().await };
        self.0.asks(Operation::Health, health).await
    }

    async fn close(&self) -> Result<()> {
        self.0.closed.store(true, Ordering::Relaxed);
        self.0.idle().clear();
        Ok(())
    }
}
