//! Two writers at once, from two separately opened handles: the outcome is one of the two whole, and
//! never wider than the last that returned.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use shelfward_core::adapter::{LockScope, StoreAdapter};
use shelfward_core::capabilities::{Replace, Writers};
use shelfward_core::filter::key as field;
use shelfward_core::library::LibrarySpec;
use shelfward_core::{
    Capabilities, Collection, Filter, Include, LibraryIndex, MetadataKey, MetadataPatch, StoreError,
};

use crate::case::Case;
use crate::check::{holds, rows};
use crate::context::{Context, record};
use crate::embedder::TableEmbedder;
use crate::fixture::fields;
use crate::library::{file, file_texts, open, visible};
use crate::process::{PASSAGES, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding, Verdict};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("races/replace-replace", |context| {
            pair(context, Write::Replace('b'), Write::Replace('c'))
        }),
        Case::new("races/replace-narrow", |context| {
            pair(context, Write::Replace('b'), Write::Narrow)
        })
        .needs(updates),
        Case::new("races/replace-remove", |context| {
            pair(context, Write::Replace('b'), Write::Remove)
        }),
        Case::new("races/narrow-narrow", |context| {
            pair(context, Write::Narrow, Write::Narrow)
        })
        .needs(updates),
        Case::new("races/narrow-remove", |context| {
            pair(context, Write::Narrow, Write::Remove)
        })
        .needs(updates),
        Case::new("races/remove-remove", |context| {
            pair(context, Write::Remove, Write::Remove)
        }),
        Case::new("races/reads-during-replace", reads).only_where(
            atomic,
            "its replace is not atomic, so readers may see nothing in between",
        ),
        Case::new("races/narrowing-is-in-force", narrowing).needs(updates),
        Case::new(
            "races/dropped-replace-never-lands-later",
            super::drops::dropped,
        ),
        Case::new("races/one-state-in-one-answer", super::states::one_state).only_where(
            |can| atomic(can) && can.lexical.is_some(),
            "its replace is not atomic, or it has no lexical leg",
        ),
        Case::new("races/handles-share-the-locks", shared_locks).only_where(
            |can| can.writers == Writers::OneProcess,
            "the store itself orders writers, those of other processes too",
        ),
        Case::new("races/a-write-that-returned-holds-nobody", released),
        Case::new("races/parallel-upserts", parallel),
        Case::new("races/same-key", same_key),
        Case::new("races/sources-side-by-side", side_by_side),
    ]
}

/// What core composes of several calls is ordered by these locks alone, so every handle in the process
/// has to meet the same ones.
async fn shared_locks(context: Context) -> Checked {
    let name = context.name()?;
    let locks = |adapter: Arc<dyn StoreAdapter>| adapter.write_locks().of(&name);
    let first = locks(context.adapter().await?);
    let second = locks(context.another_adapter().await?);
    let held = first.acquire(LockScope::Collection).await;
    let mut waiting = Box::pin(second.acquire(LockScope::Collection));
    holds((&mut waiting).now_or_never().is_none(), || {
        "two handles on one place do not share the locks of writers: keep one WriteLocks in what they share"
            .into()
    })?;
    drop(held);
    holds(waiting.now_or_never().is_some(), || {
        "a lock of writers that was released is not passed on".into()
    })
}

/// A write that waits longer for its turn never gets it.
const TURN: Duration = Duration::from_secs(10);

/// Whatever a write locked is released when it returns: the next one has its turn, whichever it is and
/// through whichever handle.
async fn released(context: Context) -> Checked {
    let spec = context.spec()?.with_fields(fields()?);
    let here = context.make(&spec).await?;
    let there = context.again(&spec.name).await?;
    let records = [record("a", 0, r#"{"t":"u"}"#)?];
    let selector = field("t").eq("u").build()?.narrow()?;
    let patch = MetadataPatch::new().set(MetadataKey::new("n")?, 1);
    let mut last = "none";
    for handle in [&here, &here, &there, &here] {
        in_turn(&mut last, "an upsert", handle.upsert(&records)).await?;
        in_turn(&mut last, "a replace", handle.replace(&selector, &records)).await?;
        if updates(handle.capabilities()) {
            let update = handle.update_metadata(&selector, &patch);
            in_turn(&mut last, "an update", update).await?;
        }
        in_turn(
            &mut last,
            "a delete by filter",
            handle.delete_matching(&selector),
        )
        .await?;
        let keys = records.each_ref().map(|record| record.key.clone());
        in_turn(&mut last, "a delete by key", handle.delete(&keys)).await?;
        in_turn(&mut last, "a delete of everything", handle.delete_all()).await?;
    }
    Ok(())
}

async fn in_turn<T>(
    last: &mut &'static str,
    what: &'static str,
    write: impl Future<Output = Result<T, StoreError>>,
) -> Checked {
    let Ok(written) = tokio::time::timeout(TURN, write).await else {
        let seconds = TURN.as_secs();
        return Err(Finding::errors(format!(
            "{what} still waits after {seconds} s, though {last}, the write before it, returned: it did \
             not release what it had locked"
        )));
    };
    written?;
    *last = what;
    Ok(())
}

pub(super) fn updates(can: &Capabilities) -> bool {
    can.update_metadata.is_some()
}

pub(super) fn atomic(can: &Capabilities) -> bool {
    can.replace == Replace::Atomic
}

pub(super) const ROUNDS: usize = 12;

async fn second(context: &Context, index: &LibraryIndex) -> Checked<LibraryIndex> {
    let store = context.another_store().await?;
    let embedder = Arc::new(TableEmbedder::new("suite-library", 8));
    Ok(LibraryIndex::open(&store, &index.spec().name, embedder).await?)
}

async fn write(index: LibraryIndex, write: Write) -> Checked {
    write_source(&index, write).await.map(drop)
}

/// What is there: for each passage its text and whether everybody may read it.
pub(super) async fn state(
    index: &LibraryIndex,
    collection: &Collection,
) -> Checked<Vec<(String, bool)>> {
    let filter = shelfward_core::filter::key("tenantId").eq("org1").build()?;
    let mut there = Vec::new();
    let mut after = None;
    loop {
        let page = collection
            .scan(&filter, after.as_ref(), 100, Include::TEXT)
            .await?;
        for record in page.records {
            let wide = record
                .metadata
                .get("aclGroups")
                .is_some_and(|groups| groups.elements().len() == 2);
            there.push((record.text.as_deref().unwrap_or_default().to_owned(), wide));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let found = visible(index, ["few"]).await?;
    holds(found.len() == there.len(), || {
        "a search finds another number than a scan".into()
    })?;
    Ok(there)
}

async fn pair(context: Context, one: Write, other: Write) -> Checked {
    for _ in 0..ROUNDS {
        let index = open(&context, &context.store().await?).await?;
        let again = second(&context, &index).await?;
        let collection = context.again(&index.spec().name).await?;
        file(&index, "org1", letter_source('a')?).await?;
        let both = tokio::join!(
            spawned(write(index.clone(), one)),
            spawned(write(again.clone(), other)),
        );
        both.0?;
        both.1?;
        if collection.capabilities().scan {
            judge(&state(&index, &collection).await?, one, other)?;
        }
    }
    Ok(())
}

async fn spawned<F>(future: F) -> Checked
where
    F: Future<Output = Checked> + Send + 'static,
{
    tokio::spawn(future)
        .await
        .map_err(|e| Finding::errors(e.to_string()))?
}

/// The outcomes that one of the two orders has, or the other write alone where a replace gave way.
pub(super) fn judge(there: &[(String, bool)], one: Write, other: Write) -> Checked {
    let outcome = |steps: &[Write]| -> Vec<(String, bool)> {
        let mut state: Vec<(String, bool)> = vec![("a".to_owned(), true); PASSAGES];
        for step in steps {
            match step {
                Write::Replace(letter) => state = vec![(letter.to_string(), true); PASSAGES],
                Write::Narrow => state.iter_mut().for_each(|passage| passage.1 = false),
                Write::Remove => state.clear(),
            }
        }
        state
    };
    let gave_way = match (one, other) {
        (Write::Replace(_), Write::Narrow | Write::Remove) => there == outcome(&[other]),
        (Write::Narrow | Write::Remove, Write::Replace(_)) => there == outcome(&[one]),
        _ => false,
    };
    if there == outcome(&[one, other]) || there == outcome(&[other, one]) || gave_way {
        return Ok(());
    }
    let wide = there.iter().filter(|(_, wide)| *wide).count();
    let message = format!(
        "a mix of two writers: {} passages, {wide} of them for everybody",
        there.len()
    );
    Err(Finding::new(Verdict::Widens, message))
}

async fn reads(context: Context) -> Checked {
    let index = open(&context, &context.store().await?).await?;
    file_texts(&index, "s1", ["few"], &["a"; 8]).await?;
    let writer = tokio::spawn({
        let index = index.clone();
        async move {
            for round in 0..30 {
                let letter = if round % 2 == 0 { "b" } else { "a" };
                file_texts(&index, "s1", ["few"], &[letter; 8]).await?;
            }
            Ok::<_, Finding>(())
        }
    });
    while !writer.is_finished() {
        let found = visible(&index, ["few"]).await?;
        if found.len() != 8 {
            let message = format!(
                "a reader sees {} of 8 passages during a replace",
                found.len()
            );
            return Err(Finding::new(Verdict::Narrows, message));
        }
        tokio::task::yield_now().await;
    }
    writer.await.map_err(|e| Finding::errors(e.to_string()))?
}

async fn narrowing(context: Context) -> Checked {
    let index = open(&context, &context.store().await?).await?;
    let other = second(&context, &index).await?;
    for round in 0..ROUNDS {
        file_texts(&index, "s1", ["all", "few"], &["a", "b"]).await?;
        write(index.clone(), Write::Narrow).await?;
        let seen = visible(&other, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("round {round}: {seen:?} are read after a narrowing returned");
            return Err(Finding::new(Verdict::Widens, message));
        }
    }
    Ok(())
}

async fn parallel(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let mut tasks = Vec::new();
    for writer in 0..4 {
        let collection = context.again(&collection.spec().name).await?;
        tasks.push(tokio::spawn(async move {
            for n in 0..25_u8 {
                collection
                    .upsert(&[record(&format!("w{writer}-{n}"), n, "{}")?])
                    .await?;
            }
            Ok::<_, Finding>(())
        }));
    }
    for task in tasks {
        task.await.map_err(|e| Finding::errors(e.to_string()))??;
    }
    rows("four writers of 25", &collection, 100).await
}

async fn same_key(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let mut tasks = Vec::new();
    for writer in 0..4_u8 {
        let collection = collection.clone();
        tasks.push(tokio::spawn(async move {
            let record = record("one", writer, &format!(r#"{{"w":{writer}}}"#))?
                .with_text(format!("w{writer}"));
            collection.upsert(&[record]).await?;
            Ok::<_, Finding>(())
        }));
    }
    for task in tasks {
        task.await.map_err(|e| Finding::errors(e.to_string()))??;
    }
    rows("one key", &collection, 1).await?;
    let key = crate::context::key("one")?;
    let fetched = collection
        .fetch(&[key], &Filter::everything(), Include::TEXT)
        .await?;
    let whole = fetched.iter().flatten().all(|r| {
        let writer = r
            .metadata
            .get("w")
            .and_then(shelfward_core::Value::as_integer);
        writer.map(|w| format!("w{w}")).as_deref() == r.text.as_deref()
    });
    holds(whole, || "the record is a mix of two writers".into())
}

async fn side_by_side(context: Context) -> Checked {
    let store = context.store().await?;
    let spec = LibrarySpec::new(context.name()?);
    let index = LibraryIndex::ensure(
        &store,
        spec,
        Arc::new(TableEmbedder::new("suite-library", 8)),
    )
    .await?;
    let mut tasks = Vec::new();
    for n in 0..8 {
        let index = index.clone();
        tasks.push(tokio::spawn(async move {
            let id = format!("s{n}");
            for _ in 0..5 {
                file_texts(&index, &id, ["few"], &["a", "b", "c"]).await?;
            }
            Ok::<_, Finding>(())
        }));
    }
    for task in tasks {
        task.await.map_err(|e| Finding::errors(e.to_string()))??;
    }
    let found = visible(&index, ["few"]).await?.len();
    holds(found == 24, || {
        format!("8 sources of 3 passages, {found} are found")
    })
}
