//! Collections that are dropped: not quite, or made anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{ErrorKind, Filter, Leg, Metric};
use shelfward_hnsw::{HnswOptions, HnswStore};

fn open(folder: &Path) -> HnswStore {
    HnswStore::open(folder, HnswOptions::default()).unwrap()
}

#[tokio::test]
async fn a_collection_whose_drop_failed_half_way_is_gone_and_takes_no_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    let one = [record("a", &[1.0, 2.0], "u", 1)];
    held.upsert(&one).await.unwrap();
    // What has the name of a file of it and cannot be removed as one.
    let in_the_way = folder.path().join("c.7.log");
    fs::create_dir(&in_the_way).unwrap();
    store.drop_collection(&name()).await.unwrap_err();
    let written = held.upsert(&one).await.unwrap_err();
    assert!(
        matches!(written.kind(), ErrorKind::StaleHandle),
        "{written}"
    );
    assert!(held.count(&Filter::everything()).await.is_err());
    assert!(store.list().await.unwrap().is_empty());
    assert!(store.open(&name()).await.unwrap().is_none());
    {
        let copy = copied(folder.path());
        let after_a_kill = open(copy.path());
        assert!(after_a_kill.open(&name()).await.unwrap().is_none());
    }
    // The next drop finds no collection, and removes what is left of its files.
    store.drop_collection(&name()).await.unwrap_err();
    fs::remove_dir(&in_the_way).unwrap();
    assert!(!store.drop_collection(&name()).await.unwrap());
    let left = fs::read_dir(folder.path()).unwrap();
    let mut left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.any(|name| name.starts_with("c.")));

    let new = collection(&store, &spec(2, Metric::Dot)).await;
    new.upsert(&one).await.unwrap();
    let copy = copied(folder.path());
    let after_a_kill = open(copy.path());
    let new = collection(&after_a_kill, &spec(2, Metric::Dot)).await;
    assert_eq!(all(&new).await.len(), 1);
}

#[tokio::test]
async fn a_collection_whose_drop_failed_at_once_is_as_there_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    held.upsert(&[record("a", &[1.0, 2.0], "u", 1)])
        .await
        .unwrap();
    // A snapshot that cannot be removed.
    let (snapshot, aside) = (
        folder.path().join("c.snapshot"),
        folder.path().join("aside"),
    );
    fs::rename(&snapshot, &aside).unwrap();
    fs::create_dir(&snapshot).unwrap();
    store.drop_collection(&name()).await.unwrap_err();
    fs::remove_dir(&snapshot).unwrap();
    fs::rename(&aside, &snapshot).unwrap();
    held.upsert(&[record("b", &[1.0, 2.0], "u", 1)])
        .await
        .unwrap();
    assert_eq!(all(&held).await.len(), 2);
    let copy = copied(folder.path());
    let after_a_kill = open(copy.path());
    let opened = collection(&after_a_kill, &spec(2, Metric::Dot)).await;
    assert_eq!(all(&opened).await.len(), 2);
}

/// Files of two collections of one name, made one after the other with the same numbers.
async fn two_of_one_name(folder: &Path) -> [Vec<(PathBuf, Vec<u8>)>; 2] {
    let mut files = [Vec::new(), Vec::new()];
    for (which, files) in files.iter_mut().enumerate() {
        let store = HnswStore::open(folder, graph_always()).unwrap();
        let _either = store.drop_collection(&name()).await.unwrap();
        let held = collection(&store, &spec(3, Metric::Dot)).await;
        let mut dice = Dice(which as u64);
        let records: Vec<_> = (0..120)
            .map(|n| record(&format!("{which} {n:03}"), &dice.vector(3), "u", n))
            .collect();
        held.upsert(&records).await.unwrap();
        store.settle().await.unwrap();
        drop(held);
        close(&store).await;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            files.push((path.clone(), fs::read(path).unwrap()));
        }
        files.sort();
    }
    files
}

#[tokio::test]
async fn a_snapshot_of_a_dropped_collection_is_not_joined_with_the_log_of_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = two_of_one_name(folder.path()).await;
    for kind in ["c.snapshot", "c.2.log"] {
        for (path, bytes) in old.iter().filter(|(path, _)| path.ends_with(kind)) {
            fs::write(path, bytes).unwrap();
        }
        let store = HnswStore::open(folder.path(), graph_always()).unwrap();
        let refused = store.open(&name()).await.map(|_| ()).unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::Corrupt(_)),
            "{kind}: {refused}"
        );
        close(&store).await;
        for (path, bytes) in &new {
            fs::write(path, bytes).unwrap();
        }
    }
    // Each by itself is whole.
    for files in [&old, &new] {
        for (path, bytes) in files {
            fs::write(path, bytes).unwrap();
        }
        let store = HnswStore::open(folder.path(), graph_always()).unwrap();
        let held = collection(&store, &spec(3, Metric::Dot)).await;
        assert_eq!(all(&held).await.len(), 120);
        drop(held);
        close(&store).await;
    }
}

#[tokio::test]
async fn a_graph_of_a_dropped_collection_is_not_taken_for_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = two_of_one_name(folder.path()).await;
    let graphs = |files: &[(PathBuf, Vec<u8>)]| -> Vec<_> {
        let graph = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.contains("graph") || name.contains("hnsw.data")
        };
        files
            .iter()
            .filter(|(path, _)| graph(path))
            .cloned()
            .collect()
    };
    assert!(graphs(&old).len() == 3 && graphs(&new).len() == 3);
    for (path, bytes) in graphs(&old) {
        fs::write(path, bytes).unwrap();
    }
    let store = HnswStore::open(folder.path(), graph_always()).unwrap();
    let held = collection(&store, &spec(3, Metric::Dot)).await;
    store.settle().await.unwrap();
    let stored = all(&held).await;
    for query in stored.iter().filter_map(|one| one.vector.as_deref()) {
        let scores = stored.iter().filter_map(|one| one.vector.as_deref());
        let best = scores.map(|vector| score(Metric::Dot, vector, query));
        let best = best.fold(f64::MIN, f64::max);
        let leg = Leg::dense(query, Filter::everything(), 1);
        let found = held.search(&leg).await.unwrap();
        assert!((found.hits[0].score - best).abs() < 1e-5);
    }
    drop(held);
    close(&store).await;
    // One was built, and so there was something to save.
    for (path, bytes) in graphs(&old) {
        assert!(fs::read(path).map_or(true, |there| there != bytes));
    }
}
