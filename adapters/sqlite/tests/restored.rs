//! A backup that is brought back into the open file, and as many changes as were undone by it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use rusqlite::Connection;
use support::{collection, dense, ids, lexical, of_source, of_tenant, open, record, rows, source};

fn back_up(path: &Path, backup: &Path) {
    let _ = std::fs::remove_file(backup);
    Connection::open(path)
        .unwrap()
        .execute("VACUUM INTO ?", [backup.to_str().unwrap()])
        .unwrap();
}

/// Brings the backup back in one transaction, as the engine's own `.restore` does.
fn restore(path: &Path, backup: &Path) {
    let mut live = Connection::open(path).unwrap();
    live.execute("ATTACH ? AS old", [backup.to_str().unwrap()])
        .unwrap();
    let change = live.transaction().unwrap();
    let tables: Vec<String> = change
        .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(tables.len() > 3);
    for table in tables {
        let sql = format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM old.{table};"
        );
        change.execute_batch(&sql).unwrap();
    }
    change.commit().unwrap();
}

#[tokio::test]
async fn a_backup_brought_back_is_what_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("a.db"), folder.path().join("backup.db"));
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "a", 2, 0)).await.unwrap();
    back_up(&path, &backup);
    c.upsert(&source("t", "undone", 2, 0)).await.unwrap();
    let all = dense(of_tenant("t"), 10);
    assert_eq!(c.search(&all).await.unwrap().hits.len(), 4);
    restore(&path, &backup);
    assert_eq!(rows(&c).await, 2);
    c.upsert(&source("t", "new", 3, 0)).await.unwrap();
    let mut found = ids(&c.search(&all).await.unwrap());
    found.sort();
    assert_eq!(
        found,
        ["a#0000", "a#0001", "new#0000", "new#0001", "new#0002"]
    );
}

#[tokio::test]
async fn old_words_do_not_find_new_text() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("a.db"), folder.path().join("backup.db"));
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "a", 2, 0)).await.unwrap();
    back_up(&path, &backup);
    let by = |word: &str| lexical(word, of_tenant("t"), 10);
    // As many changes as were undone, and more of them.
    for after in 1..4 {
        c.upsert(&[record("t", "a", 0, 1)]).await.unwrap();
        assert_eq!(c.search(&by("v1")).await.unwrap().hits.len(), 1);
        restore(&path, &backup);
        for _ in 0..after {
            c.upsert(&[record("t", "a", 0, 2)]).await.unwrap();
        }
        assert!(c.search(&by("v1")).await.unwrap().hits.is_empty());
        assert_eq!(c.search(&by("v2")).await.unwrap().hits.len(), 1);
        restore(&path, &backup);
    }
}

/// What is gone in the history that was undone is there again, and the other way round.
#[tokio::test]
async fn what_is_gone_is_that_of_the_history_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("a.db"), folder.path().join("backup.db"));
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "a", 2, 0)).await.unwrap();
    c.upsert(&source("t", "b", 2, 0)).await.unwrap();
    let all = dense(of_tenant("t"), 10);
    assert_eq!(c.search(&all).await.unwrap().hits.len(), 4);
    back_up(&path, &backup);
    c.delete_matching(&of_source("t", "a")).await.unwrap();
    assert_eq!(c.search(&all).await.unwrap().hits.len(), 2);
    restore(&path, &backup);
    c.delete_matching(&of_source("t", "b")).await.unwrap();
    c.upsert(&[record("t", "a", 0, 1)]).await.unwrap();
    let mut found = ids(&c.search(&all).await.unwrap());
    found.sort();
    assert_eq!(found, ["a#0000", "a#0001"]);
}
