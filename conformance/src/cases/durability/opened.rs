//! A place of its own, and what a case has open there.

use shelfward_core::{Collection, CollectionSpec, Key, Record, Store};

use super::state::{agrees, records, same_records};
use crate::context::{Context, Place};
use crate::verdict::Checked;

/// What is open at a place: a store, and a collection of it.
pub(super) struct Opened {
    pub(super) place: Place,
    pub(super) store: Store,
    pub(super) collection: Collection,
}

impl Opened {
    pub(super) async fn new(context: &Context, spec: &CollectionSpec) -> Checked<Self> {
        let place = context.place()?;
        let store = place.open().await?;
        let collection = store.ensure(spec).await?;
        Ok(Self {
            place,
            store,
            collection,
        })
    }

    /// The same with another collection; the handle on the one before is dropped.
    pub(super) fn with(self, collection: Collection) -> Self {
        Self { collection, ..self }
    }

    /// Lets go of everything and opens it again.
    pub(super) async fn again(self) -> Checked<Self> {
        self.store.close().await?;
        self.dropped().await
    }

    /// The same, with nobody to say that it is over.
    pub(super) async fn dropped(self) -> Checked<Self> {
        let (place, name) = (self.place, self.collection.spec().name.clone());
        drop((self.store, self.collection));
        let store = place.open().await?;
        let collection = store.open(&name).await?;
        Ok(Self {
            place,
            store,
            collection,
        })
    }

    pub(super) async fn holds(&self, what: &str, expected: &[Record]) -> Checked {
        let keys: Vec<Key> = expected.iter().map(|record| record.key.clone()).collect();
        let there = records(&self.collection, &keys).await?;
        same_records(what, &there, expected)
    }

    /// What is there is counted, found by vector and, all saying `text`, by word.
    pub(super) async fn agrees(&self, what: &str, expected: &[Record]) -> Checked {
        self.holds(what, expected).await?;
        let keys: Vec<Key> = expected.iter().map(|record| record.key.clone()).collect();
        let there = records(&self.collection, &keys).await?;
        agrees(what, &self.collection, &there, "text").await
    }

    /// Drops what the case made, and lets go.
    pub(super) async fn end(self) -> Checked {
        let name = self.collection.spec().name.clone();
        self.store.drop_collection(&name).await?;
        Ok(self.store.close().await?)
    }
}
