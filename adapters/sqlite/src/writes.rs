//! Changes to the rows of a collection, within one transaction.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, ToSql, params, params_from_iter};
use shelfward_core::filter::Matcher;
use shelfward_core::{
    CollectionSpec, ErrorKind, Filter, Key, Metadata, MetadataPatch, Precondition, Record, Text,
};

use crate::binds::query;
use crate::database::Stop;
use crate::error::{Job, corrupt};
use crate::filter_translation::{Access, condition};
use crate::reads::found_wrongly;
use crate::record_mapping::{self, Encoded, bound, partition_value, written};
use crate::schema::Entry;

/// So many keys of what is gone are kept for readers that hold rows in memory; one that is further
/// behind reads all rows again.
const MAX_GONE: i64 = if cfg!(test) { 40 } else { 100_000 };

/// So many stamps of changes are kept; rows in memory that are further behind are read anew.
const MAX_STAMPS: i64 = if cfg!(test) { 150 } else { 10_000 };

/// One write of a collection. What it changes is recorded by [`Writing::finish`].
pub(crate) struct Writing<'a> {
    connection: &'a Connection,
    pub(crate) entry: Entry,
    spec: Arc<CollectionSpec>,
    stop: &'a Stop,
    /// The number of this change.
    change: i64,
    changed: bool,
    /// How many rows were written or went.
    pub(crate) rows_changed: usize,
    /// Whether rows can have elements.
    has_elements: bool,
    sql: Statements,
}

/// The statements on the collection's tables.
struct Statements {
    find: String,
    insert: String,
    delete: String,
    insert_element: String,
    delete_elements: String,
    gone: String,
    stamp: String,
    forget_stamps: String,
}

/// A row that is about to go.
struct Row {
    n: i64,
    part: Value,
    id: String,
    crc: i64,
}

impl<'a> Writing<'a> {
    pub(crate) fn of(
        connection: &'a Connection,
        entry: Entry,
        spec: Arc<CollectionSpec>,
        stop: &'a Stop,
    ) -> Self {
        let has_elements = spec.open_fields
            || (spec.fields.iter()).any(|f| crate::schema::column_type(f.kind).is_none());
        Self {
            sql: Statements::on(entry.number, record_mapping::width_of_row(&spec)),
            change: entry.changes + 1,
            connection,
            entry,
            spec,
            stop,
            changed: false,
            rows_changed: 0,
            has_elements,
        }
    }

    /// Writes records, each in the place of what is under its key.
    pub(crate) fn upsert(&mut self, records: &[Record]) -> Job<()> {
        // In the order of the index, which is several times as fast. Of equal keys the last stays.
        let mut ordered: Vec<&Record> = records.iter().collect();
        ordered.sort_by(|a, b| a.key.cmp(&b.key));
        let all_free = self.entry.row_count == 0;
        let mut ordered = ordered.into_iter().peekable();
        while let Some(record) = ordered.next() {
            if ordered.peek().is_some_and(|next| next.key == record.key) {
                continue;
            }
            if !all_free && let Some((n, crc)) = self.find(&record.key)? {
                self.drop_row(n, crc)?;
            }
            self.insert(record)?;
        }
        Ok(())
    }

    /// Writes a record whose key is free.
    pub(crate) fn insert(&mut self, record: &Record) -> Job<()> {
        self.stop.check()?;
        let n = self.entry.next_row;
        self.entry.next_row += 1;
        self.insert_row(n, record)
    }

    fn insert_row(&mut self, n: i64, record: &Record) -> Job<()> {
        let encoded = Encoded::of(record)?;
        let row = written(&self.spec, n, self.change, record, &encoded)?;
        self.changed = true;
        let mut insert = self.connection.prepare_cached(&self.sql.insert)?;
        insert.execute(params_from_iter(&row.columns))?;
        if !row.elements.is_empty() {
            let mut insert = self.connection.prepare_cached(&self.sql.insert_element)?;
            for (key, value) in &row.elements {
                insert.execute(params![key, value, n])?;
            }
        }
        self.rows_changed += 1;
        self.entry.add_row(row.crc);
        Ok(())
    }

    fn find(&self, key: &Key) -> Job<Option<(i64, i64)>> {
        let mut find = self.connection.prepare_cached(&self.sql.find)?;
        let part = bound(partition_value(key.partition.as_ref()));
        let found = find.query_row(params![part, key.id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        Ok(found.optional()?)
    }

    fn drop_row(&mut self, n: i64, crc: i64) -> Job<()> {
        self.changed = true;
        let mut delete = self.connection.prepare_cached(&self.sql.delete)?;
        if delete.execute([n])? != 1 {
            return Err(corrupt("a row is not where its index says"));
        }
        if self.has_elements {
            let mut delete = self.connection.prepare_cached(&self.sql.delete_elements)?;
            delete.execute([n])?;
        }
        self.rows_changed += 1;
        self.entry.drop_row(crc);
        Ok(())
    }

    fn record_gone(&mut self, part: &dyn ToSql, id: &str) -> Job<()> {
        let mut gone = self.connection.prepare_cached(&self.sql.gone)?;
        let added = gone.execute(params![self.change, part, id])?;
        self.entry.gone += i64::try_from(added).unwrap_or(0);
        Ok(())
    }

    /// Deletes by key; answers how many there were.
    pub(crate) fn delete(&mut self, keys: &[Key]) -> Job<usize> {
        let mut deleted = 0;
        for key in keys {
            self.stop.check()?;
            if let Some((n, crc)) = self.find(key)? {
                self.drop_row(n, crc)?;
                let part = bound(partition_value(key.partition.as_ref()));
                self.record_gone(&part, key.id.as_str())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    fn matching(&self, filter: &Filter) -> Job<Vec<Row>> {
        let number = self.entry.number;
        let such = condition(filter, &self.spec, number, Access::ByFilter)?;
        let sql = format!(
            "SELECT r.n, r.part, r.id, r.crc, r.meta FROM rows_{number} r WHERE {}",
            such.sql
        );
        let matcher = Matcher::new(filter);
        query(self.connection, &sql, &such.binds, |mut rows| {
            let mut matching = Vec::new();
            while let Some(row) = rows.next()? {
                // Once more by what the row itself holds: what statements read of lists has no checksum.
                let held = row.get_ref(4)?.as_str().ok();
                let held = held.and_then(|json| Metadata::from_stored_json(json, &self.spec));
                let held = held.ok_or_else(|| corrupt("a row is damaged"))?;
                if !matcher.matches(&held) {
                    return Err(found_wrongly());
                }
                matching.push(Row {
                    n: row.get(0)?,
                    part: row.get(1)?,
                    id: row.get(2)?,
                    crc: row.get(3)?,
                });
            }
            Ok(matching)
        })
    }

    /// Deletes what a filter matches; answers how many there were.
    pub(crate) fn delete_matching(&mut self, filter: &Filter) -> Job<usize> {
        self.replace(filter, &[])
    }

    /// Puts records in the place of what a filter matches; answers how many it matched.
    pub(crate) fn replace(&mut self, filter: &Filter, with: &[Record]) -> Job<usize> {
        let rows = self.matching(filter)?;
        let keys = with.iter().map(|record| &record.key);
        let coming: HashSet<(Option<&str>, &str)> = keys
            .map(|key| (key.partition.as_ref().map(Text::as_str), key.id.as_str()))
            .collect();
        for row in &rows {
            self.stop.check()?;
            self.drop_row(row.n, row.crc)?;
            let partition = match &row.part {
                Value::Text(partition) => Some(partition.as_str()),
                _ => None,
            };
            if !coming.contains(&(partition, row.id.as_str())) {
                self.record_gone(&row.part, &row.id)?;
            }
        }
        self.upsert(with)?;
        Ok(rows.len())
    }

    /// Whether a record, looked for within a filter, is as expected.
    pub(crate) fn meets(&self, expected: &Precondition, within: &Filter) -> Job<bool> {
        let number = self.entry.number;
        let sql = format!("SELECT * FROM rows_{number} WHERE part = ? AND id = ?");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let part = bound(partition_value(expected.key.partition.as_ref()));
        let mut rows = statement.query(params![part, expected.key.id.as_str()])?;
        let there = match rows.next()? {
            Some(row) => Some(record_mapping::parts(&self.spec, row)?.metadata),
            None => None,
        };
        // By what the row holds: there is one row, and no table of lists to trust.
        let there = there.filter(|metadata| within.matches(metadata));
        Ok(expected.is_met_by(there.as_ref()))
    }

    /// Patches the metadata of what a filter matches; answers how many it matched.
    pub(crate) fn update(&mut self, filter: &Filter, patch: &MetadataPatch) -> Job<usize> {
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                self.spec.check_value(key, value)?;
            }
        }
        let rows = self.matching(filter)?;
        let read = format!("SELECT * FROM rows_{} WHERE n = ?", self.entry.number);
        for row in &rows {
            self.stop.check()?;
            let mut read = self.connection.prepare_cached(&read)?;
            let mut found = read.query([row.n])?;
            let there = found
                .next()?
                .ok_or_else(|| corrupt("a row is not where its index says"))?;
            let mut record = record_mapping::parts(&self.spec, there)?.record();
            drop(found);
            record.metadata = Arc::new(patch.apply(&record.metadata));
            self.drop_row(row.n, row.crc)?;
            self.insert_row(row.n, &record)?;
        }
        Ok(rows.len())
    }

    /// Deletes everything; answers how much there was.
    pub(crate) fn delete_all(&mut self) -> Job<usize> {
        let number = self.entry.number;
        let rows = self.entry.row_count;
        let deleted = self
            .connection
            .execute(&format!("DELETE FROM rows_{number}"), [])?;
        if i64::try_from(deleted) != Ok(rows) {
            return Err(corrupt("rows of a collection are missing"));
        }
        if deleted > 0 {
            self.connection
                .execute(&format!("DELETE FROM elements_{number}"), [])?;
            self.connection
                .execute(&format!("DELETE FROM gone_{number}"), [])?;
            self.changed = true;
            self.rows_changed += deleted;
            self.entry.row_count = 0;
            self.entry.row_sum = 0;
            self.entry.gone = 0;
            self.entry.pruned = self.change;
        }
        Ok(deleted)
    }

    /// Has the entry recorded even where no row was changed: its tables were.
    pub(crate) fn tables_changed(&mut self) {
        self.changed = true;
    }

    /// Records what was changed; answers what is recorded of the collection then.
    pub(crate) fn finish(mut self) -> Job<Entry> {
        if !self.changed {
            return Ok(self.entry);
        }
        if self.entry.gone > MAX_GONE {
            self.prune()?;
        }
        self.entry.changes = self.change;
        self.entry.stamp = self.stamp()?;
        self.entry.write(self.connection)?;
        Ok(self.entry)
    }

    /// Draws the stamp of this change and keeps it, so that rows in memory that are as of this change
    /// know the histories that go on from it.
    fn stamp(&self) -> Job<i64> {
        let mut forget = self.connection.prepare_cached(&self.sql.forget_stamps)?;
        forget.execute([self.change - MAX_STAMPS])?;
        let mut stamp = self.connection.prepare_cached(&self.sql.stamp)?;
        Ok(stamp.query_row([self.change], |row| row.get(0))?)
    }

    /// Forgets the older half of what is gone.
    fn prune(&mut self) -> Job<()> {
        let number = self.entry.number;
        let middle = format!("SELECT change FROM gone_{number} ORDER BY change LIMIT 1 OFFSET ?");
        let up_to: i64 = self
            .connection
            .query_row(&middle, [MAX_GONE / 2], |row| row.get(0))?;
        let sql = format!("DELETE FROM gone_{number} WHERE change <= ?");
        let pruned = self.connection.execute(&sql, [up_to])?;
        self.entry.gone -= i64::try_from(pruned).unwrap_or(0);
        self.entry.pruned = up_to;
        Ok(())
    }
}

impl Statements {
    fn on(number: i64, width: usize) -> Self {
        let more = ", ?".repeat(width.saturating_sub(1));
        Self {
            find: format!("SELECT n, crc FROM rows_{number} WHERE part = ? AND id = ?"),
            insert: format!("INSERT INTO rows_{number} VALUES (?{more})"),
            delete: format!("DELETE FROM rows_{number} WHERE n = ?"),
            // A list may hold one value twice; that is one element.
            insert_element: format!("INSERT OR IGNORE INTO elements_{number} VALUES (?, ?, ?)"),
            delete_elements: format!("DELETE FROM elements_{number} WHERE n = ?"),
            gone: format!("INSERT OR IGNORE INTO gone_{number} VALUES (?, ?, ?)"),
            stamp: format!(
                "INSERT OR REPLACE INTO stamps_{number} VALUES (?, random()) RETURNING stamp"
            ),
            forget_stamps: format!("DELETE FROM stamps_{number} WHERE change <= ?"),
        }
    }
}

/// Refuses a handle whose collection was dropped, or dropped and made anew.
pub(crate) fn current(entry: Option<Entry>, generation: i64) -> Job<Entry> {
    entry
        .filter(|entry| entry.generation == generation)
        .ok_or_else(|| ErrorKind::StaleHandle.into())
}
