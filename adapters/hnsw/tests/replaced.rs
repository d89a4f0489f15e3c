//! A folder, or a file in it, that is moved over the open one: noticed, and never written.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;

use common::*;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{ErrorKind, Filter, Leg, Metric, StoreError};
use shelfward_hnsw::{HnswOptions, HnswStore};

fn is_replaced(error: &StoreError, folder: &Path) -> bool {
    let told = format!("{error:?} {error}");
    assert!(!told.contains(folder.to_str().unwrap()), "{told}");
    matches!(error.kind(), ErrorKind::Invalid(text) if text.contains("replaced"))
}

async fn backup(folder: &Path, records: usize) {
    let store = HnswStore::open(folder, HnswOptions::default()).unwrap();
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    let records: Vec<_> = (0..records)
        .map(|n| record(&format!("old {n}"), &[1.0, 2.0], "u", 1))
        .collect();
    held.upsert(&records).await.unwrap();
    drop(held);
    close(&store).await;
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn every_call_on_a_folder_that_was_replaced_is_refused_and_closing_writes_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let [live, old, aside] = ["live", "old", "aside"].map(|name| parent.path().join(name));
    backup(&old, 3).await;
    let store = HnswStore::open(&live, HnswOptions::default()).unwrap();
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    let one = [record("a", &[1.0, 2.0], "u", 1)];
    held.upsert(&one).await.unwrap();
    fs::rename(&live, &aside).unwrap();
    fs::rename(&old, &live).unwrap();
    let brought_back = contents(&live);

    let everything = Filter::everything;
    let leg = Leg::dense([1.0, 2.0], everything(), 5);
    let errors = [
        held.upsert(&one).await.unwrap_err(),
        held.delete_all().await.map(drop).unwrap_err(),
        held.search(&leg).await.map(drop).unwrap_err(),
        held.count(&everything()).await.map(drop).unwrap_err(),
        store.list().await.map(drop).unwrap_err(),
        store.health().await.unwrap_err(),
        store.create(&spec(2, Metric::Dot)).await.unwrap_err(),
        store.drop_collection(&name()).await.map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(is_replaced(&error, &live), "{error}");
    }
    // What is still to be saved must not be written over what was brought back.
    drop(held);
    let error = StoreAdapter::close(&store).await.unwrap_err();
    assert!(is_replaced(&error, &live), "{error}");
    assert_eq!(contents(&live), brought_back);

    let store = HnswStore::open(&live, HnswOptions::default()).unwrap();
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    assert_eq!(all(&held).await.len(), 3);
    // What was moved aside is whole, too.
    let store = HnswStore::open(&aside, HnswOptions::default()).unwrap();
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    assert_eq!(all(&held).await.len(), 1);
}

#[tokio::test]
async fn a_log_that_was_replaced_takes_no_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    let held = collection(&store, &spec(2, Metric::Dot)).await;
    let one = [record("a", &[1.0, 2.0], "u", 1)];
    held.upsert(&one).await.unwrap();
    let (log, copy) = (folder.path().join("c.1.log"), folder.path().join("copy"));
    fs::copy(&log, &copy).unwrap();
    fs::rename(&copy, &log).unwrap();
    let before = contents(folder.path());
    let error = held.delete_all().await.map(drop).unwrap_err();
    assert!(is_replaced(&error, folder.path()), "{error}");
    assert_eq!(all(&held).await.len(), 1);
    drop(held);
    assert!(StoreAdapter::close(&store).await.is_err());
    assert_eq!(contents(folder.path()), before);
}
