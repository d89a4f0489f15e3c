use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use shelfward_core::{
    Capabilities, Collection, Count, Cursor, Expected, Filter, Found, Include, Key, Leg,
    MetadataPatch, NarrowFilter, Operation, Page, Record, Replaced, Result, StoredRecord,
    WriteOrder, async_trait,
};

use super::client::{TURN, Wire};
use crate::Fault;
use shelfward_conformance::Layer;

pub(super) struct RemoteCollection {
    pub(super) behind: Arc<dyn Collection>,
    pub(super) can: Capabilities,
    pub(super) wire: Arc<Wire>,
}

/// What the server is asked to do with the collection that it has.
type Doing<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

impl RemoteCollection {
    async fn asks<T: Send + 'static>(
        &self,
        operation: Operation,
        doing: impl FnOnce(Arc<dyn Collection>) -> Doing<T>,
    ) -> Result<T> {
        let job = doing(self.behind.clone());
        let none = AtomicU64::new(0);
        self.wire.has_done(operation, &[], "do", &none, job).await
    }

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
        selector: &NarrowFilter,
        with: &[Record],
        expected: Option<&Expected>,
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
            if let Some(expected) = expected {
                let keys = std::slice::from_ref(&expected.key);
                let within = selector.filter();
                let now = behind.fetch(keys, within, Include::METADATA).await?;
                let now = now.into_iter().flatten().next();
                if !expected.is_met_by(now.as_ref().map(|record| &*record.metadata)) {
                    return Ok(None);
                }
            }
            behind.replace(&selector, &with).await.map(Some)
        };
        let done = Some(Replaced::new(Count::Unknown, written));
        self.in_turn(Operation::Replace, before, done, swap).await
    }
}

#[async_trait]
impl Layer for RemoteCollection {
    fn behind(&self) -> &Arc<dyn Collection> {
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

    async fn search(&self, leg: &Leg) -> Result<Found> {
        let leg = leg.clone();
        self.asks(Operation::Search, |behind| {
            Box::pin(async move { behind.search(&leg).await })
        })
        .await
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        let (dense, lexical) = (dense.clone(), lexical.clone());
        self.asks(Operation::Search, |behind| {
            Box::pin(async move { behind.search_both(&dense, &lexical).await })
        })
        .await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let (keys, within) = (keys.to_vec(), within.clone());
        self.asks(Operation::Fetch, |behind| {
            Box::pin(async move { behind.fetch(&keys, &within, include).await })
        })
        .await
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        let replaced = self.swap(selector, with, None).await?;
        Ok(replaced.unwrap_or_else(|| Replaced::new(Count::Unknown, 0)))
    }

    async fn replace_if(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        expected: &Expected,
    ) -> Result<Option<Replaced>> {
        self.swap(selector, with, Some(expected)).await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let (behind, selector) = (self.behind.clone(), selector.clone());
        let job = async move { behind.delete_matching(&selector).await };
        self.in_turn(Operation::DeleteMatching, None, Count::Unknown, job)
            .await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.asks(Operation::DeleteAll, |behind| {
            Box::pin(async move { behind.delete_all().await })
        })
        .await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
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
        let (filter, after) = (filter.clone(), after.cloned());
        self.asks(Operation::Scan, |behind| {
            Box::pin(async move { behind.scan(&filter, after.as_ref(), limit, include).await })
        })
        .await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = filter.clone();
        self.asks(Operation::Count, |behind| {
            Box::pin(async move { behind.count(&filter).await })
        })
        .await
    }

    /// None: the server orders replaces, and handles stand for those of several processes.
    fn write_order(&self) -> Option<WriteOrder> {
        None
    }
}
