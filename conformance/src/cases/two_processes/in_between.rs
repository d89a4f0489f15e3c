//! What another process does between the look of a replace and its write.

use std::sync::Arc;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key,
    Leg, LegResult, LibraryIndex, Operation, Page, Precondition, Record, Replaced, Result,
    Selector, Store, StoreError, StoredRecord, async_trait,
};
use tokio::sync::Mutex;

use super::shared::Shared;
use crate::check::holds;
use crate::context::Context;
use crate::library::{embedder, file, visible};
use crate::process::{Peer, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding, Verdict};

/// A store, and its collections, whose replaces come when another process has just written.
#[derive(Clone)]
struct InBetween<T> {
    behind: T,
    peer: Arc<Mutex<Peer>>,
    task: Task,
}

#[async_trait]
impl StoreAdapter for InBetween<Arc<dyn StoreAdapter>> {
    fn kind(&self) -> &'static str {
        self.behind.kind()
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.behind.capabilities(spec)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.behind.create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let behind = self.behind.open(name).await?;
        Ok(behind.map(|behind| -> Arc<dyn CollectionAdapter> {
            Arc::new(InBetween {
                behind,
                peer: self.peer.clone(),
                task: self.task.clone(),
            })
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.behind.list().await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.behind.drop_collection(name).await
    }

    async fn health(&self) -> Result<()> {
        self.behind.health().await
    }

    fn write_locks(&self) -> WriteLocks {
        self.behind.write_locks()
    }

    async fn close(&self) -> Result<()> {
        self.behind.close().await
    }
}

/// What the library asks of a collection when it replaces a source.
#[async_trait]
impl CollectionAdapter for InBetween<Arc<dyn CollectionAdapter>> {
    fn spec(&self) -> &CollectionSpec {
        self.behind.spec()
    }

    fn capabilities(&self) -> &Capabilities {
        self.behind.capabilities()
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.behind.upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.behind.delete(keys).await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        self.behind.search(legs).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.behind.fetch(keys, within, include).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        let asked = self.peer.lock().await.ask(self.task.clone()).await;
        asked.map_err(|finding| {
            StoreError::new(Operation::Replace, ErrorKind::Contract(finding.message))
        })?;
        self.behind.replace(selector, with, precondition).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.behind.scan(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.behind.count(filter).await
    }
}

/// Another process narrows the source after it was looked at and before it is replaced.
pub(super) async fn case(context: Context) -> Checked {
    let Shared { open, index, peer } = Shared::new(&context).await?;
    let peer = Arc::new(Mutex::new(peer));
    let name = index.spec().name.clone();
    for write in [Write::Narrow, Write::Remove] {
        file(&index, "org1", letter_source('a')?).await?;
        let between = Store::new(InBetween {
            behind: open.location.bare().await?,
            peer: peer.clone(),
            task: Task::Write {
                library: name.to_string(),
                write,
            },
        });
        let raced = LibraryIndex::open(&between, &name, Arc::new(embedder())).await?;
        let done = write_source(&raced, Write::Replace('b')).await?;
        let seen = visible(&index, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("{seen:?} are read though another process took them away");
            return Err(Finding::new(Verdict::Widens, message));
        }
        holds(!done, || {
            "an indexing that must give way says that it was done".into()
        })?;
        drop(raced);
        between.close().await?;
    }
    let peer = Arc::into_inner(peer).ok_or_else(|| Finding::errors("a handle is still open"))?;
    peer.into_inner().end().await?;
    open.end().await
}
