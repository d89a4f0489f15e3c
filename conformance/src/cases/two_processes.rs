//! Writers of two processes: as those of one, where the store says that it orders all, and refused
//! where it says that one process may have it.

use std::sync::Arc;

use shelfward_core::capabilities::{Replace, Writers};
use shelfward_core::filter::key as field;
use shelfward_core::library::LibrarySpec;
use shelfward_core::{
    Capabilities, Collection, CollectionName, EmbedError, Embedder, Expected, Filter, Include,
    LibraryIndex, Role, Store, async_trait,
};
use tokio::sync::Notify;

use super::library::{embedder, file, visible};
use super::races::{judge, state, updates};
use crate::case::Case;
use crate::check::{holds, rows, same_ids};
use crate::context::{Context, Place, record};
use crate::embedder::TableEmbedder;
use crate::faulty::Fault;
use crate::process::{PASSAGES, Peer, Task, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    let (b, c) = (Write::Replace('b'), Write::Replace('c'));
    let pairs = [
        ("replace-replace", b, c),
        ("replace-narrow", b, Write::Narrow),
        ("replace-remove", b, Write::Remove),
        ("narrow-narrow", Write::Narrow, Write::Narrow),
        ("narrow-remove", Write::Narrow, Write::Remove),
        ("remove-remove", Write::Remove, Write::Remove),
    ];
    let mut cases = Vec::new();
    for (name, one, other) in pairs {
        let id = format!("races/{name}-two-processes");
        let case = Case::new(id, move |context| pair(context, one, other));
        let case = match (one, other) {
            (Write::Replace(_), Write::Replace(_)) => case.kills(&[Fault::TearsWrites]),
            (Write::Replace(_), Write::Narrow) => {
                case.kills(&[Fault::UpdateDoesNothing, Fault::TearsWrites])
            }
            (Write::Narrow, Write::Narrow) => case.kills(&[Fault::UpdateDoesNothing]),
            _ => case.kills(&[Fault::DeleteByFilterDoesNothing]),
        };
        let narrows = one == Write::Narrow || other == Write::Narrow;
        cases.push(if narrows { case.needs(updates) } else { case });
    }
    cases.extend([
        Case::new("races/narrowing-is-in-force-two-processes", narrowing)
            .kills(&[Fault::UpdateDoesNothing, Fault::CachesAnswers])
            .needs(updates),
        Case::new("races/writes-are-seen-by-another-process", seen)
            .kills(&[Fault::CachesAnswers, Fault::LosesLastOfBatch]),
        Case::new("races/indexing-gives-way-to-another-process", gives_way)
            .kills(&[Fault::UpdateDoesNothing])
            .needs(updates),
    ]);
    let of_all = |can: &Capabilities| can.writers == Writers::AllProcesses;
    let mut cases: Vec<_> = cases
        .into_iter()
        .map(|case| {
            case.only_where(of_all, "it does not order writers of other processes")
                .second_process()
        })
        .collect();
    cases.push(
        Case::new("races/replace-looks-at-what-it-expects", expects)
            .kills(&[Fault::IgnoresExpected])
            .only_where(
                |can| can.writers == Writers::AllProcesses && can.replace == Replace::Atomic,
                "it does not order writers of other processes, or its replace is not atomic",
            )
            .reopens(),
    );
    cases.push(
        Case::new("races/another-process-is-refused", refused)
            .kills(&[Fault::LetsAnotherProcessIn])
            .only_where(
                |can| can.writers == Writers::OneProcess,
                "it orders writers of all processes, and lets them in",
            )
            .second_process(),
    );
    cases.push(
        Case::new("races/a-killed-process-locks-nobody-out", lock_of_the_dead)
            .kills(&[Fault::KeepsLockOfTheDead])
            .second_process(),
    );
    cases
}

const ROUNDS: usize = 24;

/// A library at a place of its own, open here and in another process.
struct Shared {
    place: Place,
    store: Store,
    index: LibraryIndex,
    collection: Arc<dyn Collection>,
    peer: Peer,
}

impl Shared {
    async fn new(context: &Context) -> Checked<Self> {
        Self::with(context, Arc::new(embedder())).await
    }

    async fn with(context: &Context, embedder: Arc<dyn Embedder>) -> Checked<Self> {
        let place = context.place()?;
        let store = place.open().await?;
        let name = context.name()?;
        let index = LibraryIndex::ensure(&store, LibrarySpec::new(name.clone()), embedder).await?;
        let collection = store.open(&name).await?;
        let peer = place.peer().await?;
        Ok(Self {
            place,
            store,
            index,
            collection,
            peer,
        })
    }

    fn name(&self) -> &CollectionName {
        &self.index.spec().name
    }

    fn write(&self, write: Write) -> Task {
        let library = self.name().to_string();
        Task::Write { library, write }
    }

    /// What a reader of a group finds in the other process.
    async fn seen_there(&mut self, group: &str) -> Checked<Vec<String>> {
        let (library, group) = (self.name().to_string(), group.to_owned());
        self.peer.ask(Task::Visible { library, group }).await
    }

    /// A narrowing or a removal by one process, when all else is over, is in force for the other.
    async fn afterwards(&mut self, write: Write, here: bool) -> Checked {
        if matches!(write, Write::Replace(_)) {
            return Ok(());
        }
        file(&self.index, "org1", letter_source('a')?).await?;
        let seen = if here {
            write_source(&self.index, write).await?;
            self.seen_there("all").await?
        } else {
            let task = self.write(write);
            self.peer.ask(task).await?;
            visible(&self.index, ["all"]).await?
        };
        if seen.is_empty() {
            return Ok(());
        }
        let message = format!("{seen:?} are read after another process took them away");
        Err(Finding::new(Verdict::Widens, message))
    }

    async fn end(self) -> Checked {
        self.peer.end().await?;
        self.store.drop_collection(&self.index.spec().name).await?;
        self.store.close().await?;
        drop(self.place);
        Ok(())
    }
}

/// Two writes at once, the one here and the other in the other process, and the other way round.
async fn pair(context: Context, one: Write, other: Write) -> Checked {
    let mut shared = Shared::new(&context).await?;
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        let (here, there) = if round % 2 == 0 {
            (one, other)
        } else {
            (other, one)
        };
        let task = shared.write(there);
        shared.peer.tell(task)?;
        // Not always the same one first.
        tokio::time::sleep(std::time::Duration::from_micros(
            150 * (round as u64 / 2 % 6),
        ))
        .await;
        let here = write_source(&shared.index, here).await;
        shared.peer.done().await?;
        here?;
        if shared.collection.capabilities().scan {
            let there = state(&shared.index, &shared.collection).await?;
            judge(&there, one, other)?;
        }
        let here = visible(&shared.index, ["all"]).await?;
        let there = shared.seen_there("all").await?;
        same_ids("what the two processes find", &there, &here)?;
        for write in [one, other] {
            shared.afterwards(write, round % 2 == 1).await?;
        }
    }
    shared.end().await
}

/// A narrowing that returned in one process is in force for the next search of the other.
async fn narrowing(context: Context) -> Checked {
    let mut shared = Shared::new(&context).await?;
    let widens = |round, seen: &[String]| {
        let message = format!("round {round}: {seen:?} are read after a narrowing returned");
        Err(Finding::new(Verdict::Widens, message))
    };
    let everybody = |seen: usize| {
        holds(seen == PASSAGES, || {
            format!("of {PASSAGES} passages for everybody another process finds {seen}")
        })
    };
    for round in 0..ROUNDS {
        file(&shared.index, "org1", letter_source('a')?).await?;
        everybody(shared.seen_there("all").await?.len())?;
        everybody(visible(&shared.index, ["all"]).await?.len())?;
        if round % 2 == 0 {
            write_source(&shared.index, Write::Narrow).await?;
            let seen = shared.seen_there("all").await?;
            if !seen.is_empty() {
                return widens(round, &seen);
            }
        } else {
            let task = shared.write(Write::Narrow);
            shared.peer.ask(task).await?;
            let seen = visible(&shared.index, ["all"]).await?;
            if !seen.is_empty() {
                return widens(round, &seen);
            }
        }
        everybody(visible(&shared.index, ["few"]).await?.len())?;
        everybody(shared.seen_there("few").await?.len())?;
    }
    shared.end().await
}

/// Plain writes are seen in the other process when they returned.
async fn seen(context: Context) -> Checked {
    let place = context.place()?;
    let store = place.open().await?;
    let collection = store.ensure(&context.spec()?).await?;
    let name = collection.spec().name.to_string();
    let mut peer = place.peer().await?;
    let mut expected = Vec::new();
    for n in 0..12 {
        let id = format!("r{n}");
        if n % 2 == 0 {
            collection.upsert(&[record(&id, 1, "{}")?]).await?;
        } else {
            let (collection, id) = (name.clone(), id.clone());
            peer.ask(Task::Upsert { collection, id }).await?;
        }
        expected.push(id);
        let collection_there = name.clone();
        let there = Task::Ids {
            collection: collection_there,
        };
        same_ids("in the other process", &peer.ask(there).await?, &expected)?;
        let leg = shelfward_core::Leg::dense([1.0; 4], Filter::everything(), 50);
        let found = crate::check::ids(&collection.search(&leg).await?);
        same_ids("here", &found, &expected)?;
    }
    peer.end().await?;
    store.drop_collection(&collection.spec().name).await?;
    Ok(store.close().await?)
}

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
async fn gives_way(context: Context) -> Checked {
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
        let again = super::library::source("s1", ["all", "few"], &texts)?;
        let indexing = tokio::spawn(async move { file(&index, "org1", again).await });
        slow.begun.notified().await;
        let task = shared.write(write);
        shared.peer.ask(task).await?;
        slow.go_on.notify_one();
        let indexed = indexing.await.map_err(|e| Finding::errors(e.to_string()))?;
        let seen = visible(&shared.index, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("{seen:?} are read though another process took them away");
            return Err(Finding::new(Verdict::Widens, message));
        }
        holds(indexed.is_err(), || {
            "an indexing that must give way says that it was done".into()
        })?;
    }
    shared.end().await
}

/// A replace that is told what it expects does nothing where that is not so.
async fn expects(context: Context) -> Checked {
    let place = context.place()?;
    let spec = context.spec()?.with_fields(super::fixture::fields()?);
    let store = place.open().await?;
    store.ensure(&spec).await?;
    let adapter = place.bare().await?;
    let bare = adapter.open(&spec.name).await?;
    let bare = bare.ok_or_else(|| Finding::errors("no collection"))?;
    let (old, new) = (
        record("a", 0, r#"{"t":"u","n":1}"#)?,
        record("b", 1, r#"{"t":"u","n":2}"#)?,
    );
    bare.upsert(std::slice::from_ref(&old)).await?;
    let elsewhere = record("z", 2, r#"{"t":"other"}"#)?;
    bare.upsert(std::slice::from_ref(&elsewhere)).await?;
    let unit = field("t").eq("u").build()?.narrow()?;
    let wrong = [
        (
            "of another value",
            Expected::new(old.key.clone(), Some(new.metadata.clone())),
        ),
        (
            "that is there, as absent",
            Expected::new(old.key.clone(), None),
        ),
        (
            "that is absent, as there",
            Expected::new(new.key.clone(), Some(new.metadata.clone())),
        ),
        (
            "beyond the selector, as there",
            Expected::new(elsewhere.key.clone(), Some(elsewhere.metadata.clone())),
        ),
    ];
    let with = std::slice::from_ref(&new);
    for (what, expected) in &wrong {
        let replaced = bare.replace_if(&unit, with, expected).await?;
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
    let right = [
        Expected::new(old.key.clone(), Some(old.metadata.clone())),
        Expected::new(old.key.clone(), None),
        Expected::new(elsewhere.key.clone(), None),
    ];
    for expected in &right {
        let replaced = bare.replace_if(&unit, with, expected).await?;
        let replaced = replaced.ok_or_else(|| Finding::errors("what is expected is refused"))?;
        holds(replaced.written == 1, || {
            "a replace answers another number".into()
        })?;
        rows("after a replace", &*store.open(&spec.name).await?, 2).await?;
    }
    drop(bare);
    store.drop_collection(&spec.name).await?;
    adapter.close().await?;
    Ok(store.close().await?)
}

/// A second process is told why it cannot have the store, and has it when the first has let go.
async fn refused(context: Context) -> Checked {
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
    rows("after a refusal", &*collection, 2).await?;
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
async fn lock_of_the_dead(context: Context) -> Checked {
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
        rows("after a kill", &*collection, round + 2).await?;
        store.close().await?;
    }
    let store = place.open().await?;
    store.drop_collection(&spec.name).await?;
    Ok(store.close().await?)
}
