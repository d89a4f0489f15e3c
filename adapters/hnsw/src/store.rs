use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Operation, Result, async_trait,
};

use crate::capabilities::capabilities;
use crate::collection::HnswCollection;
use crate::config::HnswOptions;
use crate::home::Handle;
use crate::job::blocking;

/// A store on HNSW graphs. A clone is another handle on the same collections, closed by itself; the
/// last handle that is closed or dropped saves what is kept in a folder.
pub struct HnswStore {
    handle: Arc<Handle>,
}

/// How a collection's graph stands; see [`HnswStore::graph`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphReport {
    /// Nodes, those included that stand for no record any more. 0 where there is no graph.
    pub nodes: usize,
    /// Nodes that stand for no record any more.
    pub dead: usize,
    /// Records in no node, which each search looks at.
    pub unindexed: u64,
    /// Searches that the graph answered since the collection was opened.
    pub searches: u64,
}

impl HnswStore {
    /// Opens a store that is kept in a folder, and makes the folder where there is none.
    ///
    /// In one process, a folder is opened as often as needed, with equal options each time.
    ///
    /// # Errors
    /// Options that contradict each other, a folder that holds something else or what a later version
    /// wrote, one that another process has open, and those of the file system.
    pub fn open(folder: impl AsRef<Path>, options: HnswOptions) -> Result<Self> {
        let handle = Arc::new(Handle::open(folder.as_ref(), options)?);
        Ok(Self { handle })
    }

    /// An empty store of which nothing is kept.
    pub fn in_memory() -> Self {
        // The defaults contradict nothing.
        let handle = Handle::in_memory_by_default();
        Self {
            handle: Arc::new(handle),
        }
    }

    /// An empty store of which nothing is kept.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn in_memory_with(options: HnswOptions) -> Result<Self> {
        let handle = Arc::new(Handle::in_memory(options)?);
        Ok(Self { handle })
    }

    /// Waits until graphs hold all that was written, and nothing else is left to do in the background.
    /// Searches need not wait for it: they answer fully at every moment.
    ///
    /// # Errors
    /// A handle that was closed.
    pub async fn settle(&self) -> Result<()> {
        self.handle.check_open(Operation::Health)?;
        let home = self.handle.home.clone();
        blocking(Operation::Health, move |_| {
            home.settle();
            Ok(())
        })
        .await
    }

    /// How a collection's graph stands; `None` where there is no such collection.
    ///
    /// # Errors
    /// As [`open`](StoreAdapter::open).
    pub async fn graph(&self, name: &CollectionName) -> Result<Option<GraphReport>> {
        self.handle.check_open(Operation::Open)?;
        let (home, name) = (self.handle.home.clone(), name.clone());
        blocking(Operation::Open, move |_| {
            let Some(shelf) = home.open(&name)? else {
                return Ok(None);
            };
            let state = shelf.read();
            let mut report = GraphReport {
                searches: shelf.graph_searches.load(Ordering::Relaxed),
                ..GraphReport::default()
            };
            if let Some(index) = &state.index {
                report.nodes = index.nodes.len();
                report.dead = index.nodes.dead();
                report.unindexed = state.unindexed.len();
            }
            Ok(Some(report))
        })
        .await
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
            .field("options", self.handle.home.options())
            .field("durable", &self.handle.home.is_durable())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl StoreAdapter for HnswStore {
    fn kind(&self) -> &'static str {
        "hnsw"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        let home = &self.handle.home;
        capabilities(home.options(), home.is_durable())
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        let (handle, spec) = (self.handle.clone(), spec.clone());
        blocking(Operation::Create, move |stop| {
            handle.check_open(Operation::Create)?;
            handle.home.create(&spec, stop)
        })
        .await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let (handle, name) = (self.handle.clone(), name.clone());
        blocking(Operation::Open, move |_| {
            handle.check_open(Operation::Open)?;
            let shelf = handle.home.open(&name)?;
            Ok(shelf.map(|shelf| -> Arc<dyn CollectionAdapter> {
                Arc::new(HnswCollection::open(shelf, handle.clone()))
            }))
        })
        .await
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let handle = self.handle.clone();
        blocking(Operation::List, move |_| {
            handle.check_open(Operation::List)?;
            handle.home.list()
        })
        .await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        let (handle, name) = (self.handle.clone(), name.clone());
        blocking(Operation::DropCollection, move |stop| {
            handle.check_open(Operation::DropCollection)?;
            handle.home.drop_collection(&name, stop)
        })
        .await
    }

    fn write_locks(&self) -> WriteLocks {
        self.handle.home.locks.clone()
    }

    async fn health(&self) -> Result<()> {
        let handle = self.handle.clone();
        blocking(Operation::Health, move |_| {
            handle.check_open(Operation::Health)?;
            handle.home.check_health()
        })
        .await
    }

    async fn close(&self) -> Result<()> {
        let handle = self.handle.clone();
        // Once begun it goes through: a handle that is half closed serves nobody.
        blocking(Operation::Close, move |_| {
            handle.close().map_err(|e| e.during(Operation::Close))
        })
        .await
    }
}
