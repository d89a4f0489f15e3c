//! A process that may open no more files is told so. The test runs itself with a low limit.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::error::Error as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use shelfward_core::{ErrorKind, Persistence, StoreError};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::{collection, open, rows, source};

const FOLDER: &str = "SHELFWARD_OPEN_FILES_FOLDER";

fn is_told(error: &StoreError) {
    assert!(matches!(error.kind(), ErrorKind::Unavailable), "{error}");
    assert_eq!(error.persistence(), Persistence::Temporary);
    let why = error.source().unwrap().to_string();
    assert!(
        why.contains("too many open files") && why.contains("raise"),
        "{why}"
    );
}

#[tokio::test]
async fn with_a_low_limit() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let store = open(&folder.join("a.db"));
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 1)).await.unwrap();
    let other = open(&folder.join("b.db"));
    other.close().await.unwrap();
    // The writer is open; a reader is opened by the first read that finds none idle.
    let fresh = open(&folder.join("c.db"));

    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    for there in ["b.db", "new.db"] {
        let opened = SqliteStore::open(folder.join(there), SqliteOptions::default());
        is_told(&opened.unwrap_err());
    }
    is_told(&fresh.list().await.unwrap_err());
    // What is open serves on.
    held.upsert(&source("t", "more", 5, 1)).await.unwrap();
    assert_eq!(rows(&held).await, 10);

    drop(files);
    assert!(fresh.list().await.unwrap().is_empty());
    assert!(
        open(&folder.join("new.db"))
            .list()
            .await
            .unwrap()
            .is_empty()
    );
}

#[test]
fn too_many_open_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$@\"", "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", "with_a_low_limit"])
        .env(FOLDER, folder.path());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}
