//! Attempts to break the store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use common::*;
use shelfward_core::{Collection, Filter, Metric, Record, VectorStore};
use shelfward_hnsw::{HnswOptions, HnswStore};

fn recall(found: &[String], truth: &[String]) -> f64 {
    let truth: HashSet<&String> = truth.iter().collect();
    found.iter().filter(|id| truth.contains(id)).count() as f64 / truth.len() as f64
}

fn truth(records: &[Record], query: &[f32], k: usize) -> Vec<String> {
    let mut scored: Vec<(f64, String)> = records
        .iter()
        .map(|r| {
            (
                score(Metric::Euclidean, &r.vector, query),
                r.key.id.to_string(),
            )
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(k).map(|(_, id)| id).collect()
}

/// A save that fails behind its graph leaves the graph's files under the next generation's number. A
/// later save of that generation without a graph keeps them, and the next opening takes them.
#[tokio::test(flavor = "multi_thread")]
async fn a_graph_of_a_save_that_failed_is_not_taken_for_other_rows() {
    const N: usize = 3_000;
    const W: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    let options = graph_always().with_save_from(1);
    let store = HnswStore::open(folder.path(), options).unwrap();
    let c = collection(&store, &spec(W as u32, Metric::Euclidean)).await;
    // The log of generation 2 cannot be made.
    let in_the_way = folder.path().join("c.2.log");
    std::fs::create_dir(&in_the_way).unwrap();
    let mut dice = Dice(1);
    let mut put = |n: usize| -> Vec<Record> {
        (0..n)
            .map(|i| record(&format!("{i:05}"), &dice.vector(W), "u", i as i64))
            .collect()
    };
    let first = put(N);
    c.upsert(&first).await.unwrap();
    store.settle().await.unwrap();
    // The log doubles: a save with a graph, which fails.
    for _ in 0..4 {
        c.upsert(&first).await.unwrap();
        store.settle().await.unwrap();
    }
    assert!(folder.path().join("c.1.log").exists());
    let _ = std::fs::remove_dir(&in_the_way);
    eprintln!("before: {:?}", store.graph(&name()).await.unwrap());
    let sums = |what: &str| {
        let mut sums = Vec::new();
        for f in [
            "c.2.graph",
            "c.2.hnsw.data",
            "c.2.hnsw.graph",
            "c.1.log",
            "c.2.log",
            "c.snapshot",
        ] {
            let m = std::fs::metadata(folder.path().join(f)).ok();
            sums.push((
                f,
                m.as_ref().map(|m| m.len()),
                m.map(|m| m.modified().unwrap().elapsed().unwrap().as_millis()),
            ));
        }
        eprintln!("{what}: {sums:?}");
    };
    sums("set");
    c.delete_all().await.unwrap();
    store.settle().await.unwrap();
    sums("deleted");
    let last = put(N);
    c.upsert(&last).await.unwrap();
    // At once: the graph is not built yet.
    sums("upserted");
    close(&store).await;
    drop((c, store));
    sums("closed");
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    eprintln!("{names:?}");
    let store = HnswStore::open(folder.path(), options).unwrap();
    let c = collection(&store, &spec(W as u32, Metric::Euclidean)).await;
    eprintln!("opened: {:?}", store.graph(&name()).await.unwrap());
    let t = Instant::now();
    store.settle().await.unwrap();
    eprintln!("settled in {:?}", t.elapsed());
    eprintln!("{:?}", store.graph(&name()).await.unwrap());
    let mut sum = 0.0;
    let mut dice = Dice(99);
    for _ in 0..20 {
        let query = dice.vector(W);
        let found = ids(&c, &query, Filter::everything(), 10).await;
        sum += recall(&found, &truth(&last, &query, 10));
    }
    eprintln!("{:?}", store.graph(&name()).await.unwrap());
    assert!(sum / 20.0 > 0.9, "recall {}", sum / 20.0);
}

fn copied(from: &std::path::Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    copy
}

/// Called bare: a vector of another width is refused, or at least does not end the collection.
#[tokio::test]
async fn a_vector_of_another_width_does_not_end_the_collection() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    store.create(&spec(2, Metric::Dot)).await.unwrap();
    let c = store.open(&name()).await.unwrap().unwrap();
    c.upsert(&[record("a", &[1.0, 2.0], "u", 1)]).await.unwrap();
    let wide = c.upsert(&[record("b", &[1.0, 2.0, 3.0], "u", 1)]).await;
    eprintln!("{wide:?}");
    // As a kill leaves it.
    let copy = copied(folder.path());
    let store = HnswStore::open(copy.path(), HnswOptions::default()).unwrap();
    let c = store.open(&name()).await.map(|c| c.unwrap());
    assert!(c.is_ok(), "{:?}", c.err());
}

/// A disk that is full: what returned Ok is there afterwards, what failed is not.
#[tokio::test]
async fn a_full_disk_loses_nothing() {
    let Ok(disk) = std::env::var("BREAKER_TMPFS") else {
        return;
    };
    for sync in [true, false] {
        let folder = tempfile::tempdir_in(&disk).unwrap();
        let options = graph_always().with_sync(sync).with_save_from(300_000);
        let mut expected = std::collections::BTreeMap::new();
        let mut failed = 0;
        {
            let store = HnswStore::open(folder.path(), options).unwrap();
            let c = collection(&store, &spec(32, Metric::Dot)).await;
            let mut dice = Dice(5);
            let mut ballast: Vec<std::path::PathBuf> = Vec::new();
            for round in 0..3_000_i64 {
                let n = 1 + dice.below(40);
                let records: Vec<Record> = (0..n)
                    .map(|_| record(&dice.below(600).to_string(), &dice.vector(32), "u", round))
                    .collect();
                match round % 7 {
                    0 => {
                        let at = std::path::Path::new(&disk).join(format!("ballast{round}"));
                        let _ = std::fs::write(&at, vec![1_u8; 60_000]);
                        ballast.push(at);
                    }
                    5 if ballast.len() > 8 => {
                        for at in ballast.drain(..) {
                            std::fs::remove_file(at).unwrap();
                        }
                    }
                    _ => {}
                }
                match c.upsert(&records).await {
                    Ok(()) => {
                        for r in records {
                            expected.insert(r.key.id.to_string(), r);
                        }
                    }
                    Err(e) => {
                        failed += 1;
                        if failed < 3 {
                            eprintln!(
                                "{e} / {:?}",
                                std::error::Error::source(&e).map(|s| s.to_string())
                            );
                        }
                    }
                }
                if round % 250 == 249 {
                    // As a kill leaves it.
                    let copy = copied(folder.path());
                    let there = HnswStore::open(copy.path(), options).unwrap();
                    let there = collection(&there, &spec(32, Metric::Dot)).await;
                    check(&there, &expected, round).await;
                    check(&c, &expected, round).await;
                }
            }
            for at in ballast {
                let _ = std::fs::remove_file(at);
            }
            eprintln!(
                "sync {sync}: {failed} failed; {:?}",
                store.graph(&name()).await.unwrap()
            );
            // Close on a full disk.
            let _ = std::fs::write(
                std::path::Path::new(&disk).join("ballast"),
                vec![1_u8; 3_000_000],
            );
            drop(c);
            eprintln!("closed: {:?}", VectorStore::close(&store).await);
            let _ = std::fs::remove_file(std::path::Path::new(&disk).join("ballast"));
        }
        let store = HnswStore::open(folder.path(), options).unwrap();
        let c = collection(&store, &spec(32, Metric::Dot)).await;
        check(&c, &expected, -1).await;
    }
}

async fn check(
    c: &std::sync::Arc<dyn Collection>,
    expected: &std::collections::BTreeMap<String, Record>,
    round: i64,
) {
    let there = all(c).await;
    assert_eq!(there.len(), expected.len(), "round {round}");
    for r in there {
        let e = &expected[r.key.id.as_str()];
        assert!(
            r.vector.as_deref() == Some(&*e.vector) && *r.metadata == *e.metadata,
            "round {round} {}",
            r.key.id
        );
    }
}

/// Rule 6: what was dropped happened or did not by the time the drop returns.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_was_dropped_does_not_land_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    let c = collection(&store, &spec(64, Metric::Dot)).await;
    let mut dice = Dice(3);
    let records: Vec<Record> = (0..4_000)
        .map(|i| record(&format!("{i:05}"), &dice.vector(64), "u", i))
        .collect();
    let mut late = Vec::new();
    for wait in [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192] {
        c.delete_all().await.unwrap();
        let written = tokio::time::timeout(Duration::from_millis(wait), c.upsert(&records)).await;
        // The future is gone.
        let count = |c: std::sync::Arc<dyn Collection>| async move {
            c.count(&Filter::everything())
                .await
                .unwrap()
                .exact()
                .unwrap()
        };
        let at_once = count(c.clone()).await;
        tokio::time::sleep(Duration::from_millis(800)).await;
        let later = count(c.clone()).await;
        if at_once != later {
            late.push((wait, written.is_ok(), at_once, later));
        }
    }
    assert!(late.is_empty(), "(ms, returned, at once, later): {late:?}");
}

/// A drop that failed says so, and what is written afterwards is not lost.
#[tokio::test]
async fn what_is_written_after_a_drop_that_failed_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let store = HnswStore::open(folder.path(), HnswOptions::default()).unwrap();
    let c = collection(&store, &spec(2, Metric::Dot)).await;
    c.upsert(&[record("a", &[1.0, 2.0], "u", 1)]).await.unwrap();
    std::fs::create_dir(folder.path().join("c.7.log")).unwrap();
    let dropped = store.drop_collection(&name()).await;
    eprintln!("{dropped:?}");
    assert!(dropped.is_err());
    let written = c.upsert(&[record("b", &[1.0, 2.0], "u", 1)]).await;
    eprintln!(
        "written {written:?} count {:?}",
        c.count(&Filter::everything()).await
    );
    // As a kill would leave it.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let store = HnswStore::open(copy.path(), HnswOptions::default()).unwrap();
    let again = store.open(&name()).await.unwrap();
    assert_eq!(
        written.is_ok(),
        again.is_some(),
        "a write that returned is gone"
    );
}

/// The snapshot of a collection that was dropped, put beside the log of the one made anew.
#[tokio::test]
async fn a_snapshot_of_a_dropped_collection_is_not_joined_with_the_log_of_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let options = HnswOptions::default();
    {
        let store = HnswStore::open(folder.path(), options).unwrap();
        let c = collection(&store, &spec(2, Metric::Dot)).await;
        c.upsert(&[record("old", &[1.0, 2.0], "u", 1)])
            .await
            .unwrap();
        drop(c);
        close(&store).await;
    }
    let old = std::fs::read(folder.path().join("c.snapshot")).unwrap();
    {
        let store = HnswStore::open(folder.path(), options).unwrap();
        store.drop_collection(&name()).await.unwrap();
        let c = collection(&store, &spec(2, Metric::Dot)).await;
        c.upsert(&[record("new", &[1.0, 2.0], "u", 1)])
            .await
            .unwrap();
        drop(c);
        close(&store).await;
    }
    std::fs::write(folder.path().join("c.snapshot"), &old).unwrap();
    let store = HnswStore::open(folder.path(), options).unwrap();
    match store.open(&name()).await {
        Err(e) => eprintln!("refused: {e}"),
        Ok(c) => {
            let all = all(&c.unwrap()).await;
            panic!(
                "opened with {:?}",
                all.iter().map(|r| r.key.id.to_string()).collect::<Vec<_>>()
            );
        }
    }
}

/// Many rows whose vectors are equal but for the sign of zero.
#[tokio::test(flavor = "multi_thread")]
async fn signed_zeros_do_not_cut_a_graph() {
    for how in ["equal", "noise", "signs"] {
        let recall = cut(how).await;
        eprintln!("{how}: recall {recall}");
        if how == "signs" {
            assert!(recall > 0.9, "recall {recall}");
        }
    }
}

async fn cut(how: &str) -> f64 {
    let store = HnswStore::in_memory_with(graph_always()).unwrap();
    let c = collection(&store, &spec(24, Metric::Euclidean)).await;
    let mut dice = Dice(3);
    let mut records = Vec::new();
    for i in 0..3_000 {
        let mut v = vec![0.0_f32; 24];
        if i % 2 == 0 {
            for x in &mut v {
                *x = match how {
                    "signs" => {
                        if dice.below(2) == 0 {
                            0.0
                        } else {
                            -0.0
                        }
                    }
                    "noise" => dice.number() * 1e-6,
                    _ => 0.0,
                };
            }
            v[0] = 0.5;
        } else {
            v = dice.vector(24);
        }
        records.push(record(&format!("{i:05}"), &v, "u", i));
    }
    c.upsert(&records).await.unwrap();
    let t = Instant::now();
    store.settle().await.unwrap();
    eprintln!(
        "{:?} {:?}",
        t.elapsed(),
        store.graph(&name()).await.unwrap()
    );
    let mut sum = 0.0;
    for _ in 0..50 {
        let query = dice.vector(24);
        let found = ids(&c, &query, Filter::everything(), 10).await;
        sum += recall(&found, &truth(&records, &query, 10));
    }
    sum / 50.0
}

/// A save that failed on a full disk gives back what it took.
#[tokio::test]
async fn a_save_that_failed_leaves_the_disk_to_the_log() {
    let Ok(disk) = std::env::var("BREAKER_TMPFS") else {
        return;
    };
    let folder = tempfile::tempdir_in(&disk).unwrap();
    let options = graph_always().with_save_from(700_000);
    let store = HnswStore::open(folder.path(), options).unwrap();
    let c = collection(&store, &spec(64, Metric::Dot)).await;
    let mut dice = Dice(5);
    let mut n = 0;
    while n < 20_000 {
        n += 1;
        if let Err(e) = c
            .upsert(&[record(&n.to_string(), &dice.vector(64), "u", 1)])
            .await
        {
            eprintln!("{n}: {e} {:?}", e.kind());
            break;
        }
        if n % 100 == 0 {
            store.settle().await.unwrap();
        }
    }
    let sizes = || {
        std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| {
                let e = e.unwrap();
                (e.file_name(), e.metadata().unwrap().len())
            })
            .collect::<Vec<_>>()
    };
    eprintln!("{:?}", sizes());
    let mut failed = 0;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        failed += usize::from(
            c.upsert(&[record("x", &dice.vector(64), "u", 1)])
                .await
                .is_err(),
        );
    }
    let names: Vec<String> = sizes()
        .into_iter()
        .map(|(n, _)| n.into_string().unwrap())
        .collect();
    drop(c);
    let in_memory_of_it = sizes();
    eprintln!("{failed} of 50 failed; {in_memory_of_it:?}");
    assert!(
        !names.iter().any(|n| n.ends_with("in-writing")),
        "{names:?}"
    );
}
