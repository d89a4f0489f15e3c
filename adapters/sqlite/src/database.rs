//! The connections to one file, and the jobs that run on them.
//!
//! There is one writer behind a mutex, and readers as many as the options say. A store in memory has
//! one connection for both.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use shelfward_adapter::cancel::{Aborted, BlockingJobs, CancelToken, run_blocking};
use shelfward_adapter::error::{Call, Classify as _};
use shelfward_adapter::handle::closed;
use shelfward_adapter::sync::lock;
use shelfward_core::{ErrorKind, Result};

use crate::config::SqliteOptions;
use crate::database_file::DatabaseFile;
use crate::error::{self, Error, READ_ONLY};
use crate::file;

/// One file or memory, with its connections.
pub(crate) struct Database {
    /// `None` in memory.
    file: Option<DatabaseFile>,
    pub(crate) options: SqliteOptions,
    /// `None` when the last handle was closed.
    writer: Mutex<Option<Connection>>,
    idle_readers: Mutex<Vec<Connection>>,
    reads: BlockingJobs,
    writes: BlockingJobs,
    released: AtomicBool,
}

impl Database {
    pub(crate) fn open_file(path: &Path, options: SqliteOptions) -> error::Result<Self> {
        // Readers are opened later, when the process may stand in another folder. And whole paths are
        // never taken for what begins with `file:`.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (connection, file) = file::open(&path, &options)?;
        Ok(Self::over(Some(file), options, connection))
    }

    pub(crate) fn in_memory(options: SqliteOptions) -> error::Result<Self> {
        let connection = file::open_in_memory(&options)?;
        Ok(Self::over(None, options, connection))
    }

    fn over(file: Option<DatabaseFile>, options: SqliteOptions, connection: Connection) -> Self {
        Self {
            file,
            writer: Mutex::new(Some(connection)),
            idle_readers: Mutex::default(),
            reads: BlockingJobs::new(options.readers),
            writes: BlockingJobs::new(1),
            released: AtomicBool::new(false),
            options,
        }
    }

    pub(crate) fn is_a_file(&self) -> bool {
        self.file.is_some()
    }

    /// Closes the connections, when nobody writes or reads, and tells whether the log could be brought
    /// into the file.
    pub(crate) async fn release(self: &Arc<Self>, call: Call<'_>) -> Result<()> {
        let database = self.clone();
        let released = run_blocking(move |_| {
            database.released.store(true, Ordering::SeqCst);
            let writer = lock(&database.writer).take();
            lock(&database.idle_readers).clear();
            match writer {
                Some(writer) if database.is_a_file() => file::checkpoint(&writer),
                _ => Ok(()),
            }
        });
        self.answer(call, released.await)
    }

    fn answer<T>(&self, call: Call<'_>, ended: Result<error::Result<T>, Aborted>) -> Result<T> {
        let answer = ended.unwrap_or_else(|Aborted| Err(ErrorKind::Engine.into()));
        answer.map_err(|error| error.into_store_error(call, self.options.busy_timeout))
    }

    /// Runs a job in one read transaction: all that it reads is of one moment.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&mut Reading<'_>) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        let database = self.clone();
        let ended = self.reads.run(move |stop| {
            stop.check()?;
            database.on_reader(stop, |connection| {
                let mut reading = Reading::begin(connection, stop)?;
                job(&mut reading)
            })
        });
        self.answer(call, ended.await)
    }

    /// Runs a job in one write transaction, in its turn: whole, or nothing of it.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&Connection, &CancelToken) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_then(call, job, |answer| answer).await
    }

    /// Does what [`write`](Self::write) does, and what is to be done with the job's answer once it is
    /// committed, whoever waits for it by then. An answer that is not committed is dropped.
    pub(crate) async fn write_then<T: Send + 'static, U: Send + 'static>(
        self: &Arc<Self>,
        call: Call<'_>,
        job: impl FnOnce(&Connection, &CancelToken) -> error::Result<T> + Send + 'static,
        committed: impl FnOnce(T) -> U + Send + 'static,
    ) -> Result<U> {
        if self.options.read_only {
            return Err(call.error(READ_ONLY));
        }
        let database = self.clone();
        let ended = self.writes.run(move |stop| {
            stop.check()?;
            let mut writer = lock(&database.writer);
            let connection = &Watched::new(writer.as_mut().ok_or_else(released)?, stop)?;
            stop.check()?;
            // Takes the turn among all processes.
            let transaction =
                Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
                    .map_err(Error::Uncommitted)?;
            stop.check()?;
            let answer = job(connection, stop).map_err(Error::uncommitted)?;
            // Nobody cancels while it is held, so the commit is not interrupted.
            let committing = stop.begin_commit()?;
            // As late as can be: what is written to a file that was replaced is lost.
            if let Some(file) = &database.file {
                file.check()?;
            }
            let ended = transaction.commit();
            ended.map_err(|error| file::after_failed_commit(connection, error))?;
            drop(committing);
            Ok(committed(answer))
        });
        self.answer(call, ended.await)
    }

    fn on_reader<T>(
        &self,
        stop: &CancelToken,
        job: impl FnOnce(&Connection) -> error::Result<T>,
    ) -> error::Result<T> {
        let Some(file) = &self.file else {
            let mut writer = lock(&self.writer);
            let connection = Watched::new(writer.as_mut().ok_or_else(released)?, stop)?;
            return job(&connection);
        };
        if self.released.load(Ordering::SeqCst) {
            return Err(released());
        }
        file.check()?;
        let idle = lock(&self.idle_readers).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => file::connect_reader(file, &self.options)?,
        };
        let answer = job(&*Watched::new(&mut connection, stop)?);
        // One that a failure left in the middle of something is not used again.
        if connection.is_autocommit() {
            let mut idle = lock(&self.idle_readers);
            // Looked at under the lock, so that none is put back after all were let go.
            if !self.released.load(Ordering::SeqCst) {
                idle.push(connection);
            }
        }
        if file.is_immutable {
            // Nobody may have written under the hands of the job.
            file.check()?;
        }
        answer
    }
}

fn released() -> Error {
    Error::Kind(closed())
}

/// A connection whose work the engine ends when the caller is gone.
struct Watched<'a>(&'a mut Connection);

impl<'a> Watched<'a> {
    fn new(connection: &'a mut Connection, stop: &CancelToken) -> error::Result<Self> {
        let stop = stop.clone();
        connection.progress_handler(10_000, Some(move || stop.is_cancelled()))?;
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
    pub(crate) stop: &'a CancelToken,
    transaction: Option<Transaction<'a>>,
}

impl<'a> Reading<'a> {
    fn begin(connection: &'a Connection, stop: &'a CancelToken) -> error::Result<Self> {
        let mut reading = Self {
            connection,
            stop,
            transaction: None,
        };
        reading.again()?;
        Ok(reading)
    }

    /// Ends this transaction and begins another.
    pub(crate) fn again(&mut self) -> error::Result<()> {
        self.stop.check()?;
        // Dropping one ends it.
        self.transaction = None;
        let begun = Transaction::new_unchecked(self.connection, TransactionBehavior::Deferred)?;
        self.transaction = Some(begun);
        Ok(())
    }
}
