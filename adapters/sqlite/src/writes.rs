//! Changes to the rows of a collection, within one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, OptionalExtension, Row, params, params_from_iter};
use shelfward_adapter::cancel::CancelToken;
use shelfward_core::{CollectionSpec, Filter, Key, MetadataPatch, Precondition, Record, Text};

use crate::error::{Result, corrupt};
use crate::reads::View;
use crate::record_mapping::{encode_row, partition_value};

/// So many keys of what is gone are kept for readers that hold rows in memory; one that is further
/// behind reads all rows again.
const MAX_GONE: i64 = 100_000;

/// So many stamps of changes are kept; rows in memory that are further behind are read anew.
const MAX_STAMPS: i64 = 10_000;

/// One write of a collection. What it changes is recorded by [`Writing::finish`].
pub(crate) struct Writing<'a> {
    /// What it sees: what was there, and what it changed so far.
    pub(crate) view: View<'a>,
    stop: &'a CancelToken,
    /// The number of this change.
    change: i64,
    /// How many rows were written or went.
    pub(crate) rows_changed: usize,
    pub(crate) max_gone: i64,
}

impl<'a> Writing<'a> {
    pub(crate) fn of(view: View<'a>, stop: &'a CancelToken) -> Self {
        Self {
            change: view.entry.changes + 1,
            view,
            stop,
            rows_changed: 0,
            max_gone: MAX_GONE,
        }
    }

    /// A statement, in which `{}` stands for the number of the collection's tables.
    fn prepare(&self, sql: &str) -> Result<CachedStatement<'a>> {
        let sql = sql.replace("{}", &self.view.entry.number.to_string());
        Ok(self.view.connection.prepare_cached(&sql)?)
    }

    /// Writes records, each in the place of what is under its key.
    pub(crate) fn upsert(&mut self, records: &[Record]) -> Result<()> {
        // In the order of the index, which is several times as fast. Of equal keys the last stays.
        let mut ordered: Vec<&Record> = records.iter().collect();
        ordered.sort_by(|a, b| a.key.cmp(&b.key));
        let all_free = self.view.entry.row_count == 0;
        let mut ordered = ordered.into_iter().peekable();
        while let Some(record) = ordered.next() {
            if ordered.peek().is_some_and(|next| next.key == record.key) {
                continue;
            }
            if !all_free {
                self.drop_key(&record.key)?;
            }
            self.insert(record)?;
        }
        Ok(())
    }

    /// Writes a record whose key is free.
    fn insert(&mut self, record: &Record) -> Result<()> {
        self.stop.check()?;
        let row = encode_row(&self.view.spec, self.change, record)?;
        self.prepare("INSERT INTO rows_{} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params_from_iter(row))?;
        self.rows_changed += 1;
        self.view.entry.row_count += 1;
        Ok(())
    }

    /// Whether there was a row under the key.
    fn drop_key(&mut self, key: &Key) -> Result<bool> {
        let part = partition_value(key.partition.as_ref());
        let dropped = self
            .prepare("DELETE FROM rows_{} WHERE part = ? AND id = ?")?
            .execute(params![part, key.id.as_str()])?;
        self.rows_changed += dropped;
        self.view.entry.row_count -= i64::from(dropped > 0);
        Ok(dropped > 0)
    }

    /// Drops a row that is there; answers the columns of its key.
    fn drop_row(&mut self, n: i64) -> Result<(Value, String)> {
        let key = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let dropped = self
            .prepare("DELETE FROM rows_{} WHERE n = ? RETURNING part, id")?
            .query_row([n], key);
        let dropped = dropped.optional()?;
        self.rows_changed += 1;
        self.view.entry.row_count -= 1;
        dropped.ok_or_else(|| corrupt("a row is not where its index says"))
    }

    fn record_gone(&mut self, part: &Value, id: &str) -> Result<()> {
        let added = self
            .prepare("INSERT OR IGNORE INTO gone_{} VALUES (?, ?, ?)")?
            .execute(params![self.change, part, id])?;
        self.view.entry.gone += i64::try_from(added).unwrap_or(0);
        Ok(())
    }

    /// Deletes by key; answers how many there were.
    pub(crate) fn delete(&mut self, keys: &[Key]) -> Result<usize> {
        let mut deleted = 0;
        for key in keys {
            self.stop.check()?;
            if self.drop_key(key)? {
                self.record_gone(&partition_value(key.partition.as_ref()), key.id.as_str())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// Puts records in the place of what a filter matches; answers how many it matched.
    pub(crate) fn replace(&mut self, filter: &Filter, with: &[Record]) -> Result<usize> {
        let rows = self.view.matching(filter, None, usize::MAX)?;
        let keys = with.iter().map(|record| &record.key);
        let coming: HashSet<(Option<&str>, &str)> = keys
            .map(|key| (key.partition.as_ref().map(Text::as_str), key.id.as_str()))
            .collect();
        for n in &rows {
            self.stop.check()?;
            let (part, id) = self.drop_row(*n)?;
            let partition = match &part {
                Value::Text(partition) => Some(partition.as_str()),
                _ => None,
            };
            if !coming.contains(&(partition, id.as_str())) {
                self.record_gone(&part, &id)?;
            }
        }
        self.upsert(with)?;
        Ok(rows.len())
    }

    /// Whether a record, looked for within a filter, is as expected.
    pub(crate) fn meets(&self, expected: &Precondition, within: &Filter) -> Result<bool> {
        let there = self.view.under(&expected.key)?;
        let there = there.map(|record| record.metadata);
        let there = there.filter(|metadata| within.matches(metadata));
        Ok(expected.is_met_by(there.as_deref()))
    }

    /// Patches the metadata of what a filter matches; answers how many it matched.
    pub(crate) fn update(&mut self, filter: &Filter, patch: &MetadataPatch) -> Result<usize> {
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                self.view.spec.check_value(key, value)?;
            }
        }
        let rows = self.view.matching(filter, None, usize::MAX)?;
        for n in &rows {
            let mut record = self.view.numbered(*n)?;
            record.metadata = Arc::new(patch.apply(&record.metadata));
            self.drop_row(*n)?;
            self.insert(&record)?;
        }
        Ok(rows.len())
    }

    /// Deletes everything; answers how much there was.
    pub(crate) fn delete_all(&mut self) -> Result<usize> {
        let deleted = self.prepare("DELETE FROM rows_{}")?.execute([])?;
        if i64::try_from(deleted) != Ok(self.view.entry.row_count) {
            return Err(corrupt("rows of a collection are missing"));
        }
        if deleted > 0 {
            self.prepare("DELETE FROM gone_{}")?.execute([])?;
            self.rows_changed += deleted;
            self.view.entry.row_count = 0;
            self.view.entry.gone = 0;
            self.view.entry.pruned = self.change;
        }
        Ok(deleted)
    }

    /// Records what was changed; answers what is seen then.
    pub(crate) fn finish(self) -> Result<View<'a>> {
        if self.rows_changed == 0 {
            return Ok(self.view);
        }
        self.record()
    }

    /// Records that there are more fields. Whoever knows the rows reads all of them again.
    pub(crate) fn finish_fields(mut self, spec: &CollectionSpec) -> Result<()> {
        self.view.entry.set_spec(spec)?;
        self.view.entry.pruned = self.change;
        self.record().map(drop)
    }

    fn record(mut self) -> Result<View<'a>> {
        if self.view.entry.gone > self.max_gone {
            self.prune()?;
        }
        // The stamp of this change is drawn and kept, so that rows in memory that are as of this change
        // know the histories that go on from it.
        self.prepare("DELETE FROM stamps_{} WHERE change <= ?")?
            .execute([self.change - MAX_STAMPS])?;
        self.view.entry.changes = self.change;
        self.view.entry.stamp = self
            .prepare("INSERT OR REPLACE INTO stamps_{} VALUES (?, random()) RETURNING stamp")?
            .query_row([self.change], |row| row.get(0))?;
        self.view.entry.write(self.view.connection)?;
        Ok(self.view)
    }

    /// Forgets the older half of what is gone.
    fn prune(&mut self) -> Result<()> {
        let up_to = self
            .prepare("SELECT change FROM gone_{} ORDER BY change LIMIT 1 OFFSET ?")?
            .query_row([self.max_gone / 2], |row| row.get(0))?;
        let pruned = self
            .prepare("DELETE FROM gone_{} WHERE change <= ?")?
            .execute([up_to])?;
        self.view.entry.gone -= i64::try_from(pruned).unwrap_or(0);
        self.view.entry.pruned = up_to;
        Ok(())
    }
}
