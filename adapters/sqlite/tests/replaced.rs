//! A file that is moved over the open one, or taken away: noticed by every call, and never written.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use shelfward_core::{ErrorKind, Filter, StoreError};
use support::{
    collection, dense, key_of, lexical, name, of_source, of_tenant, open, rows, source, versions,
};

fn is_replaced(error: &StoreError, path: &Path) -> bool {
    let told = format!("{error:?} {error}");
    assert!(!told.contains(path.to_str().unwrap()), "{told}");
    matches!(error.kind(), ErrorKind::Invalid(text) if text.contains("replaced"))
}

/// A closed store with so many passages of a version.
async fn backup(path: &Path, passages: usize, version: usize) {
    let store = open(path);
    let held = collection(&store).await;
    held.upsert(&source("t", "old", passages, version))
        .await
        .unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn every_call_on_a_file_that_was_replaced_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("a.db"), folder.path().join("old.db"));
    backup(&old, 3, 7).await;
    let store = open(&path);
    let held = collection(&store).await;
    held.upsert(&source("t", "new", 5, 1)).await.unwrap();
    let all = dense(of_tenant("t"), 10);
    assert_eq!(held.search(&all).await.unwrap().hits.len(), 5);
    std::fs::rename(&old, &path).unwrap();
    let brought_back = std::fs::read(&path).unwrap();

    let records = source("t", "new", 2, 2);
    let keys = [key_of("t", "new", 0)];
    let everything = Filter::everything();
    let include = shelfward_core::Include::ALL;
    let errors = [
        held.upsert(&records).await.unwrap_err(),
        held.replace(&of_source("t", "new"), &records)
            .await
            .map(drop)
            .unwrap_err(),
        held.delete(&keys).await.map(drop).unwrap_err(),
        held.search(&all).await.map(drop).unwrap_err(),
        held.search(&lexical("berth", of_tenant("t"), 5))
            .await
            .map(drop)
            .unwrap_err(),
        held.count(&everything).await.map(drop).unwrap_err(),
        held.fetch(&keys, &everything, include)
            .await
            .map(drop)
            .unwrap_err(),
        store.list().await.map(drop).unwrap_err(),
        store.health().await.unwrap_err(),
        store.drop_collection(&name()).await.map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(is_replaced(&error, &path), "{error}");
    }
    store.close().await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), brought_back);

    // As the error says.
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("a.db{end}")));
    }
    let store = open(&path);
    let held = store.open(&name()).await.unwrap();
    assert_eq!(versions(&held, "t", "old").await, [7; 3]);
    assert_eq!(rows(&held).await, 3);
}

#[tokio::test]
async fn a_file_that_was_taken_away_takes_no_writes_until_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("a.db"), folder.path().join("aside.db"));
    let store = open(&path);
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 1)).await.unwrap();
    std::fs::rename(&path, &aside).unwrap();
    let error = held.upsert(&source("t", "s", 5, 2)).await.unwrap_err();
    assert!(is_replaced(&error, &path), "{error}");
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(versions(&held, "t", "s").await, [1; 5]);
    held.upsert(&source("t", "s", 5, 3)).await.unwrap();
    assert_eq!(versions(&held, "t", "s").await, [3; 5]);
}
