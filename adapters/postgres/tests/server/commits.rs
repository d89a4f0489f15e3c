//! Connections that end while a write is being committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use shelfward_core::{Persistence, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::ground::{
    Ground, of_source, of_tenant, shown, source, spec, tests, to_version, versions,
};

tests!(
    cut_before_the_commit_it_is_done_again,
    cut_behind_the_commit_it_is_found_done,
    cut_for_good_it_is_not_known,
    silent_at_the_commit_it_is_ended_and_done_again,
    given_up_at_any_stage_nothing_comes_behind_a_narrowing,
);

/// Lets everything pass.
pub(crate) const PASS: u8 = 0;
/// Ends the connection in the place of passing the next commit on.
const BEFORE: u8 = 1;
/// Passes the next commit on, and ends the connection in the place of passing its answer back.
const BEHIND: u8 = 2;
/// As before, and takes no connection from then on.
const FOR_GOOD: u8 = 3;
const GONE: u8 = 4;
/// As `BEFORE`, and takes no connection from then on.
pub(crate) const LOST: u8 = 5;
/// Swallows the next commit, and leaves the connection open.
const SILENT: u8 = 6;

/// What stands between a store and its server.
pub(crate) struct Between {
    pub(crate) address: String,
    mode: Arc<AtomicU8>,
    held: Arc<Held>,
}

/// Holds one message of a client.
struct Held {
    /// How many pass before it.
    before: AtomicUsize,
    came: Notify,
    goes: Notify,
}

/// So many messages there are not: none is held.
const NEVER: usize = usize::MAX;

impl Between {
    pub(crate) async fn stand(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mode = Arc::new(AtomicU8::new(PASS));
        let held = Arc::new(Held {
            before: AtomicUsize::new(NEVER),
            came: Notify::new(),
            goes: Notify::new(),
        });
        let (all, holds) = (mode.clone(), held.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if all.load(Ordering::SeqCst) == GONE {
                    continue;
                }
                // While the server starts again, there is none.
                let Ok(server) = TcpStream::connect(&server).await else {
                    continue;
                };
                tokio::spawn(pass(client, server, all.clone(), holds.clone()));
            }
        });
        Self {
            address,
            mode,
            held,
        }
    }

    pub(crate) fn next(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }

    /// Ends when the connection was cut.
    pub(crate) async fn is_cut(&self) {
        while self.mode.load(Ordering::SeqCst) != GONE {
            tokio::task::yield_now().await;
        }
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, mode: Arc<AtomicU8>, held: Arc<Held>) {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                let before = held.before.load(Ordering::SeqCst);
                if before != NEVER {
                    held.before.store(before.checked_sub(1).unwrap_or(NEVER), Ordering::SeqCst);
                }
                if before == 0 {
                    held.came.notify_one();
                    held.goes.notified().await;
                }
                let is_commit = asked[..read].windows(7).any(|bytes| bytes == b"COMMIT\0");
                match mode.load(Ordering::SeqCst) {
                    LOST if is_commit => return mode.store(GONE, Ordering::SeqCst),
                    SILENT if is_commit => {
                        mode.store(PASS, Ordering::SeqCst);
                        return std::future::pending().await;
                    }
                    BEFORE if is_commit => return mode.store(PASS, Ordering::SeqCst),
                    cut @ (BEHIND | FOR_GOOD) if is_commit => {
                        server.write_all(&asked[..read]).await.unwrap();
                        let _ = server.read(&mut answered).await;
                        return mode.store(if cut == FOR_GOOD { GONE } else { PASS }, Ordering::SeqCst);
                    }
                    _ => if server.write_all(&asked[..read]).await.is_err() { return },
                }
            }
            read = server.read(&mut answered) => {
                let Ok(read @ 1..) = read else { return };
                if client.write_all(&answered[..read]).await.is_err() { return }
            }
        }
    }
}

async fn through(ground: &Ground) -> (Store, Between) {
    through_with(ground, "max_connections=1").await
}

async fn through_with(ground: &Ground, options: &str) -> (Store, Between) {
    let mut address = String::new();
    ground.url_as(|parts| address.clone_from(&parts.address), "");
    let between = Between::stand(address).await;
    let change = |parts: &mut crate::ground::Parts| parts.address.clone_from(&between.address);
    let options = format!("sslmode=disable&connect_timeout_ms=300&{options}");
    let url = ground.url_as(change, &options);
    let store = Store::new(shelfward_postgres::connect(&url).await.unwrap());
    (store, between)
}

async fn cut_before_the_commit_it_is_done_again(ground: Ground) {
    replaced_though_cut(&ground, BEFORE).await;
}

async fn cut_behind_the_commit_it_is_found_done(ground: Ground) {
    // Done again, it would have removed five.
    replaced_though_cut(&ground, BEHIND).await;
}

async fn replaced_though_cut(ground: &Ground, cut: u8) {
    let (store, between) = through(ground).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    between.next(cut);
    let replaced = collection
        .replace(&of_source("t", "a"), &source("t", "a", 5, 2))
        .await;
    assert_eq!(replaced.unwrap().removed.exact(), Some(3));
    assert_eq!(between.mode.load(Ordering::SeqCst), PASS, "it was cut");
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![2], 5));
}

async fn cut_for_good_it_is_not_known(ground: Ground) {
    let (store, between) = through(&ground).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    between.next(FOR_GOOD);
    let unknown = collection
        .replace(&of_source("t", "a"), &source("t", "a", 5, 2))
        .await;
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.persistence(), Persistence::Unknown, "{unknown}");
    assert!(
        shown(&unknown).contains("look whether it took effect"),
        "{}",
        shown(&unknown)
    );
    // It did; and the same handle goes on when the server is back.
    between.next(PASS);
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![2], 5));
}

async fn silent_at_the_commit_it_is_ended_and_done_again(ground: Ground) {
    let (store, between) = through_with(&ground, "statement_timeout_ms=1000").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    between.next(SILENT);
    let undone = collection
        .replace(&of_source("t", "a"), &source("t", "a", 5, 2))
        .await
        .unwrap_err();
    // Its transaction was ended, so that it cannot come later, and its locks are free.
    assert_eq!(undone.persistence(), Persistence::Temporary, "{undone}");
    assert_eq!(versions(&collection, &of_tenant("t")).await, (vec![1], 3));
    let replaced = collection
        .replace(&of_source("t", "a"), &source("t", "a", 4, 3))
        .await;
    assert_eq!(replaced.unwrap().removed.exact(), Some(3));
}

async fn given_up_at_any_stage_nothing_comes_behind_a_narrowing(ground: Ground) {
    let named = format!("application_name={}", ground.name());
    let (store, between) = through_with(&ground, &named).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    assert!(collection.capabilities().late_writes);
    let other = ground.store().await.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    let open = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' AND state <> 'idle'",
        ground.name()
    );
    let (selector, held) = (of_source("t", "a"), &between.held);
    let mut stages = 0;
    loop {
        let records = source("t", "a", 3, 2);
        held.before.store(stages, Ordering::SeqCst);
        let mut write = Box::pin(collection.replace(&selector, &records));
        let is_held = tokio::select! {
            biased;
            () = held.came.notified() => true,
            done = &mut write => {
                done.unwrap();
                false
            }
        };
        drop(write);
        held.before.store(NEVER, Ordering::SeqCst);
        if !is_held {
            break;
        }
        let number = i64::try_from(100 + stages).unwrap();
        let patch = to_version(number);
        // It waits for what is on its way.
        let narrowing = other.update_metadata(&selector, &patch);
        let going = async { held.goes.notify_one() };
        let (narrowed, ()) = tokio::join!(narrowing, going);
        assert_eq!(narrowed.unwrap().exact(), Some(3));
        assert_eq!(versions(&other, &of_tenant("t")).await, (vec![number], 3));
        while ground.number(&open).await > 0 {}
        assert_eq!(versions(&other, &of_tenant("t")).await, (vec![number], 3));
        stages += 1;
    }
    assert!(stages > 4, "{stages} messages");
}
