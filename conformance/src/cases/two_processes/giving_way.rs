//! A write that gives way to what another process did since it looked.

use std::sync::Arc;

use shelfward_core::filter::key as field;
use shelfward_core::{
    EmbedError, Embedder, Filter, Include, Precondition, Record, Role, async_trait,
};
use tokio::sync::Notify;

use super::shared::Shared;
use crate::cases::open_store::OpenStore;
use crate::check::{holds, rows};
use crate::context::{Context, record};
use crate::embedder::TableEmbedder;
use crate::fixture;
use crate::library::{embedder, file, source, visible};
use crate::process::{PASSAGES, Write, letter_source};
use crate::verdict::{Checked, Finding};

/// An embedder that waits to be let go on, so that something can happen while a source is indexed.
struct Slow {
    inner: TableEmbedder,
    begun: Notify,
    go_on: Notify,
}

#[async_trait]
impl Embedder for Slow {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn width(&self) -> u32 {
        self.inner.width()
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.contains(&"slow") {
            self.begun.notify_one();
            self.go_on.notified().await;
        }
        self.inner.embed(role, texts).await
    }
}

/// An indexing that began before another process narrowed or removed the source does not undo that.
pub(super) async fn gives_way(context: Context) -> Checked {
    let slow = Arc::new(Slow {
        inner: embedder(),
        begun: Notify::new(),
        go_on: Notify::new(),
    });
    let mut shared = Shared::with(&context, slow.clone()).await?;
    for write in [Write::Narrow, Write::Remove, Write::Narrow] {
        file(&shared.index, "org1", letter_source('a')?).await?;
        let index = shared.index.clone();
        let texts = ["slow"; PASSAGES];
        let again = source("s1", ["all", "few"], &texts)?;
        let indexing = tokio::spawn(async move { file(&index, "org1", again).await });
        slow.begun.notified().await;
        let task = shared.write(write);
        shared.peer.ask(task).await?;
        slow.go_on.notify_one();
        let indexed = indexing.await?;
        let seen = visible(&shared.index, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("{seen:?} are read though another process took them away");
            return Err(Finding::widens(message));
        }
        holds(indexed.is_err(), || {
            "an indexing that must give way says that it was done".into()
        })?;
    }
    shared.end().await
}

/// A replace that is told what it expects does nothing where that is not so.
pub(super) async fn expects(context: Context) -> Checked {
    let spec = fixture::spec(&context)?;
    let open = OpenStore::new(&context, &spec).await?;
    let adapter = open.location.bare().await?;
    let bare = adapter.open(&spec.name).await?;
    let bare = bare.ok_or_else(|| Finding::errors("no collection"))?;
    let old = record("a", 0, r#"{"t":"u","n":1}"#)?;
    let new = record("b", 1, r#"{"t":"u","n":2}"#)?;
    let elsewhere = record("z", 2, r#"{"t":"other"}"#)?;
    bare.upsert(&[old.clone(), elsewhere.clone()]).await?;
    let unit = field("t").eq("u").build()?.narrow()?;
    let absent = |record: &Record| Precondition::new(record.key.clone(), None);
    let holds_of = |record: &Record, other: &Record| {
        Precondition::new(record.key.clone(), Some(other.metadata.clone()))
    };
    let wrong = [
        ("of another value", holds_of(&old, &new)),
        ("that is there, as absent", absent(&old)),
        ("that is absent, as there", holds_of(&new, &new)),
        (
            "beyond the selector, as there",
            holds_of(&elsewhere, &elsewhere),
        ),
    ];
    let with = std::slice::from_ref(&new);
    for (what, expected) in &wrong {
        let replaced = bare.replace(&unit, with, Some(expected)).await?;
        holds(replaced.is_none(), || {
            format!("a record {what} is taken for what is expected")
        })?;
        let keys = [old.key.clone(), new.key.clone()];
        let everything = Filter::everything();
        let there = bare.fetch(&keys, &everything, Include::METADATA).await?;
        let there: Vec<_> = there.iter().map(Option::is_some).collect();
        holds(there == [true, false], || {
            format!("a record {what}: something was changed")
        })?;
    }
    for expected in &[holds_of(&old, &old), absent(&old), absent(&elsewhere)] {
        let replaced = bare.replace(&unit, with, Some(expected)).await?;
        let replaced = replaced.ok_or_else(|| Finding::errors("what is expected is refused"))?;
        holds(replaced.written == 1, || {
            "a replace answers another number".into()
        })?;
        rows("after a replace", &open.collection, 2).await?;
    }
    drop(bare);
    adapter.close().await?;
    open.end().await
}
