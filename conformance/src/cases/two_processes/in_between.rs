//! What another process does between the look of a replace and its write.

use std::sync::Arc;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter};
use shelfward_core::{
    CollectionName, ErrorKind, LibraryIndex, Operation, Precondition, Record, Replaced, Result,
    Selector, Store, StoreError, async_trait,
};
use tokio::sync::Mutex;

use super::shared::Shared;
use crate::check::holds;
use crate::context::Context;
use crate::layer::{CollectionLayer, LayeredCollection, LayeredStore, StoreLayer};
use crate::library::{embedder, file, visible};
use crate::process::{Peer, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding};

/// A store, and its collections, whose replaces come when another process has just written.
struct InBetween<T> {
    behind: T,
    peer: Arc<Mutex<Peer>>,
    task: Task,
}

#[async_trait]
impl StoreLayer for InBetween<Arc<dyn StoreAdapter>> {
    fn behind(&self) -> &Arc<dyn StoreAdapter> {
        &self.behind
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let behind = self.behind.open(name).await?;
        Ok(behind.map(|behind| -> Arc<dyn CollectionAdapter> {
            Arc::new(LayeredCollection(InBetween {
                behind,
                peer: self.peer.clone(),
                task: self.task.clone(),
            }))
        }))
    }
}

#[async_trait]
impl CollectionLayer for InBetween<Arc<dyn CollectionAdapter>> {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.behind
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
}

/// Another process narrows the source after it was looked at and before it is replaced.
pub(super) async fn case(context: Context) -> Checked {
    let Shared { open, index, peer } = Shared::new(&context).await?;
    let peer = Arc::new(Mutex::new(peer));
    let name = index.spec().name.clone();
    for write in [Write::Narrow, Write::Remove] {
        file(&index, "org1", letter_source('a')?).await?;
        let between = Store::new(LayeredStore(InBetween {
            behind: open.location.bare().await?,
            peer: peer.clone(),
            task: Task::Write {
                library: name.to_string(),
                write,
            },
        }));
        let raced = LibraryIndex::open(&between, &name, Arc::new(embedder())).await?;
        let done = write_source(&raced, Write::Replace('b')).await?;
        let seen = visible(&index, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("{seen:?} are read though another process took them away");
            return Err(Finding::widens(message));
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
