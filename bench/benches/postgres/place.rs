//! The server, and a schema of our own on it, which is dropped at the end.

use std::str::FromStr as _;

use shelfward_postgres::{Identifier, PostgresOptions, PostgresStore, VectorIndex};
use sqlx_core::executor::Executor as _;
use sqlx_core::row::Row as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::runtime::Runtime;

pub(crate) struct Place {
    pub(crate) runtime: Runtime,
    /// What hand-written calls go through: a pool with its default options.
    pub(crate) pool: PgPool,
    /// The same, for statements whose plan depends on their values: they are planned for them, as ours
    /// are. By itself the server soon takes one plan for any values, which here is a bad one.
    pub(crate) planned: PgPool,
    connection: PgConnectOptions,
    schema: String,
}

impl Place {
    pub(crate) fn new(url: &str) -> Result<Self, String> {
        // The driver's message may hold the URL.
        let connection = PgConnectOptions::from_str(url).map_err(|_| "DATABASE_URL is none")?;
        let runtime = Runtime::new().map_err(|e| e.to_string())?;
        // As wide a search as ours, over a graph that goes on until enough rows passed.
        let by_hand = (connection.clone()).options([
            ("hnsw.ef_search", "100"),
            ("hnsw.iterative_scan", "relaxed_order"),
        ]);
        let planned = by_hand
            .clone()
            .options([("plan_cache_mode", "force_custom_plan")]);
        let connect = |with| runtime.block_on(PgPoolOptions::new().connect_with(with));
        let silent = |_| "no server answers under DATABASE_URL";
        let place = Self {
            pool: connect(by_hand).map_err(silent)?,
            planned: connect(planned).map_err(silent)?,
            runtime,
            connection,
            schema: format!("sfwt_bench{}", std::process::id()),
        };
        place.run("CREATE EXTENSION IF NOT EXISTS vector");
        Ok(place)
    }

    /// What serves.
    pub(crate) fn server(&self) -> String {
        let ask = "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1) || \
                   ' with pgvector ' || extversion || ' and ' || current_setting('shared_buffers') || \
                   ' of shared buffers' FROM pg_extension WHERE extname = 'vector'";
        let row = self
            .runtime
            .block_on(sqlx_core::query::query(ask).fetch_one(&self.pool));
        row.unwrap().get(0)
    }

    /// A store of the adapter.
    pub(crate) fn store(&self, index: VectorIndex) -> PostgresStore {
        let options = PostgresOptions::default()
            .with_schema(Identifier::new(&self.schema).unwrap())
            .with_index(index);
        let store = PostgresStore::connect(self.connection.clone(), options);
        self.runtime.block_on(store).unwrap()
    }

    /// A collection's table as SQL names it.
    pub(crate) fn table(&self, collection: &str) -> String {
        format!("{}.\"shelfward_{collection}\"", self.schema)
    }

    /// Statements without values, on one connection.
    pub(crate) fn run(&self, sql: &str) {
        let done = self
            .pool
            .execute(sqlx_core::raw_sql::raw_sql(AssertSqlSafe(sql)));
        self.runtime.block_on(done).unwrap();
    }

    /// One text.
    pub(crate) fn ask(&self, sql: &str) -> String {
        let asked = sqlx_core::query_scalar::query_scalar(AssertSqlSafe(sql)).fetch_one(&self.pool);
        self.runtime.block_on(asked).unwrap()
    }

    /// Loads a table without its graph, which is then made at once: row by row it takes many times as
    /// long.
    pub(crate) fn without_graph(&self, collection: &str, load: impl FnOnce()) {
        let graph = format!("{}.\"shelfward__{collection}_hnsw\"", self.schema);
        let made = self.ask(&format!("SELECT pg_get_indexdef('{graph}'::regclass)"));
        self.run(&format!("DROP INDEX {graph}"));
        load();
        self.run(&format!(
            "SET maintenance_work_mem = '1GB'; {made}; RESET maintenance_work_mem"
        ));
        self.settle(collection);
    }

    /// Does what the server would do in the background some time later.
    pub(crate) fn settle(&self, collection: &str) {
        self.run(&format!("VACUUM (ANALYZE) {}", self.table(collection)));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        let dropped = self
            .pool
            .execute(sqlx_core::raw_sql::raw_sql(AssertSqlSafe(drop)));
        if self.runtime.block_on(dropped).is_err() {
            eprintln!("the schema {} was left behind", self.schema);
        }
    }
}
