//! The table of the members of lists has no checksum: what it says is looked at by the rows.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use rusqlite::Connection;
use shelfward_core::filter::key;
use shelfward_core::{
    Collection, ErrorKind, Filter, Include, Key, MetadataKey, MetadataPatch, Result, Scalar,
};
use support::{collection, dense, everything, open, source};

fn of_group(group: &str) -> Filter {
    let filter = key("tenant").eq("t").and(key("groups").is_in([group]));
    filter.build().unwrap()
}

fn is_corrupt<T>(answer: Result<T>) -> bool {
    answer.is_err_and(|error| matches!(error.kind(), ErrorKind::Corrupt(_)))
}

async fn fetched(c: &Collection, filter: &Filter) -> Result<usize> {
    let keys: Vec<Key> = (source("t", "s", 5, 0).into_iter())
        .map(|record| record.key)
        .collect();
    let fetched = c.fetch(&keys, filter, Include::ALL).await?;
    Ok(fetched.iter().flatten().count())
}

/// A row of the table of elements that somebody else added: a group that the record does not have.
#[tokio::test]
async fn an_element_that_the_record_does_not_hold_releases_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 5, 0)).await.unwrap();
    let whole = everything(&c).await.unwrap();
    let sql = "INSERT INTO elements_1 SELECT k, 'team:intruder', n FROM elements_1 WHERE v = 'all'";
    Connection::open(&path).unwrap().execute(sql, []).unwrap();
    let filter = of_group("team:intruder");
    assert!(is_corrupt(c.scan(&filter, None, 10, Include::ALL).await));
    assert!(is_corrupt(fetched(&c, &filter).await));
    let found = c.search(&dense(filter.clone(), 10)).await.unwrap();
    assert!(found.hits.is_empty());

    // Nor does it have a write change what its selector does not name.
    let selector = filter.narrow().unwrap();
    let patch = MetadataPatch::new().set(MetadataKey::new("version").unwrap(), Scalar::Integer(9));
    assert!(is_corrupt(c.update_metadata(&selector, &patch).await));
    assert!(is_corrupt(c.replace(&selector, &[]).await));
    assert!(is_corrupt(c.delete_matching(&selector).await));
    assert_eq!(everything(&c).await.unwrap(), whole);
}

/// One that was taken away: a record that is denied to a group by what it holds stays denied.
#[tokio::test]
async fn an_element_that_is_missing_releases_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 5, 0)).await.unwrap();
    let sql = "DELETE FROM elements_1 WHERE v = 'team:1'";
    Connection::open(&path).unwrap().execute(sql, []).unwrap();
    let filter = key("tenant").eq("t").and(key("groups").ne("team:1"));
    let filter = filter.build().unwrap();
    assert!(is_corrupt(c.scan(&filter, None, 10, Include::ALL).await));
    assert!(is_corrupt(fetched(&c, &filter).await));
}
