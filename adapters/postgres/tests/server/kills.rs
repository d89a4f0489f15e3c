//! A server that is killed under load and comes back.
//!
//! The server is one of the test's own: `SHELFWARD_XTASK` is the program that starts it, as
//! `cargo xtask ci` sets it. Without it, these tests are counted as ignored.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use shelfward_core::{Collection, ErrorKind, Persistence, Store};

use crate::ground::{Ground, dense, of_source, of_tenant, shown, source, spec, tests, versions};

tests!(killed_under_load_it_answers_rightly_and_comes_back);

/// A server that ends with its starter.
pub(crate) struct Server {
    starter: Child,
    about: Value,
    again: Option<Child>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let xtask = std::env::var_os("SHELFWARD_XTASK").unwrap();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::SeqCst);
        let name = format!("kill-{}-{n}", std::process::id());
        let mut starter = Command::new(xtask)
            .args([
                "stores",
                "up",
                "postgres",
                "--json",
                "--until-stdin-closes",
                "--name",
                &name,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = starter.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let about = serde_json::from_str(&line).unwrap();
        Self {
            starter,
            about,
            again: None,
        }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.about[name].as_str().unwrap()
    }

    /// Kills whatever server runs on its data, and waits until nobody listens at its address.
    pub(crate) async fn kill(&self) {
        let record = std::fs::read_to_string(self.pid_file()).unwrap();
        assert!(kill(record.lines().next().unwrap().parse().unwrap()));
        while tokio::net::TcpStream::connect(self.address()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn pid_file(&self) -> String {
        format!("{}/postmaster.pid", self.text("data"))
    }

    fn address(&self) -> &str {
        let address = self.text("url").rsplit('@').next().unwrap();
        address.split('/').next().unwrap()
    }

    /// Starts it on the same data, as soon as the processes of the killed one have ended.
    pub(crate) async fn start_again(&mut self) {
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(self.address())
            .await
            .is_err()
        {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "it does not start again"
            );
            let ended =
                (self.again.as_mut()).is_none_or(|child| child.try_wait().unwrap().is_some());
            if ended {
                let _ = std::fs::remove_file(self.pid_file());
                let program = format!("{}/postgres", self.text("bin"));
                let mut words = self.about["run_as"].as_array().unwrap().iter();
                let mut words: Vec<&str> =
                    words.by_ref().map(|word| word.as_str().unwrap()).collect();
                words.extend([&*program, "-D", self.text("data")]);
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).stdin(Stdio::null());
                command.stdout(Stdio::null()).stderr(Stdio::null());
                self.again = Some(command.spawn().unwrap());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its starter ends whatever server runs on its data.
        drop(self.starter.stdin.take());
        let _ = self.starter.wait();
        if let Some(mut again) = self.again.take() {
            let _ = again.wait();
        }
    }
}

/// Kills a process; whether it was there.
pub(crate) fn kill(pid: i64) -> bool {
    let pid = pid.to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status();
    killed.unwrap().success()
}

/// What a writer knows of its last writes.
#[derive(Default)]
struct Written {
    landed: usize,
    /// Those since that may have landed.
    unknown: Vec<usize>,
}

async fn killed_under_load_it_answers_rightly_and_comes_back(_: Ground) {
    let mut server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let url = format!("{}?connect_timeout_ms=500", server.text("url"));
    let store = Store::new(shelfward_postgres::connect(&url).await.unwrap());
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 8, 0)).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut failed = Vec::new();
    let mut searchers = Vec::new();
    for _ in 0..3 {
        let counted = Arc::new(AtomicUsize::new(0));
        failed.push(counted.clone());
        let searcher = searching(collection.clone(), stop.clone(), counted);
        searchers.push(tokio::spawn(searcher));
    }
    let counted = Arc::new(AtomicUsize::new(0));
    failed.push(counted.clone());
    let writer = tokio::spawn(writing(collection.clone(), stop.clone(), counted));
    tokio::time::sleep(Duration::from_millis(700)).await;
    server.kill().await;
    // It stays away until each of them has met that, however slow the machine is.
    let killed = Instant::now();
    while failed.iter().any(|n| n.load(Ordering::SeqCst) == 0) {
        let who = format!("{failed:?}: who met no failure");
        assert!(killed.elapsed() < Duration::from_secs(60), "{who}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.start_again().await;
    // On the handles of before.
    let begun = Instant::now();
    while collection.search(&dense(of_tenant("t"), 3)).await.is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it does not answer again"
        );
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
    stop.store(true, Ordering::SeqCst);
    for searcher in searchers {
        searcher.await.unwrap();
    }
    let written = writer.await.unwrap();
    let (there, passages) = versions(&collection, &of_tenant("t")).await;
    let possible = |version: usize| version == written.landed || written.unknown.contains(&version);
    assert_eq!((there.len(), passages), (1, 8));
    assert!(
        possible(usize::try_from(there[0]).unwrap()),
        "{there:?} behind {}",
        written.landed
    );
    store.close().await.unwrap();
    tokio::task::spawn_blocking(move || drop(server))
        .await
        .unwrap();
}

/// Searches until it is stopped, and counts the searches that failed. None answers wrongly.
async fn searching(collection: Collection, stop: Arc<AtomicBool>, failed: Arc<AtomicUsize>) {
    while !stop.load(Ordering::SeqCst) {
        match collection.search(&dense(of_tenant("t"), 20)).await {
            Ok(found) => {
                let version = |at: usize| found.hits[at].metadata.get("version").cloned();
                assert_eq!(found.hits.len(), 8);
                assert!((0..8).all(|at| version(at) == version(0)));
            }
            Err(lost) => {
                assert!(
                    matches!(lost.kind(), ErrorKind::Unavailable | ErrorKind::Timeout(_)),
                    "{}",
                    shown(&lost)
                );
                failed.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

async fn writing(
    collection: Collection,
    stop: Arc<AtomicBool>,
    failed: Arc<AtomicUsize>,
) -> Written {
    let mut written = Written::default();
    let mut version = 0;
    while !stop.load(Ordering::SeqCst) {
        version += 1;
        let records = source("t", "a", 8, version);
        match collection.replace(&of_source("t", "a"), &records).await {
            Ok(_) => {
                written.landed = version;
                written.unknown.clear();
            }
            Err(lost) => {
                failed.fetch_add(1, Ordering::SeqCst);
                match lost.persistence() {
                    Persistence::Unknown => written.unknown.push(version),
                    Persistence::Temporary => {}
                    Persistence::Permanent => panic!("{}", shown(&lost)),
                }
            }
        }
    }
    written
}
