//! A write whose future is dropped happened by then, or never happens.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use shelfward_core::filter::key;
use shelfward_core::{MetadataKey, MetadataPatch, Scalar, Store};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::{collection, dense, of_source, of_tenant, open, rows, seed, source, spec, versions};

/// The rows and the highest version, read past the store.
fn held(connection: &Connection) -> (i64, Option<String>) {
    let sql = "SELECT count(*), max(meta) FROM rows_1";
    connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_given_up_at_any_moment_land_by_then_or_never() {
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_GIVEN_UP_SEED"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given_up.db");
    let store = open(&path);
    let held_open = collection(&store).await;
    let selector = of_source("t", "s");
    let begun = Instant::now();
    for _ in 0..5 {
        let records = source("t", "s", 30, 0);
        held_open.replace(&selector, &records).await.unwrap();
    }
    // As long as two writes take here.
    let longest = usize::try_from(begun.elapsed().as_micros()).unwrap() * 2 / 5;
    let aside = Connection::open(&path).unwrap();
    let patch =
        |n: i64| MetadataPatch::new().set(MetadataKey::new("version").unwrap(), Scalar::from(n));
    let (mut landed, mut nothing) = (0, 0);
    for round in 1..300_usize {
        let before = held(&aside);
        let records = source("t", "s", 30 + round % 5, round);
        let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
        let patch = patch(i64::try_from(round).unwrap());
        // As often right at the beginning as near the end.
        let wait = random.usize(..longest) >> random.usize(..12);
        let moment = Instant::now() + Duration::from_micros(wait as u64);
        {
            let writing: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = match round % 4 {
                0 => Box::pin(async { drop(held_open.upsert(&records).await) }),
                1 => Box::pin(async { drop(held_open.replace(&selector, &records).await) }),
                2 => Box::pin(async { drop(held_open.update_metadata(&selector, &patch).await) }),
                _ => Box::pin(async { drop(held_open.delete(&keys).await) }),
            };
            let mut writing = pin!(writing);
            let mut context = Context::from_waker(Waker::noop());
            // Polled again and again, it stands at each await point for some rounds.
            while writing.as_mut().poll(&mut context) == Poll::Pending && Instant::now() < moment {
                std::thread::yield_now();
            }
        }
        let by_then = held(&aside);
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(held(&aside), by_then, "round {round}");
        if by_then == before {
            nothing += 1
        } else {
            landed += 1
        }
        if round % 4 == 3 {
            held_open
                .replace(&selector, &source("t", "s", 30, round))
                .await
                .unwrap();
        }
    }
    assert!(
        landed > 10 && nothing > 10,
        "{landed} landed, {nothing} did not"
    );
    // Nothing is left half done: the counts, the checksums and the rows in memory agree.
    let there = rows(&held_open).await;
    let found = versions(&held_open, "t", "s").await;
    assert_eq!(found.len() as u64, there);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_wait_for_their_turn_are_forgotten_when_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given_up.db");
    let store = open(&path);
    let held_open = collection(&store).await;
    let selector = of_source("t", "s");
    held_open
        .replace(&selector, &source("t", "s", 3, 1))
        .await
        .unwrap();
    let elsewhere = Connection::open(&path).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..8 {
        let records = source("t", "s", 3, 2);
        let writing = held_open.replace(&selector, &records);
        let waited = tokio::time::timeout(Duration::from_millis(20), writing).await;
        assert!(waited.is_err(), "it did not wait");
    }
    elsewhere.execute_batch("ROLLBACK").unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(versions(&held_open, "t", "s").await, [1; 3]);
    held_open
        .replace(&selector, &source("t", "s", 3, 3))
        .await
        .unwrap();
    assert_eq!(versions(&held_open, "t", "s").await, [3; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_given_up_leave_the_rows_in_memory_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given_up.db");
    let (store, other) = (open(&path), open(&path));
    let (searched, written) = (collection(&store).await, collection(&other).await);
    for round in 1..60_usize {
        let selector = of_source("t", "s");
        written
            .replace(&selector, &source("t", "s", 40, round))
            .await
            .unwrap();
        let leg = dense(key("source").eq("s").build().unwrap(), 100);
        for micros in [0, 50, 300, 900] {
            let wait = Duration::from_micros(micros);
            let _ = tokio::time::timeout(wait, searched.search(&leg)).await;
        }
        let v = i64::try_from(round).unwrap();
        assert_eq!(versions(&searched, "t", "s").await, [v; 40]);
        let found = searched.search(&dense(of_tenant("t"), 100)).await.unwrap();
        assert_eq!(found.hits.len(), 40);
    }
}

/// Waiting writes hold no thread that reads need, however many there are.
#[tokio::test(flavor = "multi_thread")]
async fn more_writes_wait_than_there_are_threads_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waiting.db");
    let store = open(&path);
    let held_open = collection(&store).await;
    held_open.upsert(&source("t", "s", 3, 1)).await.unwrap();
    let elsewhere = Connection::open(&path).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writing: Vec<_> = (0..700)
        .map(|n| {
            let held_open = held_open.clone();
            let records = source(&format!("u{n}"), "s", 1, 1);
            tokio::spawn(async move { held_open.upsert(&records).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let read = tokio::time::timeout(Duration::from_secs(4), versions(&held_open, "t", "s"));
    assert_eq!(read.await.unwrap(), [1; 3]);
    assert!(writing.iter().all(|writing| !writing.is_finished()));
    elsewhere.execute_batch("ROLLBACK").unwrap();
    for writing in writing {
        writing.await.unwrap().unwrap();
    }
    assert_eq!(rows(&held_open).await, 703);
}

/// A future that is kept and not asked any more keeps nobody waiting, whatever place in line it had.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_nobody_polls_any_more_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forgotten.db");
    let store = open(&path);
    let held_open = collection(&store).await;
    let elsewhere = Connection::open(&path).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();
    let records = ["t", "u", "v"].map(|tenant| source(tenant, "s", 1, 1));
    let mut writes = (records.iter())
        .map(|records| Box::pin(held_open.upsert(records)))
        .collect::<Vec<_>>();
    let mut context = Context::from_waker(Waker::noop());
    for write in &mut writes {
        assert!(write.as_mut().poll(&mut context).is_pending());
    }
    elsewhere.execute_batch("ROLLBACK").unwrap();
    let (last, forgotten) = (writes.pop().unwrap(), writes);
    let ended = tokio::time::timeout(Duration::from_secs(20), last).await;
    ended.expect("it waits for the forgotten ones").unwrap();
    drop(forgotten);
}

#[tokio::test(flavor = "multi_thread")]
async fn ensuring_what_is_there_waits_for_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ensured.db");
    let store = Store::new(
        SqliteStore::open(
            &path,
            SqliteOptions::default().with_busy_timeout(Duration::from_secs(60)),
        )
        .unwrap(),
    );
    store.ensure(&spec()).await.unwrap();
    let elsewhere = Connection::open(&path).unwrap();
    elsewhere.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ensured = tokio::time::timeout(Duration::from_secs(20), store.ensure(&spec())).await;
    assert!(ensured.expect("it waits for the writer").is_ok());
    elsewhere.execute_batch("ROLLBACK").unwrap();
}
