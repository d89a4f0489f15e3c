//! Servers and callers that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shelfward_core::{Collection, ErrorKind, Filter, Persistence};
use shelfward_postgres::{PostgresOptions, PostgresStore};
use sqlx_core::connection::Connection as _;
use sqlx_postgres::PgConnection;

use crate::ground::{Ground, dense, of_source, of_tenant, shown, source, spec, tests, versions};

tests!(
    a_wrong_password_is_printed_nowhere,
    nobody_at_the_address,
    a_database_that_there_is_not,
    a_statement_that_takes_too_long,
    every_connection_in_use,
    a_thousand_searches_at_once,
    connections_cut_under_load,
    two_that_index_one_source,
    a_write_given_up_never_happens,
    a_search_given_up_leaves_its_connection,
    a_pool_of_ones_own_stays_open,
    closing_the_last_handle_closes_the_connections_though_a_clone_was_dropped,
    a_role_that_is_read_only_by_default,
    a_role_whose_commits_are_not_waited_for,
    a_writer_that_fell_silent_lets_go,
    making_a_collection_over_a_silent_network_ends,
    what_was_given_up_holds_no_connection,
    a_search_dropped_outside_its_runtime,
);

async fn a_wrong_password_is_printed_nowhere(ground: Ground) {
    let url = ground.url_as(|parts| parts.password = "canary".to_owned(), "");
    let refused = shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Denied(_)), "{refused}");
    let shown = shown(&refused);
    for secret in ["canary", "127.0.0.1", "postgres://"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("28P01"), "{shown}");
    // Nor what a store shows of itself.
    let store = ground.adapter("").await;
    let shown = format!("{store:?}");
    assert!(
        !shown.contains("password") && !shown.contains("127.0.0.1"),
        "{shown}"
    );
}

/// The address of a way to the server that swallows everything, and tells nobody, from the first message
/// on that holds these bytes after it was told to.
async fn silent_from(ground: &Ground, bytes: &'static [u8]) -> (String, Arc<AtomicBool>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut address = String::new();
    ground.url_as(|parts| address.clone_from(&parts.address), "");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = listener.local_addr().unwrap().to_string();
    let swallows = Arc::new(AtomicBool::new(false));
    let told = swallows.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = tokio::net::TcpStream::connect(&address).await.unwrap();
            let told = told.clone();
            tokio::spawn(async move {
                let (mut up, mut down) = (vec![0; 1 << 14], vec![0; 1 << 14]);
                loop {
                    tokio::select! {
                        read = client.read(&mut up) => {
                            let Ok(n @ 1..) = read else { return };
                            let holds = up[..n].windows(bytes.len()).any(|w| w == bytes);
                            if holds && told.load(Ordering::SeqCst) {
                                std::future::pending::<()>().await;
                            }
                            if server.write_all(&up[..n]).await.is_err() { return }
                        }
                        read = server.read(&mut down) => {
                            let Ok(n @ 1..) = read else { return };
                            if client.write_all(&down[..n]).await.is_err() { return }
                        }
                    }
                }
            });
        }
    });
    (here, swallows)
}

const SHORT: &str =
    "sslmode=disable&max_connections=2&statement_timeout_ms=1000&connect_timeout_ms=1000";

async fn a_writer_that_fell_silent_lets_go(ground: Ground) {
    let (address, swallows) = silent_from(&ground, b"DELETE FROM").await;
    let url = ground.url_as(|parts| parts.address = address, SHORT);
    let store = Ground::store_at(&url).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    swallows.store(true, Ordering::SeqCst);
    let silent = collection
        .replace(&of_source("t", "a"), &source("t", "a", 4, 2))
        .await;
    silent.unwrap_err();
    let other = ground.store_with("statement_timeout_ms=1000").await;
    let other = other.open(&spec("c").name).await.unwrap();
    // As long as its transaction may be idle, and a little more.
    let mut tries = 0;
    while let Err(waiting) = other
        .replace(&of_source("t", "a"), &source("t", "a", 3, 3))
        .await
    {
        assert!(matches!(waiting.kind(), ErrorKind::Timeout(_)), "{waiting}");
        tries += 1;
        assert!(tries < 30, "its locks are held for good");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(versions(&other, &of_tenant("t")).await, (vec![3], 3));
}

async fn making_a_collection_over_a_silent_network_ends(ground: Ground) {
    let (address, swallows) = silent_from(&ground, b"lock_timeout").await;
    let url = ground.url_as(|parts| parts.address = address, SHORT);
    let store = Ground::store_at(&url).await;
    swallows.store(true, Ordering::SeqCst);
    let ended = tokio::time::timeout(Duration::from_secs(30), store.ensure(&spec("c"))).await;
    let refused = ended.unwrap().map(drop).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Timeout(_)), "{refused}");
}

async fn what_was_given_up_holds_no_connection(ground: Ground) {
    let store = ground
        .store_with("max_connections=2&connect_timeout_ms=2000&statement_timeout_ms=30000")
        .await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    // Whoever writes rows waits for this.
    let mut other = ground.connection().await;
    let held = format!(
        "BEGIN; LOCK TABLE {}.shelfward_c IN SHARE MODE",
        ground.schema()
    );
    sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(held))
        .execute(&mut other)
        .await
        .unwrap();
    for n in 0..4 {
        let (selector, records) = (of_source("t", "x"), source("t", "x", 2, n));
        let write = collection.replace(&selector, &records);
        let given_up = tokio::time::timeout(Duration::from_millis(200), write).await;
        assert!(given_up.is_err(), "it waits");
    }
    let found = collection.search(&dense(of_tenant("t"), 2)).await.unwrap();
    assert_eq!(found.hits.len(), 2);
    other.close().await.unwrap();
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![1], 3));
}

async fn a_search_dropped_outside_its_runtime(ground: Ground) {
    let url = ground.url("");
    let outside = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let store = runtime.block_on(shelfward_postgres::connect(&url)).unwrap();
        let store = shelfward_core::Store::new(store);
        let collection = runtime.block_on(store.ensure(&spec("c"))).unwrap();
        runtime
            .block_on(collection.upsert(&source("t", "a", 50, 1)))
            .unwrap();
        let leg = dense(of_tenant("t"), 3);
        for micros in (0..8_000).step_by(100) {
            let mut search = Box::pin(collection.search(&leg));
            let _ = runtime.block_on(async {
                tokio::time::timeout(Duration::from_micros(micros), search.as_mut()).await
            });
            drop(search);
        }
        runtime
            .block_on(collection.search(&leg))
            .unwrap()
            .hits
            .len()
    });
    let found = tokio::task::spawn_blocking(|| outside.join())
        .await
        .unwrap();
    assert_eq!(found.unwrap(), 3);
}

/// What returned would be lost by a crash of the server.
async fn a_role_whose_commits_are_not_waited_for(ground: Ground) {
    ground.store().await.ensure(&spec("c")).await.unwrap();
    let (role, schema) = (ground.name(), ground.schema());
    let sql = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'of-the-role'; GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}; \
         ALTER ROLE {role} SET synchronous_commit = off; \
         CREATE FUNCTION {schema}.is_waited_for() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         ASSERT current_setting('synchronous_commit') <> 'off'; RETURN NULL; END $$; \
         CREATE TRIGGER is_waited_for AFTER INSERT ON {schema}.shelfward_c \
         EXECUTE FUNCTION {schema}.is_waited_for()"
    );
    ground.sql(&sql).await;
    let store = Ground::store_at(&ground.url_by_role("manage_schema=false")).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 2, 1)).await.unwrap();
    store.close().await.unwrap();
}

async fn a_role_that_is_read_only_by_default(ground: Ground) {
    let collection = ground.store().await.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 2, 1)).await.unwrap();
    let (role, schema) = (ground.name(), ground.schema());
    let sql = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'of-the-role'; GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {role}; \
         ALTER ROLE {role} SET default_transaction_read_only = on"
    );
    ground.sql(&sql).await;
    let store = Ground::store_at(&ground.url_by_role("manage_schema=false")).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    for refused in [
        collection.upsert(&source("t", "b", 2, 1)).await,
        collection
            .replace(&of_source("t", "a"), &[])
            .await
            .map(drop),
        collection.delete_all().await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        let told = shown(&refused);
        assert!(matches!(refused.kind(), ErrorKind::Denied(_)), "{told}");
        assert!(told.contains("read-only"), "{told}");
    }
    let there = collection.count(&Filter::everything()).await.unwrap();
    assert_eq!(there.exact(), Some(2));
}

async fn nobody_at_the_address(ground: Ground) {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let url = ground.url_as(|parts| parts.address = address, "connect_timeout_ms=500");
    let refused = shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::Unavailable),
        "{refused}"
    );
    assert_eq!(refused.persistence(), Persistence::Temporary);
    // One that listens and says nothing.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let url = ground.url_as(|parts| parts.address = address, "connect_timeout_ms=500");
    let refused = shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Timeout(_)), "{refused}");
}

async fn a_database_that_there_is_not(ground: Ground) {
    let url = ground.url_as(|parts| parts.database = "sfwt_none".to_owned(), "");
    let refused = shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err();
    assert!(
        refused.to_string().contains("no database of that name"),
        "{refused}"
    );
}

/// Holds the whole table until it is let go.
async fn held(ground: &Ground) -> PgConnection {
    let mut connection = ground.connection().await;
    let sql = format!("BEGIN; LOCK TABLE {}.shelfward_c", ground.schema());
    sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    connection
}

async fn let_go(mut connection: PgConnection) {
    sqlx_core::raw_sql::raw_sql("ROLLBACK")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

async fn a_statement_that_takes_too_long(ground: Ground) {
    let store = ground
        .store_with("statement_timeout_ms=400&max_connections=1")
        .await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    let holder = held(&ground).await;
    let late = collection
        .search(&dense(of_tenant("t"), 3))
        .await
        .unwrap_err();
    assert!(
        matches!(late.kind(), ErrorKind::Timeout(after) if after.as_millis() == 400),
        "{late}"
    );
    let late = collection
        .replace(&of_source("t", "a"), &source("t", "a", 9, 2))
        .await;
    let late = late.unwrap_err();
    assert!(matches!(late.kind(), ErrorKind::Timeout(_)), "{late}");
    assert_eq!(
        late.persistence(),
        Persistence::Temporary,
        "nothing was done"
    );
    let_go(holder).await;
    // On the same connection, which is as good as before.
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![1], 3));
    collection
        .replace(&of_source("t", "a"), &source("t", "a", 9, 2))
        .await
        .unwrap();
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![2], 9));
}

async fn every_connection_in_use(ground: Ground) {
    let store = ground
        .store_with("max_connections=1&statement_timeout_ms=1000")
        .await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let holder = held(&ground).await;
    // Each has the connection for as long as a statement may take; the others wait in line as long.
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let collection = collection.clone();
        waiting.push(tokio::spawn(async move {
            collection.search(&dense(of_tenant("t"), 3)).await
        }));
    }
    let mut refused = Vec::new();
    for waiting in waiting {
        refused.push(waiting.await.unwrap().unwrap_err());
    }
    assert!(
        refused.iter().any(|refused| {
            matches!(refused.kind(), ErrorKind::Unavailable)
                && shown(refused).contains("max_connections")
        }),
        "{refused:?}"
    );
    let_go(holder).await;
    collection.search(&dense(of_tenant("t"), 3)).await.unwrap();
}

async fn a_thousand_searches_at_once(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    for tenant in 0..10 {
        let records = source(&format!("t{tenant}"), "a", 20, tenant);
        collection.upsert(&records).await.unwrap();
    }
    let searches = (0..1_000).map(|n| {
        let collection = collection.clone();
        tokio::spawn(async move {
            let tenant = format!("t{}", n % 10);
            let found = collection
                .search(&dense(of_tenant(&tenant), 5))
                .await
                .unwrap();
            assert_eq!(found.hits.len(), 5);
            for hit in &found.hits {
                assert_eq!(hit.metadata.text("tenant"), Some(tenant.as_str()));
            }
        })
    });
    for search in searches.collect::<Vec<_>>() {
        search.await.unwrap();
    }
}

/// The name under which a store's connections are known to the server.
fn named(ground: &Ground) -> String {
    format!("application_name={}", ground.name())
}

async fn connections_cut_under_load(ground: Ground) {
    let store = ground.store_with(&named(&ground)).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 8, 0)).await.unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut searchers = Vec::new();
    for _ in 0..4 {
        let (collection, stop) = (collection.clone(), stop.clone());
        searchers.push(tokio::spawn(async move {
            let mut answered = 0_u32;
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                match collection.search(&dense(of_tenant("t"), 20)).await {
                    // One version, whole.
                    Ok(found) => {
                        assert_eq!(found.hits.len(), 8);
                        let version = |at: usize| found.hits[at].metadata.get("version").cloned();
                        assert!((0..8).all(|at| version(at) == version(0)));
                        answered += 1;
                    }
                    Err(lost) => {
                        assert!(
                            matches!(lost.kind(), ErrorKind::Unavailable),
                            "{}",
                            shown(&lost)
                        );
                    }
                }
            }
            answered
        }));
    }
    let writer = {
        let (collection, stop) = (collection.clone(), stop.clone());
        tokio::spawn(async move {
            let mut version = 0;
            let mut landed = 0;
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                version += 1;
                let records = source("t", "a", 8, version);
                match collection.replace(&of_source("t", "a"), &records).await {
                    Ok(replaced) => {
                        assert_eq!(replaced.removed.exact(), Some(8));
                        landed = version;
                    }
                    Err(lost) => {
                        assert!(
                            matches!(lost.kind(), ErrorKind::Unavailable),
                            "{}",
                            shown(&lost)
                        );
                    }
                }
            }
            landed
        })
    };
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_millis(120)).await;
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '{}'",
            ground.name()
        );
        ground.number(&cut).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    for searcher in searchers {
        assert!(searcher.await.unwrap() > 0);
    }
    let landed = writer.await.unwrap();
    assert!(landed > 0);
    // What was said to be undone was undone.
    let last = i64::try_from(landed).unwrap();
    assert_eq!(
        versions(&collection, &of_tenant("t")).await,
        (vec![last], 8)
    );
}

async fn two_that_index_one_source(ground: Ground) {
    let stores = [ground.store().await, ground.store().await];
    let mut writers = Vec::new();
    for (n, store) in stores.iter().enumerate() {
        let collection = store.ensure(&spec("c")).await.unwrap();
        writers.push(tokio::spawn(async move {
            for round in 0..20 {
                let records = source("t", "a", 5 + n + round % 3, n);
                collection
                    .replace(&of_source("t", "a"), &records)
                    .await
                    .unwrap();
                let (versions, _) = versions(&collection, &of_tenant("t")).await;
                assert_eq!(versions.len(), 1, "one of them, whole");
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn a_write_given_up_never_happens(ground: Ground) {
    let store = ground
        .store_with(&format!("max_connections=1&{}", named(&ground)))
        .await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    let holder = held(&ground).await;
    for wait in [0, 1, 20, 200] {
        let selector = of_source("t", "a");
        let records = source("t", "a", 9, 2);
        let write = collection.replace(&selector, &records);
        let _ = tokio::time::timeout(Duration::from_millis(wait), write).await;
    }
    let_go(holder).await;
    // Waits for what is left of them: there is one connection.
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![1], 3));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![1], 3));
    let locks = format!(
        "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
         WHERE l.locktype = 'advisory' AND a.application_name = '{}'",
        ground.name()
    );
    assert_eq!(ground.number(&locks).await, 0);
    collection
        .replace(&of_source("t", "a"), &source("t", "a", 4, 3))
        .await
        .unwrap();
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![3], 4));
}

async fn a_search_given_up_leaves_its_connection(ground: Ground) {
    let store = ground.store_with("max_connections=1").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    for micros in (0..3_000).step_by(150) {
        let leg = dense(of_tenant("t"), 3);
        let search = collection.search(&leg);
        let _ = tokio::time::timeout(Duration::from_micros(micros), search).await;
        let found = collection.search(&dense(of_tenant("t"), 2)).await.unwrap();
        assert_eq!(found.hits.len(), 2);
    }
}

async fn closing_the_last_handle_closes_the_connections_though_a_clone_was_dropped(ground: Ground) {
    let of_the_store = format!("application_name={}", ground.schema());
    let adapter = ground.adapter(&of_the_store).await;
    drop(adapter.clone());
    let store = shelfward_core::Store::new(adapter);
    store.ensure(&spec("c")).await.unwrap();
    let open = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}'",
        ground.schema()
    );
    assert!(ground.number(&open).await > 0);
    store.close().await.unwrap();
    // The server's processes end by themselves.
    let until = std::time::Instant::now() + Duration::from_secs(10);
    while ground.number(&open).await > 0 {
        assert!(std::time::Instant::now() < until, "connections stay open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn a_pool_of_ones_own_stays_open(ground: Ground) {
    let url = ground.url("");
    let url = url.split('?').next().unwrap();
    let pool = sqlx_postgres::PgPool::connect(url).await.unwrap();
    let schema = shelfward_postgres::Identifier::new(ground.schema()).unwrap();
    let options = PostgresOptions::default().with_schema(schema);
    let adapter = PostgresStore::from_pool(pool.clone(), options)
        .await
        .unwrap();
    let other = shelfward_core::Store::new(adapter.clone());
    let store = shelfward_core::Store::new(adapter);
    let collection: Collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    store.close().await.unwrap();
    let closed = collection.count(&Filter::everything()).await.unwrap_err();
    assert!(matches!(closed.kind(), ErrorKind::Invalid(_)), "{closed}");
    // Another handle, and the pool itself, go on.
    let again = other.open(&spec("c").name).await.unwrap();
    assert_eq!(
        again.count(&Filter::everything()).await.unwrap().exact(),
        Some(3)
    );
    other.close().await.unwrap();
    let one: i32 = sqlx_core::query_scalar::query_scalar("SELECT 1")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(one, 1);
    pool.close().await;
}
