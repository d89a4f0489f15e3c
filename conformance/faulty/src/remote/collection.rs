use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, Count, Cursor, Filter, Include, Key, Leg, LegResult, MetadataPatch, Operation,
    Page, Precondition, Record, Replaced, Result, Selector, StoredRecord, async_trait,
};

use super::client::{TURN, Wire};
use crate::Fault;
use crate::records::is_met;
use shelfward_conformance::layer::CollectionLayer;

pub(super) struct RemoteCollection {
    pub(super) behind: Arc<dyn CollectionAdapter>,
    pub(super) can: Capabilities,
    pub(super) wire: Arc<Wire>,
}

impl RemoteCollection {
    /// A write in a transaction of its own, which begins with taking a turn and ends with the job.
    /// A faulty client answers `done` for it where its connection was lost.
    async fn in_turn<T: Send + 'static>(
        &self,
        operation: Operation,
        before: Option<String>,
        done: T,
        job: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let before: Vec<_> = [TURN.to_owned()].into_iter().chain(before).collect();
        let transaction = AtomicU64::new(0);
        let wire = &self.wire;
        let answer = wire.has_done(operation, &before, "last", &transaction, job);
        let answer = answer.await;
        let transaction = transaction.into_inner();
        let believed = answer.is_err()
            && (wire.has(Fault::CallsLostWritesDone)
                || wire.has(Fault::BelievesNumbers)
                    && wire.was_committed(operation, transaction).await);
        if believed { Ok(done) } else { answer }
    }

    /// A replace takes a turn, and gives it back with its last step.
    async fn swap(
        &self,
        selector: &Selector,
        with: &[Record],
        expected: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let (selector, with) = (selector.clone(), with.to_vec());
        let behind = self.behind.clone();
        // What comes behind others has looked before them.
        let expected = expected.filter(|_| !self.can.late_writes).cloned();
        let before = self.wire.has(Fault::TearsReplaceOverTheWire).then(|| {
            let (behind, selector) = (behind.clone(), selector.clone());
            let delete = async move { behind.delete_matching(&selector).await };
            format!("do {}", self.wire.lay(delete))
        });
        let written = with.len();
        let swap = async move {
            if let Some(expected) = expected
                && !is_met(&*behind, &expected, &selector).await?
            {
                return Ok(None);
            }
            behind.replace(&selector, &with, None).await
        };
        let done = Some(Replaced::new(Count::Unknown, written));
        self.in_turn(Operation::Replace, before, done, swap).await
    }
}

#[async_trait]
impl CollectionLayer for RemoteCollection {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.behind
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let (behind, records) = (self.behind.clone(), records.to_vec());
        let job = async move { behind.upsert(&records).await };
        self.in_turn(Operation::Upsert, None, (), job).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let (behind, keys) = (self.behind.clone(), keys.to_vec());
        let job = async move { behind.delete(&keys).await };
        self.in_turn(Operation::Delete, None, Count::Unknown, job)
            .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let (behind, legs) = (self.behind.clone(), legs.to_vec());
        let asked = async move { behind.search(&legs).await };
        self.wire.asks(Operation::Search, asked).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let (behind, keys, within) = (self.behind.clone(), keys.to_vec(), within.clone());
        let asked = async move { behind.fetch(&keys, &within, include).await };
        self.wire.asks(Operation::Fetch, asked).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.swap(selector, with, precondition).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        let (behind, selector) = (self.behind.clone(), selector.clone());
        let job = async move { behind.delete_matching(&selector).await };
        self.in_turn(Operation::DeleteMatching, None, Count::Unknown, job)
            .await
    }

    async fn delete_all(&self) -> Result<Count> {
        let behind = self.behind.clone();
        let asked = async move { behind.delete_all().await };
        self.wire.asks(Operation::DeleteAll, asked).await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let (behind, selector, patch) = (self.behind.clone(), selector.clone(), patch.clone());
        let job = async move { behind.update_metadata(&selector, &patch).await };
        self.in_turn(Operation::UpdateMetadata, None, Count::Unknown, job)
            .await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let (behind, filter, after) = (self.behind.clone(), filter.clone(), after.cloned());
        let asked = async move { behind.scan(&filter, after.as_ref(), limit, include).await };
        self.wire.asks(Operation::Scan, asked).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let (behind, filter) = (self.behind.clone(), filter.clone());
        let asked = async move { behind.count(&filter).await };
        self.wire.asks(Operation::Count, asked).await
    }
}
