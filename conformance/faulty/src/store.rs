use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::capabilities::{Dense, Full, Replace};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, ErrorKind, Metric, Operation, Result, StoreError,
    async_trait,
};

use tokio::sync::Mutex;

use super::Fault;
use super::collection::FaultyCollection;
use super::old_records::OldRecords;

/// A store with one fault, before one that is whole.
pub struct FaultyStore {
    inner: Arc<dyn StoreAdapter>,
    fault: Fault,
    transactions: bool,
    old_records: OldRecords,
    writers: Arc<AtomicUsize>,
    turn: Arc<Mutex<()>>,
}

impl FaultyStore {
    /// Puts a fault before a store.
    pub fn new(inner: Arc<dyn StoreAdapter>, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            transactions: true,
            old_records: OldRecords::default(),
            writers: Arc::default(),
            turn: Arc::default(),
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
            self.inner
                .create(&CollectionSpec::new(
                    name.clone(),
                    4,
                    Metric::Cosine,
                    "suite",
                ))
                .await?;
        }
        let Some(inner) = self.inner.open(name).await? else {
            return Ok(None);
        };
        let can = self.restrict(inner.capabilities().clone());
        let store = self.inner.clone();
        Ok(Some(Arc::new(FaultyCollection::new(
            inner,
            store,
            self.fault,
            can,
            self.old_records.clone(),
            self.writers.clone(),
            self.turn.clone(),
        ))))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        let mut names = self.inner.list().await?;
        if self.fault == Fault::ForgetsToList {
            names.pop();
        }
        Ok(names)
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.old_records.forget(name);
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
