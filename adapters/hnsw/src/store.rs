use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfward_adapter::cancel::CancelToken;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Operation, Result, async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::HnswCollection;
use crate::config::HnswOptions;
use crate::jobs::run;
use crate::store_handle::StoreHandle;

/// A store on HNSW graphs. A clone is another handle on the same collections, closed by itself; the
/// last handle that is closed or dropped saves a store in a folder.
pub struct HnswStore {
    handle: Arc<StoreHandle>,
}

/// The state of a collection's graph; see [`HnswStore::graph`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphReport {
    /// Nodes, dead ones included. 0 where there is no graph.
    pub nodes: usize,
    /// Dead nodes: those that stand for no record any more.
    pub dead: usize,
    /// Records in no node, which each search looks at.
    pub unindexed: u64,
    /// Searches that the graph answered since the collection was opened.
    pub searches: u64,
}

impl HnswStore {
    /// Opens a store in a folder, and creates the folder where there is none.
    ///
    /// In one process, a folder is opened as often as needed, with equal options each time.
    ///
    /// # Errors
    /// Options that contradict each other, a folder that holds something else or what a later version
    /// wrote, one that another process has open, and those of the file system.
    pub fn open(folder: impl AsRef<Path>, options: HnswOptions) -> Result<Self> {
        let handle = Arc::new(StoreHandle::open(folder.as_ref(), options)?);
        Ok(Self { handle })
    }

    /// An empty store in memory.
    pub fn in_memory() -> Self {
        // The defaults contradict nothing.
        let handle = StoreHandle::in_memory_by_default();
        Self {
            handle: Arc::new(handle),
        }
    }

    /// An empty store in memory.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn in_memory_with(options: HnswOptions) -> Result<Self> {
        let handle = Arc::new(StoreHandle::in_memory(options)?);
        Ok(Self { handle })
    }

    /// Waits until the graphs contain all that was written, and no other maintenance is left to do.
    /// Searches need not wait for it: they answer fully at every moment.
    ///
    /// # Errors
    /// A handle that was closed.
    pub async fn settle(&self) -> Result<()> {
        self.handle.check_open(Operation::Health)?;
        let store = self.handle.store.clone();
        let settling = store.settling.clone();
        let settled = run([&settling], Operation::Health, move |_| {
            store.settle();
            Ok(())
        });
        settled.await
    }

    /// The state of a collection's graph; `None` where there is no such collection.
    ///
    /// # Errors
    /// As [`open`](StoreAdapter::open).
    pub async fn graph(&self, name: &CollectionName) -> Result<Option<GraphReport>> {
        self.handle.check_open(Operation::Open)?;
        let (store, name) = (self.handle.store.clone(), name.clone());
        let catalog = store.catalog.clone();
        let report = run([&catalog], Operation::Open, move |_| {
            let Some(state) = store.open(&name)? else {
                return Ok(None);
            };
            let contents = state.read();
            let mut report = GraphReport {
                searches: state.graph_searches.load(Ordering::Relaxed),
                ..GraphReport::default()
            };
            if let Some(index) = &contents.index {
                report.nodes = index.nodes.len();
                report.dead = index.nodes.dead();
                report.unindexed = contents.unindexed.len();
            }
            Ok(Some(report))
        });
        report.await
    }
}

impl HnswStore {
    async fn catalog<T: Send + 'static>(
        &self,
        operation: Operation,
        work: impl FnOnce(&Arc<StoreHandle>, &CancelToken) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let handle = self.handle.clone();
        let done = run([&self.handle.store.catalog], operation, move |token| {
            handle.check_open(operation)?;
            work(&handle, token)
        });
        done.await
    }
}

impl Clone for HnswStore {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::new(self.handle.another()),
        }
    }
}

impl fmt::Debug for HnswStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HnswStore")
            .field("options", self.handle.store.options())
            .field("durable", &self.handle.store.is_durable())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for HnswStore {
    fn kind(&self) -> &'static str {
        "hnsw"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        let store = &self.handle.store;
        capabilities(store.options(), store.is_durable())
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let spec = spec.clone();
        self.catalog(Operation::Create, move |handle, token| {
            handle.store.create(&spec, token)
        })
        .await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let name = name.clone();
        self.catalog(Operation::Open, move |handle, _| {
            let state = handle.store.open(&name)?;
            Ok(state.map(|state| -> Arc<dyn CollectionAdapter> {
                Arc::new(HnswCollection::open(state, handle.clone()))
            }))
        })
        .await
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.catalog(Operation::List, |handle, _| handle.store.list())
            .await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        let name = name.clone();
        self.catalog(Operation::DropCollection, move |handle, token| {
            handle.store.drop_collection(&name, token)
        })
        .await
    }

    fn write_locks(&self) -> WriteLocks {
        self.handle.store.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        self.catalog(Operation::Health, |handle, _| handle.store.check_health())
            .await
    }

    async fn close(&self) -> Result<()> {
        let handle = self.handle.clone();
        // Once begun it goes through: a handle that is half closed serves nobody.
        run([], Operation::Close, move |_| {
            handle.close().map_err(|e| e.during(Operation::Close))
        })
        .await
    }
}
