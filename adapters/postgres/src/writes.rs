//! Changes to the rows of a collection, each one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use shelfward_adapter::catalog::decode_spec;
use shelfward_adapter::error::invalid;
use shelfward_core::adapter::LockScope;
use shelfward_core::{
    CollectionSpec, ErrorKind, Filter, Key, Metadata, MetadataPatch, Precondition, Record,
    Selector, async_trait,
};
use sqlx_core::row::Row as _;

use crate::config::VectorIndex;
use crate::context::CollectionContext;
use crate::error::Result;
use crate::filter_translation::condition;
use crate::locks::{Lock, of_scope};
use crate::metadata_json;
use crate::params::{Param, Params, Statement};
use crate::pieces::Verb;
use crate::record_mapping::{self, check_sizes, partition_column};
use crate::row_level_security;
use crate::search::fits_halves;
use crate::transaction::{Transaction, TransactionBody};

/// A change of a collection.
pub(crate) struct Write {
    pub(crate) context: Arc<CollectionContext>,
    pub(crate) change: Change,
}

/// What is changed.
pub(crate) enum Change {
    Upsert(Vec<Record>),
    Delete(Vec<Key>),
    Replace {
        selector: Selector,
        with: Vec<Record>,
        expected: Option<Precondition>,
    },
    DeleteAll,
    Update(Selector, MetadataPatch),
}

/// How many rows a change was about; `None` where a record was not as expected.
pub(crate) type Changed = Option<u64>;

#[async_trait]
impl TransactionBody for Write {
    type Output = Changed;

    fn locks(&self) -> Vec<Lock> {
        let spec = &self.context.row.spec;
        let claim = match &self.change {
            Change::Upsert(records) => LockScope::of_keys(records.iter().map(|record| &record.key)),
            Change::Delete(keys) => LockScope::of_keys(keys),
            Change::Replace { selector, .. } | Change::Update(selector, _) => {
                LockScope::of_selector(spec, selector)
            }
            Change::DeleteAll => LockScope::Collection,
        };
        of_scope(&self.context.table, &claim)
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Result<Changed> {
        let context = &self.context;
        // Fields that were declared since the collection was opened may not accept what is written.
        if let Some(spec) = context.check_is_current(transaction).await? {
            for metadata in self.change.metadata() {
                spec.check_metadata(&metadata)?;
                check_sizes(&metadata, &spec)?;
            }
        }
        match &self.change {
            Change::Upsert(records) => {
                context.write(transaction, records).await?;
                Ok(Some(0))
            }
            Change::Delete(keys) => {
                let keys: Vec<_> = keys.iter().collect();
                context.delete(transaction, &keys).await.map(Some)
            }
            Change::Replace {
                selector,
                with,
                expected,
            } => {
                if let Some(expected) = expected
                    && !context
                        .meets(transaction, expected, selector.filter())
                        .await?
                {
                    return Ok(None);
                }
                let deleted = context
                    .delete_matching(transaction, selector.filter())
                    .await?;
                context.write(transaction, with).await?;
                Ok(Some(deleted))
            }
            Change::DeleteAll => context
                .delete_matching(transaction, &Filter::everything())
                .await
                .map(Some),
            Change::Update(selector, patch) => context
                .update(transaction, selector.filter(), patch)
                .await
                .map(Some),
        }
    }
}

impl Change {
    /// The records that it writes.
    fn records(&self) -> &[Record] {
        match self {
            Self::Upsert(records) | Self::Replace { with: records, .. } => records,
            Self::Delete(_) | Self::DeleteAll | Self::Update(..) => &[],
        }
    }

    /// The metadata that it writes.
    fn metadata(&self) -> impl Iterator<Item = Arc<Metadata>> {
        let set = match self {
            Self::Update(_, patch) => Some(Arc::new(patch.apply(&Metadata::new()))),
            _ => None,
        };
        let of_records = self.records().iter();
        of_records.map(|record| record.metadata.clone()).chain(set)
    }
}

impl CollectionContext {
    /// Refuses what the tables cannot hold, before anything is sent.
    pub(crate) fn check_change(&self, change: &Change) -> Result<()> {
        let spec = &self.row.spec;
        let halves = self.row.settings.index == VectorIndex::HnswHalf;
        let fits = |record: &Record| !halves || fits_halves(spec, &record.vector);
        if !change.records().iter().all(fits) {
            return Err(invalid(
                "a vector whose largest number is beyond 65504 or below 0.000062, which an \
                 index of 16-bit floats cannot hold; scale the vectors, or make the \
                 collection with index none",
            )
            .into());
        }
        change.metadata().try_for_each(|m| check_sizes(&m, spec))
    }

    /// Refuses a handle whose collection was dropped, or dropped and made anew. Answers the spec where
    /// it is another one now: it declares more fields.
    async fn check_is_current(
        &self,
        transaction: &mut Transaction<'_>,
    ) -> Result<Option<CollectionSpec>> {
        let name = self.row.spec.name.as_str();
        let sql = format!(
            "SELECT generation, row_security_active(?), spec FROM {} WHERE name = ?",
            self.names.registry()
        );
        let asked = Statement::new(&sql, [Param::text(self.table.as_str()), Param::text(name)]);
        let rows = transaction.rows(&asked).await?;
        let row = rows.first().ok_or(ErrorKind::StaleHandle)?;
        if row.try_get::<i64, _>(0)? != self.row.generation {
            return Err(ErrorKind::StaleHandle.into());
        }
        row_level_security::check_writer(row.try_get(1)?)?;
        let spec = decode_spec(name, row.try_get(2)?)?;
        Ok((spec != self.row.spec).then_some(spec))
    }

    /// Writes records, each in the place of what is under its key.
    async fn write(&self, transaction: &mut Transaction<'_>, records: &[Record]) -> Result<()> {
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
            params: Params::default(),
        }
    }

    async fn delete(&self, transaction: &mut Transaction<'_>, keys: &[&Key]) -> Result<u64> {
        self.change_keys(transaction, &self.deleting(), keys).await
    }

    async fn delete_matching(
        &self,
        transaction: &mut Transaction<'_>,
        filter: &Filter,
    ) -> Result<u64> {
        self.change_matching(transaction, &self.deleting(), filter)
            .await
    }

    /// Whether a record, looked for within a filter, is as expected.
    async fn meets(
        &self,
        transaction: &mut Transaction<'_>,
        expected: &Precondition,
        within: &Filter,
    ) -> Result<bool> {
        let mut params = Params::default();
        let predicate = condition(within, &self.row.spec, &mut params)?;
        let part = params.add(Param::text(partition_column(
            expected.key.partition.as_ref(),
        )));
        let id = params.add(Param::text(expected.key.id.as_str()));
        let sql = format!(
            "SELECT r.meta FROM {} r WHERE r.part = {part} AND r.id = {id} AND {predicate}",
            self.table
        );
        let rows = transaction.rows(&Statement { sql, params }).await?;
        let there: Option<Arc<Metadata>> = (rows.first())
            .map(|row| record_mapping::metadata(row, 0, &self.row.spec))
            .transpose()?;
        Ok(expected.is_met_by(there.as_deref()))
    }

    /// Patches the metadata of what a filter matches; the columns follow by themselves.
    async fn update(
        &self,
        transaction: &mut Transaction<'_>,
        filter: &Filter,
        patch: &MetadataPatch,
    ) -> Result<u64> {
        let mut params = Params::default();
        let set = metadata_json::json(&patch.apply(&Metadata::new()));
        let set = params.add(Param::one("jsonb", set));
        let removed = patch.iter().filter(|(_, value)| value.is_none());
        let removed = removed.map(|(key, _)| key.as_str().to_owned()).collect();
        let removed = params.add(Param::texts(removed));
        let table = &self.table;
        let patching = Verb {
            head: format!("UPDATE {table} r SET meta = (r.meta || {set}) - {removed}"),
            join: "FROM",
            params,
        };
        self.change_matching(transaction, &patching, filter).await
    }
}
