//! A process that may open no more files is told so. The test runs itself with a low limit.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::error::Error as _;
use std::path::Path;
use std::process::Command;

use common::{close, collection, record, spec};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionName, ErrorKind, Metric, Persistence};
use shelfward_hnsw::{HnswOptions, HnswStore};

const FOLDER: &str = "SHELFWARD_OPEN_FILES_FOLDER";

#[tokio::test]
async fn with_a_low_limit() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let store = HnswStore::open(Path::new(&folder), HnswOptions::default()).unwrap();
    let mut wanted = spec(2, Metric::Dot);
    let held = collection(&store, &wanted).await;
    let mut open = Vec::new();
    let error = loop {
        wanted.name = CollectionName::new(format!("c{}", open.len())).unwrap();
        match store.create(&wanted).await {
            Ok(()) => open.push(store.open(&wanted.name).await.unwrap().unwrap()),
            Err(error) => break error,
        }
    };
    assert!(open.len() > 20, "{}", open.len());
    assert!(matches!(error.kind(), ErrorKind::Unavailable), "{error}");
    assert_eq!(error.persistence(), Persistence::Temporary);
    let why = error.source().unwrap().to_string();
    assert!(
        why.contains("too many open files") && why.contains("raise"),
        "{why}"
    );
    // What is open serves on, and nothing is left of what was not created.
    held.upsert(&[record("a", &[1.0, 2.0], "u", 1)])
        .await
        .unwrap();
    assert_eq!(store.list().await.unwrap().len(), open.len() + 1);
    close(&store).await;
}

#[test]
fn too_many_open_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$@\"", "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", "with_a_low_limit"])
        .env(FOLDER, folder.path().join("store"));
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}
