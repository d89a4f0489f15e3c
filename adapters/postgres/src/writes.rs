//! Changes to the rows of a collection, each one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use shelfward_core::adapter::LockScope;
use shelfward_core::{
    CollectionSpec, ErrorKind, Filter, Key, Metadata, MetadataPatch, NarrowFilter, Precondition,
    Record, async_trait,
};
use sqlx_core::row::Row as _;

use crate::binds::{Bind, Binds, Statement};
use crate::collection::Opened;
use crate::config::VectorIndex;
use crate::error::{Fail, Job};
use crate::filter_translation::condition;
use crate::locks::{Lock, of_scope};
use crate::metadata_json;
use crate::pieces::Verb;
use crate::record_mapping::{self, part};
use crate::registry;
use crate::row_level_security;
use crate::search::fits_halves;
use crate::transaction::{Transaction, Work};

/// A change of a collection.
pub(crate) struct Write {
    pub(crate) opened: Arc<Opened>,
    pub(crate) change: Change,
}

/// What is changed.
pub(crate) enum Change {
    Upsert(Vec<Record>),
    Delete(Vec<Key>),
    Replace {
        selector: NarrowFilter,
        with: Vec<Record>,
        expected: Option<Precondition>,
    },
    DeleteAll,
    Update(NarrowFilter, MetadataPatch),
}

/// How many rows a change was about; `None` where a record was not as expected.
pub(crate) type Changed = Option<u64>;

#[async_trait]
impl Work for Write {
    type Output = Changed;

    fn locks(&self) -> Vec<Lock> {
        let spec = &self.opened.entry.spec;
        let claim = match &self.change {
            Change::Upsert(records) => LockScope::of_keys(records.iter().map(|record| &record.key)),
            Change::Delete(keys) => LockScope::of_keys(keys),
            Change::Replace { selector, .. } | Change::Update(selector, _) => {
                LockScope::of_selector(spec, selector)
            }
            Change::DeleteAll => LockScope::Collection,
        };
        of_scope(&self.opened.table, &claim)
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Job<Changed> {
        let opened = &self.opened;
        if let Some(spec) = opened.check_is_current(transaction).await? {
            self.check_kinds(&spec)?;
        }
        match &self.change {
            Change::Upsert(records) => {
                opened.write(transaction, records).await?;
                Ok(Some(0))
            }
            Change::Delete(keys) => {
                let keys: Vec<_> = keys.iter().collect();
                opened.delete(transaction, &keys).await.map(Some)
            }
            Change::Replace {
                selector,
                with,
                expected,
            } => {
                if let Some(expected) = expected
                    && !opened
                        .meets(transaction, expected, selector.filter())
                        .await?
                {
                    return Ok(None);
                }
                let deleted = opened
                    .delete_matching(transaction, selector.filter())
                    .await?;
                opened.write(transaction, with).await?;
                Ok(Some(deleted))
            }
            Change::DeleteAll => opened
                .delete_matching(transaction, &Filter::everything())
                .await
                .map(Some),
            Change::Update(selector, patch) => opened
                .update(transaction, selector.filter(), patch)
                .await
                .map(Some),
        }
    }
}

impl Write {
    /// Refuses values that fields which were declared since the collection was opened do not accept.
    fn check_kinds(&self, spec: &CollectionSpec) -> Job<()> {
        match &self.change {
            Change::Upsert(records) | Change::Replace { with: records, .. } => {
                for record in records {
                    spec.check_metadata(&record.metadata)?;
                    record_mapping::check_sizes(&record.metadata, spec)?;
                }
            }
            Change::Update(_, patch) => {
                let set = patch.apply(&Metadata::new());
                spec.check_metadata(&set)?;
                record_mapping::check_sizes(&set, spec)?;
            }
            Change::Delete(_) | Change::DeleteAll => {}
        }
        Ok(())
    }
}

impl Opened {
    /// Refuses what the tables cannot hold, before anything is sent.
    pub(crate) fn check_records(&self, records: &[Record]) -> Job<()> {
        let halves = self.entry.settings.index == VectorIndex::HnswHalf;
        for record in records {
            record_mapping::check(record, &self.entry.spec)?;
            if halves && !fits_halves(&self.entry.spec, &record.vector) {
                let invalid = "a vector whose largest number is beyond 65504 or below 0.000062, which an \
                               index of 16-bit floats cannot hold; scale the vectors, or make the \
                               collection with index none";
                return Err(ErrorKind::Invalid(invalid.to_owned()).into());
            }
        }
        Ok(())
    }

    /// Refuses a handle whose collection was dropped, or dropped and made anew. Answers the spec where
    /// it is another one now: it declares more fields.
    async fn check_is_current(
        &self,
        transaction: &mut Transaction<'_>,
    ) -> Job<Option<CollectionSpec>> {
        let mut binds = Binds::default();
        let name = binds.add(Bind::Text(self.entry.spec.name.as_str().to_owned()));
        let registry = self.names.registry();
        let table = binds.add(Bind::Text(self.table.clone()));
        let sql = format!(
            "SELECT generation, row_security_active({table}), spec FROM {registry} WHERE name = {name}"
        );
        let rows = transaction.rows(&Statement { sql, binds }).await?;
        let row = rows.first().ok_or(ErrorKind::StaleHandle)?;
        if row.try_get::<i64, _>(0)? != self.entry.generation {
            return Err(ErrorKind::StaleHandle.into());
        }
        row_level_security::check_writer(row.try_get(1)?)?;
        let spec = registry::read_spec(row.try_get(2)?)?;
        Ok((spec != self.entry.spec).then_some(spec))
    }

    /// Writes records, each in the place of what is under its key.
    async fn write(&self, transaction: &mut Transaction<'_>, records: &[Record]) -> Job<()> {
        // Of equal keys the last stays.
        let mut last: HashMap<&Key, usize> = HashMap::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            last.insert(&record.key, at);
        }
        let written: Vec<_> = (records.iter().enumerate())
            .filter(|(at, record)| last.get(&record.key) == Some(at))
            .map(|(_, record)| record)
            .collect();
        let keys: Vec<_> = written.iter().map(|record| &record.key).collect();
        self.delete(transaction, &keys).await?;
        self.insert(transaction, &written).await
    }

    fn deleting(&self) -> Verb {
        Verb {
            head: format!("DELETE FROM {} r", self.table),
            join: "USING",
            binds: Binds::default(),
        }
    }

    async fn delete(&self, transaction: &mut Transaction<'_>, keys: &[&Key]) -> Job<u64> {
        self.change_keys(transaction, &self.deleting(), keys).await
    }

    async fn delete_matching(
        &self,
        transaction: &mut Transaction<'_>,
        filter: &Filter,
    ) -> Job<u64> {
        self.change_matching(transaction, &self.deleting(), filter)
            .await
    }

    /// Whether a record, looked for within a filter, is as expected.
    async fn meets(
        &self,
        transaction: &mut Transaction<'_>,
        expected: &Precondition,
        within: &Filter,
    ) -> Job<bool> {
        let mut binds = Binds::default();
        let such = condition(within, &self.entry.spec, &mut binds)?;
        let part = binds.add(Bind::Text(part(expected.key.partition.as_ref())));
        let id = binds.add(Bind::Text(expected.key.id.as_str().to_owned()));
        let sql = format!(
            "SELECT r.meta FROM {} r WHERE r.part = {part} AND r.id = {id} AND {such}",
            self.table
        );
        let rows = transaction.rows(&Statement { sql, binds }).await?;
        let there: Option<Arc<Metadata>> = (rows.first())
            .map(|row| record_mapping::metadata(row, 0, &self.entry.spec))
            .transpose()?;
        Ok(expected.is_met_by(there.as_deref()))
    }

    /// Patches the metadata of what a filter matches; the columns follow by themselves.
    async fn update(
        &self,
        transaction: &mut Transaction<'_>,
        filter: &Filter,
        patch: &MetadataPatch,
    ) -> Job<u64> {
        let mut binds = Binds::default();
        let set = patch
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), value?)));
        let set = binds.add(Bind::Json(metadata_json::object_of(set)));
        let removed = patch.iter().filter(|(_, value)| value.is_none());
        let removed = removed.map(|(key, _)| key.as_str().to_owned()).collect();
        let removed = binds.add(Bind::Texts(removed));
        let table = &self.table;
        let patching = Verb {
            head: format!("UPDATE {table} r SET meta = (r.meta || {set}) - {removed}"),
            join: "FROM",
            binds,
        };
        self.change_matching(transaction, &patching, filter).await
    }

    /// Refuses a patch that the tables cannot hold.
    pub(crate) fn check_patch(&self, patch: &MetadataPatch) -> Job<()> {
        let spec = &self.entry.spec;
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                spec.check_value(key, value)?;
            }
            // A record lies under its partition, which a patch would leave behind.
            if spec.partition_key() == Some(key) {
                let invalid = format!("{key} says where a record belongs; write the record anew");
                return Err(Fail::Kind(ErrorKind::Invalid(invalid)));
            }
        }
        record_mapping::check_sizes(&patch.apply(&Metadata::new()), spec)
    }
}
