//! A store that one case has for itself, closed and opened again.

use shelfward_core::{Collection, CollectionName, CollectionSpec, Filter, Key, Record, Store};

use super::store_state::{Records, agrees, records, same_records};
use crate::check::found;
use crate::context::{Context, StoreLocation};
use crate::verdict::Checked;

/// An open store, and a collection of it.
pub(super) struct OpenStore {
    pub(super) location: StoreLocation,
    pub(super) store: Store,
    pub(super) collection: Collection,
}

/// The same store while this process does not have it open.
pub(super) struct ClosedStore {
    pub(super) location: StoreLocation,
    pub(super) name: CollectionName,
}

impl ClosedStore {
    pub(super) async fn open(&self) -> Checked<OpenStore> {
        let store = self.location.open().await?;
        let collection = store.open(&self.name).await?;
        Ok(OpenStore {
            location: self.location.clone(),
            store,
            collection,
        })
    }
}

impl OpenStore {
    /// A new store with a new collection.
    pub(super) async fn new(context: &Context, spec: &CollectionSpec) -> Checked<Self> {
        let location = context.location()?;
        let store = location.open().await?;
        let collection = store.ensure(spec).await?;
        Ok(Self {
            location,
            store,
            collection,
        })
    }

    pub(super) fn name(&self) -> &CollectionName {
        &self.collection.spec().name
    }

    pub(super) async fn upsert(&self, records: &[Record]) -> Checked {
        Ok(self.collection.upsert(records).await?)
    }

    /// The ids of what a filter matches.
    pub(super) async fn finds(&self, filter: Filter) -> Checked<Vec<String>> {
        found(&self.collection, filter).await
    }

    /// The same with another collection; the handle on the one before is dropped.
    pub(super) fn with(self, collection: Collection) -> Self {
        Self { collection, ..self }
    }

    /// Closes the store and drops every handle.
    pub(super) async fn close(self) -> Checked<ClosedStore> {
        self.store.close().await?;
        Ok(self.drop_handles())
    }

    /// Drops every handle without a close.
    pub(super) fn drop_handles(self) -> ClosedStore {
        let (location, name) = (self.location, self.collection.spec().name.clone());
        ClosedStore { location, name }
    }

    /// Closes the store and opens it again.
    pub(super) async fn again(self) -> Checked<Self> {
        self.close().await?.open().await
    }

    /// The collection holds exactly these records.
    pub(super) async fn holds(&self, what: &str, expected: &[Record]) -> Checked {
        same_records(what, &self.held(expected).await?, expected)
    }

    /// What it holds, and where it has no scan, of these.
    async fn held(&self, expected: &[Record]) -> Checked<Records> {
        let keys: Vec<Key> = expected.iter().map(|record| record.key.clone()).collect();
        records(&self.collection, &keys).await
    }

    /// These records, which all say `text`, are counted and found by vector and by word.
    pub(super) async fn agrees(&self, what: &str, expected: &[Record]) -> Checked {
        let there = self.held(expected).await?;
        same_records(what, &there, expected)?;
        agrees(what, &self.collection, &there, "text").await
    }

    /// Drops the collection and closes the store.
    pub(super) async fn end(self) -> Checked {
        self.store.drop_collection(self.name()).await?;
        Ok(self.store.close().await?)
    }
}
