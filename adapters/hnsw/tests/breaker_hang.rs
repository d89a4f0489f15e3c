//! Hangs, panics and lost writes under concurrency.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod common;
use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, Filter, Leg, Metadata, MetadataKey, MetadataPatch, Metric, Scalar, VectorStore,
};
use shelfward_hnsw::HnswStore;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn within(seconds: u64, what: &'static str, job: impl FnOnce() + Send + 'static) {
    let (ended, wait) = mpsc::channel();
    std::thread::spawn(move || {
        job();
        ended.send(()).unwrap();
    });
    wait.recv_timeout(Duration::from_secs(seconds))
        .unwrap_or_else(|e| panic!("{what}: {e}"));
}

async fn storm(store: HnswStore, c: Arc<dyn Collection>, tasks: usize, secs: u64) {
    let end = Instant::now() + Duration::from_secs(secs);
    let mut all = Vec::new();
    for t in 0..tasks {
        let (c, store) = (c.clone(), store.clone());
        all.push(tokio::spawn(async move {
            let mut dice = Dice(t as u64 + 100);
            let mut n = 0;
            while Instant::now() < end {
                n += 1;
                let i = dice.below(400);
                match dice.below(12) {
                    0..=3 => c
                        .upsert(
                            &(0..20)
                                .map(|j| {
                                    record(
                                        &(i + j).to_string(),
                                        &dice.vector(8),
                                        if j % 2 == 0 { "a" } else { "b" },
                                        i as i64,
                                    )
                                })
                                .collect::<Vec<_>>(),
                        )
                        .await
                        .unwrap(),
                    4 => drop(
                        c.delete(
                            &(0..10)
                                .map(|j| key(&(i + j).to_string()))
                                .collect::<Vec<_>>(),
                        )
                        .await
                        .unwrap(),
                    ),
                    5 => drop(
                        c.update_metadata(
                            &field("unit").eq("a").build().unwrap().narrow().unwrap(),
                            &MetadataPatch::new()
                                .set(MetadataKey::new("share").unwrap(), Scalar::from(3_i64)),
                        )
                        .await
                        .unwrap(),
                    ),
                    6 if dice.below(20) == 0 => drop(c.delete_all().await.unwrap()),
                    7 => {
                        let one = [record(&i.to_string(), &dice.vector(8), "a", 1)];
                        let r = c.upsert(&one);
                        drop(
                            tokio::time::timeout(Duration::from_micros(dice.below(600) as u64), r)
                                .await,
                        );
                    }
                    8 if dice.below(10) == 0 => store.settle().await.unwrap(),
                    _ => {
                        let f = field("unit").eq("b").build().unwrap();
                        let found = c
                            .search(&Leg::dense(dice.vector(8), f.clone(), 20))
                            .await
                            .unwrap();
                        assert!(found.hits.iter().all(|h| f.matches(&h.metadata)));
                        let found = c
                            .search(&Leg::dense(dice.vector(8), Filter::everything(), 20))
                            .await
                            .unwrap();
                        let mut keys: Vec<_> = found.hits.iter().map(|h| h.key.clone()).collect();
                        keys.sort();
                        keys.dedup();
                        assert!(keys.len() == found.hits.len());
                    }
                }
            }
            n
        }));
    }
    let mut sum = 0;
    for t in all {
        sum += t.await.unwrap();
    }
    eprintln!("{sum} calls");
}

#[test]
fn a_storm_on_either_runtime_ends_and_every_row_is_found_afterwards() {
    for multi in [false, true] {
        within(90, "storm", move || {
            let rt = if multi {
                tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(3)
                    .enable_all()
                    .build()
            } else {
                tokio::runtime::Builder::new_current_thread()
                    .max_blocking_threads(3)
                    .enable_all()
                    .build()
            }
            .unwrap();
            rt.block_on(async {
                let folder = tempfile::tempdir().unwrap();
                let options = graph_always().with_save_from(60_000);
                let store = HnswStore::open(folder.path(), options).unwrap();
                let c = collection(&store, &spec(8, Metric::Euclidean)).await;
                storm(store.clone(), c.clone(), 40, 8).await;
                store.settle().await.unwrap();
                let before = all(&c).await;
                eprintln!("{:?} {}", store.graph(&name()).await.unwrap(), before.len());
                // Each is its own nearest.
                for r in &before {
                    let q = r.vector.clone().unwrap();
                    let found = c
                        .search(&Leg::dense(q.to_vec(), Filter::everything(), 3))
                        .await
                        .unwrap();
                    assert!(found.hits.iter().any(|h| h.key == r.key), "{}", r.key.id);
                }
                drop(c);
                VectorStore::close(&store).await.unwrap();
                drop(store);
                let store = HnswStore::open(folder.path(), options).unwrap();
                let c = collection(&store, &spec(8, Metric::Euclidean)).await;
                assert!(all(&c).await == before);
            });
        });
    }
}

#[test]
fn a_runtime_that_ends_under_the_jobs_leaves_the_store_whole() {
    within(60, "runtime", || {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..12 {
            let rt = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            let options = graph_always().with_save_from(30_000);
            let store = HnswStore::open(folder.path(), options).unwrap();
            let s = store.clone();
            rt.spawn(async move {
                let c = collection(&s, &spec(8, Metric::Euclidean)).await;
                let mut dice = Dice(round);
                for _ in 0..200 {
                    let c = c.clone();
                    let rs: Vec<_> = (0..50)
                        .map(|j| record(&j.to_string(), &dice.vector(8), "a", j))
                        .collect();
                    tokio::spawn(async move { drop(c.upsert(&rs).await) });
                }
            });
            std::thread::sleep(Duration::from_millis(20 + round * 11));
            if round % 2 == 0 {
                drop(rt)
            } else {
                rt.shutdown_background()
            }
            drop(store);
        }
        std::thread::sleep(Duration::from_secs(2));
        let rt = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        rt.block_on(async {
            let store =
                HnswStore::open(folder.path(), graph_always().with_save_from(30_000)).unwrap();
            let c = collection(&store, &spec(8, Metric::Euclidean)).await;
            let n = all(&c).await.len();
            assert!(n == 0 || n == 50, "{n}");
        });
        let _ = Metadata::new();
    });
}
