use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, StoreError,
    async_trait,
};
use sqlx_core::row::Row as _;
use sqlx_postgres::{PgConnectOptions, PgPool};

use crate::PostgresOptions;
use crate::capabilities::capabilities;
use crate::collection::{Opened, PostgresCollection};
use crate::definitions::{Create, Drop, Policies, check};
use crate::error::{Fail, Job, corrupt};
use crate::extension::{Extension, Facts};
use crate::locks::{of_collection, of_tables};
use crate::registry::{Entry, Settings};
use crate::row_level_security::{self, Reader};
use crate::schema::{self, Names};
use crate::server::Server;

/// A store in a PostgreSQL database with pgvector. A clone is another handle on the same connections,
/// closed by itself.
pub struct PostgresStore {
    shared: Arc<Shared>,
    closed: Arc<AtomicBool>,
}

/// What all handles share.
struct Shared {
    server: Arc<Server>,
    names: Names,
    locks: WriteLocks,
    handles: AtomicUsize,
}

impl PostgresStore {
    /// Connects to a server. Makes nothing there: what a collection needs is made with it.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] for credentials that are refused, [`ErrorKind::Unavailable`] where no
    /// server answers, [`ErrorKind::Invalid`] for options that mean nothing, a database that there is
    /// not, and a server or an extension that is too old.
    pub async fn connect(connection: PgConnectOptions, options: PostgresOptions) -> Result<Self> {
        let waited = options.statement_timeout;
        let told = |fail: Fail| fail.told(Operation::Connect, None, waited, 1);
        options.check().map_err(Fail::from).map_err(told)?;
        let server = Server::connect(connection, options).await.map_err(told)?;
        let store = Self::on(server);
        store.facts().await.map_err(told)?;
        Ok(store)
    }

    /// A store over connections that are there already.
    ///
    /// Such connections are used as they are: set `statement_timeout` where they are made. Closing
    /// the store leaves them open.
    ///
    /// # Errors
    /// As of [`connect`](Self::connect).
    pub async fn from_pool(pool: PgPool, options: PostgresOptions) -> Result<Self> {
        let waited = options.statement_timeout;
        let told = |fail: Fail| fail.told(Operation::Connect, None, waited, 1);
        options.check().map_err(Fail::from).map_err(told)?;
        let store = Self::on(Server::over(pool, options));
        store.facts().await.map_err(told)?;
        Ok(store)
    }

    fn on(server: Server) -> Self {
        Self {
            shared: Arc::new(Shared {
                names: Names::of(&server.options),
                server: Arc::new(server),
                locks: WriteLocks::new(),
                handles: AtomicUsize::new(1),
            }),
            closed: Arc::default(),
        }
    }

    /// Everything that a collection of this spec needs in the database, as SQL: for review, and for
    /// teams that make their tables themselves. With a reader, its policies of row-level security
    /// too.
    ///
    /// The statements are for an empty database. Run on one that has the collection already, those
    /// that make its table fail; what an open collection lacks is named when it is opened.
    ///
    /// # Errors
    /// [`ErrorKind::Spec`] for a spec that contradicts itself, [`ErrorKind::Invalid`] for policies
    /// of a collection that is no library.
    pub fn schema_sql(
        options: &PostgresOptions,
        spec: &CollectionSpec,
        reader: Option<&Reader>,
    ) -> Result<String> {
        let told =
            |fail: Fail| fail.told(Operation::Create, Some(&spec.name), Default::default(), 1);
        let statements = || -> Job<Vec<String>> {
            options.check()?;
            check(spec)?;
            let names = Names::of(options);
            let settings = Settings::of(options, spec);
            // Where it will lie: the first schema of the path takes it, unless it was put elsewhere.
            let extension = Extension::assumed(&crate::Identifier::new("public")?);
            let mut statements =
                vec!["CREATE EXTENSION IF NOT EXISTS vector SCHEMA public".to_owned()];
            if names.schema().as_str() != "public" {
                statements.push(schema::own_schema(&names));
            }
            statements.extend(schema::shared(&names));
            statements.extend(schema::table(&names, spec, &settings, &extension));
            let indexes = schema::indexes(&names, spec, &settings, &extension);
            statements.extend(indexes.into_iter().map(|index| index.sql));
            statements.push(Entry::insert_by_hand(&names, spec, &settings)?);
            if let Some(reader) = reader {
                statements.extend(row_level_security::statements(&names, spec, reader)?);
            }
            Ok(statements)
        };
        let mut sql = statements().map_err(told)?.join(";\n");
        sql.push_str(";\n");
        Ok(sql)
    }

    /// Lets a role read a collection within a scope alone, by the same policies as
    /// [`schema_sql`](Self::schema_sql) prints.
    ///
    /// # Errors
    /// [`ErrorKind::NoCollection`], [`ErrorKind::Unsupported`] where the store makes no tables,
    /// [`ErrorKind::Invalid`] for a collection that is no library, and those of the engine.
    pub async fn enable_row_level_security(
        &self,
        name: &CollectionName,
        reader: &Reader,
    ) -> Result<()> {
        self.refuse_when_closed(Operation::Create)?;
        let told = |fail| self.told(Operation::Create, Some(name), fail);
        self.refuse_unmanaged().map_err(told)?;
        let entry = self.entry(name).await.map_err(told)?;
        let entry = entry.ok_or_else(|| told(ErrorKind::NoCollection.into()))?;
        let names = &self.shared.names;
        let statements = row_level_security::statements(names, &entry.spec, reader)
            .map_err(|kind| told(kind.into()))?;
        let policies = Policies {
            // The tables first, as all that change them do.
            locks: vec![
                of_tables(&names.registry()),
                of_collection(&names.table(name)),
            ],
            sql: statements.join(";"),
        };
        let server = &self.shared.server;
        server
            .transaction(Operation::Create, Some(name), policies)
            .await
    }

    fn refuse_when_closed(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            Err(StoreError::new(operation, closed()))
        } else {
            Ok(())
        }
    }

    fn refuse_unmanaged(&self) -> Job<()> {
        if self.shared.server.options.manage_schema {
            return Ok(());
        }
        Err(ErrorKind::Unsupported(
            "making, changing and dropping tables: manage_schema is false; run what schema_sql prints by hand, \
             and to drop a collection, drop its table and delete its row in the table of collections",
        )
        .into())
    }

    fn told(&self, operation: Operation, name: Option<&CollectionName>, fail: Fail) -> StoreError {
        let waited = self.shared.server.options.statement_timeout;
        fail.told(operation, name, waited, 1)
    }

    /// The server's own word on what it is; refuses one that cannot serve.
    async fn facts(&self) -> Job<(Facts, Option<Extension>)> {
        let facts = Facts::of(&self.shared.server).await?;
        let extension = facts.extension()?;
        Ok((facts, extension))
    }

    async fn extension(&self) -> Job<Extension> {
        let (facts, extension) = self.facts().await?;
        Ok(extension.ok_or_else(|| facts.missing())?)
    }

    /// What is recorded under a name; nothing where nothing was ever made.
    async fn entry(&self, name: &CollectionName) -> Job<Option<Entry>> {
        let ask = Entry::ask(&self.shared.names, name);
        match self.shared.server.read(&ask).await {
            Err(fail) if no_tables(&fail) => Ok(None),
            rows => Entry::answered(&rows?),
        }
    }

    /// Opens what is recorded under a name. Looked at again where it was dropped while it was looked
    /// at.
    async fn opened(&self, name: &CollectionName) -> Job<Option<Opened>> {
        let mut tried = 0;
        loop {
            let Some(entry) = self.entry(name).await? else {
                return Ok(None);
            };
            let generation = entry.generation;
            tried += 1;
            match self.checked(name, entry, self.by_hand()).await {
                Ok(opened) => return Ok(Some(opened)),
                Err(fail) => {
                    let now = self.entry(name).await?.map(|entry| entry.generation);
                    if now == Some(generation) || tried == 3 {
                        return Err(fail);
                    }
                }
            }
        }
    }

    fn by_hand(&self) -> bool {
        !self.shared.server.options.manage_schema
    }

    /// A collection whose table has what it should.
    async fn checked(&self, name: &CollectionName, entry: Entry, indexes_too: bool) -> Job<Opened> {
        let opened = Opened {
            server: self.shared.server.clone(),
            names: self.shared.names.clone(),
            table: self.shared.names.table(name),
            extension: self.extension().await?,
            entry,
        };
        opened.check_table(indexes_too).await?;
        Ok(opened)
    }

    /// Whether a collection is there with all that this spec asks for, so that nothing is to be made
    /// and nobody to be waited for.
    async fn is_made(&self, spec: &CollectionSpec) -> Job<bool> {
        let Some(entry) = self.entry(&spec.name).await? else {
            return Ok(false);
        };
        entry.spec.check_serves(spec).map_err(ErrorKind::from)?;
        if !entry.spec.lacking(spec).is_empty() {
            return Ok(false);
        }
        Ok(self.checked(&spec.name, entry, true).await.is_ok())
    }

    async fn create_by_hand(&self, spec: &CollectionSpec) -> Job<()> {
        let Some(entry) = self.entry(&spec.name).await? else {
            return self.refuse_unmanaged();
        };
        entry.spec.check_serves(spec).map_err(ErrorKind::from)?;
        let lacking = entry.spec.lacking(spec);
        if lacking.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = lacking.iter().map(|field| field.key.as_str()).collect();
        Err(ErrorKind::Invalid(format!(
            "the collection does not declare {}; with manage_schema false, add the columns and indexes \
             that schema_sql prints, and its new spec to the table of collections",
            keys.join(", ")
        ))
        .into())
    }
}

/// The schema or the table of collections is not there, so there are none.
fn no_tables(fail: &Fail) -> bool {
    fail.is_code("42P01") || fail.is_code("3F000")
}

/// Why a call on a handle that was closed is refused.
pub(crate) fn closed() -> ErrorKind {
    ErrorKind::Invalid("this handle of the store was closed".to_owned())
}

impl Clone for PostgresStore {
    fn clone(&self) -> Self {
        self.shared.handles.fetch_add(1, Ordering::SeqCst);
        Self {
            shared: self.shared.clone(),
            closed: Arc::default(),
        }
    }
}

/// Shows the options, never the address or the credentials.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("options", &self.shared.server.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for PostgresStore {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        let settings = Settings::of(&self.shared.server.options, spec);
        capabilities(&settings, spec)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.refuse_when_closed(Operation::Create)?;
        let told = |fail| self.told(Operation::Create, Some(&spec.name), fail);
        check(spec).map_err(told)?;
        if !self.shared.server.options.manage_schema {
            return self.create_by_hand(spec).await.map_err(told);
        }
        if self.is_made(spec).await.map_err(told)? {
            return Ok(());
        }
        let create = Create {
            names: self.shared.names.clone(),
            settings: Settings::of(&self.shared.server.options, spec),
            spec: spec.clone(),
        };
        let server = &self.shared.server;
        server
            .transaction(Operation::Create, Some(&spec.name), create)
            .await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        self.refuse_when_closed(Operation::Open)?;
        let opened = self.opened(name).await;
        let opened = opened.map_err(|fail| self.told(Operation::Open, Some(name), fail))?;
        Ok(opened.map(|opened| -> Arc<dyn CollectionAdapter> {
            Arc::new(PostgresCollection {
                capabilities: capabilities(&opened.entry.settings, &opened.entry.spec),
                opened: Arc::new(opened),
                store_closed: self.closed.clone(),
            })
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.refuse_when_closed(Operation::List)?;
        let told = |fail| self.told(Operation::List, None, fail);
        let ask = Entry::ask_names(&self.shared.names);
        let rows = match self.shared.server.read(&ask).await {
            Err(fail) if no_tables(&fail) => return Ok(Vec::new()),
            rows => rows.map_err(told)?,
        };
        let name = |row: &sqlx_postgres::PgRow| -> Job<CollectionName> {
            CollectionName::new(row.try_get(0)?)
                .map_err(|_| corrupt("a collection has a name that is none"))
        };
        let names: Job<Vec<_>> = rows.iter().map(name).collect();
        let mut names = names.map_err(told)?;
        names.sort();
        Ok(names)
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.refuse_when_closed(Operation::DropCollection)?;
        let told = |fail| self.told(Operation::DropCollection, Some(name), fail);
        self.refuse_unmanaged().map_err(told)?;
        if self.entry(name).await.map_err(told)?.is_none() {
            return Ok(false);
        }
        let drop = Drop {
            names: self.shared.names.clone(),
            name: name.clone(),
        };
        let server = &self.shared.server;
        server
            .transaction(Operation::DropCollection, Some(name), drop)
            .await
    }

    fn write_locks(&self) -> WriteLocks {
        self.shared.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.refuse_when_closed(Operation::Health)?;
        let asked = self.facts().await;
        asked.map_err(|fail| self.told(Operation::Health, None, fail))?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if !self.closed.swap(true, Ordering::SeqCst)
            && self.shared.handles.fetch_sub(1, Ordering::SeqCst) == 1
        {
            self.shared.server.close().await;
        }
        Ok(())
    }
}
