//! What became of a transaction whose commit was not answered.
//!
//! The server's own number of a transaction does not tell: after a crash, or on a replica that was
//! promoted, a number that left no trace is given to another transaction. So each transaction has a
//! mark, drawn at random, holds an advisory lock of it from its beginning to its end, and leaves it in
//! a row in the message that commits it. Once another connection gets that lock, the transaction has
//! ended, and the row tells how.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use shelfward_adapter::sync::lock;
use shelfward_core::ErrorKind;
use sqlx_core::connection::Connection as _;
use sqlx_core::row::Row as _;
use sqlx_postgres::{PgConnection, PgRow};

use crate::error::{Error, Result};
use crate::identifier::literal;
use crate::server::{Server, raw, within};

/// The random mark of a transaction, or of a slot: the mark of the transaction that was the first to
/// use it. Shown as the server writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u128);

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Mark {
    /// The statement by which a transaction draws its mark and takes the lock of it.
    pub(crate) const DRAW: &str = "SELECT m, pg_advisory_xact_lock(hashtextextended(m, 0)) FROM \
        (SELECT replace(gen_random_uuid()::text, '-', '') AS m OFFSET 0) d";

    /// What was drawn.
    pub(crate) fn drawn(row: &PgRow) -> Result<Self> {
        let drawn = u128::from_str_radix(row.try_get(0)?, 16);
        Ok(Self(drawn.map_err(|_| ErrorKind::Engine)?))
    }

    fn lock(self) -> String {
        format!("hashtextextended('{self}', 0)")
    }
}

/// The table of commits. A slot is a row that holds the mark of the last transaction that was committed
/// by it; no two use it at a time, and none does while another's outcome is not known.
pub(crate) struct Commits {
    table: String,
    free: Mutex<Vec<Mark>>,
}

/// A transaction that is being committed.
#[derive(Clone, Copy)]
pub(crate) struct Commit {
    mark: Mark,
    slot: Mark,
}

impl Commits {
    pub(crate) fn new(table: String) -> Self {
        Self {
            table,
            free: Mutex::default(),
        }
    }

    /// Gives a transaction a slot.
    pub(crate) fn begin(&self, mark: Mark) -> Commit {
        let slot = lock(&self.free).pop().unwrap_or(mark);
        Commit { mark, slot }
    }

    /// Frees the slot of a transaction whose outcome is known.
    pub(crate) fn end(&self, commit: Commit) {
        lock(&self.free).push(commit.slot);
    }

    /// The statements that leave the mark and commit, for one message.
    pub(crate) fn statements(&self, Commit { mark, slot }: Commit) -> String {
        let table = &self.table;
        // Whoever adds a row takes those away that nobody can still ask for.
        let forget = if slot == mark {
            format!(
                "DELETE FROM {table} WHERE slot IN (SELECT slot FROM {table} WHERE committed_at < \
                 now() - interval '{KEPT_DAYS} days' LIMIT 1000 FOR UPDATE SKIP LOCKED);"
            )
        } else {
            String::new()
        };
        format!(
            "INSERT INTO {table} (slot, mark, committed_at) VALUES ('{slot}', '{mark}', \
             clock_timestamp()) ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark, \
             committed_at = excluded.committed_at;{forget}COMMIT"
        )
    }

    /// What the server says where the table is not there, or another one.
    pub(crate) fn why_not_left(&self, error: Error) -> Error {
        let codes = ["42P01", "3F000", "42P10", "42703", "42804", "23502"];
        error.explained(&codes, not_as_made(&self.table))
    }
}

/// The table of commits is not there, or another one.
pub(crate) fn not_as_made(table: &str) -> String {
    format!(
        "the table {table} is missing or not as this store makes it; ensure makes one that is missing, and \
         schema_sql prints it"
    )
}

/// Rows are kept for longer than a commit is waited for.
const KEPT_DAYS: u32 = 30;

/// The longest wait for the answer to a commit.
pub(crate) const LONGEST_COMMIT: Duration = Duration::from_millis(2_147_483_647);

/// How long it is asked what became of a transaction.
const ASKED_FOR: Duration = Duration::from_secs(3);

/// How long one question waits for the transaction to end.
const LOCK_WAIT: Duration = Duration::from_millis(500);

impl Server {
    /// Whether a transaction was committed whose commit was not answered; `None` where nobody could
    /// tell in time.
    ///
    /// It is asked on a connection of its own: those of the pool may all wait for this transaction.
    pub(crate) async fn was_committed(&self, commit: Commit) -> Option<bool> {
        let asking = async {
            loop {
                if let Ok(Some(committed)) = self.ask(commit).await {
                    return committed;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(ASKED_FOR, asking).await.ok()
    }

    async fn ask(&self, Commit { mark, slot }: Commit) -> Result<Option<bool>> {
        let options = self.pool.connect_options();
        let connecting = PgConnection::connect_with(&options);
        let mut connection = within(Some(self.options.connect_timeout), connecting).await?;
        let (lock, table) = (mark.lock(), &self.commits.table);
        // The row is looked for by a statement of its own, whose snapshot begins when the lock is taken.
        // A replica knows neither locks nor all rows of its primary.
        let ask = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL lock_timeout = {}; \
             SELECT pg_advisory_xact_lock({lock}); \
             SELECT EXISTS (SELECT FROM {table} WHERE slot = '{slot}' AND mark = '{mark}')::text, \
             (pg_is_in_recovery() OR row_security_active({}))::text",
            LOCK_WAIT.as_millis(),
            literal(table)
        );
        let told = match raw(&mut connection, self.statement_timeout(), &ask).await {
            Ok(rows) => {
                let row = rows.last().ok_or(ErrorKind::Engine)?;
                match (row.try_get(0)?, row.try_get(1)?) {
                    ("true", _) => Some(true),
                    (_, "false") => Some(false),
                    _ => None,
                }
            }
            Err(error) => {
                if error.is_code("55P03") || error.is_code("57014") {
                    end_idle(&mut connection, &lock).await?;
                }
                None
            }
        };
        drop(connection.close().await);
        Ok(told)
    }
}

/// Ends the transaction that holds a lock, where the server waits for its next message: the commit was
/// lost on its way, and must not come later. One that is being committed is left alone.
async fn end_idle(connection: &mut PgConnection, lock: &str) -> Result<()> {
    let end = format!(
        "ROLLBACK; SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database() \
         AND (l.classid::bigint << 32 | l.objid::bigint) = {lock} AND a.state = 'idle in transaction'"
    );
    raw(connection, Some(LOCK_WAIT), &end).await.map(drop)
}
