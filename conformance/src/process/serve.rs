//! The second process.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use shelfward_core::library::{LibraryError, ScopeChange};
use shelfward_core::{
    Collection, CollectionName, ErrorKind, Filter, LibraryIndex, SourceId, Store, TenantId,
};
use tokio::sync::mpsc;

use super::stream::Stream;
use super::task::{Failure, Reply, Task, Write, letter_source};
use crate::check::scan_ids;
use crate::context::record;
use crate::library::{embedder, visible};
use crate::store::StoreUnderTest;
use crate::verdict::{Checked, Finding};

/// The variable that makes this program a second process, on the store at the place that it holds.
pub(super) const PLACE: &str = "SHELFWARD_CONFORMANCE_CHILD";

/// No stream goes on longer than this, whatever became of who began it.
const MAX_STEPS: u32 = 20_000;

/// The place that this process was begun for, if it was begun by the suite.
pub(crate) fn child_place() -> Option<String> {
    std::env::var(PLACE).ok()
}

tokio::task_local! {
    /// Which simulated process a task stands for.
    pub(super) static PROCESS: u32;
}

/// Which process this is: 0, or the number of a simulated one.
pub fn this_process() -> u32 {
    PROCESS.try_with(|process| *process).unwrap_or(0)
}

/// Does what the standard input says until it ends.
pub(crate) async fn serve_child(store: Arc<dyn StoreUnderTest>, place: String) {
    let (tell, tasks) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        let read = lines.map_while(|line| serde_json::from_str(&line.ok()?).ok());
        for task in read {
            if tell.send(task).is_err() {
                break;
            }
        }
    });
    let say = |reply: Reply| {
        if let Ok(line) = serde_json::to_string(&reply) {
            // One write for a line, so that a kill leaves no half of it. Nobody may be left to read.
            let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
            let _ = std::io::stdout().flush();
        }
    };
    serve(store, place, tasks, say).await;
}

/// Does tasks until there are no more.
pub(super) async fn serve(
    store: Arc<dyn StoreUnderTest>,
    place: String,
    mut tasks: mpsc::UnboundedReceiver<Task>,
    say: impl Fn(Reply) + Send + Sync,
) {
    let store = match store.open_at(&place).await {
        Ok(adapter) => Store::from_arc(adapter),
        Err(error) => return say(Reply::Failed(Failure::from(&error))),
    };
    say(Reply::Ready);
    let mut peer = Worker {
        store: store.clone(),
        libraries: HashMap::new(),
    };
    while let Some(task) = tasks.recv().await {
        let done = match task {
            Task::Stream {
                collection,
                stream,
                from,
            } => peer.stream(&collection, stream, from, &tasks, &say).await,
            task => peer.perform(task).await,
        };
        say(done.unwrap_or_else(|finding| {
            let Finding {
                message, causes, ..
            } = finding;
            Reply::Failed(Failure {
                message: [vec![message], causes].concat().join(": "),
                typed: false,
            })
        }));
    }
    drop(peer);
    // The one who asked is gone, so nobody is left to be told that closing failed.
    let _ = store.close().await;
}

struct Worker {
    store: Store,
    libraries: HashMap<String, LibraryIndex>,
}

impl Worker {
    /// A library, opened once and then kept open, as a server keeps it.
    async fn library(&mut self, name: String) -> Checked<LibraryIndex> {
        if let Some(open) = self.libraries.get(&name) {
            return Ok(open.clone());
        }
        let collection = CollectionName::new(&name)?;
        let index = LibraryIndex::open(&self.store, &collection, Arc::new(embedder())).await?;
        self.libraries.insert(name, index.clone());
        Ok(index)
    }

    async fn collection(&self, name: &str) -> Checked<Collection> {
        let name = CollectionName::new(name)?;
        Ok(self.store.open_unscoped(&name).await?)
    }

    async fn perform(&mut self, task: Task) -> Checked<Reply> {
        match task {
            Task::Write { library, write } => {
                let index = self.library(library).await?;
                Ok(if write_source(&index, write).await? {
                    Reply::Done(Vec::new())
                } else {
                    Reply::GaveWay
                })
            }
            Task::Visible { library, group } => {
                let index = self.library(library).await?;
                Ok(Reply::Done(visible(&index, [group.as_str()]).await?))
            }
            Task::Upsert { collection, id } => {
                let collection = self.collection(&collection).await?;
                collection.upsert(&[record(&id, 0, "{}")?]).await?;
                Ok(Reply::Done(Vec::new()))
            }
            Task::Ids { collection } => {
                let collection = self.collection(&collection).await?;
                let all = Filter::everything();
                Ok(Reply::Done(if collection.capabilities().scan {
                    scan_ids(&collection, &all).await?
                } else {
                    let leg = shelfward_core::Leg::dense([1.0; 4], all, 1_000);
                    crate::check::ids(&collection.search(&leg).await?)
                }))
            }
            Task::Stream { .. } => Err(Finding::errors("a stream is no single task")),
        }
    }

    async fn stream(
        &mut self,
        collection: &str,
        stream: Stream,
        from: u32,
        tasks: &mpsc::UnboundedReceiver<Task>,
        say: &(impl Fn(Reply) + Send + Sync),
    ) -> Checked<Reply> {
        let collection = self.collection(collection).await?;
        for step in from..from.saturating_add(MAX_STEPS) {
            if tasks.is_closed() {
                break;
            }
            stream.step(&collection, step).await?;
            say(Reply::Returned(step));
            tokio::task::yield_now().await;
        }
        Ok(Reply::Done(Vec::new()))
    }
}

/// One write of the source of the races. Whether it was done: a replace gives way to what narrowed
/// or removed the source since it began.
pub(crate) async fn write_source(index: &LibraryIndex, write: Write) -> Checked<bool> {
    let org = index.tenant(TenantId::new("org1")?);
    let id = SourceId::new("s1")?;
    match write {
        Write::Replace(letter) => match org.index_source(letter_source(letter)?).await {
            Err(LibraryError::Store(e)) if matches!(e.kind(), ErrorKind::Conflict(_)) => {
                return Ok(false);
            }
            replaced => {
                replaced?;
            }
        },
        Write::Narrow => {
            let change = ScopeChange::new().groups(["few"])?;
            org.set_source_scope(&id, &change).await?.count();
        }
        Write::Remove => {
            org.remove_source(&id).await?.count();
        }
    }
    Ok(true)
}
