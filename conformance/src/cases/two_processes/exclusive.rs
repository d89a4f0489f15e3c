//! Stores that one process may have open.

use std::time::{Duration, Instant};

use crate::cases::open_store::OpenStore;
use crate::check::{holds, rows, same_ids};
use crate::context::{Context, record};
use crate::process::Task;
use crate::verdict::{Checked, Finding};

/// A second process is told why it cannot open the store, and opens it when the first has closed it.
pub(super) async fn refused(context: Context) -> Checked {
    let open = OpenStore::new(&context, &context.spec()?).await?;
    open.upsert(&[record("a", 0, "{}")?]).await?;
    match open.location.try_peer().await? {
        Ok(_) => {
            let message = "a second process opens a store that one process may have";
            return Err(Finding::errors(message));
        }
        Err(failure) => holds(failure.typed && failure.message.contains("process"), || {
            format!(
                "the refusal does not say that another process has the store: {}",
                failure.message
            )
        })?,
    }
    // The attempt did the first process no harm.
    open.upsert(&[record("b", 1, "{}")?]).await?;
    rows("after a refusal", &open.collection, 2).await?;
    let closed = open.close().await?;
    let mut peer = closed.location.peer().await?;
    let collection = closed.name.to_string();
    let ids = peer.ask(Task::Ids { collection }).await?;
    same_ids("in the other process, later", &ids, &["a", "b"])?;
    peer.end().await?;
    closed.open().await?.end().await
}

/// A process that is killed while it has the store open leaves no lock.
pub(super) async fn lock_of_the_dead(context: Context) -> Checked {
    let mut open = OpenStore::new(&context, &context.spec()?).await?;
    open.upsert(&[record("a", 0, "{}")?]).await?;
    for round in 0..3 {
        let closed = open.close().await?;
        let mut peer = closed.location.peer().await?;
        let (collection, id) = (closed.name.to_string(), format!("r{round}"));
        peer.ask(Task::Upsert { collection, id }).await?;
        peer.kill().await;
        open = closed.open().await?;
        rows("after a kill", &open.collection, round + 2).await?;
    }
    open.end().await
}

/// So long a store may need to let go of what was dropped.
const TURN: Duration = Duration::from_secs(10);

/// Handles that are dropped without a close leave no lock either.
pub(super) async fn lock_of_the_dropped(context: Context) -> Checked {
    let open = OpenStore::new(&context, &context.spec()?).await?;
    open.upsert(&[record("a", 0, "{}")?]).await?;
    let dropped = open.drop_handles();
    let begun = Instant::now();
    let mut peer = loop {
        match dropped.location.try_peer().await? {
            Ok(peer) => break peer,
            Err(failure) if begun.elapsed() > TURN => {
                let (seconds, why) = (TURN.as_secs(), failure.message);
                return Err(Finding::errors(format!(
                    "another process is not let in {seconds} s after every handle was dropped: {why}"
                )));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let collection = dropped.name.to_string();
    let ids = peer.ask(Task::Ids { collection }).await?;
    same_ids("in the other process", &ids, &["a"])?;
    peer.end().await?;
    dropped.open().await?.end().await
}
