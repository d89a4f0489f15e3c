//! A damaged file answers with an error or with exactly what it held, and never with anything else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use shelfward_core::filter::key;
use shelfward_core::{ErrorKind, Filter, Include, Leg, LegResult, Result, Store, StoredRecord};
use shelfward_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use support::{
    collection, dense, everything, key_of, lexical, name, of_source, of_tenant, open, record, seed,
    source,
};

/// Everything that is asked of a file, and what it answered.
#[derive(Debug, PartialEq)]
struct Answers {
    count: Option<u64>,
    rows: Vec<StoredRecord>,
    of_a_team: Vec<StoredRecord>,
    fetched: Vec<Option<StoredRecord>>,
    near: LegResult,
    worded: LegResult,
}

fn team() -> Filter {
    let filter = key("tenant").eq("t").and(key("groups").eq("team:1"));
    filter.build().unwrap()
}

fn legs() -> (Leg, Leg) {
    (
        dense(team(), 20),
        lexical("berth closed", of_tenant("t"), 20),
    )
}

async fn ask(path: &Path, verify: bool) -> Result<Answers> {
    let options = SqliteOptions::default()
        .with_synchronous(Synchronous::Normal)
        .with_verify_on_open(verify);
    let store = Store::new(SqliteStore::open(path, options)?);
    let answers = ask_store(&store).await;
    store.close().await?;
    answers
}

async fn ask_store(store: &Store) -> Result<Answers> {
    store.list().await?;
    let collection = store.open(&name()).await?;
    let all = Filter::everything();
    let keys: Vec<_> = (0..40).map(|n| key_of("t", "a", n)).collect();
    let (near, worded) = legs();
    let (near, worded) = collection.search_both(&near, &worded).await?;
    Ok(Answers {
        count: collection.count(&all).await?.exact(),
        rows: collection
            .scan(&all, None, 1_000, Include::ALL)
            .await?
            .records,
        of_a_team: collection
            .scan(&team(), None, 1_000, Include::ALL)
            .await?
            .records,
        fetched: collection
            .fetch(&keys, &of_tenant("t"), Include::ALL)
            .await?,
        near,
        worded,
    })
}

/// A small file with every kind of table in use.
async fn make(path: &Path) {
    let store = open(path);
    let held = collection(&store).await;
    held.upsert(&source("t", "a", 40, 1)).await.unwrap();
    held.upsert(&source("u", "b", 10, 1)).await.unwrap();
    let long = record("t", "a", 7, 2).with_text("berth closed ".repeat(900));
    held.upsert(&[long]).await.unwrap();
    held.delete(&[key_of("t", "a", 3), key_of("u", "b", 4)])
        .await
        .unwrap();
    store.close().await.unwrap();
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

#[tokio::test]
async fn a_thousand_damages() {
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_DAMAGE_SEED"));
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    make(&whole).await;
    let bytes = std::fs::read(&whole).unwrap();
    let right = ask(&whole, true).await.unwrap();
    assert_eq!(right.count, Some(48));
    assert!(right.near.hits.len() > 5 && right.worded.hits.len() > 15);

    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        before(panic);
    }));
    let (mut told, mut unharmed) = (0, 0);
    for round in 0..1_000 {
        let mut damaged = bytes.clone();
        let what = match round % 10 {
            0 => {
                let length = 1 + random.usize(..(bytes.len() - 1));
                damaged.truncate(length);
                format!("cut to {length} bytes")
            }
            1 => {
                // A run of bytes, as of a block that was lost.
                let at = random.usize(..bytes.len());
                let to = (at + 1 + random.usize(..600)).min(bytes.len());
                damaged[at..to].fill(0);
                format!("zeros from {at} to {to}")
            }
            _ => {
                let (at, bit) = (random.usize(..bytes.len()), random.usize(..8));
                damaged[at] ^= 1 << bit;
                format!("bit {bit} of byte {at}")
            }
        };
        let path = folder.path().join(format!("{round}.db"));
        std::fs::write(&path, &damaged).unwrap();
        match ask(&path, true).await {
            Ok(answers) => {
                assert_eq!(answers, right, "{what}");
                unharmed += 1;
            }
            Err(_) => told += 1,
        }
        // Not verified whole, a file still gives out no row that it did not hold.
        std::fs::write(&path, &damaged).unwrap();
        if round % 10 < 2
            && let Ok(answers) = ask(&path, false).await
        {
            let rows = answers.rows.iter().chain(&answers.of_a_team);
            for row in rows.chain(answers.fetched.iter().flatten()) {
                assert!(right.rows.contains(row), "{what}: {row:?}");
            }
            for hit in answers.near.hits.iter().chain(&answers.worded.hits) {
                let held = right.rows.iter().find(|row| row.key == hit.key).unwrap();
                assert_eq!(
                    (&held.metadata, &held.text),
                    (&hit.metadata, &hit.text),
                    "{what}"
                );
            }
        }
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("{round}.db{end}")));
        }
        assert_eq!(PANICS.load(Ordering::SeqCst), 0, "{what}");
    }
    // Most of a small file is in use.
    assert!(
        told > 300 && unharmed > 50,
        "{told} told, {unharmed} unharmed"
    );
}

/// Rows that change behind the store's back, one kind of change at a time.
#[tokio::test]
async fn rows_that_somebody_else_changed_are_not_given_out() {
    let folder = tempfile::tempdir().unwrap();
    for (n, change) in [
        "UPDATE rows_1 SET body = 'other' WHERE n = 5",
        "UPDATE rows_1 SET meta = replace(meta, 'team:1', 'team:2') WHERE n = 5",
        "UPDATE rows_1 SET vec = zeroblob(16) WHERE n = 5",
        "UPDATE rows_1 SET part = 'u' WHERE n = 5",
        "UPDATE rows_1 SET unit = 'b' WHERE n = 5",
        "UPDATE rows_1 SET id = 'x' WHERE n = 5",
        "UPDATE rows_1 SET crc = crc + 1 WHERE n = 5",
        "DELETE FROM rows_1 WHERE n = 5",
        "INSERT INTO rows_1 SELECT 1000, part, 'copy', unit, changed, crc, meta, body, vec FROM rows_1 \
         WHERE n = 5",
        "UPDATE collections SET entry = replace(entry, '\"row_count\":', '\"row_count\":1')",
        "UPDATE collections SET entry = replace(entry, 'cosine', 'dot')",
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{n}.db"));
        make(&path).await;
        let changed = rusqlite::Connection::open(&path).unwrap();
        assert!(changed.execute(change, []).unwrap() > 0, "{change}");
        drop(changed);
        assert!(ask(&path, true).await.is_err(), "{change}");
    }
}

fn is_corrupt<T>(answer: Result<T>) -> bool {
    answer.is_err_and(|error| matches!(error.kind(), ErrorKind::Corrupt(_)))
}

#[tokio::test]
async fn a_damaged_row_fails_the_searches_that_would_read_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let of = |tenant: &str| dense(of_tenant(tenant), 100);
    for (n, change) in ["body = 'other'", "meta = 'x'", "vec = x'00'", "crc = 0"]
        .into_iter()
        .enumerate()
    {
        let path = folder.path().join(format!("{n}.db"));
        make(&path).await;
        let store = open(&path);
        let c = store.open(&name()).await.unwrap();
        let one = "n = (SELECT min(n) FROM rows_1 WHERE part = 'u')";
        let sql = format!("UPDATE rows_1 SET {change} WHERE {one}");
        let elsewhere = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(elsewhere.execute(&sql, []).unwrap(), 1);

        let hits = async |tenant| c.search(&of(tenant)).await.map(|found| found.hits.len());
        assert_eq!(hits("t").await.unwrap(), 39, "{change}");
        assert!(is_corrupt(hits("u").await), "{change}");
        assert!(is_corrupt(c.search(&dense(Filter::everything(), 9)).await));
        // Nor does a write elsewhere hide it, be it small or large.
        for more in [1, 3_000] {
            c.upsert(&source("w", "s", more, 1)).await.unwrap();
            assert_eq!(hits("t").await.unwrap(), 39, "{change}");
            assert!(is_corrupt(hits("u").await), "{change}");
        }
        // Its source is indexed again.
        let again = source("u", "b", 10, 2);
        c.replace(&of_source("u", "b"), &again).await.unwrap();
        assert_eq!(hits("u").await.unwrap(), 10, "{change}");
        store.close().await.unwrap();
    }
}

/// A log that is damaged loses what was written last, whole writes of it, and nothing else.
#[tokio::test]
async fn a_damaged_log_answers_with_the_old_whole_or_the_new_whole() {
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_DAMAGE_SEED"));
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live.db");
    make(&live).await;
    let store = open(&live);
    let held = collection(&store).await;
    let mut states = vec![everything(&held).await.unwrap()];
    for version in 2..6 {
        let records = source("t", "a", 30 + version, version);
        held.replace(&of_source("t", "a"), &records).await.unwrap();
        states.push(everything(&held).await.unwrap());
    }
    let file = std::fs::read(&live).unwrap();
    let log = std::fs::read(folder.path().join("live.db-wal")).unwrap();
    store.close().await.unwrap();

    let mut seen = vec![0; states.len()];
    for round in 0..200 {
        let mut damaged = log.clone();
        if round % 4 == 1 {
            damaged.truncate(random.usize(..log.len()));
        } else if round > 0 {
            damaged[random.usize(..log.len())] ^= 1 << random.usize(..8);
        }
        let path = folder.path().join(format!("{round}.db"));
        std::fs::write(&path, &file).unwrap();
        std::fs::write(folder.path().join(format!("{round}.db-wal")), &damaged).unwrap();
        let store = open(&path);
        let collection = store.open(&name()).await.unwrap();
        let rows = everything(&collection).await.unwrap();
        let state = states.iter().position(|state| *state == rows);
        seen[state.unwrap()] += 1;
        let found = collection
            .search(&dense(Filter::everything(), 500))
            .await
            .unwrap();
        assert_eq!(found.hits.len(), rows.len(), "round {round}");
        store.close().await.unwrap();
    }
    // Whole, it holds the last write; the damages meet each of the others.
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
}
