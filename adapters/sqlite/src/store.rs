use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use shelfward_adapter::cancel::CancelToken;
use shelfward_adapter::catalog::merge_fields;
use shelfward_adapter::error::{Call, Classify as _, invalid};
use shelfward_adapter::handle::StoreHandle;
use shelfward_adapter::sync::lock;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, async_trait,
};

use crate::cache::Cache;
use crate::capabilities::capabilities;
use crate::collection::SqliteCollection;
use crate::config::SqliteOptions;
use crate::database::Database;
use crate::error::{self, corrupt};
use crate::handle::Handle;
use crate::reads::View;
use crate::schema::{self, CatalogRow};
use crate::writes::Writing;

/// A store in one file, or in memory. A clone is another handle on the same connections, closed by
/// itself.
#[derive(Clone)]
pub struct SqliteStore(StoreHandle<Arc<OpenStore>>);

/// What all handles share.
pub(crate) struct OpenStore {
    pub(crate) database: Arc<Database>,
    /// The generation of each collection that was opened, and what its handles share.
    collections: Mutex<HashMap<String, (i64, Arc<Cache>)>>,
    locks: WriteLocks,
}

impl SqliteStore {
    /// Opens a file, or makes it. Blocks for as long as it takes to verify the file.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for a file that is damaged or another program's,
    /// [`ErrorKind::Unsupported`] for one that a newer version wrote, [`ErrorKind::Invalid`] where
    /// there is none and none may be made, and for options that mean nothing. Nothing is written then.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        Self::over(options.problem(), options, |options| {
            Database::open_file(path.as_ref(), options)
        })
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
        Self::over(options.problem_in_memory(), options, Database::in_memory)
    }

    fn over(
        problem: Option<&'static str>,
        options: SqliteOptions,
        open: impl FnOnce(SqliteOptions) -> error::Result<Database>,
    ) -> Result<Self> {
        let call = Call::new(Operation::Connect);
        if let Some(problem) = problem {
            return Err(call.error(invalid(problem)));
        }
        let busy_timeout = options.busy_timeout;
        let database = open(options).map_err(|e| e.into_store_error(call, busy_timeout))?;
        Ok(Self(StoreHandle::new(Arc::new(OpenStore {
            database: Arc::new(database),
            collections: Mutex::default(),
            locks: WriteLocks::new(),
        }))))
    }

    fn open_store(&self, call: Call<'_>) -> Result<&Arc<OpenStore>> {
        self.0.get().map_err(|kind| call.error(kind))
    }
}

/// Shows the options, never the path.
impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("options", &self.0.store().database.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for SqliteStore {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        capabilities(self.0.store().database.is_a_file())
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let call = Call::on(Operation::Create, &spec.name);
        let store = self.open_store(call)?;
        // What is there is found by a read, which waits for no writer.
        let asked = spec.clone();
        let is_there = store.database.read(call, move |reading| {
            let entry = CatalogRow::read(reading.connection, &asked.name)?;
            let there = entry.map(|entry| entry.read_spec()).transpose()?;
            Ok(there.is_some_and(|there| there.covers(&asked)))
        });
        if is_there.await? {
            return Ok(());
        }
        let spec = spec.clone();
        let job =
            move |connection: &Connection, stop: &CancelToken| create(connection, &spec, stop);
        store.database.write(call, job).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let call = Call::on(Operation::Open, name);
        let store = self.open_store(call)?;
        let (shared, asked) = (store.clone(), name.clone());
        let opened = store.database.read(call, move |reading| {
            let entry = CatalogRow::read(reading.connection, &asked)?;
            let mut all = lock(&shared.collections);
            // What was dropped, by whatever process, needs no memory any more.
            let Some(entry) = entry else {
                all.remove(asked.as_str());
                return Ok(None);
            };
            let cached = all.entry(entry.name.clone()).or_default();
            if cached.0 != entry.generation {
                *cached = (entry.generation, Arc::default());
            }
            Handle::new(&entry, cached.1.clone()).map(Some)
        });
        let handle = |handle| -> Arc<dyn CollectionAdapter> {
            Arc::new(SqliteCollection {
                capabilities: capabilities(store.database.is_a_file()),
                store: self.0.lease(),
                handle,
            })
        };
        Ok(opened.await?.map(handle))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let call = Call::new(Operation::List);
        let store = self.open_store(call)?;
        let names = store.database.read(call, |reading| {
            let entries = CatalogRow::all(reading.connection)?;
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
        let call = Call::on(Operation::DropCollection, name);
        let store = self.open_store(call)?;
        let asked = name.clone();
        let dropped = store.database.write(call, move |connection, _| {
            let Some(entry) = CatalogRow::read(connection, &asked)? else {
                return Ok(false);
            };
            schema::drop_tables(connection, entry.number)?;
            connection.execute("DELETE FROM collections WHERE name = ?", [asked.as_str()])?;
            Ok(true)
        });
        let dropped = dropped.await?;
        if dropped {
            lock(&store.collections).remove(name.as_str());
        }
        Ok(dropped)
    }

    fn write_locks(&self) -> WriteLocks {
        self.0.store().locks.clone()
    }

    async fn health(&self) -> Result<()> {
        let call = Call::new(Operation::Health);
        let store = self.open_store(call)?;
        let asked = store.database.read(call, |reading| {
            CatalogRow::all(reading.connection).map(drop)
        });
        asked.await
    }

    async fn close(&self) -> Result<()> {
        let Some(store) = self.0.close() else {
            return Ok(());
        };
        let released = store.database.release(Call::new(Operation::Close)).await;
        lock(&store.collections).clear();
        released
    }
}

fn create(connection: &Connection, spec: &CollectionSpec, stop: &CancelToken) -> error::Result<()> {
    let Some(entry) = CatalogRow::read(connection, &spec.name)? else {
        spec.check().map_err(ErrorKind::from)?;
        let number = schema::free_number(connection)?;
        let generation = connection.query_row("SELECT random()", [], |row| row.get(0))?;
        schema::make_tables(connection, number)?;
        return CatalogRow::new(spec, number, generation)?.write(connection);
    };
    let existing = entry.read_spec()?;
    let Some(wanted) = merge_fields(&existing, spec)? else {
        return Ok(());
    };
    let view = View {
        connection,
        entry,
        spec: Arc::new(existing),
    };
    view.check_metadata(&wanted)?;
    Writing::of(view, stop).finish_fields(&wanted)
}
