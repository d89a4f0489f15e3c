use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use shelfward_conformance::layer::LayeredCollection;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::capabilities::{Dense, Full, Replace};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Metric, Operation, Result, StoreError,
    async_trait,
};

use super::Fault;
use super::collection::{FaultyCollection, Shared};

/// A store with one fault, before one that is whole.
pub struct FaultyStore {
    inner: Arc<dyn StoreAdapter>,
    fault: Fault,
    transactions: bool,
    shared: Shared,
}

impl FaultyStore {
    /// Puts a fault before a store.
    pub fn new(inner: Arc<dyn StoreAdapter>, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            transactions: true,
            shared: Shared::default(),
        }
    }

    /// The same without an atomic replace, as most servers are: core composes it of a delete by
    /// filter and writes.
    #[must_use]
    pub fn without_transactions(mut self) -> Self {
        self.transactions = false;
        self
    }

    fn restrict(&self, mut can: Capabilities) -> Capabilities {
        if self.fault == Fault::ShortAndComplete {
            can.full = Full::NotPromised;
        }
        if matches!(self.fault, Fault::MissesNeighbours | Fault::ScoresByCode) {
            can.dense = Dense::Approximate { min_recall: 0.9 };
        }
        if !self.transactions {
            can.replace = Replace::DeleteThenWrite;
        }
        can
    }
}

#[async_trait]
impl StoreAdapter for FaultyStore {
    fn kind(&self) -> &'static str {
        "faulty"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.restrict(self.inner.capabilities(spec))
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        if self.fault == Fault::CreateEmpties {
            self.inner.drop_collection(&spec.name).await?;
        }
        self.inner.create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        if self.fault == Fault::OpenCreates && self.inner.open(name).await?.is_none() {
            let spec = CollectionSpec::new(name.clone(), 4, Metric::Cosine, "suite");
            self.inner.create(&spec).await?;
        }
        let Some(inner) = self.inner.open(name).await? else {
            return Ok(None);
        };
        let can = self.restrict(inner.capabilities().clone());
        Ok(Some(Arc::new(LayeredCollection(FaultyCollection {
            inner,
            store: self.inner.clone(),
            fault: self.fault,
            can,
            shared: self.shared.clone(),
            searches: AtomicUsize::new(0),
            answers: Mutex::default(),
            scans: Mutex::default(),
        }))))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let mut names = self.inner.list().await?;
        if self.fault == Fault::ForgetsToList {
            names.pop();
        }
        Ok(names)
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.shared.old_records.forget(name);
        let dropped = self.inner.drop_collection(name).await?;
        Ok(dropped || self.fault == Fault::DropAnswersYes)
    }

    fn write_locks(&self) -> WriteLocks {
        if self.fault == Fault::UnorderedWriters {
            // Others for each handle, which order nobody.
            return WriteLocks::new();
        }
        self.inner.write_locks()
    }

    async fn health(&self) -> Result<()> {
        if self.fault == Fault::Unhealthy {
            return Err(StoreError::new(Operation::Health, ErrorKind::Unavailable));
        }
        self.inner.health().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
