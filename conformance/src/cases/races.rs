//! Two writers at once, from two separately opened handles: the outcome is one of the two whole, and
//! never wider than the last that returned.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use shelfward_core::adapter::{LockScope, StoreAdapter};
use shelfward_core::capabilities::Writers;
use shelfward_core::filter::key as field;
use shelfward_core::{Collection, LibraryIndex, MetadataPatch, StoreError, StoredRecord, Value};

use super::drops::dropped;
use super::states::one_state;
use crate::case::Case;
use crate::check::{atomic, holds, rows, scan, stored, updates};
use crate::context::{Context, name, record, spawned};
use crate::fixture;
use crate::library::{self, embedder, file, file_texts, visible};
use crate::process::{PASSAGES, Write, letter_source, write_source};
use crate::verdict::{Checked, Finding};

/// Pairs of writes of one source, in every combination.
pub(super) const PAIRS: [(&str, Write, Write); 6] = {
    let (b, c) = (Write::Replace('b'), Write::Replace('c'));
    [
        ("replace-replace", b, c),
        ("replace-narrow", b, Write::Narrow),
        ("replace-remove", b, Write::Remove),
        ("narrow-narrow", Write::Narrow, Write::Narrow),
        ("narrow-remove", Write::Narrow, Write::Remove),
        ("remove-remove", Write::Remove, Write::Remove),
    ]
};

/// A case that narrows is asked of stores that can.
pub(super) fn needs_of(case: Case, writes: [Write; 2]) -> Case {
    match writes.contains(&Write::Narrow) {
        true => case.needs(updates),
        false => case,
    }
}

pub(super) fn cases() -> Vec<Case> {
    let pairs = PAIRS.map(|(name, one, other)| {
        let id = format!("races/{name}");
        let case = Case::new(id, move |context| pair(context, one, other));
        needs_of(case, [one, other])
    });
    let mut cases = Vec::from(pairs);
    cases.extend([
        Case::new("races/reads-during-replace", reads).only_where(
            atomic,
            "its replace is not atomic, so readers may see nothing in between",
        ),
        Case::new("races/narrowing-is-in-force", narrowing).needs(updates),
        Case::new("races/dropped-replace-never-lands-later", dropped),
        Case::new("races/one-state-in-one-answer", one_state).only_where(
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
    ]);
    cases
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
    let records = [record("a", 0, r#"{"t":"u"}"#)?];
    let keys = records.each_ref().map(|record| record.key.clone());
    let here = fixture::holding(&context, &records).await?;
    let there = context.again(&here.spec().name).await?;
    let unit = field("t").eq("u").build()?.narrow()?;
    let patch = MetadataPatch::new().set(name("n")?, 1);
    let mut last = "an upsert";
    for handle in [&here, &here, &there, &here] {
        in_turn(&mut last, "an upsert", handle.upsert(&records)).await?;
        in_turn(&mut last, "a replace", handle.replace(&unit, &records)).await?;
        if updates(handle.capabilities()) {
            let update = handle.update_metadata(&unit, &patch);
            in_turn(&mut last, "an update", update).await?;
        }
        let delete = handle.delete_matching(&unit);
        in_turn(&mut last, "a delete by filter", delete).await?;
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

const ROUNDS: usize = 12;

/// The same library through another handle on the store.
async fn second(context: &Context, index: &LibraryIndex) -> Checked<LibraryIndex> {
    let (store, embedder) = (context.another_store().await?, Arc::new(embedder()));
    Ok(LibraryIndex::open(&store, &index.spec().name, embedder).await?)
}

/// What is there: for each passage its text and whether everybody may read it.
pub(super) async fn state(
    index: &LibraryIndex,
    collection: &Collection,
) -> Checked<Vec<(String, bool)>> {
    let filter = field("tenantId").eq("org1").build()?;
    let held = |record: StoredRecord| {
        let groups = record.metadata.get("aclGroups");
        let wide = groups.is_some_and(|groups| groups.elements().len() == 2);
        (record.text.as_deref().unwrap_or_default().to_owned(), wide)
    };
    let there = scan(collection, &filter, 100).await?.into_iter().map(held);
    let there: Vec<_> = there.collect();
    let found = visible(index, ["few"]).await?;
    holds(found.len() == there.len(), || {
        "a search finds another number than a scan".into()
    })?;
    Ok(there)
}

async fn pair(context: Context, one: Write, other: Write) -> Checked {
    for _ in 0..ROUNDS {
        let index = library::new(&context).await?;
        let again = second(&context, &index).await?;
        let collection = context.again(&index.spec().name).await?;
        file(&index, "org1", letter_source('a')?).await?;
        let (here, there) = (index.clone(), again.clone());
        let both = tokio::join!(
            spawned(async move { write_source(&here, one).await }),
            spawned(async move { write_source(&there, other).await }),
        );
        both.0?;
        both.1?;
        if collection.capabilities().scan {
            judge(&state(&index, &collection).await?, one, other)?;
        }
    }
    Ok(())
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
    let (all, wide) = (there.len(), there.iter().filter(|(_, wide)| *wide).count());
    let message = format!("a mix of two writers: {all} passages, {wide} of them for everybody");
    Err(Finding::widens(message))
}

async fn reads(context: Context) -> Checked {
    let index = library::new(&context).await?;
    file_texts(&index, "s1", ["few"], &["a"; 8]).await?;
    let written = index.clone();
    let writer = tokio::spawn(async move {
        for letter in ["b", "a"].into_iter().cycle().take(30) {
            file_texts(&written, "s1", ["few"], &[letter; 8]).await?;
        }
        Checked::Ok(())
    });
    while !writer.is_finished() {
        let found = visible(&index, ["few"]).await?.len();
        if found != 8 {
            let message = format!("a reader sees {found} of 8 passages during a replace");
            return Err(Finding::narrows(message));
        }
        tokio::task::yield_now().await;
    }
    writer.await?
}

async fn narrowing(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let other = second(&context, &index).await?;
    for round in 0..ROUNDS {
        file_texts(&index, "s1", ["all", "few"], &["a", "b"]).await?;
        write_source(&index, Write::Narrow).await?;
        let seen = visible(&other, ["all"]).await?;
        if !seen.is_empty() {
            let message = format!("round {round}: {seen:?} are read after a narrowing returned");
            return Err(Finding::widens(message));
        }
    }
    Ok(())
}

async fn parallel(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(context.again(&collection.spec().name).await?);
    }
    let writers = handles.into_iter().enumerate().map(|(writer, collection)| {
        spawned(async move {
            for n in 0..25_u8 {
                let record = record(&format!("w{writer}-{n}"), n, "{}")?;
                collection.upsert(&[record]).await?;
            }
            Ok(())
        })
    });
    try_join_all(writers).await?;
    rows("four writers of 25", &collection, 100).await
}

async fn same_key(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let writers = (0..4_u8).map(|writer| {
        let collection = collection.clone();
        spawned(async move {
            let record = record("one", writer, &format!(r#"{{"w":{writer}}}"#))?;
            let record = record.with_text(format!("w{writer}"));
            Ok(collection.upsert(&[record]).await?)
        })
    });
    try_join_all(writers).await?;
    rows("one key", &collection, 1).await?;
    let held = stored(&collection, "one").await?;
    let writer = held.metadata.get("w").and_then(Value::as_integer);
    let whole = writer.map(|w| format!("w{w}")).as_deref() == held.text.as_deref();
    holds(whole, || "the record is a mix of two writers".into())
}

async fn side_by_side(context: Context) -> Checked {
    let index = library::new(&context).await?;
    let writers = (0..8).map(|n| {
        let index = index.clone();
        spawned(async move {
            for _ in 0..5 {
                file_texts(&index, &format!("s{n}"), ["few"], &["a", "b", "c"]).await?;
            }
            Ok(())
        })
    });
    try_join_all(writers).await?;
    let found = visible(&index, ["few"]).await?.len();
    holds(found == 24, || {
        format!("8 sources of 3 passages, {found} are found")
    })
}
