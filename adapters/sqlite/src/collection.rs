use std::sync::Arc;

use rusqlite::Connection;
use shelfward_adapter::cancel::CancelToken;
use shelfward_adapter::error::Call;
use shelfward_adapter::handle::Lease;
use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector, StoredRecord,
    async_trait,
};

use crate::cache::Prepared;
use crate::database::{Database, Reading};
use crate::error;
use crate::handle::Handle;
use crate::reads::View;
use crate::search::search;
use crate::store::OpenStore;
use crate::writes::Writing;

/// A handle on a collection.
pub(crate) struct SqliteCollection {
    pub(crate) store: Lease<Arc<OpenStore>>,
    pub(crate) handle: Handle,
    pub(crate) capabilities: Capabilities,
}

impl SqliteCollection {
    fn call(&self, operation: Operation) -> Call<'_> {
        Call::on(operation, &self.handle.spec.name)
    }

    /// The database, while the store's handle is open.
    fn database(&self, call: Call<'_>) -> Result<&Arc<Database>> {
        let store = self.store.get().map_err(|kind| call.error(kind))?;
        Ok(&store.database)
    }

    /// Reads the collection as it is at one moment.
    async fn read<T: Send + 'static>(
        &self,
        operation: Operation,
        job: impl FnOnce(&View<'_>) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        let call = self.call(operation);
        let handle = self.handle.clone();
        let answer = self
            .database(call)?
            .read(call, move |reading: &mut Reading<'_>| {
                job(&handle.view(reading.connection)?)
            });
        answer.await
    }

    /// Changes the collection in one transaction.
    async fn write<T: Send + 'static>(
        &self,
        operation: Operation,
        job: impl FnOnce(&mut Writing<'_>) -> error::Result<T> + Send + 'static,
    ) -> Result<T> {
        let call = self.call(operation);
        let handle = self.handle.clone();
        let job = move |connection: &Connection, stop: &CancelToken| {
            let mut writing = Writing::of(handle.view(connection)?, stop);
            let answer = job(&mut writing)?;
            let changed = writing.rows_changed;
            Ok((answer, handle.cache.prepare(&writing.finish()?, changed)?))
        };
        let committed = |(answer, prepared): (T, Option<Prepared>)| {
            if let Some(prepared) = prepared {
                prepared.publish();
            }
            answer
        };
        self.database(call)?.write_then(call, job, committed).await
    }
}

#[async_trait]
impl CollectionAdapter for SqliteCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.handle.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let records = records.to_vec();
        self.write(Operation::Upsert, move |w| w.upsert(&records))
            .await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let keys = keys.to_vec();
        self.write(Operation::Delete, move |w| w.delete(&keys).map(exact))
            .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let legs = legs.to_vec();
        let call = self.call(Operation::Search);
        let handle = self.handle.clone();
        let answer = self
            .database(call)?
            .read(call, move |reading: &mut Reading<'_>| {
                search(reading, &handle, &legs)
            });
        answer.await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let (keys, within) = (keys.to_vec(), within.clone());
        let job = move |view: &View<'_>| view.fetch(&keys, &within, include);
        self.read(Operation::Fetch, job).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let (selector, with, precondition) =
            (selector.clone(), with.to_vec(), precondition.cloned());
        let job = move |w: &mut Writing<'_>| {
            if let Some(precondition) = &precondition
                && !w.meets(precondition, selector.filter())?
            {
                return Ok(None);
            }
            let removed = w.replace(selector.filter(), &with)?;
            Ok(Some(Replaced::new(exact(removed), with.len())))
        };
        self.write(Operation::Replace, job).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        let selector = selector.clone();
        let job = move |w: &mut Writing<'_>| w.replace(selector.filter(), &[]).map(exact);
        self.write(Operation::DeleteMatching, job).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.write(Operation::DeleteAll, |w| w.delete_all().map(exact))
            .await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let (selector, patch) = (selector.clone(), patch.clone());
        let job = move |w: &mut Writing<'_>| w.update(selector.filter(), &patch).map(exact);
        self.write(Operation::UpdateMetadata, job).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let after = after
            .map(Cursor::key)
            .transpose()
            .map_err(|kind| self.call(Operation::Scan).error(kind))?;
        let filter = filter.clone();
        let job = move |view: &View<'_>| view.scan(&filter, after.as_ref(), limit, include);
        self.read(Operation::Scan, job).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = filter.clone();
        let job = move |view: &View<'_>| view.count(&filter).map(Count::Exact);
        self.read(Operation::Count, job).await
    }
}

fn exact(n: usize) -> Count {
    u64::try_from(n).map_or(Count::Unknown, Count::Exact)
}
