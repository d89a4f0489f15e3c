//! Collections that are dropped: not quite, or made anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;

use common::*;
use shelfward_core::{ErrorKind, Filter, Metric, VectorStore};
use shelfward_hnsw::{HnswOptions, HnswStore};

/// The files of a folder, as a kill leaves them.
fn copied(from: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    copy
}

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
