//! Writes and saves that fail leave the collection as it was.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::HashSet;
use std::fs;

use common::*;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{ErrorKind, Filter, Metric, Record};
use shelfward_hnsw::{HnswOptions, HnswStore};

fn nearest(records: &[Record], query: &[f32], k: usize) -> HashSet<String> {
    let mut scored: Vec<(f64, String)> = records
        .iter()
        .map(|record| {
            let score = score(Metric::Euclidean, &record.vector, query);
            (score, record.key.id.to_string())
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(k).map(|(_, id)| id).collect()
}

/// A save that fails behind its graph must not leave it under the number of the next save, which may
/// have no graph and be of other rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_graph_of_a_save_that_failed_is_not_taken_for_other_rows() {
    const RECORDS: i64 = 1_500;
    const WIDTH: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    let options = graph_always().with_save_from(1);
    let wanted = spec(24, Metric::Euclidean);
    let store = HnswStore::open(folder.path(), options).unwrap();
    let held = collection(&store, &wanted).await;
    // The log of the second generation cannot be made.
    let in_the_way = folder.path().join("c.2.log");
    fs::create_dir(&in_the_way).unwrap();
    let mut random = rng(1);
    let mut some = || -> Vec<Record> {
        (0..RECORDS)
            .map(|n| record(&format!("{n:05}"), &random.vector(WIDTH), "u", n))
            .collect()
    };
    let first = some();
    // Each time the log is twice as long, a save is tried; the later ones would be with a graph.
    for _ in 0..5 {
        held.upsert(&first).await.unwrap();
        store.settle().await.unwrap();
    }
    assert!(folder.path().join("c.1.log").exists());
    assert!(!folder.path().join("c.2.graph").exists());
    fs::remove_dir(&in_the_way).unwrap();
    held.delete_all().await.unwrap();
    store.settle().await.unwrap();
    let last = some();
    held.upsert(&last).await.unwrap();
    // At once, before there is a new graph.
    close(&store).await;
    drop((held, store));

    let store = HnswStore::open(folder.path(), options).unwrap();
    let held = collection(&store, &wanted).await;
    store.settle().await.unwrap();
    let mut found = 0;
    let mut random = rng(99);
    for _ in 0..20 {
        let query = random.vector(WIDTH);
        let truth = nearest(&last, &query, 10);
        let ids = ids(&held, &query, Filter::everything(), 10).await;
        found += ids.iter().filter(|id| truth.contains(*id)).count();
    }
    assert!(found > 180, "{found} of 200");
}

/// Called bare, as `Collection` would refuse it before.
#[tokio::test]
async fn a_vector_of_another_width_does_not_end_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    store.create(&spec(2, Metric::Dot)).await.unwrap();
    let bare = StoreAdapter::open(&store, &name()).await.unwrap().unwrap();
    let one = [record("a", &[1.0, 2.0], "u", 1)];
    bare.upsert(&one).await.unwrap();
    let wide = [record("b", &[1.0, 2.0, 3.0], "u", 1)];
    let refused = bare.upsert(&wide).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Vector(_)), "{refused}");
    bare.upsert(&one).await.unwrap();
    let copy = copied(folder.path());
    let after_a_kill = HnswStore::open(copy.path(), HnswOptions::default()).unwrap();
    let opened = collection(&after_a_kill, &spec(2, Metric::Dot)).await;
    assert_eq!(all(&opened).await.len(), 1);
}
