//! The connections to one file, and the jobs that run on them.
//!
//! There is one writer behind a mutex, and readers as many as the options say. A store in memory has
//! one connection for both.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use shelfward_core::{CollectionName, ErrorKind, Operation, Result};
use tokio::sync::Semaphore;

use crate::config::{SqliteOptions, Synchronous};
use crate::error::{Fail, Job, corrupt};
use crate::schema;
use crate::shared::Shared;
use crate::store::closed;

/// One file or memory, with its connections.
pub(crate) struct Database {
    path: Option<PathBuf>,
    pub(crate) options: SqliteOptions,
    /// `None` when the last handle was closed.
    writer: Mutex<Option<Connection>>,
    idle_readers: Mutex<Vec<Connection>>,
    reads: Semaphore,
    /// Handles of the store that were not closed.
    pub(crate) handles: AtomicUsize,
    shut: AtomicBool,
    /// What the handles of a collection share, by its generation.
    pub(crate) shared: Mutex<HashMap<i64, Arc<Shared>>>,
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
    fn give_up(&self) {
        let _gate = held(&self.0.gate);
        self.0.given_up.store(true, Ordering::SeqCst);
    }

    /// Whether the caller went away.
    pub(crate) fn is_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::SeqCst)
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
        let fresh = check_header(path, &options)?;
        let connection = connect(Some(path), &options, fresh)?;
        prepare_file(&connection, &options, fresh)?;
        Ok(Self::over(Some(path.to_owned()), options, connection))
    }

    pub(crate) fn in_memory(options: SqliteOptions) -> Job<Self> {
        let connection = connect(None, &options, true)?;
        schema::initialise(&connection)?;
        limit_size(&connection, &options)?;
        Ok(Self::over(None, options, connection))
    }

    fn over(path: Option<PathBuf>, options: SqliteOptions, connection: Connection) -> Self {
        let readers = options.readers.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            path,
            options,
            writer: Mutex::new(Some(connection)),
            idle_readers: Mutex::default(),
            reads: Semaphore::new(readers),
            handles: AtomicUsize::new(1),
            shut: AtomicBool::new(false),
            shared: Mutex::default(),
        }
    }

    /// Lets the connections go, when nobody writes or reads.
    pub(crate) fn shut(&self) {
        self.shut.store(true, Ordering::SeqCst);
        drop(held(&self.writer).take());
        held(&self.idle_readers).clear();
        held(&self.shared).clear();
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
        // A closed semaphore is never waited for: nothing closes it.
        let _permit = self.reads.acquire().await;
        let database = self.clone();
        let answer = self.run(call, move |stop| {
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
        let database = self.clone();
        let answer = self.run(call, move |stop| {
            stop.check()?;
            let writer = held(&database.writer);
            let connection = writer.as_ref().ok_or_else(shut)?;
            let _watched = Watched::new(connection, stop)?;
            stop.check()?;
            // Takes the turn among all processes.
            let transaction =
                Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            stop.check()?;
            let answer = job(connection, stop)?;
            let _gate = held(&stop.0.gate);
            stop.check()?;
            Watched::pause(connection)?;
            transaction.commit()?;
            Ok(answer)
        });
        answer.await
    }

    fn on_reader<T>(&self, stop: &Stop, job: impl FnOnce(&Connection) -> Job<T>) -> Job<T> {
        let Some(path) = &self.path else {
            let writer = held(&self.writer);
            let connection = writer.as_ref().ok_or_else(shut)?;
            let _watched = Watched::new(connection, stop)?;
            return job(connection);
        };
        if self.shut.load(Ordering::SeqCst) {
            return Err(shut());
        }
        let idle = held(&self.idle_readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(Some(path), &self.options, false)?,
        };
        let answer = {
            let _watched = Watched::new(&connection, stop)?;
            job(&connection)
        };
        // One that a failure left in the middle of something is not used again.
        if connection.is_autocommit() && !self.shut.load(Ordering::SeqCst) {
            held(&self.idle_readers).push(connection);
        }
        answer
    }
}

fn shut() -> Fail {
    Fail::Kind(closed())
}

/// Ends the engine's work when the caller gives up.
struct Watched<'a>(&'a Connection);

impl<'a> Watched<'a> {
    fn new(connection: &'a Connection, stop: &Stop) -> Job<Self> {
        let stop = stop.clone();
        connection.progress_handler(10_000, Some(move || stop.is_given_up()))?;
        Ok(Self(connection))
    }

    fn pause(connection: &Connection) -> Job<()> {
        Ok(connection.progress_handler(0, None::<fn() -> bool>)?)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let _ = Self::pause(self.0);
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

/// Whether the file is yet to be made. Refuses a file that is not ours before anything touches it.
fn check_header(path: &Path, options: &SqliteOptions) -> Job<bool> {
    let invalid = |text: &str| Err(Fail::Kind(ErrorKind::Invalid(text.to_owned())));
    let unavailable = |_: std::io::Error| Fail::Kind(ErrorKind::Unavailable);
    if path.as_os_str().is_empty() || path.as_os_str() == ":memory:" {
        return invalid("a file's path is due; a store in memory is opened by `in_memory`");
    }
    let may_create = options.create && !options.read_only;
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return if may_create {
                Ok(true)
            } else {
                invalid("there is no such file, and it may not be made")
            };
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(Fail::Kind(ErrorKind::Denied));
        }
        Err(error) => return Err(unavailable(error)),
    };
    if !file.metadata().map_err(unavailable)?.is_file() {
        return invalid("a file is due, not a folder or a device");
    }
    let mut header = Vec::with_capacity(100);
    std::io::Read::read_to_end(&mut std::io::Read::take(&mut file, 100), &mut header)
        .map_err(unavailable)?;
    if header.is_empty() {
        return if may_create {
            Ok(true)
        } else {
            invalid("the file is empty, and no store may be made in it")
        };
    }
    let number = |at: usize| {
        let bytes = header.get(at..at + 4)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    };
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(corrupt("the file is no SQLite file"));
    }
    check_version(number(68), number(60))?;
    Ok(false)
}

fn check_version(application: Option<i32>, version: Option<i32>) -> Job<()> {
    if application != Some(schema::APPLICATION_ID) {
        return Err(corrupt("the file is another program's"));
    }
    match version {
        Some(schema::VERSION) => Ok(()),
        Some(version) if version > schema::VERSION => Err(Fail::Kind(ErrorKind::Unsupported(
            "the file was written by a newer version; open it with that one",
        ))),
        _ => Err(corrupt("the file has no version that there ever was")),
    }
}

fn connect(path: Option<&Path>, options: &SqliteOptions, create: bool) -> Job<Connection> {
    // Without URI: a path is never read as anything else.
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags |= if options.read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    if create && !options.read_only {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = match path {
        Some(path) => Connection::open_with_flags(path, flags)?,
        None => Connection::open_in_memory()?,
    };
    connection.busy_timeout(options.busy_timeout.min(LONGEST_WAIT))?;
    connection.set_prepared_statement_cache_capacity(64);
    rusqlite::vtab::array::load_module(&connection)?;
    // A damaged page is met as an error rather than read past.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // In KiB. A large write that fits goes to the disk once; the memory is taken as it is needed.
    connection.pragma_update(None, "cache_size", -65_536)?;
    connection.pragma_update(
        None,
        "synchronous",
        match options.synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
        },
    )?;
    Ok(connection)
}

/// The longest wait that the engine can be told.
const LONGEST_WAIT: Duration = Duration::from_secs(2_000_000);

fn prepare_file(connection: &Connection, options: &SqliteOptions, fresh: bool) -> Job<()> {
    if fresh {
        // In one transaction, so that a file is ours from its first page on; before the journal is
        // another, so that this page is in the file itself.
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Exclusive)?;
        let objects: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        // Another process may have made it meanwhile.
        if objects == 0 {
            schema::initialise(connection)?;
        }
        transaction.commit()?;
    }
    // All of it of one moment: others may make collections meanwhile.
    let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    check_version(
        Some(pragma("application_id")?),
        Some(pragma("user_version")?),
    )?;
    if options.verify_on_open {
        verify(connection)?;
    }
    schema::check_tables(connection)?;
    drop(moment);
    if !connection.is_readonly(rusqlite::MAIN_DB)? {
        use_wal(connection, options)?;
        limit_size(connection, options)?;
    }
    Ok(())
}

fn verify(connection: &Connection) -> Job<()> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(corrupt("the file is damaged"))
    }
}

/// Readers see the old until the new is whole only with a write-ahead log.
fn use_wal(connection: &Connection, options: &SqliteOptions) -> Job<()> {
    let begun = std::time::Instant::now();
    loop {
        let set = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                return Err(Fail::Kind(ErrorKind::Unsupported(
                    "a write-ahead log, which this file system does not serve",
                )));
            }
            // The engine does not wait here by itself.
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::DatabaseBusy
                    && begun.elapsed() < options.busy_timeout =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn limit_size(connection: &Connection, options: &SqliteOptions) -> Job<()> {
    if let Some(max) = options.max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(max).unwrap_or(i64::MAX) / page.max(1);
        let pages = pages.clamp(1, i64::from(u32::MAX) - 1);
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}
