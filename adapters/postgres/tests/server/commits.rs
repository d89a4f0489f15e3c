//! Connections that end while a write is being committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use shelfward_core::{Persistence, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::ground::{Ground, of_source, of_tenant, shown, source, spec, tests, versions};

tests!(
    cut_before_the_commit_it_is_done_again,
    cut_behind_the_commit_it_is_found_done,
    cut_for_good_it_is_not_known,
);

/// Lets everything pass.
const PASS: u8 = 0;
/// Ends the connection in the place of passing the next commit on.
const BEFORE: u8 = 1;
/// Passes the next commit on, and ends the connection in the place of passing its answer back.
const BEHIND: u8 = 2;
/// As before, and takes no connection from then on.
const FOR_GOOD: u8 = 3;
const GONE: u8 = 4;

/// What stands between a store and its server.
struct Between {
    address: String,
    mode: Arc<AtomicU8>,
}

impl Between {
    async fn stand(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mode = Arc::new(AtomicU8::new(PASS));
        let all = mode.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if all.load(Ordering::SeqCst) == GONE {
                    continue;
                }
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(pass(client, server, all.clone()));
            }
        });
        Self { address, mode }
    }

    fn next(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, mode: Arc<AtomicU8>) {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                let is_commit = asked[..read].windows(7).any(|bytes| bytes == b"COMMIT\0");
                match mode.load(Ordering::SeqCst) {
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
    let mut address = String::new();
    ground.url_as(|parts| address.clone_from(&parts.address), "");
    let between = Between::stand(address).await;
    let change = |parts: &mut crate::ground::Parts| parts.address.clone_from(&between.address);
    let url = ground.url_as(
        change,
        "sslmode=disable&connect_timeout_ms=300&max_connections=1",
    );
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
    assert_eq!(versions(&*collection, &of_tenant("t")).await, (vec![2], 5));
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
    assert_eq!(versions(&*collection, &of_tenant("t")).await, (vec![2], 5));
}
