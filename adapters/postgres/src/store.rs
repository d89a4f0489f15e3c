use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use shelfward_core::{
    Capabilities, Collection, CollectionName, CollectionSpec, ErrorKind, Operation, Result,
    StoreError, VectorStore, WriteOrder, async_trait,
};
use sqlx::Row as _;
use sqlx::postgres::{PgConnectOptions, PgPool};

use crate::binds::{Bind, Binds, Statement};
use crate::capabilities::{MAX_WIDTH, capabilities};
use crate::collection::{Opened, PostgresCollection};
use crate::error::{Fail, Job, corrupt};
use crate::extension::{Extension, Facts};
use crate::locks::{self, Lock, of_collection, of_tables};
use crate::registry::{Entry, Settings};
use crate::row_level_security::{self, Reader};
use crate::schema::{self, Names};
use crate::server::Server;
use crate::transaction::{Transaction, Work};
use crate::{PostgresOptions, VectorIndex};

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
    orders: Mutex<HashMap<i64, WriteOrder>>,
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
                orders: Mutex::default(),
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
        let define = Define {
            // The tables first, as all that change them do.
            locks: vec![
                of_tables(&names.registry()),
                of_collection(&names.table(name)),
            ],
            sql: statements.join(";"),
        };
        let server = &self.shared.server;
        server
            .transaction(Operation::Create, Some(name), define)
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
            "making, changing and dropping tables: manage_schema is false; run the statements of \
             schema_sql by hand",
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

    fn order(&self, generation: i64) -> WriteOrder {
        let mut orders = (self.shared.orders.lock()).unwrap_or_else(PoisonError::into_inner);
        // Those of collections that nobody holds any more are as good as new ones.
        if orders.len() > MAX_ORDERS {
            orders.retain(|_, order| !order.is_empty());
        }
        orders.entry(generation).or_default().clone()
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

/// So many orders of writers are kept before some are forgotten.
const MAX_ORDERS: usize = 1_000;

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
impl VectorStore for PostgresStore {
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

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn Collection>>> {
        self.refuse_when_closed(Operation::Open)?;
        let opened = self.opened(name).await;
        let opened = opened.map_err(|fail| self.told(Operation::Open, Some(name), fail))?;
        Ok(opened.map(|opened| -> Arc<dyn Collection> {
            Arc::new(PostgresCollection {
                capabilities: capabilities(&opened.entry.settings, &opened.entry.spec),
                order: self.order(opened.entry.generation),
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
        let name = |row: &sqlx::postgres::PgRow| -> Job<CollectionName> {
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

/// How long a lock on a table is waited for: whoever waits for one stands before all that come later.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '2s'";

/// What a table holds in columns at most, less those that every table has.
const MAX_FIELDS: usize = 1_500;

fn check(spec: &CollectionSpec) -> Job<()> {
    spec.check().map_err(ErrorKind::from)?;
    let limit = |what, given: u64, max: u64| Err(ErrorKind::Limit { what, given, max }.into());
    if spec.width > MAX_WIDTH {
        return limit("numbers of a vector", spec.width.into(), MAX_WIDTH.into());
    }
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    if spec.fields.len() > MAX_FIELDS {
        return limit(
            "declared fields",
            as_u64(spec.fields.len()),
            as_u64(MAX_FIELDS),
        );
    }
    let (row, max) = (schema::least_row(spec), schema::MAX_ROW);
    if row > max {
        return limit(
            "bytes of a row in which every declared field has a value",
            as_u64(row),
            as_u64(max),
        );
    }
    Ok(())
}

/// Makes a collection, or adds what an existing one lacks.
struct Create {
    names: Names,
    settings: Settings,
    spec: CollectionSpec,
}

#[async_trait]
impl Work for Create {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        vec![of_tables(&self.names.registry())]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<()> {
        // Making an index of many rows takes as long as it takes; but nobody waits behind one who
        // waits for a table.
        transaction.define(LOCK_TIMEOUT).await?;
        transaction
            .define("SET LOCAL statement_timeout = 0")
            .await?;
        let extension = installed(transaction).await?;
        let mut settings = self.settings.clone();
        if settings.index == VectorIndex::HnswHalf && !extension.has_half() {
            settings.index = VectorIndex::None;
        }
        let (has_schema, is_prepared) = self.prepared(transaction).await?;
        if !has_schema {
            let own = schema::own_schema(&self.names);
            transaction.define(&own).await?;
        }
        if !is_prepared {
            let shared = schema::shared(&self.names).join(";");
            transaction.define(&shared).await?;
        }
        let rows = transaction
            .rows(&Entry::ask(&self.names, &self.spec.name))
            .await?;
        let (spec, settings) = match Entry::answered(&rows)? {
            None => {
                let table = schema::table(&self.names, &self.spec, &settings, &extension);
                let made = transaction.define(&table.join(";")).await;
                made.map_err(|fail| self.why_not_made(fail))?;
                let insert = Entry::insert(&self.names, &self.spec, &settings)?;
                transaction.execute(&insert).await?;
                (self.spec.clone(), settings)
            }
            Some(entry) => {
                let serves = entry.spec.check_serves(&self.spec);
                serves.map_err(ErrorKind::from)?;
                let first = entry.spec.fields.len();
                if !entry.spec.lacking(&self.spec).is_empty() {
                    // No writer goes on by the old spec while the new fields are filled.
                    let lock = of_collection(&self.names.table(&self.spec.name));
                    transaction.define(&locks::statements(&[lock])).await?;
                }
                let lacking = entry.spec.lacking(&self.spec).into_iter().cloned();
                let spec = entry.spec.clone().with_fields(lacking);
                check(&spec)?;
                for (at, field) in spec.fields.iter().enumerate().skip(first) {
                    let table = self.names.table(&spec.name);
                    let wrong = schema::other_kinds(&table, field);
                    if !transaction.rows(&wrong).await?.is_empty() {
                        return Err(ErrorKind::Invalid(format!(
                            "records hold {} that is not {}; write them anew before the field is declared",
                            field.key,
                            field.kind.name()
                        ))
                        .into());
                    }
                    let add = schema::add_column(&self.names, &spec, at, field);
                    transaction.define(&add).await?;
                }
                if spec != entry.spec {
                    let update = Entry::update_spec(&self.names, &spec)?;
                    transaction.execute(&update).await?;
                }
                (spec, entry.settings)
            }
        };
        for index in schema::indexes(&self.names, &spec, &settings, &extension) {
            transaction.define(&index.sql).await?;
        }
        Ok(())
    }
}

impl Create {
    /// Whether the schema is there, and what all collections share in it: a role that may not make
    /// them goes on where they are.
    async fn prepared(&self, transaction: &mut Transaction<'_>) -> Job<(bool, bool)> {
        let mut binds = Binds::default();
        let schema = binds.add(Bind::Text(self.names.schema().as_str().to_owned()));
        let registry = binds.add(Bind::Text(self.names.registry()));
        let texts = format!("{}(jsonb)", self.names.texts());
        let texts = binds.add(Bind::Text(texts));
        let sql = format!(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema}), \
             to_regclass({registry}) IS NOT NULL AND to_regprocedure({texts}) IS NOT NULL"
        );
        let rows = transaction.rows(&Statement { sql, binds }).await?;
        let row = rows.first().ok_or(ErrorKind::Engine)?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    fn why_not_made(&self, fail: Fail) -> Fail {
        let table = self.names.bare_table(&self.spec.name);
        let invalid = |why: String| Fail::Kind(ErrorKind::Invalid(why));
        match fail.code().as_deref() {
            Some("42P07") => invalid(format!(
                "the database has a table {table} that this store did not make; choose another \
                 table_prefix or schema"
            )),
            Some("42704") if self.settings.text_search.is_some() => invalid(
                "the server has no text search configuration of that name; \\dF lists them"
                    .to_owned(),
            ),
            _ => fail,
        }
    }
}

/// The extension, installed where it is not and the role may.
async fn installed(transaction: &mut Transaction<'_>) -> Job<Extension> {
    for install in [true, false] {
        let rows = transaction.rows(&Facts::ask()).await?;
        let facts = Facts::answered(&rows)?;
        if let Some(extension) = facts.extension()? {
            return Ok(extension);
        }
        if !install || !facts.can_be_installed {
            return Err(facts.missing().into());
        }
        // Two that make it at once are one too many for the server; the second finds it made.
        let lock = locks::statements(&[locks::of_extension()]);
        transaction.define(&lock).await?;
        let made = transaction
            .define("CREATE EXTENSION IF NOT EXISTS vector")
            .await;
        made.map_err(|fail| match fail.code().as_deref() {
            Some("42501" | "58P01" | "0A000") => Fail::Kind(facts.missing()),
            _ => fail,
        })?;
    }
    Err(ErrorKind::Engine.into())
}

/// Drops a collection.
struct Drop {
    names: Names,
    name: CollectionName,
}

#[async_trait]
impl Work for Drop {
    type Output = bool;

    fn locks(&self) -> Vec<Lock> {
        // The tables first, as all that make and drop them do.
        vec![
            of_tables(&self.names.registry()),
            of_collection(&self.names.table(&self.name)),
        ]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<bool> {
        let removed = transaction
            .execute(&Entry::remove(&self.names, &self.name))
            .await?;
        if removed == 0 {
            return Ok(false);
        }
        let table = self.names.table(&self.name);
        transaction
            .define(&format!("DROP TABLE IF EXISTS {table}"))
            .await?;
        Ok(true)
    }
}

/// Runs statements under locks.
struct Define {
    locks: Vec<Lock>,
    sql: String,
}

#[async_trait]
impl Work for Define {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        self.locks.clone()
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<()> {
        transaction.define(LOCK_TIMEOUT).await?;
        transaction.define(&self.sql).await
    }
}
