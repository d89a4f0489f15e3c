//! Reads within one read transaction.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use shelfward_core::filter::Matcher;
use shelfward_core::{
    CollectionSpec, Cursor, Filter, Include, Key, MetadataKey, Page, Scalar, StoredRecord, Text,
};

use crate::error::{Error, Result, corrupt};
use crate::filter_translation::{Access, condition, owned};
use crate::params::{Param, query};
use crate::record_mapping::{DecodedRow, decode_row, partition_value};
use crate::schema::CatalogRow;

/// A collection as one read transaction sees it.
pub(crate) struct View<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) entry: &'a CatalogRow,
    pub(crate) spec: &'a CollectionSpec,
}

impl View<'_> {
    pub(crate) fn count(&self, filter: &Filter) -> Result<u64> {
        let number = self.entry.number;
        let predicate = condition(filter, self.spec, number, Access::ByFilter)?;
        let sql = format!(
            "SELECT count(*) FROM rows_{number} r WHERE {}",
            predicate.text
        );
        let count: i64 = query(self.connection, &sql, &predicate.params, |mut rows| {
            let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            Ok(row.get(0)?)
        })?;
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
    ) -> Result<HashMap<Key, DecodedRow>> {
        let mut by_partition: HashMap<Option<&Text>, Vec<Value>> = HashMap::new();
        for key in keys {
            let ids = by_partition.entry(key.partition.as_ref()).or_default();
            ids.push(Value::Text(key.id.as_str().to_owned()));
        }
        let number = self.entry.number;
        let predicate = condition(within, self.spec, number, Access::ByKey)?;
        let matcher = Matcher::new(within);
        let sql = format!(
            "SELECT r.* FROM rarray(?) k CROSS JOIN rows_{number} r INDEXED BY rows_{number}_key \
             WHERE r.part = ? AND r.id = k.value AND {}",
            predicate.text
        );
        let mut found = HashMap::new();
        for (partition, ids) in by_partition {
            let mut params = vec![
                Param::Many(Rc::new(ids)),
                Param::One(owned(partition_value(partition))),
            ];
            params.extend(predicate.params.iter().cloned());
            query(self.connection, &sql, &params, |mut rows| {
                while let Some(row) = rows.next()? {
                    let parts = decode_matching(self.spec, row, &matcher)?;
                    found.insert(parts.key.clone(), parts);
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    pub(crate) fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
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
    ) -> Result<Page> {
        // One more than asked tells whether there is a next page.
        let (sql, params) = self.page(filter, after, limit.saturating_add(1))?;
        let matcher = Matcher::new(filter);
        let mut records = Vec::new();
        let more = query(self.connection, &sql, &params, |mut rows| {
            while let Some(row) = rows.next()? {
                if records.len() == limit {
                    return Ok(true);
                }
                records.push(decode_matching(self.spec, row, &matcher)?.stored(include));
            }
            Ok(false)
        })?;
        let next = (records.last())
            .filter(|_| more)
            .map(|record| Cursor::after(&record.key));
        Ok(Page::new(records, next))
    }

    /// The statement of a page of a scan.
    ///
    /// It walks the keys in their order, those of the partition where the filter names one, and looks
    /// at each row, so that all pages together cost one walk. Where the filter names units, their few
    /// rows are found by their index and put in order.
    fn page(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<(String, Vec<Param>)> {
        let number = self.entry.number;
        let pinned = |key: Option<&MetadataKey>| filter.pinned(key?.as_str());
        let few_units = pinned(self.spec.unit_key()).is_some_and(|units| units.len() <= FEW_UNITS);
        let (access, index) = if few_units {
            (Access::ByFilter, String::new())
        } else {
            (Access::ByKey, format!("INDEXED BY rows_{number}_key "))
        };
        let predicate = condition(filter, self.spec, number, access)?;
        let mut within = String::new();
        let mut params = Vec::new();
        let partition = match pinned(self.spec.partition_key()).as_deref() {
            Some([Scalar::Text(partition)]) if !few_units => Some(partition.clone()),
            _ => None,
        };
        if partition.is_some() {
            within.push_str("r.part = ? AND ");
            params.push(Param::One(owned(partition_value(partition.as_ref()))));
        }
        match after {
            Some(key) if partition.is_some() && key.partition == partition => {
                within.push_str("r.id > ? AND ");
                params.push(Param::One(Value::Text(key.id.as_str().to_owned())));
            }
            Some(key) => {
                within.push_str("(r.part, r.id) > (?, ?) AND ");
                params.push(Param::One(owned(partition_value(key.partition.as_ref()))));
                params.push(Param::One(Value::Text(key.id.as_str().to_owned())));
            }
            None => {}
        }
        params.extend(predicate.params);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        params.push(Param::One(Value::Integer(limit)));
        let sql = format!(
            "SELECT r.* FROM rows_{number} r {index}WHERE {within}{} ORDER BY r.part, r.id LIMIT ?",
            predicate.text
        );
        Ok((sql, params))
    }
}

/// The parts of a row that a statement found by a filter, looked at by the filter once more: the
/// tables that statements read of lists have no checksum.
fn decode_matching(
    spec: &CollectionSpec,
    row: &Row<'_>,
    matcher: &Matcher<'_>,
) -> Result<DecodedRow> {
    let parts = decode_row(spec, row)?;
    if matcher.matches(&parts.metadata) {
        Ok(parts)
    } else {
        Err(found_wrongly())
    }
}

/// Why a row that does not match the filter by which it was found is not given out or changed.
pub(crate) fn found_wrongly() -> Error {
    corrupt("a row is found by what it does not hold")
}

/// Up to so many units their rows are few enough to be put in order for each page.
const FEW_UNITS: usize = 16;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use shelfward_core::{CollectionName, Field, FieldKind, FieldRole, Metric};

    use super::*;
    use crate::schema;

    /// How the engine goes about a page.
    fn plan(filter: &str, after: Option<&Key>) -> String {
        let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
        let name = CollectionName::new("c").unwrap();
        let spec = CollectionSpec::new(name, 1, Metric::Dot, "none").with_fields([
            field("tenant", FieldKind::Text).with_role(FieldRole::Partition),
            field("source", FieldKind::Text).with_role(FieldRole::Unit),
            field("groups", FieldKind::TextList),
        ]);
        let connection = Connection::open_in_memory().unwrap();
        rusqlite::vtab::array::load_module(&connection).unwrap();
        schema::initialise(&connection).unwrap();
        schema::make_tables(&connection, &spec, 1).unwrap();
        let entry = CatalogRow::new(&spec, 1, 7).unwrap();
        let view = View {
            connection: &connection,
            entry: &entry,
            spec: &spec,
        };
        let filter = Filter::from_json(filter).unwrap();
        let (sql, params) = view.page(&filter, after, 10).unwrap();
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let steps: Result<Vec<String>> = query(&connection, &explain, &params, |rows| {
            Ok(rows.mapped(|row| row.get(3)).collect::<Result<_, _>>()?)
        });
        steps.unwrap().join("; ")
    }

    #[test]
    fn a_page_is_read_from_where_the_last_one_ended() {
        let text = |text: &str| Text::new(text).unwrap();
        let after = Key::within(text("t"), text("x"));
        for filter in [
            "{}",
            r#"{"tenant":"t"}"#,
            r#"{"tenant":"t","groups":{"$in":["a","b"]}}"#,
            r#"{"groups":"a"}"#,
        ] {
            for after in [None, Some(&after)] {
                let plan = plan(filter, after);
                assert!(plan.contains("INDEX rows_1_key"), "{filter}: {plan}");
                assert!(!plan.contains("TEMP B-TREE"), "{filter}: {plan}");
            }
        }
        let within = plan(r#"{"tenant":"t","groups":"a"}"#, Some(&after));
        assert!(within.contains("part=? AND id>?"), "{within}");
        let unit = plan(r#"{"tenant":"t","source":"s"}"#, Some(&after));
        assert!(unit.contains("INDEX rows_1_unit"), "{unit}");
    }
}
