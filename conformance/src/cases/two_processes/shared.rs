//! A library that two processes have open.

use std::sync::Arc;

use shelfward_core::{CollectionName, Embedder, LibraryIndex};

use crate::cases::open_store::OpenStore;
use crate::context::Context;
use crate::library::{embedder, file, on, visible};
use crate::process::{Peer, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding};

/// A library at a place of its own, open here and in another process.
pub(super) struct Shared {
    pub(super) open: OpenStore,
    pub(super) index: LibraryIndex,
    pub(super) peer: Peer,
}

impl Shared {
    pub(super) async fn new(context: &Context) -> Checked<Self> {
        Self::with(context, Arc::new(embedder())).await
    }

    pub(super) async fn with(context: &Context, embedder: Arc<dyn Embedder>) -> Checked<Self> {
        let location = context.location()?;
        let store = location.open().await?;
        let index = on(context, &store, embedder).await?;
        let collection = store.open_unscoped(&index.spec().name).await?;
        let peer = location.peer().await?;
        let open = OpenStore {
            location,
            store,
            collection,
        };
        Ok(Self { open, index, peer })
    }

    pub(super) fn name(&self) -> &CollectionName {
        &self.index.spec().name
    }

    pub(super) fn write(&self, write: Write) -> Task {
        let library = self.name().to_string();
        Task::Write { library, write }
    }

    /// What a reader of a group finds in the other process.
    pub(super) async fn seen_there(&mut self, group: &str) -> Checked<Vec<String>> {
        let (library, group) = (self.name().to_string(), group.to_owned());
        self.peer.ask(Task::Visible { library, group }).await
    }

    /// What everybody finds in the other process when a write of this one returned, or the other way
    /// round.
    pub(super) async fn seen_after(&mut self, write: Write, here: bool) -> Checked<Vec<String>> {
        if here {
            write_source(&self.index, write).await?;
            return self.seen_there("all").await;
        }
        let task = self.write(write);
        self.peer.ask(task).await?;
        visible(&self.index, ["all"]).await
    }

    /// A narrowing or a removal by one process, when all else is over, is in force for the other.
    pub(super) async fn afterwards(&mut self, write: Write, here: bool) -> Checked {
        if matches!(write, Write::Replace(_)) {
            return Ok(());
        }
        file(&self.index, "org1", letter_source('a')?).await?;
        let seen = self.seen_after(write, here).await?;
        if seen.is_empty() {
            return Ok(());
        }
        let message = format!("{seen:?} are read after another process took them away");
        Err(Finding::widens(message))
    }

    pub(super) async fn end(self) -> Checked {
        self.peer.end().await?;
        self.open.end().await
    }
}
