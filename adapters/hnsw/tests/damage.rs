//! Files that were cut off or whose bits were turned: a typed error, or exactly the right answers.
//!
//! A reader that ended the process over such bytes would end this test with it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Collection, ErrorKind, Filter, Leg, LegResult, Metric, Store, StoredRecord};
use shelfward_hnsw::{HnswOptions, HnswStore};

/// A store as it lies in its folder, and what it may answer.
struct Saved {
    files: Vec<(String, Vec<u8>)>,
    /// What it holds after each of its writes since the snapshot, the last one last.
    states: Vec<Vec<StoredRecord>>,
}

fn read_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

/// A store with a snapshot, a graph, and a log of some writes, as a kill leaves it.
async fn saved() -> Saved {
    let mut dice = Dice(21);
    let folder = tempfile::tempdir().unwrap();
    let options = graph_always();
    let store = HnswStore::open(folder.path(), options).unwrap();
    let held = collection(&store, &spec(3, Metric::Dot)).await;
    let records: Vec<_> = (0..120)
        .map(|n| record(&format!("{n:03}"), &dice.vector(3), "u", n % 10))
        .collect();
    held.upsert(&records).await.unwrap();
    store.settle().await.unwrap();
    close(&store).await;
    drop((store, held));

    let store = HnswStore::open(folder.path(), options).unwrap();
    let held = collection(&store, &spec(3, Metric::Dot)).await;
    let mut states = vec![all(&held).await];
    for round in 0..6 {
        let records: Vec<_> = (0..4)
            .map(|n| {
                record(
                    &format!("{:03}", round * 20 + n),
                    &dice.vector(3),
                    "v",
                    n.into(),
                )
            })
            .collect();
        held.upsert(&records).await.unwrap();
        states.push(all(&held).await);
        held.delete(&[key(&format!("{:03}", round * 20 + 9))])
            .await
            .unwrap();
        states.push(all(&held).await);
    }
    // Copied while it is open: nothing is saved yet but by the log.
    let files = read_files(folder.path());
    for kind in ["snapshot", "2.log", "2.graph", "hnsw.graph", "hnsw.data"] {
        assert!(files.iter().any(|(name, _)| name.ends_with(kind)), "{kind}");
    }
    Saved { files, states }
}

impl Saved {
    fn of_kind(&self, kind: &str) -> (PathBuf, Vec<u8>) {
        let (name, bytes) = self
            .files
            .iter()
            .find(|(name, _)| name.ends_with(kind) && (kind != "2.graph" || !name.contains("hnsw")))
            .unwrap();
        (name.into(), bytes.clone())
    }

    fn write_to(&self, folder: &Path) {
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

async fn answers(collection: &Collection) -> Vec<LegResult> {
    let mut answers = Vec::new();
    for query in [[1.0, 0.0, 0.0], [-0.3, 0.5, 2.0], [0.0, -1.0, -1.0]] {
        let leg = Leg::dense(query, Filter::everything(), 200);
        answers.push(collection.search(&leg).await.unwrap());
    }
    answers
}

/// Opens what lies in a folder. `None` where it is refused by a typed error.
async fn opened(folder: &Path) -> Option<(Vec<StoredRecord>, Vec<LegResult>, Vec<LegResult>)> {
    let store = match HnswStore::open(folder, graph_always()) {
        Ok(store) => store,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains(folder.to_str().unwrap()), "{message}");
            return None;
        }
    };
    let found = match Store::new(store.clone()).open(&name()).await {
        Err(error) => {
            let typed = matches!(
                error.kind(),
                ErrorKind::Corrupt(_) | ErrorKind::Unsupported(_) | ErrorKind::NoCollection
            );
            assert!(typed, "{error:?}");
            None
        }
        Ok(collection) => {
            let at_once = answers(&collection).await;
            store.settle().await.unwrap();
            Some((all(&collection).await, at_once, answers(&collection).await))
        }
    };
    StoreAdapter::close(&store).await.unwrap();
    found
}

async fn damage(kind: &str, rounds: usize) {
    let saved = saved().await;
    let (path, bytes) = saved.of_kind(kind);
    let mut dice = Dice(kind.len() as u64 + 77);
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        saved.write_to(folder.path());
        opened(folder.path()).await.unwrap()
    };
    assert_eq!(&whole.0, saved.states.last().unwrap());
    let (mut refused, mut right) = (0, 0);
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        let cut = round % 2 == 0;
        if cut {
            damaged.truncate(dice.below(bytes.len()));
        } else {
            for _ in 0..=dice.below(3) {
                let at = dice.below(damaged.len());
                damaged[at] ^= 1 << dice.below(8);
            }
        }
        if damaged == bytes {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        saved.write_to(folder.path());
        fs::write(folder.path().join(&path), &damaged).unwrap();
        match opened(folder.path()).await {
            None => refused += 1,
            Some((held, at_once, settled)) => {
                right += 1;
                // A log that was cut ends with one of its writes, as it does after a kill; nothing
                // else may be missing.
                let after_a_kill = kind == "log" && cut;
                if after_a_kill && held != whole.0 {
                    assert!(saved.states.contains(&held), "round {round}");
                } else {
                    assert_eq!(held, whole.0, "round {round}");
                    assert_eq!(at_once, whole.1, "round {round}");
                    assert_eq!(settled, whole.2, "round {round}");
                }
            }
        }
    }
    assert!(refused + right > 0);
    match kind {
        "snapshot" => assert_eq!(right, 0),
        "graph" | "hnsw.graph" | "hnsw.data" | "2.graph" => assert_eq!(refused, 0),
        _ => assert!(refused > 0 && right > 0),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_snapshot_is_refused() {
    damage("snapshot", 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_is_refused_or_ends_with_a_whole_write() {
    damage("log", 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_nodes_of_a_graph_are_built_anew() {
    damage("2.graph", 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_links_of_a_graph_are_built_anew() {
    damage("hnsw.graph", 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_points_of_a_graph_are_built_anew() {
    damage("hnsw.data", 1_000).await;
}

#[tokio::test]
async fn missing_and_exchanged_files_are_refused_or_done_without() {
    let saved = saved().await;
    let last = saved.states.last().unwrap();
    for kind in [
        "2.log",
        "2.graph",
        "hnsw.graph",
        "hnsw.data",
        "snapshot",
        "store",
        "lock",
    ] {
        let (path, _) = saved.of_kind(kind);
        let folder = tempfile::tempdir().unwrap();
        saved.write_to(folder.path());
        fs::remove_file(folder.path().join(path)).unwrap();
        let found = opened(folder.path()).await;
        match kind {
            "2.log" | "snapshot" | "store" => assert!(found.is_none(), "{kind}"),
            _ => assert_eq!(&found.unwrap().0, last, "{kind}"),
        }
    }
    // The log and the snapshot in each other's place, and a file of something else.
    let (log, log_bytes) = saved.of_kind("2.log");
    let (snapshot, snapshot_bytes) = saved.of_kind("snapshot");
    for (path, bytes) in [
        (&log, &snapshot_bytes[..]),
        (&snapshot, &log_bytes[..]),
        (&snapshot, b"all of my thesis".as_slice()),
        (&snapshot, b"".as_slice()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        saved.write_to(folder.path());
        fs::write(folder.path().join(path), bytes).unwrap();
        assert!(opened(folder.path()).await.is_none());
        assert_eq!(
            fs::read(folder.path().join(path)).unwrap(),
            bytes,
            "it was written over"
        );
    }
}

#[tokio::test]
async fn a_collection_that_cannot_be_read_can_be_dropped_and_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    saved().await.write_to(folder.path());
    fs::write(folder.path().join("c.snapshot"), "damaged").unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    let mut other = spec(3, Metric::Dot);
    other.name = shelfward_core::CollectionName::new("other").unwrap();
    store.create(&other).await.unwrap();
    assert_eq!(store.list().await.unwrap().len(), 2);
    assert!(store.create(&spec(3, Metric::Dot)).await.is_err());
    assert!(store.drop_collection(&name()).await.unwrap());
    assert_eq!(store.list().await.unwrap(), [other.name]);
    store.create(&spec(3, Metric::Dot)).await.unwrap();
}
