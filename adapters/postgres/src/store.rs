use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use shelfward_adapter::error::{Call, Classify as _};
use shelfward_adapter::handle::StoreHandle;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, async_trait,
};
use sqlx_postgres::{PgConnectOptions, PgPool};

use crate::PostgresOptions;
use crate::capabilities::capabilities;
use crate::catalog::{self, Settings};
use crate::collection::PostgresCollection;
use crate::ddl::{Create, Drop, Policies, check};
use crate::error;
use crate::extension::Extension;
use crate::locks::{of_collection, of_tables};
use crate::names::TableNames;
use crate::open_store::OpenStore;
use crate::row_level_security::{self, Reader};
use crate::schema;
use crate::server::Server;

/// A store in a PostgreSQL database with pgvector. A clone is another handle on the same connections,
/// closed by itself.
#[derive(Clone)]
pub struct PostgresStore(StoreHandle<OpenStore>);

impl PostgresStore {
    /// Connects to a server. Makes nothing there: what a collection needs is made with it.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] for credentials that are refused, [`ErrorKind::Unavailable`] where no
    /// server answers, [`ErrorKind::Invalid`] for options that mean nothing, a database that there is
    /// not, and a server or an extension that is too old.
    pub async fn connect(connection: PgConnectOptions, options: PostgresOptions) -> Result<Self> {
        Self::over(options, |options| Server::connect(connection, options)).await
    }

    /// A store over connections that are there already.
    ///
    /// Such connections are used as they are: set `statement_timeout` where they are made. Closing
    /// the store leaves them open.
    ///
    /// # Errors
    /// As of [`connect`](Self::connect).
    pub async fn from_pool(pool: PgPool, options: PostgresOptions) -> Result<Self> {
        let over = |options| std::future::ready(Ok(Server::over(pool, options)));
        Self::over(options, over).await
    }

    async fn over<F: Future<Output = error::Result<Server>>>(
        options: PostgresOptions,
        connect: impl FnOnce(PostgresOptions) -> F,
    ) -> Result<Self> {
        let statement_timeout = options.statement_timeout;
        let connecting = async {
            options.check()?;
            let store = OpenStore::new(connect(options).await?);
            store.server_info().await?;
            Ok(Self(StoreHandle::new(store)))
        };
        let call = Call::new(Operation::Connect);
        let connected: error::Result<Self> = connecting.await;
        connected.map_err(|error| error.into_store_error(call, statement_timeout))
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
        let call = Call::on(Operation::Create, &spec.name);
        let statements = || -> error::Result<Vec<String>> {
            options.check()?;
            spec.check().map_err(ErrorKind::from)?;
            check(spec)?;
            let names = TableNames::of(options);
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
            statements.push(catalog::insert(&names, spec, &settings)?);
            if let Some(reader) = reader {
                statements.extend(row_level_security::statements(&names, spec, reader)?);
            }
            Ok(statements)
        };
        let statements = statements();
        let statements = statements.map_err(|e| e.into_store_error(call, Duration::ZERO))?;
        let mut sql = statements.join(";\n");
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
        let call = Call::on(Operation::Create, name);
        let store = self.open_store(call)?;
        let making = async {
            store.check_manages_schema()?;
            let row = store.row(name).await?.ok_or(ErrorKind::NoCollection)?;
            let statements = row_level_security::statements(&store.names, &row.spec, reader)?;
            Ok(Policies {
                // The tables first, as all that change them do.
                locks: vec![
                    of_tables(&store.names.registry()),
                    of_collection(&store.names.table(name)),
                ],
                sql: statements.join(";"),
            })
        };
        let policies = self.answer(call, making.await)?;
        store.server.transaction(call, policies).await
    }

    /// What the handles share, while this one is open.
    fn open_store(&self, call: Call<'_>) -> Result<&OpenStore> {
        self.0.get().map_err(|kind| call.error(kind))
    }

    fn answer<T>(&self, call: Call<'_>, done: error::Result<T>) -> Result<T> {
        let statement_timeout = self.0.store().server.options.statement_timeout;
        done.map_err(|error| error.into_store_error(call, statement_timeout))
    }
}

/// Shows the options, never the address or the credentials.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("options", &self.0.store().server.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for PostgresStore {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        let settings = Settings::of(&self.0.store().server.options, spec);
        capabilities(&settings, spec)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let call = Call::on(Operation::Create, &spec.name);
        let store = self.open_store(call)?;
        self.answer(call, check(spec))?;
        if !store.server.options.manage_schema {
            return self.answer(call, store.check_made_by_hand(spec).await);
        }
        if self.answer(call, store.is_made(spec).await)? {
            return Ok(());
        }
        let create = Create {
            names: store.names.clone(),
            settings: Settings::of(&store.server.options, spec),
            spec: spec.clone(),
        };
        store.server.transaction(call, create).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let call = Call::on(Operation::Open, name);
        let opened = self.open_store(call)?.open(name).await;
        let opened = self.answer(call, opened)?;
        Ok(opened.map(|context| -> Arc<dyn CollectionAdapter> {
            Arc::new(PostgresCollection {
                capabilities: capabilities(&context.row.settings, &context.row.spec),
                context: Arc::new(context),
                store: self.0.lease(),
            })
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let call = Call::new(Operation::List);
        let names = self.open_store(call)?.list().await;
        self.answer(call, names)
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        let call = Call::on(Operation::DropCollection, name);
        let store = self.open_store(call)?;
        self.answer(call, store.check_manages_schema())?;
        if self.answer(call, store.row(name).await)?.is_none() {
            return Ok(false);
        }
        let drop = Drop {
            names: store.names.clone(),
            name: name.clone(),
        };
        store.server.transaction(call, drop).await
    }

    fn write_locks(&self) -> WriteLocks {
        self.0.store().locks.clone()
    }

    async fn health(&self) -> Result<()> {
        let call = Call::new(Operation::Health);
        let asked = self.open_store(call)?.server_info().await;
        self.answer(call, asked).map(drop)
    }

    async fn close(&self) -> Result<()> {
        if let Some(store) = self.0.close() {
            store.server.close().await;
        }
        Ok(())
    }
}
