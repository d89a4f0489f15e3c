use std::sync::Arc;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector, StoreError,
    StoredRecord, async_trait,
};
use shelfward_resident::{CancelFlag, MemTable, WriteBatch};

use crate::capabilities::capabilities;
use crate::files::log_entry::LogEntry;
use crate::jobs::{check, flag, run};
use crate::search::search_leg;
use crate::state::CollectionState;
use crate::state::contents::{Contents, WriterView};
use crate::store_handle::StoreHandle;

/// A handle on a collection.
pub(crate) struct HnswCollection {
    context: CollectionContext,
    capabilities: Capabilities,
}

/// What a job on a thread of its own needs of the handle.
#[derive(Clone)]
struct CollectionContext {
    state: Arc<CollectionState>,
    spec: Arc<CollectionSpec>,
    handle: Arc<StoreHandle>,
}

impl HnswCollection {
    pub(crate) fn open(state: Arc<CollectionState>, handle: Arc<StoreHandle>) -> Self {
        let spec = state.read().rows.spec().clone();
        Self {
            capabilities: capabilities(handle.store.options(), handle.store.is_durable()),
            context: CollectionContext {
                state,
                spec,
                handle,
            },
        }
    }

    /// Runs a read on one state of the contents.
    async fn read<T: Send + 'static>(
        &self,
        operation: Operation,
        read: impl FnOnce(&CollectionContext, &Contents, CancelFlag<'_>) -> Result<T, ErrorKind>
        + Send
        + 'static,
    ) -> Result<T> {
        let context = self.context.clone();
        let reads = &self.context.handle.store.reads;
        let answer = run([reads], operation, move |token| {
            let contents = context.state.read();
            context.check_open(operation, contents.discarded)?;
            check(token, operation)?;
            let answer = read(&context, &contents, flag(token));
            check(token, operation)?;
            answer.map_err(|kind| context.error(operation, kind))
        });
        answer.await
    }

    /// Runs a write: what `plan` answers is to change, changes.
    async fn write<T: Send + 'static>(
        &self,
        operation: Operation,
        plan: impl FnOnce(
            &CollectionContext,
            &MemTable,
            CancelFlag<'_>,
        ) -> Result<(WriteBatch, T), ErrorKind>
        + Send
        + 'static,
    ) -> Result<T> {
        self.write_entry(operation, move |context, view, cancel| {
            let (batch, answer) = plan(context, &view.rows, cancel)?;
            Ok((view.log_entry(batch), answer))
        })
        .await
    }

    async fn write_entry<T: Send + 'static>(
        &self,
        operation: Operation,
        plan: impl FnOnce(
            &CollectionContext,
            &WriterView,
            CancelFlag<'_>,
        ) -> Result<(LogEntry, T), ErrorKind>
        + Send
        + 'static,
    ) -> Result<T> {
        let context = self.context.clone();
        // Its place among the collection's writes first: those that wait for it keep no thread from
        // other collections' writes.
        let lines = [
            &self.context.state.writes,
            &self.context.handle.store.writes,
        ];
        let written = run(lines, operation, move |token| {
            let written = context.state.change(operation, token, |view| {
                context.check_open(operation, view.discarded)?;
                plan(&context, view, flag(token)).map_err(|kind| context.error(operation, kind))
            });
            written.map_err(|e| e.on(&context.spec.name))
        });
        written.await
    }
}

impl CollectionContext {
    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec.name)
    }

    fn check_open(&self, operation: Operation, discarded: bool) -> Result<()> {
        let open = self.handle.check_open(operation);
        open.map_err(|e| e.on(&self.spec.name))?;
        if discarded {
            return Err(self.error(operation, ErrorKind::StaleHandle));
        }
        let whole = self.state.check_whole();
        whole.map_err(|e| e.during(operation).on(&self.spec.name))
    }
}

#[async_trait]
impl CollectionAdapter for HnswCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.context.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let records = records.to_vec();
        self.write(Operation::Upsert, move |context, rows, _| {
            Ok((rows.plan_upsert(records, &context.spec)?, ()))
        })
        .await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let keys = keys.to_vec();
        self.write(Operation::Delete, move |_, rows, _| {
            Ok(rows.plan_delete(&keys))
        })
        .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let legs = legs.to_vec();
        // One guard, so all legs see one state.
        self.read(Operation::Search, move |context, contents, cancel| {
            let results = legs.iter();
            let results = results.map(|leg| search_leg(&context.state, contents, leg, cancel));
            results.collect()
        })
        .await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let (keys, within) = (keys.to_vec(), within.clone());
        self.read(Operation::Fetch, move |_, contents, _| {
            Ok(contents.rows.fetch(&keys, &within, include))
        })
        .await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let (selector, with) = (selector.clone(), with.to_vec());
        let precondition = precondition.cloned();
        self.write(Operation::Replace, move |context, rows, cancel| {
            rows.plan_replace(
                &selector,
                with,
                precondition.as_ref(),
                &context.spec,
                cancel,
            )
        })
        .await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        let selector = selector.clone();
        self.write(Operation::DeleteMatching, move |_, rows, cancel| {
            Ok(rows.plan_delete_matching(&selector, cancel))
        })
        .await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.write_entry(Operation::DeleteAll, |_, view, _| {
            let count = u64::try_from(view.rows.len()).map_or(Count::Unknown, Count::Exact);
            let entry = if view.rows.is_empty() {
                LogEntry::default()
            } else {
                LogEntry::clear()
            };
            Ok((entry, count))
        })
        .await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let (selector, patch) = (selector.clone(), patch.clone());
        self.write(Operation::UpdateMetadata, move |_, rows, cancel| {
            rows.plan_update(&selector, &patch, cancel)
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
        let after = after.map(Cursor::key).transpose();
        let after = after.map_err(|e| self.context.error(Operation::Scan, e))?;
        let filter = filter.clone();
        self.read(Operation::Scan, move |_, contents, cancel| {
            let rows = &contents.rows;
            Ok(rows.scan(&filter, after.as_ref(), limit, include, cancel))
        })
        .await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = filter.clone();
        self.read(Operation::Count, move |_, contents, cancel| {
            let matching = contents.rows.matching(&filter, cancel);
            Ok(Count::Exact(matching.len()))
        })
        .await
    }
}
