use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Operation, Result, StoreError,
    async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::{MemoryCollection, Shelf};
use crate::config::MemoryOptions;

/// A store in memory. A clone is another handle on the same collections, closed by itself.
#[derive(Default)]
pub struct MemoryStore {
    shelves: Arc<RwLock<BTreeMap<CollectionName, Arc<Shelf>>>>,
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

/// The error of a call on a handle that was closed.
pub(crate) fn closed(operation: Operation) -> StoreError {
    StoreError::new(
        operation,
        ErrorKind::Invalid("this handle of the store was closed".to_owned()),
    )
}

impl Clone for MemoryStore {
    fn clone(&self) -> Self {
        Self {
            shelves: self.shelves.clone(),
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
            let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
            match shelves.entry(spec.name.clone()) {
                Entry::Vacant(free) => {
                    free.insert(Arc::new(Shelf::new(spec.clone(), self.options)));
                    return Ok(());
                }
                Entry::Occupied(shelf) => shelf.get().clone(),
            }
        };
        held.add_fields(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        self.refuse_when_closed(Operation::Open)?;
        let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let opened = shelves
            .get(name)
            .map(|shelf| -> Arc<dyn CollectionAdapter> {
                let capabilities = capabilities(self.options);
                Arc::new(MemoryCollection::open(
                    shelf.clone(),
                    capabilities,
                    self.closed.clone(),
                ))
            });
        Ok(opened)
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.refuse_when_closed(Operation::List)?;
        let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
        Ok(shelves.keys().cloned().collect())
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.refuse_when_closed(Operation::DropCollection)?;
        let dropped = self
            .shelves
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        if let Some(shelf) = &dropped {
            shelf.discard();
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
