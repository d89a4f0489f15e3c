//! Handles: several on one folder, stale ones, closed ones, other processes, and calls given up.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::*;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, ErrorKind, Filter, Leg, Metadata, Metric, Operation, Record, Store,
};
use shelfward_hnsw::{HnswOptions, HnswStore, connect};

fn ten(dice: &mut Dice) -> Vec<Record> {
    (0..10)
        .map(|n| record(&n.to_string(), &dice.vector(2), "u", n))
        .collect()
}

#[tokio::test]
async fn handles_of_one_folder_share_it_and_the_last_one_lets_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/when needed");
    let a = Store::new(HnswStore::open(&path, HnswOptions::default()).unwrap());
    let b = HnswStore::open(path.join("../when needed"), HnswOptions::default()).unwrap();
    let b = Store::new(b);
    let other = HnswOptions::default().with_m(8);
    assert!(HnswStore::open(&path, other).unwrap_err().is_refusal());
    let in_a = a.ensure(&spec(2, Metric::Dot)).await.unwrap();
    let in_b = b.open(&name()).await.unwrap();
    in_a.upsert(&ten(&mut Dice(1))).await.unwrap();
    assert_eq!(
        in_b.count(&Filter::everything()).await.unwrap().exact(),
        Some(10)
    );
    a.close().await.unwrap();
    assert!(in_a.upsert(&ten(&mut Dice(1))).await.is_err());
    assert!(in_a.count(&Filter::everything()).await.is_err());
    assert!(a.list().await.is_err() && a.health().await.is_err());
    in_b.upsert(&ten(&mut Dice(2))).await.unwrap();
    drop((a, b));
    // The collection keeps the store open.
    assert!(HnswStore::open(&path, other).is_err());
    in_b.upsert(&ten(&mut Dice(3))).await.unwrap();
    let before = all(&in_b).await;
    drop(in_b);
    let again = HnswStore::open(&path, other).unwrap();
    let collection = Store::new(again.clone()).open(&name()).await.unwrap();
    assert_eq!(all(&collection).await, before);
    drop(collection);
    close(&again).await;
    close(&again).await;
    let reopened = again.clone();
    assert!(
        reopened.list().await.is_err(),
        "a handle made of a closed store is closed"
    );
}

#[tokio::test]
async fn a_handle_of_a_dropped_collection_reads_and_writes_nothing_of_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    for store in [
        HnswStore::in_memory(),
        HnswStore::open(folder.path(), HnswOptions::default()).unwrap(),
    ] {
        let old = collection(&store, &spec(2, Metric::Dot)).await;
        old.upsert(&ten(&mut Dice(1))).await.unwrap();
        assert!(store.drop_collection(&name()).await.unwrap());
        assert!(!store.drop_collection(&name()).await.unwrap());
        assert!(store.list().await.unwrap().is_empty());
        let new = collection(&store, &spec(2, Metric::Dot)).await;
        let stale = |kind: &ErrorKind| matches!(kind, ErrorKind::StaleHandle);
        let written = old.upsert(&ten(&mut Dice(1))).await.unwrap_err();
        assert!(stale(written.kind()), "{written}");
        let read = old.count(&Filter::everything()).await.unwrap_err();
        assert!(stale(read.kind()), "{read}");
        assert_eq!(
            new.count(&Filter::everything()).await.unwrap().exact(),
            Some(0)
        );
    }
}

#[tokio::test]
async fn addresses_are_opened_and_refusals_do_not_show_them() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::write(secret.join("thesis.txt"), "all of it").unwrap();
    let file = folder.path().join("secret.txt");
    std::fs::write(&file, "x").unwrap();
    assert_eq!(connect(":memory:").unwrap().kind(), "hnsw");
    for refused in [
        "",
        ":secret:",
        "//secret",
        secret.to_str().unwrap(),
        file.to_str().unwrap(),
    ] {
        let error = connect(refused).unwrap_err();
        assert_eq!(error.operation(), Operation::Connect);
        let mut shown = format!("{error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(under) = source {
            shown += &format!("{under} {under:?}");
            source = under.source();
        }
        assert!(!shown.contains("secret"), "{shown}");
    }
    let store = connect(folder.path().join("new").to_str().unwrap()).unwrap();
    assert!(
        format!("{store:?}").contains("durable: true") && !format!("{store:?}").contains("new")
    );
    let durable = store.capabilities(&spec(2, Metric::Dot)).durable;
    assert!(
        durable
            && !HnswStore::in_memory()
                .capabilities(&spec(2, Metric::Dot))
                .durable
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for options in [
        HnswOptions::default().with_m(3),
        HnswOptions::default().with_m(200),
        HnswOptions::default().with_ef_construction(8),
        HnswOptions::default().with_ef_search(1),
        HnswOptions::default().with_ef_search(usize::MAX),
        HnswOptions::default().with_ef_construction(usize::MAX),
        HnswOptions::default().with_graph_from(0),
        HnswOptions::default().with_rebuild_share(0.0),
        HnswOptions::default().with_rebuild_share(f64::NAN),
        HnswOptions::default()
            .with_costs(shelfward_hnsw::PlannerCosts::default().with_scan(f64::NAN)),
    ] {
        let error = HnswStore::in_memory_with(options).unwrap_err();
        let told = error.to_string();
        assert!(error.is_refusal() && told.contains("must"), "{told}");
    }
}

const FOLDER: &str = "SHELFWARD_HNSW_TEST_FOLDER";

/// Runs in another process, which the next test starts; does nothing by itself.
#[test]
fn other_process() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let refused = HnswStore::open(folder, HnswOptions::default()).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::InUse), "{refused}");
        println!("refused");
    }
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["other_process", "--exact", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("refused"), "{said}");
    close(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_given_up_happened_or_never_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), graph_always()).unwrap();
    // The bare handle: nothing in front of the adapter orders these.
    let bare = {
        store.create(&spec(2, Metric::Dot)).await.unwrap();
        StoreAdapter::open(&store, &name()).await.unwrap().unwrap()
    };
    let mut dice = Dice(9);
    for round in 0..200_i64 {
        let wide: Vec<Record> = (0..40)
            .map(|n| record(&n.to_string(), &dice.vector(2), "wide", round))
            .collect();
        let selector = field("unit")
            .is_in(["wide", "narrow"])
            .build()
            .unwrap()
            .narrow()
            .unwrap();
        let given_up = {
            let bare = bare.clone();
            let selector = selector.clone();
            tokio::spawn(async move { bare.replace(&selector, &wide, None).await })
        };
        for _ in 0..dice.below(4) {
            tokio::task::yield_now().await;
        }
        given_up.abort();
        let _either = given_up.await;
        let narrow = [record("0", &dice.vector(2), "narrow", round)];
        bare.replace(&selector, &narrow, None).await.unwrap();
        for _ in 0..3 {
            let wide = field("unit").eq("wide").build().unwrap();
            let left = bare.count(&wide).await.unwrap().exact();
            assert_eq!(left, Some(0), "round {round}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_write_that_is_given_up_does_not_land_later() {
    give_up_at_many_moments().await;
}

#[tokio::test]
async fn a_large_write_that_is_given_up_on_one_thread_does_not_land_later() {
    give_up_at_many_moments().await;
}

/// Drops one write at moments from its beginning to beyond its end, and looks when the drop returned.
async fn give_up_at_many_moments() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    store.create(&spec(32, Metric::Dot)).await.unwrap();
    let bare = StoreAdapter::open(&store, &name()).await.unwrap().unwrap();
    let mut dice = Dice(3);
    let records: Vec<Record> = (0..2_000)
        .map(|n| record(&format!("{n:04}"), &dice.vector(32), "u", n))
        .collect();
    let began = Instant::now();
    bare.upsert(&records).await.unwrap();
    let whole = began.elapsed();
    let everything = Filter::everything();
    let count = async || bare.count(&everything).await.unwrap().exact().unwrap();
    let mut given_up = 0;
    for moment in 0..40 {
        bare.delete_all().await.unwrap();
        let written = tokio::time::timeout(whole * moment / 32, bare.upsert(&records)).await;
        let at_once = count().await;
        // Its turn comes when the other one is over.
        bare.delete(&[key("absent")]).await.unwrap();
        assert_eq!(count().await, at_once, "given up at {moment}/32");
        match written {
            Ok(written) => {
                written.unwrap();
                assert_eq!(at_once, 2_000);
            }
            Err(_) => {
                assert!(at_once == 0 || at_once == 2_000, "{at_once}");
                given_up += 1;
            }
        }
    }
    assert!(given_up > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_and_writers_go_on_during_a_rebuild() {
    let options = graph_always()
        .with_graph_from(3_000)
        .with_ef_construction(200);
    let store = HnswStore::in_memory_with(options).unwrap();
    let collection = collection(&store, &spec(64, Metric::Cosine)).await;
    let mut dice = Dice(4);
    let mut vectors: Vec<Vec<f32>> = (0..3_000).map(|_| dice.vector(64)).collect();
    let records: Vec<Record> = vectors
        .iter()
        .enumerate()
        .map(|(n, v)| record(&format!("{n:04}"), v, "u", 0))
        .collect();
    collection.upsert(&records).await.unwrap();
    // The graph is being built from here on.
    let mut answered = 0;
    let mut slowest = Duration::ZERO;
    while store.graph(&name()).await.unwrap().unwrap().nodes == 0 {
        let at = dice.below(3_000);
        vectors[at] = dice.vector(64);
        let began = Instant::now();
        collection
            .upsert(&[record(&format!("{at:04}"), &vectors[at], "u", 0)])
            .await
            .unwrap();
        let found = ids(&collection, &vectors[at], Filter::everything(), 5).await;
        slowest = slowest.max(began.elapsed());
        assert!(found.len() == 5 && found[0] == format!("{at:04}"));
        answered += 1;
    }
    println!("{answered} answers, the slowest after {slowest:?}");
    assert!(answered > 20);
    store.settle().await.unwrap();
    let report = store.graph(&name()).await.unwrap().unwrap();
    assert_eq!((report.nodes - report.dead, report.unindexed), (3_000, 0));
    for (n, vector) in vectors.iter().enumerate().step_by(10) {
        let found = ids(&collection, vector, Filter::everything(), 1).await;
        assert_eq!(found, [format!("{n:04}")]);
    }
    // A collection that is dropped ends what is done to it.
    collection.delete_all().await.unwrap();
    collection.upsert(&records).await.unwrap();
    assert!(store.drop_collection(&name()).await.unwrap());
    store.settle().await.unwrap();
}

#[tokio::test]
async fn a_field_that_was_added_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let more = shelfward_core::Field::new(
        shelfward_core::MetadataKey::new("year").unwrap(),
        shelfward_core::FieldKind::Integer,
    );
    let wide = spec(2, Metric::Dot).with_fields([more]);
    for clean in [false, true] {
        let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
        let early: Collection = collection(&store, &spec(2, Metric::Dot)).await;
        let late = collection(&store, &wide).await;
        assert_eq!(late.spec().fields.len(), 3);
        let text = Metadata::new().with("year", "2001").unwrap();
        let refused = early
            .upsert(&[Record::new(key("x"), [1.0, 0.0]).with_metadata(text)])
            .await;
        assert!(refused.unwrap_err().is_refusal());
        let other = store.create(&spec(3, Metric::Dot)).await.unwrap_err();
        assert!(matches!(other.kind(), ErrorKind::Spec(_)), "{other}");
        if clean {
            close(&store).await;
        }
        drop((store, early, late));
        let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
        let opened = Store::new(store.clone()).open(&name()).await.unwrap();
        assert_eq!(opened.spec(), &wide);
    }
}

#[test]
fn it_works_without_a_runtime_of_its_own() {
    let mut future = Box::pin(async {
        let store = HnswStore::in_memory();
        store.create(&spec(2, Metric::Dot)).await.unwrap();
        let opened = StoreAdapter::open(&store, &name()).await.unwrap().unwrap();
        opened.upsert(&ten(&mut Dice(1))).await.unwrap();
        let leg = Leg::dense([1.0, 0.0], Filter::everything(), 3);
        opened.search(&[leg]).await.unwrap()[0].hits.len()
    });
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let done = future.as_mut().poll(&mut context);
    assert!(matches!(done, std::task::Poll::Ready(3)));
}
