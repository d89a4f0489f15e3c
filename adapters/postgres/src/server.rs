//! The connections to a server.

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use shelfward_core::ErrorKind;
use sqlx_core::connection::{ConnectOptions, Connection};
use sqlx_core::pool::PoolConnection;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx_postgres::{PgConnection, Postgres};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::PostgresOptions;
use crate::commits::Commits;
use crate::error::{Error, Result};
use crate::names::TableNames;
use crate::params::Statement;

/// A server, and how calls reach it.
pub(crate) struct Server {
    pub(crate) pool: PgPool,
    pub(crate) options: PostgresOptions,
    pub(crate) commits: Commits,
    /// As many calls have a connection at a time; the others wait in line.
    room: Arc<Semaphore>,
    /// Whether the connections are ours, set up as we need them.
    own: bool,
    /// Whether every connection has the settings that searches need.
    pub(crate) set_up: bool,
}

/// How often a call is tried: once more for a connection that had died, and once for the next.
pub(crate) const ATTEMPTS: u32 = 3;

/// A connection that was idle for so long is looked at before it is used.
const IDLE: Duration = Duration::from_secs(1);

/// How a walk through the graph goes on where a filter left too few of what it found.
///
/// Not in strict order, which drops what a later part of the walk finds nearer than what an earlier part
/// found. The hits are put into order when they are here.
pub(crate) const SCAN_ON: &str = "relaxed_order";

const ALL_IN_USE: &str = "every connection is in use; raise max_connections, or ask less at a time";

/// How long a server is asked whether it refuses or says nothing.
const PROBE: Duration = Duration::from_millis(250);

impl Server {
    /// Connects; what is wrong with the address, the credentials or the database shows here.
    pub(crate) async fn connect(
        connection: PgConnectOptions,
        options: PostgresOptions,
    ) -> Result<Self> {
        let timeout = options.statement_timeout.as_millis();
        let mut connection = connection.disable_statement_logging();
        // Poolers take no options; without a timeout, none are sent.
        let set_up = timeout > 0;
        if set_up {
            connection = connection.options([
                ("statement_timeout", &*timeout.to_string()),
                // A plan for values as they are: one for any values may walk the graph for a filter
                // that five rows pass.
                ("plan_cache_mode", "force_custom_plan"),
                // Nor is a plan compiled, which takes longer than the search.
                ("jit", "off"),
                // What most searches need, so that they need not set it. Where the extension is too old
                // to know it, it drops it.
                ("hnsw.ef_search", &options.ef_search.to_string()),
                ("hnsw.iterative_scan", SCAN_ON),
            ]);
        }
        let first = tokio::time::timeout(
            options.connect_timeout,
            PgConnection::connect_with(&connection),
        );
        match first.await {
            // It may end as it likes.
            Ok(Ok(first)) => drop(first.close().await),
            Ok(Err(error)) if lacks_a_file(&error, &connection) => {
                let what = "sslrootcert, sslcert or sslkey names a file that cannot be read";
                return Err(ErrorKind::Invalid(what.to_owned()).into());
            }
            Ok(Err(sqlx_core::Error::Configuration(_))) => {
                let what = "sslcert or sslkey holds no certificate or no key in PEM";
                return Err(ErrorKind::Invalid(what.to_owned()).into());
            }
            Ok(Err(error)) => return Err(error.into()),
            Err(_) => return Err(Error::TimedOut(options.connect_timeout)),
        }
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(options.connect_timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, about| {
                Box::pin(async move {
                    if about.idle_for >= IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(connection);
        Ok(Self {
            own: true,
            set_up,
            ..Self::over(pool, options)
        })
    }

    /// Uses connections that somebody else set up.
    pub(crate) fn over(pool: PgPool, options: PostgresOptions) -> Self {
        let room = pool.options().get_max_connections();
        let room = usize::try_from(room).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            room: Arc::new(Semaphore::new(room)),
            pool,
            commits: Commits::new(TableNames::of(&options).commits()),
            options,
            own: false,
            set_up: false,
        }
    }

    /// How long one statement may take, and the time that its answer may need beside it.
    pub(crate) fn statement_timeout(&self) -> Option<Duration> {
        let timeout = self.options.statement_timeout;
        (!timeout.is_zero()).then(|| timeout + Duration::from_millis(500))
    }

    /// A connection; one that `validate` works was asked so a moment ago.
    pub(crate) async fn connection(&self, validate: bool) -> Result<ConnectionGuard> {
        let waiting = self.room.clone().acquire_owned();
        let permit = match self.statement_timeout() {
            None => waiting.await,
            Some(statement_timeout) => (tokio::time::timeout(statement_timeout, waiting).await)
                .map_err(|_| Error::NoConnection(ALL_IN_USE))?,
        };
        // It is never closed.
        let permit = permit.map_err(|_| ErrorKind::Engine)?;
        loop {
            let acquired = self.pool.acquire().await;
            let mut held = match acquired {
                Ok(connection) => ConnectionGuard(Some(connection), Handle::current(), None),
                Err(sqlx_core::Error::PoolTimedOut) => return Err(self.why_none().await),
                Err(error) => return Err(error.into()),
            };
            if !validate {
                held.2 = Some(permit);
                return Ok(held);
            }
            let asked = tokio::time::timeout(self.options.connect_timeout, held.ping());
            if let Ok(Ok(())) = asked.await {
                held.2 = Some(permit);
                return Ok(held);
            }
            // Closed as it is dropped. This ends with the connections that are dead: a new one is
            // asked, too, and fails by itself.
            drop(held);
        }
    }

    /// Why no connection came in time: the pool does not say.
    async fn why_none(&self) -> Error {
        let open = self.pool.size();
        let in_use = usize::try_from(open).unwrap_or(usize::MAX) > self.pool.num_idle();
        if in_use && open >= self.pool.options().get_max_connections() {
            return Error::NoConnection(ALL_IN_USE);
        }
        let options = self.pool.connect_options();
        let once_more = PgConnection::connect_with(&options);
        match tokio::time::timeout(PROBE, once_more).await {
            Ok(Ok(_)) => {
                Error::NoConnection("a connection came too late; raise connect_timeout_ms")
            }
            Ok(Err(error)) => match Error::from(error) {
                error if error.is_connection_lost() => {
                    Error::NoConnection("the server takes no connection at its address")
                }
                // It says what it lacks: room, the role's rights.
                error => error,
            },
            Err(_) => Error::TimedOut(self.options.connect_timeout),
        }
    }

    /// The rows of one statement that reads, tried again where the connection had died.
    pub(crate) async fn read(&self, statement: &Statement) -> Result<Vec<PgRow>> {
        let mut attempt = 1;
        loop {
            match self.read_once(statement, attempt > 1).await {
                Err(error) if attempt < ATTEMPTS && error.may_be_tried_again() => attempt += 1,
                answer => return answer,
            }
        }
    }

    async fn read_once(&self, statement: &Statement, validate: bool) -> Result<Vec<PgRow>> {
        let mut held = self.connection(validate).await?;
        let rows = rows(&mut held, statement, self.statement_timeout(), self.own).await;
        held.put_back(&rows);
        rows
    }

    /// Closes the connections, unless somebody else set them up.
    pub(crate) async fn close(&self) {
        if self.own {
            self.pool.close().await;
        }
    }
}

/// Whether it was no server that failed: over TCP, only files of certificates can be missing.
fn lacks_a_file(error: &sqlx_core::Error, connection: &PgConnectOptions) -> bool {
    let by_socket = connection.get_socket().is_some() || connection.get_host().starts_with('/');
    let missing = [
        io::ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::IsADirectory,
    ];
    !by_socket && matches!(error, sqlx_core::Error::Io(error) if missing.contains(&error.kind()))
}

/// A connection that is closed where nobody put it back: one that was dropped in the middle of
/// something may be in the middle of a transaction.
pub(crate) struct ConnectionGuard(
    Option<PoolConnection<Postgres>>,
    Handle,
    Option<OwnedSemaphorePermit>,
);

impl ConnectionGuard {
    /// Gives the connection back to the pool, if what was done with it left it whole.
    pub(crate) fn put_back<T>(mut self, done: &Result<T>) {
        match done {
            Err(error) if error.breaks_the_connection() => {}
            _ => drop(self.0.take()),
        }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if let Some(mut connection) = self.0.take() {
            // It is closed by a task, wherever it is dropped.
            let _entered = self.1.enter();
            connection.close_on_drop();
            drop(connection);
        }
    }
}

impl Deref for ConnectionGuard {
    type Target = PgConnection;

    #[expect(clippy::expect_used, reason = "it is taken only by what consumes it")]
    fn deref(&self) -> &PgConnection {
        self.0.as_deref().expect("held until it is put back")
    }
}

impl DerefMut for ConnectionGuard {
    #[expect(clippy::expect_used, reason = "it is taken only by what consumes it")]
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0.as_deref_mut().expect("held until it is put back")
    }
}

/// The rows of one statement.
pub(crate) async fn rows(
    connection: &mut PgConnection,
    statement: &Statement,
    statement_timeout: Option<Duration>,
    keep: bool,
) -> Result<Vec<PgRow>> {
    let query = sqlx_core::query::query_with(
        AssertSqlSafe(statement.sql.as_str()),
        statement.params.arguments()?,
    );
    within(
        statement_timeout,
        query.persistent(keep).fetch_all(connection),
    )
    .await
}

/// Statements without values, one after another; answers their rows, as texts.
pub(crate) async fn raw(
    connection: &mut PgConnection,
    statement_timeout: Option<Duration>,
    sql: &str,
) -> Result<Vec<PgRow>> {
    let statements = sqlx_core::raw_sql::raw_sql(AssertSqlSafe(sql));
    within(statement_timeout, statements.fetch_all(connection)).await
}

/// What the driver answers within the time that a statement may take.
pub(crate) async fn within<T>(
    statement_timeout: Option<Duration>,
    asked: impl Future<Output = sqlx_core::error::Result<T>>,
) -> Result<T> {
    match statement_timeout {
        None => Ok(asked.await?),
        Some(statement_timeout) => match tokio::time::timeout(statement_timeout, asked).await {
            Ok(answered) => Ok(answered?),
            Err(_) => Err(Error::TimedOut(statement_timeout)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_is_no_server_that_is() {
        let of = |kind: io::ErrorKind| sqlx_core::Error::Io(kind.into());
        let tcp = PgConnectOptions::new_without_pgpass().host("db.internal");
        let socket = PgConnectOptions::new_without_pgpass().socket("/run/postgresql");
        assert!(lacks_a_file(&of(io::ErrorKind::NotFound), &tcp));
        assert!(!lacks_a_file(&of(io::ErrorKind::ConnectionRefused), &tcp));
        assert!(!lacks_a_file(&of(io::ErrorKind::NotFound), &socket));
    }
}
