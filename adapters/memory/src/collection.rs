use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use shelfward_adapter::handle::Lease;
use shelfward_core::adapter::{CollectionAdapter, LockScope};
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector, StoreError,
    StoredRecord, async_trait,
};
use shelfward_resident::{CancelFlag, MemTable, RoaringBitmap, WriteBatch};

use crate::state::{CollectionState, Contents, ContentsGuard};
use crate::store::OpenStore;

/// So many rows are changed between two moments at which the runtime may run other tasks.
const SLICE: usize = 1_024;

/// A read works within one poll of its future, which is not dropped meanwhile.
const NEVER: CancelFlag<'static> = CancelFlag::NEVER;

/// A handle on a collection.
pub(crate) struct MemoryCollection {
    state: Arc<CollectionState>,
    spec: Arc<CollectionSpec>,
    capabilities: Capabilities,
    store: Lease<OpenStore>,
}

impl MemoryCollection {
    pub(crate) fn open(
        state: Arc<CollectionState>,
        capabilities: Capabilities,
        store: Lease<OpenStore>,
    ) -> Self {
        let spec = state.read().rows.spec().clone();
        Self {
            state,
            spec,
            capabilities,
            store,
        }
    }

    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec.name)
    }

    fn check_open(&self, operation: Operation, contents: &Contents) -> Result<()> {
        (self.store.get()).map_err(|kind| self.error(operation, kind))?;
        if contents.discarded {
            return Err(self.error(operation, ErrorKind::StaleHandle));
        }
        (self.state.check_whole()).map_err(|kind| self.error(operation, kind))
    }

    fn read(&self, operation: Operation) -> Result<ContentsGuard<'_>> {
        let contents = self.state.read();
        self.check_open(operation, &contents)?;
        Ok(contents)
    }

    /// Puts rows in the place of those there are; the old ones are dropped outside of the lock.
    fn install(&self, operation: Operation, rows: MemTable) -> Result<Arc<MemTable>> {
        let rows = Arc::new(rows);
        let mut contents = self.state.write();
        self.check_open(operation, &contents)?;
        Ok(std::mem::replace(&mut contents.rows, rows))
    }

    /// One write: `plan` looks at the rows and answers what is to change, or refuses.
    ///
    /// A few rows are changed in place. Many are changed on a clone that takes their place at the end,
    /// so that readers go on; whoever drops the call before that has changed nothing.
    async fn change<T>(
        &self,
        operation: Operation,
        plan: impl FnOnce(&MemTable) -> Result<(WriteBatch, T), ErrorKind>,
    ) -> Result<T> {
        let _guard = self.state.writer.acquire(LockScope::Collection).await;
        let rows = self.read(operation)?.rows.clone();
        let (batch, answer) = plan(&rows).map_err(|kind| self.error(operation, kind))?;
        if !rows.is_bulk(batch.len()) {
            // Or they would be cloned.
            drop(rows);
            let mut contents = self.state.write();
            self.check_open(operation, &contents)?;
            Arc::make_mut(&mut contents.rows).apply(&batch);
            return Ok(answer);
        }
        yield_now().await;
        let mut next = MemTable::clone(&rows);
        drop(rows);
        yield_now().await;
        next.remove_all(&batch.removed);
        for put in batch.put.chunks(SLICE) {
            yield_now().await;
            next.put_all(put);
        }
        for patched in batch.patched.chunks(SLICE) {
            yield_now().await;
            next.patch_all(patched);
        }
        self.install(operation, next)?;
        Ok(answer)
    }
}

#[async_trait]
impl CollectionAdapter for MemoryCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.change(Operation::Upsert, |rows| {
            Ok((rows.plan_upsert(records.to_vec(), &self.spec)?, ()))
        })
        .await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.change(Operation::Delete, |rows| Ok(rows.plan_delete(keys)))
            .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        // One guard, so all legs see one state.
        let rows = &self.read(Operation::Search)?.rows;
        let mut last: Option<(&Filter, Option<RoaringBitmap>)> = None;
        let mut results = Vec::with_capacity(legs.len());
        for leg in legs {
            let among = match last.take() {
                Some((filter, among)) if *filter == *leg.filter => among,
                _ => rows.matching_part(&leg.filter, NEVER),
            };
            let result = rows.search(leg, among.as_ref(), NEVER);
            results.push(result.map_err(|kind| self.error(Operation::Search, kind))?);
            last = Some((&leg.filter, among));
        }
        Ok(results)
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        Ok((self.read(Operation::Fetch)?.rows).fetch(keys, within, include))
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.change(Operation::Replace, |rows| {
            rows.plan_replace(selector, with.to_vec(), precondition, &self.spec, NEVER)
        })
        .await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.change(Operation::DeleteMatching, |rows| {
            Ok(rows.plan_delete_matching(selector, NEVER))
        })
        .await
    }

    async fn delete_all(&self) -> Result<Count> {
        let _guard = self.state.writer.acquire(LockScope::Collection).await;
        let empty = self.read(Operation::DeleteAll)?.rows.emptied();
        let old = self.install(Operation::DeleteAll, empty)?;
        Ok(u64::try_from(old.len()).map_or(Count::Unknown, Count::Exact))
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        self.change(Operation::UpdateMetadata, |rows| {
            rows.plan_update(selector, patch, NEVER)
        })
        .await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let after =
            (after.map(Cursor::key).transpose()).map_err(|e| self.error(Operation::Scan, e))?;
        let rows = &self.read(Operation::Scan)?.rows;
        Ok(rows.scan(filter, after.as_ref(), limit, include, NEVER))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let rows = &self.read(Operation::Count)?.rows;
        Ok(Count::Exact(rows.matching(filter, NEVER).len()))
    }
}

/// Lets the runtime run other tasks.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
