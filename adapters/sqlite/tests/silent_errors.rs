//! No error shows a path, a name of a file or a text.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use rusqlite::Connection;
use shelfward_sqlite::{SqliteOptions, SqliteStore, connect};
use support::{collection, dense, everything, name, of_tenant, open, source};

/// Everything that an error shows, and what it is because of.
fn shown(error: &dyn std::error::Error) -> String {
    let mut all = format!("{error} {error:?}");
    let mut next = error.source();
    while let Some(error) = next {
        all.push_str(&format!(" {error} {error:?}"));
        next = error.source();
    }
    all
}

/// Errors of stores that cannot be opened. The word stands in every path.
fn of_opening(folder: &std::path::Path) -> Vec<String> {
    let path = |name: &str| folder.join(name);
    std::fs::write(path("text.db"), "sesame ".repeat(1_000)).unwrap();
    std::fs::write(path("empty.db"), "").unwrap();
    Connection::open(path("other.db"))
        .unwrap()
        .execute_batch("CREATE TABLE sesame (x)")
        .unwrap();
    let mut errors = Vec::new();
    for refused in [
        path(""),
        path("text.db"),
        path("other.db"),
        path("text.db/x"),
        path("no/such/x"),
        path("nul\0sesame"),
        path(&"sesame".repeat(60)),
    ] {
        let error = SqliteStore::open(&refused, SqliteOptions::default()).map(drop);
        errors.push(shown(&error.unwrap_err()));
    }
    let not_made = SqliteOptions::default().with_create(false);
    let error = SqliteStore::open(path("empty.db"), not_made).map(drop);
    errors.push(shown(&error.unwrap_err()));
    for refused in [
        "/sesame/x?password=sesame",
        "/sesame/x?create=sesame",
        "?sesame",
        "/sesame/sesame/x",
        "/sesame?readers=sesame",
    ] {
        errors.push(shown(&connect(refused).map(drop).unwrap_err()));
    }
    errors
}

#[tokio::test]
async fn no_error_shows_a_path_or_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("sesame");
    std::fs::create_dir(&inner).unwrap();
    let mut shows = of_opening(&inner);
    let path = inner.join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    c.upsert(&source("t", "sesame", 3, 0)).await.unwrap();
    let raw = Connection::open(&path).unwrap();
    for sql in [
        "UPDATE rows_1 SET meta = 'sesame'",
        "UPDATE rows_1 SET vec = x'00'",
        "UPDATE rows_1 SET body = 'sesame'",
        "UPDATE collections SET entry = 'sesame'",
        "DROP TABLE rows_1",
    ] {
        raw.execute_batch(sql).unwrap();
        let answers = [
            c.search(&dense(of_tenant("t"), 3)).await.map(drop),
            c.count(&of_tenant("t")).await.map(drop),
            everything(&c).await.map(drop),
            c.upsert(&source("t", "sesame", 3, 1)).await,
            store.open(&name()).await.map(drop),
            store.list().await.map(drop),
            store.health().await,
        ];
        let errors = answers.iter().filter_map(|answer| answer.as_ref().err());
        shows.extend(errors.map(|error| shown(error)));
    }
    shows.push(format!("{store:?} {c:?}"));
    assert!(shows.len() > 25, "{}", shows.len());
    for shown in &shows {
        assert!(!shown.contains("sesame"), "{shown}");
    }
}
