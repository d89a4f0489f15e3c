use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, StoreError,
    async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::SqliteCollection;
use crate::config::SqliteOptions;
use crate::database::{Call, Database, Stop, held};
use crate::error::{Job, corrupt};
use crate::record_mapping;
use crate::schema::{self, Entry};
use crate::shared::Shared;
use crate::writes::Writing;

/// A store in one file, or in memory. A clone is another handle on the same connections, closed by
/// itself.
pub struct SqliteStore {
    database: Arc<Database>,
    closed: Arc<AtomicBool>,
}

impl SqliteStore {
    /// Opens a file, or makes it. Blocks for as long as it takes to verify the file.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for a file that is damaged or another program's,
    /// [`ErrorKind::Unsupported`] for one that a newer version wrote, [`ErrorKind::Invalid`] where
    /// there is none and none may be made, and for options that mean nothing. Nothing is written then.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        refuse(options.problem())?;
        let waited = options.busy_timeout;
        Database::open_file(path.as_ref(), options)
            .map(Self::over)
            .map_err(|fail| fail.told(Operation::Connect, None, waited))
    }

    /// An empty store in memory, gone with its last handle.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn in_memory() -> Result<Self> {
        Self::in_memory_with(SqliteOptions::default())
    }

    /// An empty store in memory. Of the options, `max_bytes` means something there.
    ///
    /// # Errors
    /// Options that it cannot keep to, such as `read_only`, and those of the engine.
    pub fn in_memory_with(options: SqliteOptions) -> Result<Self> {
        refuse(options.problem_in_memory())?;
        let waited = options.busy_timeout;
        Database::in_memory(options)
            .map(Self::over)
            .map_err(|fail| fail.told(Operation::Connect, None, waited))
    }

    fn over(database: Database) -> Self {
        Self {
            database: Arc::new(database),
            closed: Arc::default(),
        }
    }

    fn refuse_when_closed(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            Err(StoreError::new(operation, closed()))
        } else {
            Ok(())
        }
    }
}

fn refuse(problem: Option<&'static str>) -> Result<()> {
    problem.map_or(Ok(()), |problem| {
        let kind = ErrorKind::Invalid(problem.to_owned());
        Err(StoreError::new(Operation::Connect, kind))
    })
}

/// Why a call on a handle that was closed is refused.
pub(crate) fn closed() -> ErrorKind {
    ErrorKind::Invalid("this handle of the store was closed".to_owned())
}

impl Clone for SqliteStore {
    fn clone(&self) -> Self {
        self.database.handles.fetch_add(1, Ordering::SeqCst);
        Self {
            database: self.database.clone(),
            closed: Arc::default(),
        }
    }
}

/// Shows the options, never the path.
impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("options", &self.database.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for SqliteStore {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        capabilities(self.database.is_a_file())
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.refuse_when_closed(Operation::Create)?;
        let call = Call {
            operation: Operation::Create,
            collection: Some(&spec.name),
        };
        let spec = spec.clone();
        let job = move |connection: &Connection, stop: &Stop| create(connection, &spec, stop);
        self.database.write(call, job).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        self.refuse_when_closed(Operation::Open)?;
        let call = Call {
            operation: Operation::Open,
            collection: Some(name),
        };
        let (database, asked) = (self.database.clone(), name.clone());
        let opened = self.database.read(call, move |reading| {
            let entry = Entry::read(reading.connection, &asked)?;
            let generation = entry.as_ref().map(|entry| entry.generation);
            let mut all = held(&database.shared);
            // Those of the name that were dropped, by whatever process, need no memory any more.
            all.retain(|there, shared| shared.name != asked.as_str() || Some(*there) == generation);
            let Some(entry) = entry else {
                return Ok(None);
            };
            let shared = match all.get(&entry.generation) {
                Some(shared) => shared.clone(),
                None => {
                    let shared = Arc::new(Shared::new(&entry)?);
                    all.insert(entry.generation, shared.clone());
                    shared
                }
            };
            let spec = shared.spec(&entry)?;
            Ok(Some((shared, spec, entry.generation)))
        });
        let handle = |(shared, spec, generation)| -> Arc<dyn CollectionAdapter> {
            Arc::new(SqliteCollection {
                database: self.database.clone(),
                shared,
                spec,
                generation,
                capabilities: capabilities(self.database.is_a_file()),
                store_closed: self.closed.clone(),
            })
        };
        Ok(opened.await?.map(handle))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.refuse_when_closed(Operation::List)?;
        let call = Call {
            operation: Operation::List,
            collection: None,
        };
        let names = self.database.read(call, |reading| {
            let entries = Entry::all(reading.connection)?;
            let mut names = entries
                .iter()
                .map(|entry| CollectionName::new(&entry.name))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|_| corrupt("a collection has a name that is none"))?;
            names.sort();
            Ok(names)
        });
        names.await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.refuse_when_closed(Operation::DropCollection)?;
        let call = Call {
            operation: Operation::DropCollection,
            collection: Some(name),
        };
        let asked = name.clone();
        let dropped = self.database.write(call, move |connection, _| {
            let Some(entry) = Entry::read(connection, &asked)? else {
                return Ok(None);
            };
            schema::drop_tables(connection, entry.number)?;
            connection.execute("DELETE FROM collections WHERE name = ?", [asked.as_str()])?;
            Ok(Some(entry.generation))
        });
        let dropped = dropped.await?;
        if let Some(generation) = dropped {
            held(&self.database.shared).remove(&generation);
        }
        Ok(dropped.is_some())
    }

    fn write_locks(&self) -> WriteLocks {
        self.database.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.refuse_when_closed(Operation::Health)?;
        let call = Call {
            operation: Operation::Health,
            collection: None,
        };
        let asked = self
            .database
            .read(call, |reading| Entry::all(reading.connection).map(drop));
        asked.await
    }

    async fn close(&self) -> Result<()> {
        let was_closed = self.closed.swap(true, Ordering::SeqCst);
        if was_closed || self.database.handles.fetch_sub(1, Ordering::SeqCst) != 1 {
            return Ok(());
        }
        let call = Call {
            operation: Operation::Close,
            collection: None,
        };
        self.database.shut(call).await
    }
}

/// What a table holds in columns at most, less those that every table has.
const MAX_FIELDS: usize = 1_900;

fn create(connection: &Connection, spec: &CollectionSpec, stop: &Stop) -> Job<()> {
    let Some(entry) = Entry::read(connection, &spec.name)? else {
        check_fields(spec)?;
        spec.check().map_err(ErrorKind::from)?;
        let number = schema::free_number(connection)?;
        let generation = connection.query_row("SELECT random()", [], |row| row.get(0))?;
        let entry = Entry::new(spec, number, generation)?;
        schema::make_tables(connection, spec, number)?;
        return entry.write(connection);
    };
    let existing = entry.read_spec()?;
    existing.check_serves(spec).map_err(ErrorKind::from)?;
    let lacking: Vec<_> = existing.lacking(spec).into_iter().cloned().collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let wanted = existing.clone().with_fields(lacking);
    check_fields(&wanted)?;
    wanted.check().map_err(ErrorKind::from)?;
    add_fields(connection, entry, &existing, wanted, stop)
}

fn check_fields(spec: &CollectionSpec) -> Job<()> {
    if spec.fields.len() <= MAX_FIELDS {
        return Ok(());
    }
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    Err(ErrorKind::Limit {
        what: "declared fields",
        given: as_u64(spec.fields.len()),
        max: as_u64(MAX_FIELDS),
    }
    .into())
}

/// Writes every row into tables that have the new fields, and drops the old tables.
fn add_fields(
    connection: &Connection,
    entry: Entry,
    existing: &CollectionSpec,
    wanted: CollectionSpec,
    stop: &Stop,
) -> Job<()> {
    let (old, rows) = (entry.number, entry.row_count);
    let mut made = Entry {
        number: schema::free_number(connection)?,
        row_count: 0,
        row_sum: 0,
        next_row: 1,
        gone: 0,
        // Whoever knows the old rows reads all of them again.
        pruned: entry.changes + 1,
        ..entry
    };
    made.set_spec(&wanted)?;
    schema::make_tables(connection, &wanted, made.number)?;
    let mut writing = Writing::of(connection, made, Arc::new(wanted), stop);
    {
        let mut all = connection.prepare(&format!("SELECT * FROM rows_{old} ORDER BY n"))?;
        let mut all = all.query([])?;
        while let Some(row) = all.next()? {
            let record = record_mapping::parts(existing, row)?.record();
            writing.insert(&record)?;
        }
    }
    if writing.entry.row_count != rows {
        return Err(corrupt("rows of a collection are missing"));
    }
    schema::drop_tables(connection, old)?;
    writing.tables_changed();
    writing.finish().map(drop)
}
