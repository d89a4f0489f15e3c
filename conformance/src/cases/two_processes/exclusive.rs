//! Stores that one process may have open.

use crate::check::{holds, rows, same_ids};
use crate::context::{Context, record};
use crate::process::Task;
use crate::verdict::{Checked, Finding};

/// A second process is told why it cannot have the store, and has it when the first has let go.
pub(super) async fn refused(context: Context) -> Checked {
    let place = context.place()?;
    let spec = context.spec()?;
    let store = place.open().await?;
    let collection = store.ensure(&spec).await?;
    collection.upsert(&[record("a", 0, "{}")?]).await?;
    match place.try_peer().await? {
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
    // Being asked did it no harm.
    collection.upsert(&[record("b", 1, "{}")?]).await?;
    rows("after a refusal", &collection, 2).await?;
    drop(collection);
    store.close().await?;
    drop(store);
    let mut peer = place.peer().await?;
    let collection = spec.name.to_string();
    let ids = peer.ask(Task::Ids { collection }).await?;
    same_ids("in the other process, later", &ids, &["a", "b"])?;
    peer.end().await?;
    let store = place.open().await?;
    store.drop_collection(&spec.name).await?;
    Ok(store.close().await?)
}

/// A process that is killed while it has the store open leaves no lock.
pub(super) async fn lock_of_the_dead(context: Context) -> Checked {
    let place = context.place()?;
    let spec = context.spec()?;
    let store = place.open().await?;
    store
        .ensure(&spec)
        .await?
        .upsert(&[record("a", 0, "{}")?])
        .await?;
    store.close().await?;
    drop(store);
    for round in 0..3 {
        let mut peer = place.peer().await?;
        let (collection, id) = (spec.name.to_string(), format!("r{round}"));
        peer.ask(Task::Upsert { collection, id }).await?;
        peer.kill().await;
        let store = place.open().await?;
        let collection = store.open(&spec.name).await?;
        rows("after a kill", &collection, round + 2).await?;
        store.close().await?;
    }
    let store = place.open().await?;
    store.drop_collection(&spec.name).await?;
    Ok(store.close().await?)
}
