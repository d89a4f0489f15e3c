//! Changes of many rows in pieces, so that no statement comes near the time that one may take.

use std::time::{Duration, Instant};

use shelfward_core::{ErrorKind, Filter, Key, Record};
use sqlx_core::row::Row as _;

use crate::context::CollectionContext;
use crate::copy;
use crate::error::Result;
use crate::filter_translation::condition;
use crate::insert;
use crate::params::{Param, Params, Statement};
use crate::reads::key_columns;
use crate::transaction::Transaction;

/// How many rows the next statement is about.
struct Pieces {
    rows: usize,
    /// How long it should take.
    target: Duration,
}

/// The first piece has at most so many rows: a graph may take milliseconds for each.
const MOST_AT_FIRST: usize = 1_000;
/// What a row takes at most, as the first piece has it.
const OF_A_ROW: u128 = 20;
/// Between two pieces it is seen that the caller is gone.
const LONGEST: Duration = Duration::from_secs(1);
/// The keys of a piece are sent along.
const MOST: usize = 50_000;

impl Pieces {
    fn new(timeout: Duration) -> Self {
        if timeout.is_zero() {
            let (rows, target) = (MOST_AT_FIRST, LONGEST);
            return Self { rows, target };
        }
        let rows = usize::try_from(timeout.as_millis() / OF_A_ROW).unwrap_or(usize::MAX);
        Self {
            rows: rows.clamp(1, MOST_AT_FIRST),
            target: (timeout / 10).min(LONGEST),
        }
    }

    /// Goes by what so many rows took.
    fn took(&mut self, rows: usize, took: Duration) {
        let as_u128 = |n: usize| u128::try_from(n).unwrap_or(u128::MAX);
        let next = as_u128(rows) * self.target.as_micros() / took.as_micros().max(1);
        let next = usize::try_from(next).unwrap_or(usize::MAX);
        self.rows = next.clamp(1, rows.saturating_mul(4).min(MOST));
    }
}

/// A statement about some rows `r` of a table, but for which.
pub(crate) struct Verb {
    /// What stands before the condition: `DELETE FROM t r`.
    pub(crate) head: String,
    /// What joins another table to it.
    pub(crate) join: &'static str,
    pub(crate) params: Params,
}

impl Verb {
    fn of_keys(&self, (parts, ids): (Param, Param)) -> Statement {
        let mut params = self.params.clone();
        let (parts, ids) = (params.add(parts), params.add(ids));
        let sql = format!(
            "{} {} ROWS FROM (pg_catalog.unnest({parts}), pg_catalog.unnest({ids})) AS k(part, id) \
             WHERE r.part = k.part AND r.id = k.id",
            self.head, self.join
        );
        Statement { sql, params }
    }
}

impl CollectionContext {
    fn pieces(&self) -> Pieces {
        Pieces::new(self.server.options.statement_timeout)
    }

    /// Changes what a filter matches: few rows by one statement, more by their keys, which a cursor
    /// reads once. Writers of these rows are kept away by the locks.
    pub(crate) async fn change_matching(
        &self,
        transaction: &mut Transaction<'_>,
        verb: &Verb,
        filter: &Filter,
    ) -> Result<u64> {
        let (table, spec) = (&self.table, &self.row.spec);
        let mut pieces = self.pieces();
        let mut params = verb.params.clone();
        let predicate = condition(filter, spec, &mut params)?;
        let most = i64::try_from(pieces.rows).unwrap_or(i64::MAX);
        let sql = format!(
            "WITH few AS (SELECT count(*) <= {most} AS are FROM (SELECT FROM {table} r WHERE {predicate} \
             LIMIT {most} + 1) f), done AS ({} WHERE (SELECT are FROM few) AND {predicate} RETURNING 1) \
             SELECT (SELECT are FROM few), (SELECT count(*) FROM done)",
            verb.head
        );
        let rows = transaction.rows(&Statement { sql, params }).await?;
        let row = rows.first().ok_or(ErrorKind::Engine)?;
        if row.try_get(0)? {
            let changed: i64 = row.try_get(1)?;
            return Ok(u64::try_from(changed).map_err(|_| ErrorKind::Engine)?);
        }
        let mut params = Params::default();
        let predicate = condition(filter, spec, &mut params)?;
        let sql = format!(
            "DECLARE matching NO SCROLL CURSOR FOR SELECT r.part, r.id FROM {table} r WHERE {predicate}"
        );
        transaction.execute(&Statement { sql, params }).await?;
        let mut changed = 0;
        loop {
            let fetch = format!("FETCH {} FROM matching", pieces.rows);
            let rows = transaction.raw(&fetch).await?;
            if rows.is_empty() {
                return Ok(changed);
            }
            let (mut parts, mut ids) = (Vec::new(), Vec::new());
            for row in &rows {
                parts.push(row.try_get(0)?);
                ids.push(row.try_get(1)?);
            }
            let begun = Instant::now();
            let keys = (Param::texts(parts), Param::texts(ids));
            changed += transaction.execute(&verb.of_keys(keys)).await?;
            pieces.took(rows.len(), begun.elapsed());
        }
    }

    /// Changes what is under keys.
    pub(crate) async fn change_keys(
        &self,
        transaction: &mut Transaction<'_>,
        verb: &Verb,
        mut keys: &[&Key],
    ) -> Result<u64> {
        let mut pieces = self.pieces();
        let mut changed = 0;
        while !keys.is_empty() {
            let (now, later) = keys.split_at(pieces.rows.min(keys.len()));
            let begun = Instant::now();
            let statement = verb.of_keys(key_columns(now.iter().copied()));
            changed += transaction.execute(&statement).await?;
            pieces.took(now.len(), begun.elapsed());
            keys = later;
        }
        Ok(changed)
    }

    /// Sends records whose keys are free.
    pub(crate) async fn insert(
        &self,
        transaction: &mut Transaction<'_>,
        mut records: &[&Record],
    ) -> Result<()> {
        let analysed = self.row.settings.text_search.is_some();
        let (table, columns) = (&self.table, copy::COLUMNS);
        if insert::are_few(records) {
            return match records {
                [] => Ok(()),
                some => {
                    let vector = self.extension.vector();
                    let statement = insert::statement(table, &vector, some, analysed)?;
                    transaction.execute(&statement).await.map(drop)
                }
            };
        }
        let sql = format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)");
        let mut pieces = self.pieces();
        while !records.is_empty() {
            let now = records.get(..pieces.rows).unwrap_or(records);
            let (rows, message) = copy::message(now, &self.row.spec, analysed)?;
            let begun = Instant::now();
            transaction.copy(&sql, message).await?;
            pieces.took(rows, begun.elapsed());
            records = records.get(rows..).unwrap_or_default();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_follows_the_pace_of_the_last_one() {
        let second = Duration::from_secs(1);
        let mut pieces = Pieces::new(second);
        assert_eq!((pieces.rows, pieces.target), (50, second / 10));
        pieces.took(50, second / 20);
        assert_eq!(pieces.rows, 100);
        pieces.took(100, Duration::ZERO);
        assert_eq!(pieces.rows, 400, "four times as many at most");
        pieces.took(400, second);
        assert_eq!(pieces.rows, 40);
        pieces.took(1, second);
        assert_eq!(pieces.rows, 1);
        assert_eq!(Pieces::new(Duration::from_millis(1)).rows, 1);
        assert_eq!(Pieces::new(Duration::ZERO).rows, MOST_AT_FIRST);
    }
}
