use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Operation, Result, async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::MemoryCollection;
use crate::config::MemoryOptions;
use crate::error::closed;
use crate::state::CollectionState;

/// A store in memory. A clone is another handle on the same collections, closed by itself.
#[derive(Default)]
pub struct MemoryStore {
    collections: Arc<RwLock<BTreeMap<CollectionName, Arc<CollectionState>>>>,
    options: MemoryOptions,
    locks: WriteLocks,
    closed: Arc<AtomicBool>,
}

impl MemoryStore {
    /// An empty store with a lexical leg.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store.
    pub fn with_options(options: MemoryOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    fn refuse_when_closed(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            Err(closed(operation))
        } else {
            Ok(())
        }
    }
}

impl Clone for MemoryStore {
    fn clone(&self) -> Self {
        Self {
            collections: self.collections.clone(),
            options: self.options,
            locks: self.locks.clone(),
            closed: Arc::default(),
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for MemoryStore {
    fn kind(&self) -> &'static str {
        "memory"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        capabilities(self.options)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.refuse_when_closed(Operation::Create)?;
        let held = {
            let mut collections = self
                .collections
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            match collections.entry(spec.name.clone()) {
                Entry::Vacant(free) => {
                    free.insert(Arc::new(CollectionState::new(spec.clone(), self.options)));
                    return Ok(());
                }
                Entry::Occupied(state) => state.get().clone(),
            }
        };
        held.add_fields(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        self.refuse_when_closed(Operation::Open)?;
        let collections = self
            .collections
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let opened = collections
            .get(name)
            .map(|state| -> Arc<dyn CollectionAdapter> {
                let capabilities = capabilities(self.options);
                Arc::new(MemoryCollection::open(
                    state.clone(),
                    capabilities,
                    self.closed.clone(),
                ))
            });
        Ok(opened)
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.refuse_when_closed(Operation::List)?;
        let collections = self
            .collections
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(collections.keys().cloned().collect())
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.refuse_when_closed(Operation::DropCollection)?;
        let dropped = self
            .collections
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        if let Some(state) = &dropped {
            state.discard();
        }
        Ok(dropped.is_some())
    }

    fn write_locks(&self) -> WriteLocks {
        self.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.refuse_when_closed(Operation::Health)
    }

    async fn close(&self) -> Result<()> {
        self.closed.store(true, Ordering::SeqCst);
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
            let state = store.collections.read().unwrap()[&name].clone();
            let capabilities = store.capabilities(&spec);
            let open = MemoryCollection::open(state.clone(), capabilities, Arc::default());
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
