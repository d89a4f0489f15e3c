//! Writes of so many rows that each embedded store makes them beside its readers.

#![cfg(all(feature = "memory", feature = "sqlite", feature = "hnsw"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use shelfward::filter::key as field;
use shelfward::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, Filter, Key, Leg, Match,
    Metadata, MetadataKey, MetadataPatch, Metric, Record, Scalar, Selector, Text, Value, connect,
    query_words,
};

/// More than a store changes in place.
const MANY: usize = 2_500;
const ROUNDS: i64 = 6;

fn spec() -> CollectionSpec {
    let field = |name, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    CollectionSpec::new(CollectionName::new("bulk").unwrap(), 2, Metric::Dot, "none").with_fields([
        field("kind", FieldKind::Text),
        field("version", FieldKind::Integer),
    ])
}

fn record(kind: &str, n: usize, version: i64) -> Record {
    let key = Key::new(Text::new(format!("{kind}-{n}")).unwrap());
    let metadata = Metadata::new().with("kind", kind).unwrap();
    let metadata = metadata.with("version", version).unwrap();
    Record::new(key, [1.0, f32::from(u16::try_from(n % 97).unwrap())])
        .with_text(format!("{kind} all w{}", n % 50))
        .with_metadata(metadata)
}

fn records(kind: &str, version: i64) -> Vec<Record> {
    // Another number each time.
    let count = MANY - usize::try_from(version).unwrap();
    (0..count).map(|n| record(kind, n, version)).collect()
}

fn of_kind(kind: &str) -> Selector {
    field("kind").eq(kind).build().unwrap().narrow().unwrap()
}

/// What two searches of one moment find of a kind: the versions, and how many.
async fn seen(collection: &Collection, kind: &str) -> (BTreeSet<i64>, usize) {
    let filter = Arc::new(of_kind(kind).filter().clone());
    let words = query_words("all", spec().word_rule, false).unwrap();
    let near = Leg::dense([1.0, 0.5], filter.clone(), 10_000);
    let worded = Leg::lexical(words, Match::All, filter, 10_000);
    let (near, worded) = collection.search_both(&near, &worded).await.unwrap();
    assert_eq!(near.hits.len(), worded.hits.len());
    let versions = near.hits.iter().chain(&worded.hits);
    let version = |value: &Value| match value {
        Value::Scalar(Scalar::Integer(version)) => Some(*version),
        _ => None,
    };
    let versions = versions.map(|hit| hit.metadata.get("version").and_then(version).unwrap());
    (versions.collect(), near.hits.len())
}

/// Runs a test on each store.
async fn on_each<F: Future<Output = ()>>(test: impl Fn(Collection) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let at = |scheme: &str| format!("{scheme}:{}", folder.path().join(scheme).display());
    for url in ["memory:".to_owned(), at("hnsw"), at("sqlite")] {
        let store = connect(&url).await.unwrap();
        test(store.ensure(&spec()).await.unwrap()).await;
        store.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_one_state_and_no_write_is_lost() {
    let rounds = usize::try_from(ROUNDS).unwrap();
    on_each(|collection| async move {
        collection.upsert(&records("bulk", 0)).await.unwrap();
        let over = Arc::new(AtomicBool::new(false));
        // What was told to be written before a search began is what it finds, or newer.
        let written = Arc::new(AtomicU64::new(0));
        let reader = {
            let (collection, over, written) = (collection.clone(), over.clone(), written.clone());
            tokio::spawn(async move {
                let mut all = BTreeSet::new();
                while !over.load(Ordering::SeqCst) {
                    let least = written.load(Ordering::SeqCst);
                    let (versions, count) = seen(&collection, "bulk").await;
                    let version = *versions.first().unwrap();
                    assert_eq!(versions.len(), 1, "a mix of {versions:?}");
                    assert!(u64::try_from(version).unwrap() >= least);
                    // An update leaves the number that the replace before it left.
                    let of = usize::try_from(version - version % 2).unwrap();
                    assert_eq!(count, MANY - of);
                    all.insert(version);
                }
                all
            })
        };
        let bulk = {
            let collection = collection.clone();
            tokio::spawn(async move {
                for version in 1..=ROUNDS {
                    if version % 2 == 0 {
                        let with = records("bulk", version);
                        collection.replace(&of_kind("bulk"), &with).await.unwrap();
                    } else {
                        let patch =
                            MetadataPatch::new().set(MetadataKey::new("version").unwrap(), version);
                        let kind = of_kind("bulk");
                        collection.update_metadata(&kind, &patch).await.unwrap();
                    }
                    written.store(u64::try_from(version).unwrap(), Ordering::SeqCst);
                }
            })
        };
        let other = {
            let collection = collection.clone();
            tokio::spawn(async move {
                for _ in 0..2 {
                    collection.upsert(&records("other", 1)).await.unwrap();
                    let removed = collection.delete_matching(&of_kind("other")).await;
                    assert_eq!(removed.unwrap().exact(), Some(MANY as u64 - 1));
                }
                collection.upsert(&records("other", 2)).await.unwrap();
            })
        };
        for n in 0..40 {
            collection.upsert(&[record("small", n, 3)]).await.unwrap();
        }
        bulk.await.unwrap();
        other.await.unwrap();
        over.store(true, Ordering::SeqCst);
        assert!(!reader.await.unwrap().is_empty());
        for (kind, version, count) in [
            ("bulk", ROUNDS, MANY - rounds),
            ("other", 2, MANY - 2),
            ("small", 3, 40),
        ] {
            assert_eq!(seen(&collection, kind).await, ([version].into(), count));
        }
        let all = collection.count(&Filter::everything()).await.unwrap();
        let expected = 2 * MANY + 40 - 2 - rounds;
        assert_eq!(all.exact(), u64::try_from(expected).ok());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_is_given_up_happens_whole_or_not_at_all() {
    on_each(|collection| async move {
        collection.upsert(&records("bulk", 0)).await.unwrap();
        let mut version = 0;
        for rounds in 0..12 {
            let with = records("bulk", version + 2);
            {
                let kind = of_kind("bulk");
                let mut write = std::pin::pin!(collection.replace(&kind, &with));
                // Dropped after so many looks at it.
                for _ in 0..rounds {
                    tokio::select! {
                        biased;
                        _ = &mut write => break,
                        () = tokio::task::yield_now() => {}
                    }
                }
            }
            let (versions, count) = seen(&collection, "bulk").await;
            assert!(versions == [version].into() || versions == [version + 2].into());
            version = *versions.first().unwrap();
            assert_eq!(count, MANY - usize::try_from(version).unwrap());
            // Nothing of it lands behind a write that comes later, which is not held up by it either.
            collection
                .upsert(&[record("small", 0, version)])
                .await
                .unwrap();
            assert_eq!(seen(&collection, "bulk").await, ([version].into(), count));
        }
    })
    .await;
}
