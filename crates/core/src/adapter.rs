//! What the author of an adapter implements: a store and its collections.
//!
//! Users do not meet these traits: [`Store`](crate::Store) wraps a [`StoreAdapter`] and hands out
//! [`Collection`](crate::Collection)s, which check every call before an adapter sees it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::capabilities::Capabilities;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::filter::{Filter, Selector};
use crate::names::CollectionName;
use crate::record::{Include, Key, Record, StoredRecord};
use crate::search::{Count, Cursor, Leg, LegResult, MetadataPatch, Page, Precondition, Replaced};
use crate::spec::CollectionSpec;

pub use crate::search::text_words;
pub use crate::write_locks::{LockScope, WriteGuard, WriteLock, WriteLocks};

/// A server, a file or a process that holds collections.
#[async_trait]
pub trait StoreAdapter: Send + Sync {
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
    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>>;

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

    /// The locks of writers that all handles on this store's collections share in the process:
    /// those of clones, and of stores opened again on the same place.
    fn write_locks(&self) -> WriteLocks;

    /// Flushes pending writes and releases the store. Later calls through this handle fail with
    /// [`ErrorKind::Invalid`].
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
/// residual filters, asking again) is done by [`Collection`](crate::Collection) and must not be done
/// here.
#[async_trait]
pub trait CollectionAdapter: Send + Sync {
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

    /// The best hits of each leg among the records that its filter matches, in the order of the
    /// legs: one or two, in one round trip and one snapshot where the engine has that.
    ///
    /// # Errors
    /// Those of the engine.
    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>>;

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

    /// Puts these records in the place of those that the selector matches, whole or not at all.
    ///
    /// With a precondition, only while it is met: `None` when it is not, and nothing was changed
    /// then. It is looked at inside the lock that this write takes. Only a store whose
    /// [`writers`](Capabilities::writers) are ordered over all processes is handed one; where one
    /// process writes, the caller has looked under its own lock.
    ///
    /// # Errors
    /// Those of the engine; nothing was changed then.
    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let _ = (selector, with, precondition);
        Err(self.unsupported(Operation::Replace, "atomic replace"))
    }

    /// Deletes what the selector matches.
    ///
    /// # Errors
    /// Those of the engine.
    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
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
    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
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

    /// An `Unsupported` error of this collection.
    fn unsupported(&self, operation: Operation, what: &'static str) -> StoreError {
        StoreError::new(operation, ErrorKind::Unsupported(what)).on(&self.spec().name)
    }
}
