//! A process that is killed while it writes, saves or builds a graph: what it said it wrote is there
//! when the store is opened again, whole writes and nothing else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{Filter, Metric, Record, Store};
use shelfward_hnsw::{HnswOptions, HnswStore};

const FOLDER: &str = "SHELFWARD_HNSW_KILL_FOLDER";
const FIRST_ROUND: &str = "SHELFWARD_HNSW_KILL_ROUND";
const WIDTH: usize = 16;
const UNITS: i64 = 8;
/// Passages of a unit.
const PASSAGES: i64 = 24;

/// A log of a few writes is long, and a few dead nodes are many.
fn options() -> HnswOptions {
    graph_always().with_save_from(20_000).with_sync(true)
}

fn unit_in(round: i64) -> Vec<Record> {
    let unit = format!("u{}", round % UNITS);
    let mut random = rng(round.unsigned_abs());
    (0..PASSAGES)
        .map(|n| record(&format!("{unit}-{n}"), &random.vector(WIDTH), &unit, round))
        .collect()
}

/// Replaces one unit after the other and says each round that returned, until it is killed.
async fn write_until_killed(folder: &Path, first: i64) {
    let store = HnswStore::open(folder, options()).unwrap();
    let collection = collection(&store, &spec(16, Metric::Cosine)).await;
    for round in first.. {
        let unit = format!("u{}", round % UNITS);
        let selector = field("unit")
            .eq(unit.as_str())
            .build()
            .unwrap()
            .narrow()
            .unwrap();
        collection
            .replace(&selector, &unit_in(round))
            .await
            .unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "returned {round}").unwrap();
        out.flush().unwrap();
    }
}

/// Runs in a process of its own, which the next test kills; does nothing by itself.
#[tokio::test(flavor = "multi_thread")]
async fn killed_process() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let first = std::env::var(FIRST_ROUND).unwrap().parse().unwrap();
        write_until_killed(Path::new(&folder), first).await;
    }
}

/// Starts a writer, kills it after a while, and answers the last round that it said had returned.
fn run_and_kill(folder: &Path, first: i64, after: Duration) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed_process", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(FIRST_ROUND, first.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (say, said) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if let Some(round) = line.strip_prefix("returned ") {
                let _gone = say.send(round.parse::<i64>().unwrap());
            }
        }
    });
    // It has opened what the last one left, and writes.
    let began = said.recv_timeout(Duration::from_secs(60)).unwrap();
    std::thread::sleep(after);
    // SIGKILL on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    said.iter().last().unwrap_or(began)
}

/// What is there after a kill: every round up to the last that returned, and the next one whole or not
/// at all. Answers the first round that is not there.
async fn check(folder: &Path, returned: i64) -> i64 {
    let store = HnswStore::open(folder, options()).unwrap();
    let collection = Store::new(store.clone()).open(&name()).await.unwrap();
    let mut next = returned + 1;
    for unit in 0..UNITS {
        let last = (returned + 1 - UNITS..=returned).find(|round| round % UNITS == unit);
        let filter = field("unit")
            .eq(format!("u{unit}").as_str())
            .build()
            .unwrap();
        let include = shelfward_core::Include::ALL;
        let there = collection
            .scan(&filter, None, 1_000, include)
            .await
            .unwrap()
            .records;
        let is = |round: i64| {
            let mut records = unit_in(round);
            records.sort_by(|a, b| a.key.cmp(&b.key));
            there.len() == records.len()
                && there.iter().zip(&records).all(|(stored, record)| {
                    stored.key == record.key
                        && stored.metadata == record.metadata
                        && stored.text == record.text
                        && stored.vector.as_deref() == Some(&*record.vector)
                })
        };
        let under_way = returned + 1;
        if under_way % UNITS == unit && is(under_way) {
            next = under_way + 1;
        } else {
            match last {
                Some(last) if last >= 0 => assert!(is(last), "round {last} of unit {unit} is lost"),
                _ => assert!(there.is_empty()),
            }
        }
    }
    // The graph that was loaded or is being built answers in full.
    let held = collection
        .count(&Filter::everything())
        .await
        .unwrap()
        .exact()
        .unwrap();
    for settled in [false, true] {
        if settled {
            store.settle().await.unwrap();
        }
        let newest = unit_in(next - 1);
        let found = ids(&collection, &newest[0].vector, Filter::everything(), 1_000).await;
        assert_eq!(found.len() as u64, held);
        assert_eq!(found[0], newest[0].key.id.as_str());
    }
    close(&store).await;
    next
}

#[tokio::test(flavor = "multi_thread")]
async fn what_returned_is_there_after_a_kill_at_any_moment() {
    let kills: Option<usize> = std::env::var("SHELFWARD_KILLS")
        .ok()
        .and_then(|n| n.parse().ok());
    let until = Instant::now() + Duration::from_secs(20);
    let folder = tempfile::tempdir().unwrap();
    let mut random = rng(std::process::id().into());
    let (mut next, mut done) = (0, 0);
    while kills.map_or(Instant::now() < until, |kills| done < kills) {
        let after = Duration::from_micros(random.usize(..120_000) as u64);
        let returned = run_and_kill(folder.path(), next, after);
        next = check(folder.path(), returned).await;
        done += 1;
    }
    println!("{done} kills, {next} rounds");
    assert!(done > 0);
}
