//! A server that crashes while writes are committed: what is told of them is true.
//!
//! As in `kills`, the server is one of the test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfward_core::{Collection, Include, Persistence, Result};
use sqlx_core::connection::Connection as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnection;
use tokio::sync::{RwLock, watch};

use crate::commits::{Between, LOST, PASS};
use crate::ground::{Ground, of_source, shown, source, spec, tests, to_version};
use crate::kills::{Server, kill};

tests!(
    what_is_told_is_true_however_often_it_crashes,
    a_number_that_another_writer_took_tells_nothing,
);

const WRITERS: usize = 9;

/// One number that SQL answers, once the server answers at all.
async fn number(url: &str, sql: &'static str) -> i64 {
    let asking = async {
        loop {
            if let Ok(mut connection) = PgConnection::connect(url).await {
                let number = sqlx_core::query_scalar::query_scalar(AssertSqlSafe(sql));
                if let Ok(number) = number.fetch_one(&mut connection).await {
                    return number;
                }
            }
            tokio::task::yield_now().await;
        }
    };
    let patience = std::time::Duration::from_secs(60);
    tokio::time::timeout(patience, asking).await.unwrap()
}

/// The one version of a source, once the server answers.
async fn version(collection: &Collection, of: &str) -> i64 {
    let filter = of_source("t", of).filter().clone();
    loop {
        let page = collection.scan(&filter, None, 10, Include::METADATA).await;
        let Ok(page) = page else { continue };
        let version = |at: usize| page.records[at].metadata.get("version").cloned();
        assert_eq!(page.records.len(), 4, "{of}");
        assert!((0..4).all(|at| version(at) == version(0)), "{of} is torn");
        return version(0).and_then(|version| version.as_integer()).unwrap();
    }
}

/// What may be there of a source: the last that was told to be, and what is not known since.
struct Source {
    name: String,
    possible: Vec<i64>,
}

impl Source {
    async fn write(&mut self, collection: &Collection, number: i64) -> bool {
        let selector = of_source("t", &self.name);
        let done: Result<()> = if number % 3 == 0 {
            let records = source("t", &self.name, 4, usize::try_from(number).unwrap());
            collection.replace(&selector, &records).await.map(drop)
        } else {
            let narrowed = collection
                .update_metadata(&selector, &to_version(number))
                .await;
            narrowed.map(|narrowed| assert_eq!(narrowed.exact(), Some(4)))
        };
        match done {
            Ok(()) => {
                self.possible = vec![number];
                return true;
            }
            Err(lost) => match lost.persistence() {
                Persistence::Unknown => self.possible.push(number),
                Persistence::Temporary => {}
                Persistence::Permanent => panic!("{}", shown(&lost)),
            },
        }
        false
    }

    /// Looks what is there, where nobody writes.
    async fn look(&mut self, collection: &Collection) {
        let there = version(collection, &self.name).await;
        let Self { name, possible } = self;
        assert!(
            possible.contains(&there),
            "{name}: {there} is there, told {possible:?}"
        );
        self.possible = vec![there];
    }
}

async fn what_is_told_is_true_however_often_it_crashes(_: Ground) {
    let crashes = std::env::var("SHELFWARD_CRASHES").ok();
    let crashes = crashes.map_or(25, |crashes| crashes.parse().unwrap());
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let url = server.text("url").to_owned();
    let store = Ground::store_at(&format!("{url}?application_name=written")).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (written, mut count) = watch::channel(0_usize);
    let mut sources = Vec::new();
    let mut writers = Vec::new();
    for n in 0..WRITERS {
        let mut of = Source {
            name: format!("s{n}"),
            possible: vec![0],
        };
        let first = source("t", &of.name, 4, 0);
        collection.upsert(&first).await.unwrap();
        of.look(&collection).await;
        let of = Arc::new(RwLock::new(of));
        sources.push(of.clone());
        let (collection, stop, written) = (collection.clone(), stop.clone(), written.clone());
        writers.push(tokio::spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                number += 1;
                let done = of.write().await.write(&collection, number).await;
                written.send_modify(|count| *count += usize::from(done));
            }
        }));
    }
    for crash in 0..crashes {
        // Another number of writes each time, so that it meets other moments.
        let from = *count.borrow();
        let more = from + 20 + crash * 7 % 31;
        count.wait_for(|count| *count >= more).await.unwrap();
        let backend = "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = 'written' \
                       ORDER BY random() LIMIT 1";
        kill(number(&url, backend).await);
        for of in &sources {
            of.write().await.look(&collection).await;
        }
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    for of in &sources {
        of.write().await.look(&collection).await;
    }
    store.close().await.unwrap();
    tokio::task::spawn_blocking(move || drop(server))
        .await
        .unwrap();
}

async fn a_number_that_another_writer_took_tells_nothing(_: Ground) {
    let mut server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let url = server.text("url").to_owned();
    let address = url.rsplit('@').next().unwrap().split('/').next().unwrap();
    let between = Between::stand(address.to_owned()).await;
    let through = url.replace(address, &between.address);
    let through = format!("{through}?sslmode=disable&connect_timeout_ms=300");
    let store = Ground::store_at(&through).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let first = source("t", "s", 4, 0);
    collection.upsert(&first).await.unwrap();
    // What is not committed leaves no trace of its number in a crash, unless it is written down by itself.
    let mut set = PgConnection::connect(&url).await.unwrap();
    let seldom = "ALTER SYSTEM SET wal_writer_delay = '10s'";
    sqlx_core::raw_sql::raw_sql(seldom)
        .execute(&mut set)
        .await
        .unwrap();
    number(&url, "SELECT 1::bigint FROM pg_reload_conf()").await;
    let mut taken = false;
    let mut of = Source {
        name: "s".to_owned(),
        possible: vec![0],
    };
    for attempt in 1..=8 {
        let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
        let its = number(&url, next).await;
        between.next(LOST);
        let writing = async {
            of.write(&collection, 3 * attempt + 1).await;
        };
        let crashing = async {
            between.is_cut().await;
            server.kill().await;
            server.start_again().await;
            // Others commit under all numbers that were given before.
            let other = "SELECT pg_current_xact_id()::text::bigint";
            let first = number(&url, other).await;
            taken |= first <= its;
            while number(&url, other).await <= its + 3 {}
            between.next(PASS);
        };
        tokio::join!(writing, crashing);
        of.look(&collection).await;
        if taken {
            break;
        }
    }
    assert!(taken, "no number was given again");
    store.close().await.unwrap();
    tokio::task::spawn_blocking(move || drop(server))
        .await
        .unwrap();
}
