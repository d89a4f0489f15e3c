use std::sync::Arc;

use shelfward_adapter::error::{Call, Classify as _};
use shelfward_adapter::handle::Lease;
use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector, StoredRecord,
    async_trait,
};

use crate::context::CollectionContext;
use crate::error::{self, Error};
use crate::open_store::OpenStore;
use crate::writes::{Change, Changed, Write};

/// A handle on a collection.
pub(crate) struct PostgresCollection {
    pub(crate) context: Arc<CollectionContext>,
    pub(crate) capabilities: Capabilities,
    pub(crate) store: Lease<OpenStore>,
}

impl PostgresCollection {
    /// A call, refused where the store's handle was closed.
    fn call(&self, operation: Operation) -> Result<Call<'_>> {
        let call = Call::on(operation, &self.context.row.spec.name);
        match self.store.get() {
            Ok(_) => Ok(call),
            Err(kind) => Err(call.error(kind)),
        }
    }

    fn answer<T>(&self, call: Call<'_>, done: error::Result<T>) -> Result<T> {
        let statement_timeout = self.context.server.options.statement_timeout;
        done.map_err(|error| error.into_store_error(call, statement_timeout))
    }

    async fn read<T>(
        &self,
        operation: Operation,
        reading: impl Future<Output = error::Result<T>>,
    ) -> Result<T> {
        let call = self.call(operation)?;
        self.answer(call, reading.await)
    }

    async fn write(&self, operation: Operation, change: Change) -> Result<Changed> {
        let call = self.call(operation)?;
        self.answer(call, self.context.check_change(&change))?;
        let write = Write {
            context: self.context.clone(),
            change,
        };
        self.context.server.transaction(call, write).await
    }
}

#[async_trait]
impl CollectionAdapter for PostgresCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.context.row.spec
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
        self.read(Operation::Search, self.context.search(legs))
            .await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let fetched = self.context.fetch(keys, within, include);
        self.read(Operation::Fetch, fetched).await
    }

    async fn replace(
        &self,
        selector: &Selector,
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

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
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

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
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
        let after = after.map(Cursor::key).transpose().map_err(Error::from);
        let after = self.answer(self.call(Operation::Scan)?, after)?;
        let page = self.context.scan(filter, after.as_ref(), limit, include);
        self.read(Operation::Scan, page).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let count = self.read(Operation::Count, self.context.count(filter));
        Ok(Count::Exact(count.await?))
    }
}

fn counted(changed: Changed) -> Count {
    changed.map_or(Count::Unknown, Count::Exact)
}
