use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_adapter::error::Call;
use shelfward_adapter::handle::StoreHandle;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Operation, Result, async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::MemoryCollection;
use crate::config::MemoryOptions;
use crate::state::CollectionState;

/// A store in memory. A clone is another handle on the same collections, closed by itself.
#[derive(Clone)]
pub struct MemoryStore(StoreHandle<OpenStore>);

/// What all handles share.
#[derive(Default)]
pub(crate) struct OpenStore {
    collections: RwLock<BTreeMap<CollectionName, Arc<CollectionState>>>,
    options: MemoryOptions,
    locks: WriteLocks,
}

impl MemoryStore {
    /// An empty store with a lexical leg.
    pub fn new() -> Self {
        Self::with_options(MemoryOptions::default())
    }

    /// An empty store.
    pub fn with_options(options: MemoryOptions) -> Self {
        Self(StoreHandle::new(OpenStore {
            options,
            ..OpenStore::default()
        }))
    }

    fn open_store(&self, operation: Operation) -> Result<&OpenStore> {
        self.0
            .get()
            .map_err(|kind| Call::new(operation).error(kind))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenStore {
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<CollectionName, Arc<CollectionState>>> {
        self.collections
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<CollectionName, Arc<CollectionState>>> {
        self.collections
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("options", &self.0.store().options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for MemoryStore {
    fn kind(&self) -> &'static str {
        "memory"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        capabilities(self.0.store().options)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let store = self.open_store(Operation::Create)?;
        let held = match store.write().entry(spec.name.clone()) {
            Entry::Vacant(free) => {
                free.insert(Arc::new(CollectionState::new(spec.clone(), store.options)));
                return Ok(());
            }
            Entry::Occupied(state) => state.get().clone(),
        };
        held.add_fields(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let store = self.open_store(Operation::Open)?;
        let state = store.read().get(name).cloned();
        Ok(state.map(|state| -> Arc<dyn CollectionAdapter> {
            let capabilities = capabilities(store.options);
            Arc::new(MemoryCollection::open(state, capabilities, self.0.lease()))
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let store = self.open_store(Operation::List)?;
        Ok(store.read().keys().cloned().collect())
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        let store = self.open_store(Operation::DropCollection)?;
        let dropped = store.write().remove(name);
        if let Some(state) = &dropped {
            state.discard();
        }
        Ok(dropped.is_some())
    }

    fn write_locks(&self) -> WriteLocks {
        self.0.store().locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.open_store(Operation::Health).map(drop)
    }

    async fn close(&self) -> Result<()> {
        self.0.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use shelfward_core::{Filter, Key, Metric, Record, Text};

    use super::*;

    #[test]
    fn rows_that_a_panic_left_in_the_middle_of_a_write_are_not_served() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new();
            let name = CollectionName::new("c").unwrap();
            let spec = CollectionSpec::new(name.clone(), 1, Metric::Dot, "none");
            store.create(&spec).await.unwrap();
            let state = store.0.store().read()[&name].clone();
            let capabilities = store.capabilities(&spec);
            let open = MemoryCollection::open(state.clone(), capabilities, store.0.lease());
            let record = Record::new(Key::new(Text::new("1").unwrap()), [1.0]);
            open.upsert(std::slice::from_ref(&record)).await.unwrap();
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _contents = state.write();
                panic!("in the middle of a write");
            }));
            assert!(panicked.is_err());
            let everything = Filter::everything();
            let refused = [
                open.count(&everything).await.unwrap_err(),
                open.upsert(&[record]).await.unwrap_err(),
                store.create(&spec).await.unwrap_err(),
            ];
            for refused in refused {
                assert!(refused.changed_nothing(), "{refused}");
                assert!(refused.to_string().contains("panicked"), "{refused}");
            }
            assert!(store.drop_collection(&name).await.unwrap());
            store.create(&spec).await.unwrap();
        });
    }
}
