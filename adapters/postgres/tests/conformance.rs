//! The conformance suite on the server at `DATABASE_URL`, which every handle connects to by itself.
//! All that a run makes lies in a schema of its own.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use shelfward_conformance::{
    CrashableServer, Server, StoreUnderTest, could_not_begin, not_run, run_tests,
};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{ErrorKind, Operation, Result, StoreError, async_trait};
use sqlx_core::connection::Connection as _;
use sqlx_core::row::Row as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnection;

#[path = "conformance/crashable.rs"]
mod crashable;

struct Postgres {
    url: Url,
    crashable: Option<crashable::OwnServer>,
    schema: String,
    versions: Vec<(String, String)>,
}

/// A URL in its parts: what stands before the password, the password, the address, and the rest.
struct Url {
    before: String,
    password: String,
    address: String,
    behind: String,
}

impl Url {
    fn parse(url: &str) -> Option<Self> {
        let (before, rest) = url.split_once("://")?;
        if !matches!(before, "postgres" | "postgresql") {
            return None;
        }
        let (credentials, place) = rest.rsplit_once('@')?;
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let end = place.find(['/', '?']).unwrap_or(place.len());
        let (address, behind) = place.split_at_checked(end)?;
        let port = if address.contains(':') { "" } else { ":5432" };
        Some(Self {
            before: format!("{before}://{user}"),
            password: password.to_owned(),
            address: format!("{address}{port}"),
            behind: behind.to_owned(),
        })
    }

    fn with(&self, password: &str, address: &str) -> String {
        format!("{}:{password}@{address}{}", self.before, self.behind)
    }

    fn plain(&self) -> String {
        self.with(&self.password, &self.address)
    }
}

impl Postgres {
    fn options(&self, url: &str, more: &str) -> String {
        let join = if url.contains('?') { '&' } else { '?' };
        format!("{url}{join}schema={}{more}", self.schema)
    }

    async fn sql(&self, sql: &str) -> Result<Vec<String>> {
        asked(&self.url.plain(), sql)
            .await
            .map_err(|_| StoreError::new(Operation::DropCollection, ErrorKind::Engine))
    }
}

async fn asked(url: &str, sql: &str) -> sqlx_core::error::Result<Vec<String>> {
    let mut connection = PgConnection::connect(url).await?;
    let rows = sqlx_core::raw_sql::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut connection);
    let rows = rows.await?;
    connection.close().await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

async fn connect(url: &str) -> Result<Arc<dyn StoreAdapter>> {
    Ok(Arc::new(shelfward_postgres::connect(url).await?))
}

#[async_trait]
impl StoreUnderTest for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        connect(&self.options(&self.url.plain(), "")).await
    }

    fn place(&self, _: &str) -> Option<String> {
        Some(self.options(&self.url.plain(), ""))
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
        connect(place).await
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(self)
    }

    fn versions(&self) -> Vec<(String, String)> {
        self.versions.clone()
    }

    async fn tear_down(&self) -> Result<()> {
        if let Some(own) = &self.crashable {
            own.end().await;
        }
        self.remove(&self.schema).await
    }

    async fn leftovers(&self) -> Result<Vec<String>> {
        let sql = r"SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'sfwt\_%'";
        self.sql(sql).await
    }

    async fn remove(&self, leftover: &str) -> Result<()> {
        let schema = leftover.replace('"', "");
        let sql = format!("DROP SCHEMA IF EXISTS \"{schema}\" CASCADE");
        self.sql(&sql).await.map(drop)
    }
}

#[async_trait]
impl Server for Postgres {
    fn address(&self) -> String {
        self.url.address.clone()
    }

    async fn open_through(
        &self,
        address: SocketAddr,
        patience: Duration,
    ) -> Result<Arc<dyn StoreAdapter>> {
        let millis = patience.as_millis();
        let more = format!("&connect_timeout_ms={millis}&statement_timeout_ms={millis}");
        let url = self.url.with(&self.url.password, &address.to_string());
        connect(&self.options(&url, &more)).await
    }

    async fn open_with_secret(&self, secret: &str) -> Result<Arc<dyn StoreAdapter>> {
        connect(&self.options(&self.url.with(secret, &self.url.address), "")).await
    }

    fn secrets(&self) -> Vec<String> {
        vec![self.url.password.clone()]
    }

    fn crashable(&self) -> std::result::Result<&dyn CrashableServer, &'static str> {
        match &self.crashable {
            Some(own) => Ok(own),
            None => Err("SHELFWARD_XTASK is not set, which starts a server that may be crashed"),
        }
    }
}

fn main() -> ExitCode {
    let url = std::env::var("DATABASE_URL").unwrap_or_default();
    if url.is_empty() {
        return not_run("postgres", "DATABASE_URL is not set");
    }
    let Some(url) = Url::parse(&url) else {
        let form = "DATABASE_URL is no URL of the form postgres://user:password@host/database";
        return could_not_begin("postgres", form);
    };
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let clock = clock.map_or(0, |now| now.as_millis()) % 0xfff_ffff;
    run_tests(
        Postgres {
            versions: versions(&url.plain()),
            crashable: std::env::var_os("SHELFWARD_XTASK").map(crashable::OwnServer::new),
            schema: format!("sfwt_{:x}{clock:x}", std::process::id()),
            url,
        },
        include_str!("../known_gaps.toml"),
    )
}

/// The versions of the server and the extension, where they can be asked for.
fn versions(url: &str) -> Vec<(String, String)> {
    let sql = "SELECT current_setting('server_version') UNION ALL \
               SELECT default_version FROM pg_available_extensions WHERE name = 'vector'";
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let told = runtime
        .ok()
        .and_then(|runtime| runtime.block_on(asked(url, sql)).ok());
    let names = ["server", "pgvector"].map(str::to_owned);
    let this = ("shelfward-postgres", env!("CARGO_PKG_VERSION"));
    let this = (this.0.to_owned(), this.1.to_owned());
    let told = names.into_iter().zip(told.unwrap_or_default());
    [this].into_iter().chain(told).collect()
}
