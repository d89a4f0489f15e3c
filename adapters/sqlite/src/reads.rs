//! Reads within one read transaction.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use shelfward_core::{
    CollectionSpec, Cursor, ErrorKind, Filter, Include, Key, Page, StoredRecord, Text,
};

use crate::error::{Job, corrupt};
use crate::filter_translation::{Access, Bind, condition, owned};
use crate::record_mapping::{Parts, partition_value, parts};
use crate::schema::Entry;

/// A collection as one read transaction sees it.
pub(crate) struct View<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) entry: &'a Entry,
    pub(crate) spec: &'a CollectionSpec,
}

impl View<'_> {
    pub(crate) fn count(&self, filter: &Filter) -> Job<u64> {
        let number = self.entry.number;
        let such = condition(filter, self.spec, number, Access::ByFilter)?;
        let sql = format!("SELECT count(*) FROM rows_{number} r WHERE {}", such.sql);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let count: i64 = statement.query_row(params_from_iter(&such.binds), |row| row.get(0))?;
        if filter.is_everything() && count != self.entry.row_count {
            return Err(corrupt("rows of a collection are missing"));
        }
        u64::try_from(count).map_err(|_| corrupt("a count is negative"))
    }

    /// The rows under keys within a filter, by their keys.
    pub(crate) fn by_key<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k Key>,
        within: &Filter,
    ) -> Job<HashMap<Key, Parts>> {
        let mut by_partition: HashMap<Option<&Text>, Vec<Value>> = HashMap::new();
        for key in keys {
            let ids = by_partition.entry(key.partition.as_ref()).or_default();
            ids.push(Value::Text(key.id.as_str().to_owned()));
        }
        let number = self.entry.number;
        let such = condition(within, self.spec, number, Access::ByKey)?;
        let sql = format!(
            "SELECT r.* FROM rarray(?) k CROSS JOIN rows_{number} r INDEXED BY rows_{number}_key \
             WHERE r.part = ? AND r.id = k.value AND {}",
            such.sql
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut found = HashMap::new();
        for (partition, ids) in by_partition {
            let mut binds = vec![
                Bind::Many(Rc::new(ids)),
                Bind::One(owned(partition_value(partition))),
            ];
            binds.extend(such.binds.iter().cloned());
            let mut rows = statement.query(params_from_iter(&binds))?;
            while let Some(row) = rows.next()? {
                let parts = parts(self.spec, row)?;
                found.insert(parts.key.clone(), parts);
            }
        }
        Ok(found)
    }

    pub(crate) fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Job<Vec<Option<StoredRecord>>> {
        let found = self.by_key(keys, within)?;
        let found: HashMap<Key, StoredRecord> = found
            .into_iter()
            .map(|(key, parts)| (key, parts.stored(include)))
            .collect();
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    pub(crate) fn scan(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        include: Include,
    ) -> Job<Page> {
        let number = self.entry.number;
        let such = condition(filter, self.spec, number, Access::ByFilter)?;
        let mut binds = Vec::new();
        let mut from = "";
        if let Some(key) = after {
            from = "(r.part, r.id) > (?, ?) AND ";
            binds.push(Bind::One(owned(partition_value(key.partition.as_ref()))));
            binds.push(Bind::One(Value::Text(key.id.as_str().to_owned())));
        }
        binds.extend(such.binds);
        // One more than asked tells whether there is a next page.
        let rows = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
        binds.push(Bind::One(Value::Integer(rows)));
        let sql = format!(
            "SELECT r.* FROM rows_{number} r WHERE {from}{} ORDER BY r.part, r.id LIMIT ?",
            such.sql
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(&binds))?;
        let mut records = Vec::new();
        let mut more = false;
        while let Some(row) = rows.next()? {
            if records.len() == limit {
                more = true;
                break;
            }
            records.push(parts(self.spec, row)?.stored(include));
        }
        let next = (records.last())
            .filter(|_| more)
            .map(|record| cursor_at(&record.key));
        Ok(Page::new(records, next))
    }
}

/// The key of the last record seen: the length of its partition, or `-`, a colon, and both texts.
fn cursor_at(key: &Key) -> Cursor {
    Cursor::new(match &key.partition {
        Some(partition) => format!("{}:{partition}{}", partition.as_str().len(), key.id),
        None => format!("-:{}", key.id),
    })
}

/// The key that a cursor names.
pub(crate) fn key_of(cursor: &Cursor) -> Result<Key, ErrorKind> {
    let read = |cursor: &str| {
        let (length, rest) = cursor.split_once(':')?;
        let text = |part: &str| Text::new(part).ok();
        if length == "-" {
            return Some(Key::new(text(rest)?));
        }
        let length = length.parse().ok()?;
        Some(Key::within(
            text(rest.get(..length)?)?,
            text(rest.get(length..)?)?,
        ))
    };
    read(cursor.as_str())
        .ok_or_else(|| ErrorKind::Invalid("the cursor is not one of this store's".to_owned()))
}
