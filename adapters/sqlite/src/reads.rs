//! Reads within one read transaction.

use std::sync::Arc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params, params_from_iter};
use shelfward_core::filter::Matcher;
use shelfward_core::{
    CollectionSpec, Cursor, Filter, Include, Key, Metadata, Page, Record, Scalar, StoredRecord,
    Text,
};

use crate::error::{Result, corrupt};
use crate::record_mapping::{
    ID, META, N, PART, decode_row, key_of, metadata_of, partition_value, stored, text,
};
use crate::schema::CatalogRow;

/// A collection as one transaction sees it.
pub(crate) struct View<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) entry: CatalogRow,
    pub(crate) spec: Arc<CollectionSpec>,
}

impl View<'_> {
    pub(crate) fn count(&self, filter: &Filter) -> Result<u64> {
        let count = if filter.is_everything() {
            let all = self.count_rows("true", None)?;
            if all != self.entry.row_count {
                return Err(corrupt("rows of a collection are missing"));
            }
            u64::try_from(all).ok()
        } else if let ([_], Some(Some(partition))) = (&*filter.tests(), self.partition(filter)) {
            // Nothing but the partition is asked for, which the index tells.
            let partition = partition_value(Some(&partition));
            u64::try_from(self.count_rows("part = ?", Some(partition))?).ok()
        } else {
            u64::try_from(self.matching(filter, None, usize::MAX)?.len()).ok()
        };
        count.ok_or_else(|| corrupt("a count is negative"))
    }

    fn count_rows(&self, place: &str, params: Option<Value>) -> Result<i64> {
        let number = self.entry.number;
        let sql = format!("SELECT count(*) FROM rows_{number} WHERE {place}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row(params_from_iter(params), |row| row.get(0))?)
    }

    /// The one partition, or that there are none, whose rows alone a filter can match.
    #[expect(
        clippy::option_option,
        reason = "one for no such, one for no partition"
    )]
    fn partition(&self, filter: &Filter) -> Option<Option<Text>> {
        let Some(key) = self.spec.partition_key() else {
            return Some(None);
        };
        match filter.pinned(key.as_str()).as_deref() {
            Some([Scalar::Text(partition)]) => Some(Some(partition.clone())),
            _ => None,
        }
    }

    pub(crate) fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let matcher = Matcher::new(within);
        let fetch = |key: &Key| {
            let there = self.under(key)?.filter(|r| matcher.matches(&r.metadata));
            Ok(there.map(|record| stored(record, include)))
        };
        keys.iter().map(fetch).collect()
    }

    pub(crate) fn scan(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        // One more than asked tells whether there is a next page.
        let found = self.matching(filter, after, limit.saturating_add(1))?;
        let matcher = Matcher::new(filter);
        let mut records = Vec::with_capacity(found.len().min(limit));
        for n in found.iter().take(limit) {
            let record = self.numbered(*n)?;
            if !matcher.matches(&record.metadata) {
                return Err(corrupt("a row is found by what it does not hold"));
            }
            records.push(stored(record, include));
        }
        let last = records.last().filter(|_| found.len() > limit);
        let next = last.map(|record| Cursor::after(&record.key));
        Ok(Page::new(records, next))
    }

    /// Refuses fields of which the metadata of some row holds another kind.
    pub(crate) fn check_metadata(&self, wanted: &CollectionSpec) -> Result<()> {
        let sql = format!("SELECT meta FROM rows_{}", self.entry.number);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let metadata = metadata_of(&self.spec, row.get_ref(0)?);
            wanted.check_metadata(&metadata.ok_or_else(|| corrupt("a row is damaged"))?)?;
        }
        Ok(())
    }

    /// The record under a key.
    pub(crate) fn under(&self, key: &Key) -> Result<Option<Record>> {
        let place = params![partition_value(key.partition.as_ref()), key.id.as_str()];
        self.record("part = ? AND id = ?", place)
    }

    /// The record of a row that is there.
    pub(crate) fn numbered(&self, n: i64) -> Result<Record> {
        let record = self.record("n = ?", [n])?;
        record.ok_or_else(|| corrupt("a row is not where its index says"))
    }

    /// The key of a row that does not match its checksum, where the index of the keys and, as far as it
    /// can be read, its metadata say the same: its partition was not what was damaged.
    pub(crate) fn key_of_damaged(&self, row: &Row<'_>) -> Result<Option<Key>> {
        let Some(key) = key_of(row.get_ref(PART)?, row.get_ref(ID)?) else {
            return Ok(None);
        };
        if let Some(field) = self.spec.partition_key()
            && let Some(metadata) = metadata_of(&self.spec, row.get_ref(META)?)
            && metadata.text(field.as_str()) != key.partition.as_ref().map(Text::as_str)
        {
            return Ok(None);
        }
        let number = self.entry.number;
        let sql = format!(
            "SELECT n FROM rows_{number} INDEXED BY rows_{number}_key WHERE part = ? AND id = ?"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let place = params![partition_value(key.partition.as_ref()), key.id.as_str()];
        let n = statement.query_row(place, |row| row.get::<_, i64>(0));
        Ok((n.optional()? == Some(row.get(N)?)).then_some(key))
    }

    fn record(&self, place: &str, params: impl Params) -> Result<Option<Record>> {
        let sql = format!("SELECT * FROM rows_{} WHERE {place}", self.entry.number);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params)?;
        let row = rows.next()?;
        row.map(|row| decode_row(&self.spec, row)).transpose()
    }

    /// The numbers of up to `most` rows that a filter matches, in the order of the keys, after one or
    /// from the first.
    ///
    /// It walks the keys in their order, those of the partition where the filter names one, and looks
    /// at each row, so that all pages together cost one walk. Where the filter names units, their few
    /// rows are found by their index and put in order.
    pub(crate) fn matching(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        most: usize,
    ) -> Result<Vec<i64>> {
        if filter.never_matches() {
            return Ok(Vec::new());
        }
        let (sql, params) = self.walk(filter, after);
        let matcher = Matcher::new(filter);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(params))?;
        let mut found = Vec::new();
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            if self.matches(row, filter, &matcher)? {
                found.push(row.get(0)?);
            }
        }
        Ok(found)
    }

    fn walk(&self, filter: &Filter, after: Option<&Key>) -> (String, Vec<Value>) {
        let number = self.entry.number;
        let (mut within, mut params) = (String::from("true"), Vec::new());
        let mut add = |condition: &str, values: &mut dyn Iterator<Item = Value>| {
            within.push_str(" AND ");
            within.push_str(condition);
            params.extend(values);
        };
        let partition = self.partition(filter);
        let mut index = format!("INDEXED BY rows_{number}_key");
        if let Some(partition) = &partition {
            let partition = partition_value(partition.as_ref());
            add("part = ?", &mut std::iter::once(partition));
            let units = self
                .spec
                .unit_key()
                .and_then(|key| filter.pinned(key.as_str()));
            let units = units.unwrap_or_default();
            if (1..=FEW_UNITS).contains(&units.len()) {
                let values = units.iter().map(|unit| unit.as_text());
                let mut values =
                    values.map(|unit| Value::Text(unit.unwrap_or_default().to_owned()));
                let more = ", ?".repeat(units.len() - 1);
                add(&format!("unit IN (?{more})"), &mut values);
                index = format!("INDEXED BY rows_{number}_unit");
            }
        }
        if let Some(key) = after {
            let id = text(&key.id);
            if partition.as_ref() == Some(&key.partition) {
                add("id > ?", &mut std::iter::once(id));
            } else {
                let part = partition_value(key.partition.as_ref());
                add("(part, id) > (?, ?)", &mut [part, id].into_iter());
            }
        }
        let sql = format!(
            "SELECT n, part, unit, meta FROM rows_{number} {index} WHERE {within} ORDER BY part, id"
        );
        (sql, params)
    }

    /// Whether a filter matches a row by its metadata; by its columns, where those cannot be read and it
    /// asks for no more than they say, so that a source with a damaged row can be written anew.
    fn matches(&self, row: &Row<'_>, filter: &Filter, matcher: &Matcher<'_>) -> Result<bool> {
        if let Some(metadata) = metadata_of(&self.spec, row.get_ref(3)?) {
            return Ok(matcher.matches(&metadata));
        }
        let places = [self.spec.partition_key(), self.spec.unit_key()];
        if (filter.tests().iter()).any(|test| !places.contains(&Some(test.key()))) {
            return Err(corrupt("a row is damaged"));
        }
        let mut metadata = Metadata::new();
        for (key, at) in places.into_iter().zip([1, 2]) {
            let value = row.get_ref(at)?.as_str().ok();
            let value = value.and_then(|value| Text::new(value).ok());
            if let Some((key, value)) = key.zip(value) {
                metadata.insert(key.clone(), value);
            }
        }
        Ok(matcher.matches(&metadata))
    }
}

/// Up to so many units their rows are few enough to be put in order for each page.
const FEW_UNITS: usize = 16;
