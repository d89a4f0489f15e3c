//! The two traits that an adapter implements.
//!
//! Users do not call them: [`Store`](crate::Store) wraps an adapter and hands out checked handles.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::capabilities::Capabilities;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, NarrowFilter, Pushdown};
use crate::names::CollectionName;
use crate::record::{Include, Key, Record, StoredRecord};
use crate::search::{Count, Cursor, Expected, Found, Leg, MetadataPatch, Page, Replaced};
use crate::spec::CollectionSpec;
use crate::write_order::WriteOrder;

/// A server, a file or a process that holds collections.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// What the store is, as `memory`; shown in reports.
    fn kind(&self) -> &'static str;

    /// What a collection of this spec could do here, before there is one.
    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities;

    /// Creates the collection, or adds the fields that an existing one of an equal spec lacks.
    /// Rows are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Spec`] where an existing collection differs; nothing is changed then.
    async fn create(&self, spec: &CollectionSpec) -> Result<()>;

    /// Opens a collection as it was created; `None` where there is none. Creates nothing.
    ///
    /// # Errors
    /// Those of the engine.
    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn Collection>>>;

    /// The names of the collections, sorted.
    ///
    /// # Errors
    /// Those of the engine.
    async fn list(&self) -> Result<Vec<CollectionName>>;

    /// Drops a collection with all it holds; answers whether there was one.
    ///
    /// # Errors
    /// Those of the engine.
    async fn drop_collection(&self, name: &CollectionName) -> Result<bool>;

    /// Asks the engine whether it serves.
    ///
    /// # Errors
    /// Those of the engine.
    async fn health(&self) -> Result<()>;

    /// Writes what is buffered and lets go. Calls after it fail.
    ///
    /// # Errors
    /// Those of the engine.
    async fn close(&self) -> Result<()>;
}

/// A collection as it was when it was opened: its spec and capabilities do not change under a
/// handle.
///
/// Six members are required. The others answer `Unsupported` until an adapter that declares the
/// capability implements them. An adapter handed what its capabilities exclude refuses before any
/// input or output. Everything that is the same for all stores (widths, limits, cutting batches,
/// residual filters, asking again) is done by the checked handle and must not be done here.
#[async_trait]
pub trait Collection: Send + Sync {
    /// What the collection is.
    fn spec(&self) -> &CollectionSpec;

    /// What it can do.
    fn capabilities(&self) -> &Capabilities;

    /// Writes records; one under a key that is taken replaces it whole, vector and text included.
    ///
    /// # Errors
    /// [`ErrorKind::PartialWrite`] names each record that was not written.
    async fn upsert(&self, records: &[Record]) -> Result<()>;

    /// Deletes by key; answers how many there were.
    ///
    /// # Errors
    /// Those of the engine.
    async fn delete(&self, keys: &[Key]) -> Result<Count>;

    /// The best hits of one leg among the records that its filter matches.
    ///
    /// # Errors
    /// Those of the engine.
    async fn search(&self, leg: &Leg) -> Result<Found>;

    /// The records under keys, in the order of the keys, each `None` where there is none within
    /// the filter.
    ///
    /// # Errors
    /// Those of the engine.
    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>>;

    /// Splits a filter between the engine and the checked handle. Pure.
    fn pushdown(&self, filter: &Filter) -> Pushdown {
        self.capabilities().filter.split(filter)
    }

    /// Two legs, in one round trip and one snapshot where the engine has that.
    ///
    /// # Errors
    /// Those of the engine.
    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        let (dense, lexical) =
            futures_util::future::join(self.search(dense), self.search(lexical)).await;
        Ok((dense?, lexical?))
    }

    /// Puts these records in the place of those that the selector matches, whole or not at all.
    ///
    /// # Errors
    /// Those of the engine; nothing was changed then.
    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        let _ = (selector, with);
        Err(self.unsupported(Operation::Replace, "atomic replace"))
    }

    /// As [`replace`](Self::replace), but only while one record is as `expected`; `None` when it is
    /// not, and nothing was changed then.
    ///
    /// The provided one replaces without looking: where one process writes, the checked handle has
    /// looked in the turn of this write. A store that declares
    /// [`Writers::AllProcesses`](crate::capabilities::Writers::AllProcesses) must look inside its own
    /// lock, or a narrowing by another process is undone.
    ///
    /// # Errors
    /// Those of the engine; nothing was changed then.
    async fn replace_if(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        expected: &Expected,
    ) -> Result<Option<Replaced>> {
        let _ = expected;
        self.replace(selector, with).await.map(Some)
    }

    /// Deletes what the selector matches.
    ///
    /// # Errors
    /// Those of the engine.
    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let _ = selector;
        Err(self.unsupported(Operation::DeleteMatching, "delete by filter"))
    }

    /// Deletes everything in the collection and keeps the collection.
    ///
    /// # Errors
    /// Those of the engine.
    async fn delete_all(&self) -> Result<Count> {
        Err(self.unsupported(Operation::DeleteAll, "delete all"))
    }

    /// Changes metadata in place, and nothing else, of what the selector matches; answers how many
    /// records matched.
    ///
    /// # Errors
    /// Those of the engine.
    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let _ = (selector, patch);
        Err(self.unsupported(Operation::UpdateMetadata, "metadata updates in place"))
    }

    /// Records that the filter matches, in a stable order, `limit` at a time.
    ///
    /// # Errors
    /// Those of the engine.
    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let _ = (filter, after, limit, include);
        Err(self.unsupported(Operation::Scan, "scan"))
    }

    /// How many records the filter matches.
    ///
    /// # Errors
    /// Those of the engine.
    async fn count(&self, filter: &Filter) -> Result<Count> {
        let _ = filter;
        Err(self.unsupported(Operation::Count, "count"))
    }

    /// The order of writers that all handles of this collection share in the process. An adapter
    /// whose writes core composes of several calls keeps one in its store's state; without it,
    /// only the handles of one [`Store`](crate::Store) are ordered.
    fn write_order(&self) -> Option<WriteOrder> {
        None
    }

    /// An `Unsupported` error of this collection.
    fn unsupported(&self, operation: Operation, what: &'static str) -> StoreError {
        StoreError::new(operation, ErrorKind::Unsupported(what)).on(&self.spec().name)
    }

    /// The checked handle that this already is, so that wrapping twice is wrapping once.
    #[doc(hidden)]
    fn as_checked(&self, _: &crate::checked::Sealed) -> Option<crate::checked::CheckedCollection> {
        None
    }
}

/// A handle shows what it is a handle on, never what that holds.
impl fmt::Debug for dyn Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection")
            .field("name", &self.spec().name)
            .field("width", &self.spec().width)
            .field("embedder", &self.spec().embedder)
            .finish_non_exhaustive()
    }
}
