//! The connections to one file, and the jobs that run on them.
//!
//! There is one writer behind a mutex, and readers as many as the options say. A store in memory has
//! one connection for both.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use shelfward_core::adapter::WriteLocks;
use shelfward_core::{CollectionName, ErrorKind, Operation, Result};
use tokio::sync::Semaphore;

use crate::config::SqliteOptions;
use crate::error::{Fail, Job};
use crate::file;
use crate::place::Place;
use crate::shared::Shared;
use crate::store::closed;

/// One file or memory, with its connections.
pub(crate) struct Database {
    /// `None` in memory.
    place: Option<Place>,
    pub(crate) options: SqliteOptions,
    /// `None` when the last handle was closed.
    writer: Mutex<Option<Connection>>,
    idle_readers: Mutex<Vec<Connection>>,
    // Places are waited for without a thread. They belong to the job, which may outlive the call.
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    /// Handles of the store that were not closed.
    pub(crate) handles: AtomicUsize,
    shut: AtomicBool,
    /// What the handles of a collection share, by its generation.
    pub(crate) shared: Mutex<HashMap<i64, Arc<Shared>>>,
    pub(crate) locks: WriteLocks,
}

pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Told when the caller of a job gives it up.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<StopState>);

#[derive(Default)]
struct StopState {
    given_up: AtomicBool,
    /// Held while a job commits, so that whoever gives up knows that nothing lands afterwards.
    gate: Mutex<()>,
}

impl Stop {
    pub(crate) fn give_up(&self) {
        let _gate = held(&self.0.gate);
        self.0.given_up.store(true, Ordering::SeqCst);
    }

    /// Whether the caller went away.
    pub(crate) fn is_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::SeqCst)
    }

    /// For what looks at rows in memory.
    pub(crate) fn watched(&self) -> shelfward_resident::Stop<'_> {
        shelfward_resident::Stop::when(&self.0.given_up)
    }

    pub(crate) fn check(&self) -> Job<()> {
        if self.is_given_up() {
            Err(Fail::GivenUp)
        } else {
            Ok(())
        }
    }
}

/// Gives a job up unless it was waited for to its end.
struct GiveUpOnDrop(Option<Stop>);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        if let Some(stop) = self.0.take() {
            stop.give_up();
        }
    }
}

/// What a call is about, for its error.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) operation: Operation,
    pub(crate) collection: Option<&'a CollectionName>,
}

impl Database {
    pub(crate) fn open_file(path: &Path, options: SqliteOptions) -> Job<Self> {
        // Readers are opened later, when the process may stand in another folder. And whole paths are
        // never taken for what begins with `file:`.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (connection, place) = file::open(&path, &options)?;
        Ok(Self::over(Some(place), options, connection))
    }

    pub(crate) fn in_memory(options: SqliteOptions) -> Job<Self> {
        let connection = file::open_in_memory(&options)?;
        Ok(Self::over(None, options, connection))
    }

    fn over(place: Option<Place>, options: SqliteOptions, connection: Connection) -> Self {
        let readers = options.readers.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            place,
            options,
            writer: Mutex::new(Some(connection)),
            idle_readers: Mutex::default(),
            reads: Arc::new(Semaphore::new(readers)),
            writes: Arc::new(Semaphore::new(1)),
            handles: AtomicUsize::new(1),
            shut: AtomicBool::new(false),
            shared: Mutex::default(),
            locks: WriteLocks::new(),
        }
    }

    pub(crate) fn is_a_file(&self) -> bool {
        self.place.is_some()
    }

    /// Lets the connections go, when nobody writes or reads, and tells whether the log could be
    /// brought into the file.
    pub(crate) async fn shut(self: &Arc<Self>, call: Call<'_>) -> Result<()> {
        let database = self.clone();
        let shut = self.run(call, move |_| {
            database.shut.store(true, Ordering::SeqCst);
            let writer = held(&database.writer).take();
            held(&database.idle_readers).clear();
            held(&database.shared).clear();
            match writer {
                Some(writer) if database.is_a_file() => file::checkpoint(&writer),
                _ => Ok(()),
            }
        });
        shut.await
    }

    /// Runs a job on a thread where blocking is allowed. When the returned future is dropped, the
    /// job ends at its next look, and changes nothing after the drop.
    async fn run<T: Send + 'static>(
        &self,
        call: Call<'_>,
        job: impl FnOnce(&Stop) -> Job<T> + Send + 'static,
    ) -> Result<T> {
        let stop = Stop::default();
        let mut guard = GiveUpOnDrop(Some(stop.clone()));
        let ended = tokio::task::spawn_blocking(move || job(&stop)).await;
        guard.0 = None;
        let told =
            |fail: Fail| fail.told(call.operation, call.collection, self.options.busy_timeout);
        match ended {
            Ok(answer) => answer.map_err(told),
            Err(_) => Err(told(Fail::Kind(ErrorKind::Engine))),
        }
    }

    /// Runs a job in one read transaction: all that it reads is of one moment.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&mut Reading<'_>) -> Job<T> + Send + 'static,
    ) -> Result<T> {
        let place = self.reads.clone().acquire_owned().await;
        let database = self.clone();
        let answer = self.run(call, move |stop| {
            let _place = place;
            stop.check()?;
            database.on_reader(stop, |connection| {
                let mut reading = Reading::begin(connection, stop)?;
                job(&mut reading)
            })
        });
        answer.await
    }

    /// Runs a job in one write transaction, in its turn: whole, or nothing of it.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&Connection, &Stop) -> Job<T> + Send + 'static,
    ) -> Result<T> {
        self.write_then(call, job, |answer| answer).await
    }

    /// Does what [`write`](Self::write) does, and what is to be done with the job's answer once it is
    /// committed, whoever waits for it by then. An answer that is not committed is dropped.
    pub(crate) async fn write_then<T: Send + 'static, U: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&Connection, &Stop) -> Job<T> + Send + 'static,
        committed: impl FnOnce(T) -> U + Send + 'static,
    ) -> Result<U> {
        let place = self.writes.clone().acquire_owned().await;
        let database = self.clone();
        let answer = self.run(call, move |stop| {
            let _place = place;
            stop.check()?;
            let mut writer = held(&database.writer);
            let connection = &Watched::new(writer.as_mut().ok_or_else(shut)?, stop)?;
            stop.check()?;
            // Takes the turn among all processes.
            let transaction =
                Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
                    .map_err(Fail::Uncommitted)?;
            stop.check()?;
            let answer = job(connection, stop).map_err(Fail::uncommitted)?;
            // Nobody gives up while it is held, so the commit is not interrupted.
            let gate = held(&stop.0.gate);
            stop.check()?;
            // As late as can be: what is written to a file that was replaced is lost.
            if let Some(place) = &database.place {
                place.check()?;
            }
            let ended = transaction.commit();
            ended.map_err(|error| file::after_failed_commit(connection, error))?;
            drop(gate);
            Ok(committed(answer))
        });
        answer.await
    }

    fn on_reader<T>(&self, stop: &Stop, job: impl FnOnce(&Connection) -> Job<T>) -> Job<T> {
        let Some(place) = &self.place else {
            let mut writer = held(&self.writer);
            let connection = Watched::new(writer.as_mut().ok_or_else(shut)?, stop)?;
            return job(&connection);
        };
        if self.shut.load(Ordering::SeqCst) {
            return Err(shut());
        }
        place.check()?;
        let idle = held(&self.idle_readers).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => file::connect_reader(place, &self.options)?,
        };
        let answer = job(&*Watched::new(&mut connection, stop)?);
        // One that a failure left in the middle of something is not used again.
        if connection.is_autocommit() {
            let mut idle = held(&self.idle_readers);
            // Looked at under the lock, so that none is put back after all were let go.
            if !self.shut.load(Ordering::SeqCst) {
                idle.push(connection);
            }
        }
        if place.stands_still {
            // Nobody may have written under the hands of the job.
            place.check()?;
        }
        answer
    }
}

fn shut() -> Fail {
    Fail::Kind(closed())
}

/// A connection whose work the engine ends when the caller gives up.
struct Watched<'a>(&'a mut Connection);

impl<'a> Watched<'a> {
    fn new(connection: &'a mut Connection, stop: &Stop) -> Job<Self> {
        let stop = stop.clone();
        connection.progress_handler(10_000, Some(move || stop.is_given_up()))?;
        Ok(Self(connection))
    }
}

impl Deref for Watched<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let _ = self.0.progress_handler(0, None::<fn() -> bool>);
    }
}

/// A read transaction, which can be begun again to see what happened since.
pub(crate) struct Reading<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) stop: &'a Stop,
    transaction: Option<Transaction<'a>>,
}

impl<'a> Reading<'a> {
    fn begin(connection: &'a Connection, stop: &'a Stop) -> Job<Self> {
        let mut reading = Self {
            connection,
            stop,
            transaction: None,
        };
        reading.again()?;
        Ok(reading)
    }

    /// Ends this transaction and begins another.
    pub(crate) fn again(&mut self) -> Job<()> {
        self.stop.check()?;
        // Dropping one ends it.
        self.transaction = None;
        let begun = Transaction::new_unchecked(self.connection, TransactionBehavior::Deferred)?;
        self.transaction = Some(begun);
        Ok(())
    }
}
