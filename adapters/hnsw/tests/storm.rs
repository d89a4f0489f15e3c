//! Many callers at once, some of whom give up: nothing hangs, and nothing is lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{Collection, Filter, Leg, MetadataKey, MetadataPatch, Metric, Record, Scalar};
use shelfward_hnsw::HnswStore;
use tokio::runtime::{Builder, Runtime};

const LONG: Duration = Duration::from_millis(1_500);

fn some(dice: &mut Dice, first: usize, records: usize) -> Vec<Record> {
    (first..first + records)
        .map(|n| {
            let unit = if n % 2 == 0 { "a" } else { "b" };
            record(&n.to_string(), &dice.vector(8), unit, 1)
        })
        .collect()
}

/// One call of the storm.
async fn call(store: &HnswStore, held: &Collection, dice: &mut Dice) {
    let first = dice.below(400);
    match dice.below(12) {
        0..=3 => held.upsert(&some(dice, first, 20)).await.unwrap(),
        4 => {
            let keys: Vec<_> = (first..first + 10).map(|n| key(&n.to_string())).collect();
            let _count = held.delete(&keys).await.unwrap();
        }
        5 => {
            let share = MetadataKey::new("share").unwrap();
            let patch = MetadataPatch::new().set(share, Scalar::from(3_i64));
            let of_a = field("unit").eq("a").build().unwrap().narrow().unwrap();
            let _count = held.update_metadata(&of_a, &patch).await.unwrap();
        }
        6 if dice.below(20) == 0 => {
            let _count = held.delete_all().await.unwrap();
        }
        7 => {
            let one = some(dice, first, 1);
            let patience = Duration::from_micros(dice.roll() % 600);
            if let Ok(written) = tokio::time::timeout(patience, held.upsert(&one)).await {
                written.unwrap();
            }
        }
        8 if dice.below(10) == 0 => store.settle().await.unwrap(),
        _ => {
            let of_b = field("unit").eq("b").build().unwrap();
            let leg = Leg::dense(dice.vector(8), of_b.clone(), 20);
            let found = held.search(&leg).await.unwrap();
            assert!(found.hits.iter().all(|hit| of_b.matches(&hit.metadata)));
            let mut ids = ids(held, &dice.vector(8), Filter::everything(), 20).await;
            let all = ids.len();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), all, "a record was found twice");
        }
    }
}

async fn storm() {
    let folder = tempfile::tempdir().unwrap();
    let options = graph_always().with_save_from(60_000);
    let wanted = spec(8, Metric::Euclidean);
    let store = HnswStore::open(folder.path(), options).unwrap();
    let held = collection(&store, &wanted).await;
    let until = Instant::now() + LONG;
    let callers: Vec<_> = (0..40)
        .map(|caller| {
            let (store, held) = (store.clone(), held.clone());
            tokio::spawn(async move {
                let mut dice = Dice(caller + 100);
                while Instant::now() < until {
                    call(&store, &held, &mut dice).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    store.settle().await.unwrap();
    let before = all(&held).await;
    for stored in before.iter().step_by(5) {
        // Each is its own nearest.
        let query = stored.vector.as_deref().unwrap();
        let found = ids(&held, query, Filter::everything(), 3).await;
        assert!(found.iter().any(|id| *id == stored.key.id.to_string()));
    }
    drop(held);
    close(&store).await;
    drop(store);
    let store = HnswStore::open(folder.path(), options).unwrap();
    assert_eq!(all(&collection(&store, &wanted).await).await, before);
}

/// Fails where a hang would keep a test from ending.
fn ends(runtime: Runtime) {
    let (ended, wait) = mpsc::channel();
    std::thread::spawn(move || {
        runtime.block_on(storm());
        ended.send(()).unwrap();
    });
    // It hangs, or it failed.
    wait.recv_timeout(Duration::from_secs(90)).unwrap();
}

#[test]
fn a_storm_on_several_threads_ends_and_nothing_is_lost() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(3)
        .enable_all()
        .build();
    ends(runtime.unwrap());
}

#[test]
fn a_storm_on_one_thread_ends_and_nothing_is_lost() {
    // Few threads to block on, so that jobs wait for each other.
    let runtime = Builder::new_current_thread()
        .max_blocking_threads(3)
        .enable_all()
        .build();
    ends(runtime.unwrap());
}
