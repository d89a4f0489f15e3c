//! Files that are not ours, or missing, or full, or locked by somebody else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use shelfward_core::{ErrorKind, Persistence, StoreError};
use shelfward_sqlite::{SqliteOptions, SqliteStore, connect};
use support::{
    collection, dense, everything, name, of_source, of_tenant, open, open_with, rows, source,
    versions,
};

/// The names and bytes of all that is in a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), bytes)
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

/// The refusal of a file, which is left as it is, and whose message tells no path.
fn refused(path: &Path, options: SqliteOptions) -> StoreError {
    let before = contents(path.parent().unwrap());
    let error = SqliteStore::open(path, options).unwrap_err();
    assert_eq!(contents(path.parent().unwrap()), before);
    let mut shown = format!("{error} {error:?}");
    let mut source = std::error::Error::source(&error);
    while let Some(deeper) = source {
        shown = format!("{shown} {deeper} {deeper:?}");
        source = deeper.source();
    }
    let folder = path.parent().unwrap().to_str().unwrap();
    assert!(
        !shown.contains(folder) && !shown.contains("kept.db"),
        "{shown}"
    );
    error
}

fn is_corrupt(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt(_))
}

#[test]
fn a_file_of_another_program_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let text = "not a database at all, but long enough to have a header".repeat(4);
    for bytes in [&b"short"[..], text.as_bytes(), &[0; 4096]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(is_corrupt(&refused(&path, SqliteOptions::default())));
    }
    // Databases of others: one without an application id, one with its own, one with a log.
    for pragma in [
        "",
        "PRAGMA application_id = 7;",
        "PRAGMA journal_mode = WAL;",
    ] {
        std::fs::remove_file(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch(pragma).unwrap();
        other.execute_batch("CREATE TABLE mine (x)").unwrap();
        drop(other);
        let error = refused(&path, SqliteOptions::default());
        assert!(is_corrupt(&error), "{error}");
    }
    assert!(SqliteStore::open(folder.path(), SqliteOptions::default()).is_err());
}

#[tokio::test]
async fn a_file_of_ours_with_other_tables_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    for change in [
        "CREATE TABLE mine (x)",
        "DROP TABLE gone_1",
        "DROP INDEX rows_1_changed",
        "CREATE TRIGGER t AFTER INSERT ON rows_1 BEGIN DELETE FROM rows_1; END",
    ] {
        let _ = std::fs::remove_file(&path);
        let store = open(&path);
        collection(&store).await;
        store.close().await.unwrap();
        Connection::open(&path)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        assert!(
            is_corrupt(&refused(&path, SqliteOptions::default())),
            "{change}"
        );
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let store = open(&path);
    collection(&store).await;
    store.close().await.unwrap();
    let newer = Connection::open(&path).unwrap();
    newer
        .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 2")
        .unwrap();
    drop(newer);
    let error = refused(&path, SqliteOptions::default());
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("newer"), "{error}");
}

#[tokio::test]
async fn a_missing_file_is_made_only_where_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let never = SqliteOptions::default().with_create(false);
    assert!(refused(&path, never.clone()).is_refusal());
    let reader = SqliteOptions::default().with_read_only(true);
    assert!(refused(&path, reader).is_refusal());
    // An empty file is one that is still to be made.
    std::fs::write(&path, b"").unwrap();
    assert!(refused(&path, never.clone()).is_refusal());
    let store = open(&path);
    collection(&store).await;
    store.close().await.unwrap();
    open_with(&path, never).open(&name()).await.unwrap();
    let nowhere = folder.path().join("no/such/kept.db");
    let error = SqliteStore::open(nowhere, SqliteOptions::default()).unwrap_err();
    let told = error.to_string();
    assert!(
        error.is_refusal() && told.contains("the folder") && told.contains("does not exist"),
        "{told}"
    );
    assert!(!format!("{error:?}").contains("kept.db"));
    let below_a_file = SqliteStore::open(path.join("kept.db"), SqliteOptions::default());
    let told = below_a_file.unwrap_err().to_string();
    assert!(told.contains("a folder is due"), "{told}");
}

#[tokio::test]
async fn a_store_that_is_read_only_serves_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let writer = open(&path);
    let written = collection(&writer).await;
    written.upsert(&source("t", "s", 5, 1)).await.unwrap();
    let reader = open_with(&path, SqliteOptions::default().with_read_only(true));
    let read = reader.open(&name()).await.unwrap();
    assert_eq!(versions(&read, "t", "s").await, [1; 5]);
    let error = read.upsert(&source("t", "s", 1, 2)).await.unwrap_err();
    assert!(
        error.is_refusal() && error.to_string().contains("opened read_only"),
        "{error}"
    );
    let error = read.delete_all().await.unwrap_err();
    assert!(
        error.is_refusal() && error.to_string().contains("opened read_only"),
        "{error}"
    );
    let error = reader.drop_collection(&name()).await.unwrap_err();
    assert!(
        error.is_refusal() && error.to_string().contains("opened read_only"),
        "{error}"
    );
    // It sees what others write.
    written.upsert(&source("t", "s", 5, 2)).await.unwrap();
    assert_eq!(versions(&read, "t", "s").await, [2; 5]);
}

#[tokio::test]
async fn a_full_store_keeps_what_it_has() {
    for kilobytes in [64_u64, 100, 200, 400] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.db");
        let options = SqliteOptions::default().with_max_bytes(Some(kilobytes * 1024));
        let store = open_with(&path, options);
        let full = collection(&store).await;
        let mut kept = 0;
        let error = loop {
            let records = source("t", &format!("s{kept}"), 20, 1);
            match full.upsert(&records).await {
                Ok(()) => kept += 1,
                Err(error) => break error,
            }
            assert!(kept < 1_000, "it is never full");
        };
        assert!(matches!(error.kind(), ErrorKind::Full), "{error}");
        assert!(error.to_string().contains("nothing was written"), "{error}");
        assert_eq!(rows(&full).await, 20 * kept);
        // Reads go on, and so do writes that make room.
        let found = full.search(&dense(of_tenant("t"), 5_000)).await.unwrap();
        assert_eq!(found.hits.len() as u64, 20 * kept);
        let big = source("t", "s0", 2_000, 2);
        let error = full.replace(&of_source("t", "s0"), &big).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Full), "{error}");
        if kept > 0 {
            assert_eq!(versions(&full, "t", "s0").await, [1; 20]);
            full.delete_matching(&of_source("t", "s0")).await.unwrap();
            assert_eq!(rows(&full).await, 20 * (kept - 1));
        }
        store.close().await.unwrap();
        let again = open(&path).open(&name()).await.unwrap();
        let there = everything(&again).await.unwrap();
        assert_eq!(there.len() as u64, 20 * kept.saturating_sub(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_elsewhere_keeps_no_reader_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let patience = Duration::from_secs(2);
    let store = open_with(&path, SqliteOptions::default().with_busy_timeout(patience));
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 1)).await.unwrap();
    let elsewhere = Connection::open(&path).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();

    let writer = held.clone();
    let begun = Instant::now();
    let writing = tokio::spawn(async move { writer.upsert(&source("t", "s", 5, 2)).await });
    let mut reads = 0;
    let mut slowest = Duration::ZERO;
    while !writing.is_finished() {
        let read = Instant::now();
        assert_eq!(versions(&held, "t", "s").await, [1; 5]);
        assert_eq!(rows(&held).await, 5);
        slowest = slowest.max(read.elapsed());
        reads += 1;
    }
    let error = writing.await.unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Timeout(_)), "{error}");
    // It never got its turn, so it may be repeated.
    assert_eq!(error.persistence(), Persistence::Temporary);
    assert!(begun.elapsed() >= patience, "{:?}", begun.elapsed());
    assert!(
        reads > 5 && slowest < patience,
        "{reads} reads, one took {slowest:?}"
    );

    // As long as others hold the file, readers are served.
    let until = Instant::now() + Duration::from_secs(6).saturating_sub(begun.elapsed());
    while Instant::now() < until {
        assert_eq!(versions(&held, "t", "s").await, [1; 5]);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    elsewhere.execute_batch("ROLLBACK").unwrap();
    held.upsert(&source("t", "s", 5, 3)).await.unwrap();
    assert_eq!(versions(&held, "t", "s").await, [3; 5]);
}

#[tokio::test]
async fn a_url_says_every_option_and_its_refusals_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let path = path.to_str().unwrap();
    let all = "create=true&read_only=false&synchronous=normal&busy_timeout_ms=100\
               &verify_on_open=false&max_bytes=1000000&readers=2";
    let store = connect(&format!("{path}?{all}")).unwrap();
    assert!(format!("{store:?}").contains("Normal"));
    drop(store);
    connect(path).unwrap();
    connect(":memory:").unwrap();
    for (wrong, right) in [
        ("sync=full", "no option sync; there are create"),
        ("synchronous=fast", "full or normal"),
        ("create=maybe", "true or false"),
        ("readers=-1", "a whole number"),
        ("readers=1&readers=2", "once"),
        ("readers=0", "between 1 and 1024"),
        ("readers=2000", "between 1 and 1024"),
        ("max_bytes=0", "8192 or more"),
        ("max_bytes=8191", "8192 or more"),
        (
            "busy_timeout_ms=18446744073709551615",
            "2000000 seconds or less",
        ),
        ("", "there are create"),
        ("readers=2&", "there are create"),
        ("readers", "a whole number"),
    ] {
        let error = connect(&format!("{path}?{wrong}")).unwrap_err();
        assert!(
            error.is_refusal() && error.to_string().contains(right),
            "{error}"
        );
        assert!(!error.to_string().contains("kept"), "{error}");
    }
    for (wrong, right) in [
        ("", "a path or :memory:"),
        (":memory", ":memory: alone"),
        ("//kept.db", "right behind sqlite:"),
        (":memory:?read_only=true", "max_bytes"),
        (":memory:?readers=2", "max_bytes"),
        (":memory:?max_bytes=1", "8192 or more"),
    ] {
        let error = connect(wrong).unwrap_err();
        let told = error.to_string();
        assert!(error.is_refusal() && told.contains(right), "{told}");
    }
    let wrong = SqliteOptions::default();
    for wrong in [
        wrong.clone().with_read_only(true),
        wrong.clone().with_create(false),
        wrong.with_readers(0),
    ] {
        assert!(SqliteStore::in_memory_with(wrong).unwrap_err().is_refusal());
    }
}

/// What is asked of `max_bytes` is what an empty store has, and one that may have no more is one.
#[tokio::test]
async fn an_empty_store_fits_into_the_least_that_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let least = SqliteOptions::default().with_max_bytes(Some(8_192));
    let store = open_with(&path, least.clone());
    assert!(store.list().await.unwrap().is_empty());
    let error = store.ensure(&support::spec()).await.map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Full), "{error}");
    store.close().await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 8_192);
    open_with(&path, least);
}

#[test]
fn many_make_one_file_at_once() {
    for round in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        // A name that a URI would read as more than a name.
        let path = folder.path().join(format!("a b?c#d%20&{round}.db"));
        let opened: Vec<_> = std::thread::scope(|scope| {
            let open = || SqliteStore::open(&path, SqliteOptions::default());
            let opening: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            opening.into_iter().map(|o| o.join().unwrap()).collect()
        });
        for store in opened {
            store.unwrap();
        }
        assert!(SqliteStore::open(&path, SqliteOptions::default()).is_ok());
    }
}

/// To look at a file must not take away the locks that this process has on it: then another process
/// would take itself for the last one there, and fold the log up under our hands.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn opening_a_file_again_keeps_what_the_first_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.db");
    let store = open(&path);
    let first = collection(&store).await;
    first.upsert(&source("t", "s", 5, 1)).await.unwrap();
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        let us = std::process::id().to_string();
        let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
        let inode = format!(":{inode} ");
        let ours = all
            .lines()
            .filter(|l| l.contains(&inode) && l.contains(&us));
        ours.count()
    };
    assert!(locks() > 0, "a log is in use, so the file is held");
    let again = open(&path);
    again.close().await.unwrap();
    assert!(locks() > 0, "the file is held no more");
}
