//! Transactions that write, each run to its end by a task of its own.
//!
//! A future may be dropped anywhere, and a connection that is let go between two messages of a
//! transaction would go back to the pool in the middle of it. So the work is done by a task that
//! nobody drops. Where the caller is gone, the task sees a flag and rolls back: what was given up
//! before the commit began never happens.

use std::sync::Arc;
use std::time::Duration;

use shelfward_adapter::cancel::{Aborted, CancelToken, run_detached};
use shelfward_adapter::error::{Call, Classify as _};
use shelfward_core::{ErrorKind, Result, async_trait};
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnection;
use sqlx_postgres::PgRow;

use crate::commits::{LONGEST_COMMIT, Mark};
use crate::config::MAX_TIMEOUT;
use crate::error::{self, Error};
use crate::locks::{Lock, statements};
use crate::params::Statement;
use crate::server::{ATTEMPTS, ConnectionGuard, Server, raw, rows, within};

/// What a transaction does between its locks and its commit. Run anew for each attempt.
#[async_trait]
pub(crate) trait TransactionBody: Send + Sync + 'static {
    /// What it answers.
    type Output: Send;

    /// The locks that it takes first.
    fn locks(&self) -> Vec<Lock>;

    /// Does it.
    async fn run(&self, transaction: &mut Transaction<'_>) -> error::Result<Self::Output>;
}

/// A transaction that has its locks.
pub(crate) struct Transaction<'c> {
    connection: &'c mut PgConnection,
    statement_timeout: Option<Duration>,
    stop: &'c CancelToken,
}

impl Transaction<'_> {
    /// The rows of one statement.
    pub(crate) async fn rows(&mut self, statement: &Statement) -> error::Result<Vec<PgRow>> {
        self.stop.check()?;
        rows(self.connection, statement, self.statement_timeout, true).await
    }

    /// How many rows one statement changed.
    pub(crate) async fn execute(&mut self, statement: &Statement) -> error::Result<u64> {
        self.stop.check()?;
        let query = sqlx_core::query::query_with(
            AssertSqlSafe(statement.sql.as_str()),
            statement.params.arguments()?,
        );
        let done = within(self.statement_timeout, query.execute(&mut *self.connection)).await?;
        Ok(done.rows_affected())
    }

    /// Statements without values, one after another; answers their rows, as texts.
    pub(crate) async fn raw(&mut self, sql: &str) -> error::Result<Vec<PgRow>> {
        self.stop.check()?;
        raw(self.connection, self.statement_timeout, sql).await
    }

    /// The same, for as long as they take: they fill columns and make indexes.
    pub(crate) async fn raw_at_length(&mut self, sql: &str) -> error::Result<Vec<PgRow>> {
        self.stop.check()?;
        raw(self.connection, None, sql).await
    }

    /// Sends rows in the server's binary form.
    pub(crate) async fn copy(&mut self, sql: &str, rows: Vec<u8>) -> error::Result<()> {
        self.stop.check()?;
        let connection = &mut *self.connection;
        let sent = async {
            let mut copy = connection.copy_in_raw(sql).await?;
            match copy.send(rows).await {
                Ok(_) => copy.finish().await,
                Err(error) => {
                    let _ = copy.abort("the rows could not be sent").await;
                    Err(error)
                }
            }
        };
        within(self.statement_timeout, sent).await.map(drop)
    }
}

impl Server {
    /// Runs a transaction. It happened when this answers `Ok`, and did not where it answers an error,
    /// but for one that says it is not known.
    pub(crate) async fn transaction<B: TransactionBody>(
        self: &Arc<Self>,
        call: Call<'_>,
        body: B,
    ) -> Result<B::Output> {
        let server = self.clone();
        let done = run_detached(|stop| async move { server.attempts(&body, &stop).await });
        // Where it was aborted, its connection was closed.
        let done = done
            .await
            .unwrap_or_else(|Aborted| Err((Error::UnknownCommit, 1)));
        done.map_err(|(error, attempts)| {
            let undone = !matches!(error, Error::UnknownCommit);
            let error = error.into_store_error(call, self.options.statement_timeout);
            let error = error.after_attempts(attempts);
            match error.kind() {
                // Rolled back, by us or by the server that lost the connection.
                ErrorKind::Timeout(_) if undone => error.nothing_done(),
                _ => error,
            }
        })
    }

    async fn attempts<B: TransactionBody>(
        &self,
        body: &B,
        stop: &CancelToken,
    ) -> Result<B::Output, (Error, u32)> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(body, stop, attempt > 1).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if attempt == ATTEMPTS || !error.may_be_tried_again() || stop.is_cancelled() {
                return Err((error, attempt));
            }
            // Two that undid each other do not meet again at once.
            tokio::time::sleep(Duration::from_millis(u64::from(20 * attempt))).await;
            attempt += 1;
        }
    }

    async fn attempt<B: TransactionBody>(
        &self,
        body: &B,
        stop: &CancelToken,
        validate: bool,
    ) -> error::Result<B::Output> {
        let cancelled = stop.cancelled();
        tokio::pin!(cancelled);
        let mut held = tokio::select! {
            biased;
            held = self.connection(validate) => held?,
            () = &mut cancelled => return Err(Error::Cancelled),
        };
        let done = tokio::select! {
            biased;
            done = self.until_commit(&mut held, body, stop) => done,
            // It may be waiting for another writer. Its connection is in the middle of something, and
            // is closed as it is dropped.
            () = &mut cancelled => return Err(Error::Cancelled),
        };
        match done {
            Ok((answer, mark)) => self.commit(held, mark).await.map(|()| answer),
            Err(error) => Err(self.roll_back(held, error).await),
        }
    }

    /// Undoes a transaction for a failure; answers the failure.
    async fn roll_back(&self, mut held: ConnectionGuard, error: Error) -> Error {
        if !error.breaks_the_connection() {
            match raw(&mut held, self.statement_timeout(), "ROLLBACK").await {
                Ok(_) => held.put_back(&Ok(())),
                Err(error) => return error,
            }
        }
        error
    }

    /// Everything but the commit; answers the transaction's mark, too.
    async fn until_commit<B: TransactionBody>(
        &self,
        held: &mut ConnectionGuard,
        body: &B,
        stop: &CancelToken,
    ) -> error::Result<(B::Output, Mark)> {
        stop.check()?;
        let statement_timeout = self.statement_timeout();
        // A writer finds its rows by an index, if there is one for them: never by reading the whole
        // table, which would take more while others wait for its locks. A cursor of what a write is about
        // is read to its end. And what returned is in force also after a crash, whatever was set for
        // everybody.
        let mut begin = String::from(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off; \
             SET LOCAL cursor_tuple_fraction = 1; \
             SELECT set_config('synchronous_commit', 'local', true) \
             WHERE current_setting('synchronous_commit') = 'off';",
        );
        let timeout = self.options.statement_timeout.as_millis();
        if timeout > 0 {
            // A caller that fell silent holds its locks no longer than this.
            let idle = timeout.saturating_add(IDLE_ALLOWANCE).min(MAX_TIMEOUT);
            begin.push_str(&format!(
                "SET LOCAL statement_timeout = {timeout}; \
                 SET LOCAL idle_in_transaction_session_timeout = {idle};"
            ));
        }
        begin.push_str(&statements(&body.locks()));
        begin.push_str(Mark::DRAW);
        let answered = raw(held, statement_timeout, &begin).await?;
        let mark = Mark::drawn(answered.last().ok_or(ErrorKind::Engine)?)?;
        let mut transaction = Transaction {
            connection: held,
            statement_timeout,
            stop,
        };
        let answer = body.run(&mut transaction).await?;
        stop.check()?;
        Ok((answer, mark))
    }

    async fn commit(&self, mut held: ConnectionGuard, mark: Mark) -> error::Result<()> {
        let commit = self.commits.begin(mark);
        let statement_timeout = self.statement_timeout().unwrap_or(LONGEST_COMMIT);
        let statements = self.commits.statements(commit);
        let committed = raw(&mut held, Some(statement_timeout), &statements).await;
        let done = match committed {
            Ok(_) => {
                held.put_back(&Ok(()));
                Ok(())
            }
            Err(lost) if lost.breaks_the_connection() => {
                drop(held);
                match self.was_committed(commit).await {
                    Some(true) => Ok(()),
                    // Nothing was done: the caller may begin anew.
                    Some(false) if lost.is_connection_lost() => Err(lost),
                    Some(false) => Err(Error::NoConnection("the server did not answer")),
                    None => return Err(Error::UnknownCommit),
                }
            }
            Err(error) => {
                let error = self.commits.why_not_left(error);
                Err(self.roll_back(held, error).await)
            }
        };
        self.commits.end(commit);
        done
    }
}

/// How many milliseconds a transaction may be idle beyond what a statement may take: while rows are
/// written as bytes.
const IDLE_ALLOWANCE: u128 = 10_000;
