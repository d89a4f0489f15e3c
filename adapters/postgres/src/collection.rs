use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, NarrowFilter, Operation, Page, Precondition, Record, Replaced, Result,
    StoreError, StoredRecord, async_trait,
};

use crate::error::{Fail, Job};
use crate::extension::Extension;
use crate::registry::Entry;
use crate::schema::Names;
use crate::server::Server;
use crate::store::closed;
use crate::writes::{Change, Changed, Write};

/// A collection as it was opened.
pub(crate) struct Opened {
    pub(crate) server: Arc<Server>,
    pub(crate) names: Names,
    /// The table, as SQL names it.
    pub(crate) table: String,
    pub(crate) entry: Entry,
    pub(crate) extension: Extension,
}

/// A handle on a collection.
pub(crate) struct PostgresCollection {
    pub(crate) opened: Arc<Opened>,
    pub(crate) capabilities: Capabilities,
    pub(crate) store_closed: Arc<AtomicBool>,
}

impl PostgresCollection {
    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.opened.entry.spec.name)
    }

    fn refuse_when_closed(&self, operation: Operation) -> Result<()> {
        if self.store_closed.load(Ordering::SeqCst) {
            Err(self.error(operation, closed()))
        } else {
            Ok(())
        }
    }

    fn told<T>(&self, operation: Operation, done: Job<T>) -> Result<T> {
        let waited = self.opened.server.options.statement_timeout;
        let name = &self.opened.entry.spec.name;
        done.map_err(|fail| fail.told(operation, Some(name), waited, 1))
    }

    async fn read<T>(
        &self,
        operation: Operation,
        reading: impl Future<Output = Job<T>>,
    ) -> Result<T> {
        self.refuse_when_closed(operation)?;
        self.told(operation, reading.await)
    }

    async fn write(&self, operation: Operation, change: Change) -> Result<Changed> {
        self.refuse_when_closed(operation)?;
        let checked = match &change {
            Change::Upsert(records) | Change::Replace { with: records, .. } => {
                self.opened.check_records(records)
            }
            Change::Update(_, patch) => self.opened.check_patch(patch),
            Change::Delete(_) | Change::DeleteAll => Ok(()),
        };
        self.told(operation, checked)?;
        let write = Write {
            opened: self.opened.clone(),
            change,
        };
        let name = &self.opened.entry.spec.name;
        let server = &self.opened.server;
        server.transaction(operation, Some(name), write).await
    }
}

#[async_trait]
impl CollectionAdapter for PostgresCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.opened.entry.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let change = Change::Upsert(records.to_vec());
        self.write(Operation::Upsert, change).await.map(drop)
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let change = Change::Delete(keys.to_vec());
        self.write(Operation::Delete, change).await.map(counted)
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        self.read(Operation::Search, self.opened.search(legs)).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let fetched = self.opened.fetch(keys, within, include);
        self.read(Operation::Fetch, fetched).await
    }

    async fn replace(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let change = Change::Replace {
            selector: selector.clone(),
            with: with.to_vec(),
            expected: precondition.cloned(),
        };
        let removed = self.write(Operation::Replace, change).await?;
        Ok(removed.map(|removed| Replaced::new(Count::Exact(removed), with.len())))
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let change = Change::Replace {
            selector: selector.clone(),
            with: Vec::new(),
            expected: None,
        };
        let deleted = self.write(Operation::DeleteMatching, change).await?;
        Ok(counted(deleted))
    }

    async fn delete_all(&self) -> Result<Count> {
        let deleted = self.write(Operation::DeleteAll, Change::DeleteAll).await?;
        Ok(counted(deleted))
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let change = Change::Update(selector.clone(), patch.clone());
        let updated = self.write(Operation::UpdateMetadata, change).await?;
        Ok(counted(updated))
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let after = after.map(Cursor::key).transpose().map_err(Fail::from);
        let after = self.told(Operation::Scan, after)?;
        let page = self.opened.scan(filter, after.as_ref(), limit, include);
        self.read(Operation::Scan, page).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let count = self.read(Operation::Count, self.opened.count(filter));
        Ok(Count::Exact(count.await?))
    }
}

fn counted(changed: Changed) -> Count {
    changed.map_or(Count::Unknown, Count::Exact)
}
