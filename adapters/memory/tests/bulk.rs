//! Writes of many rows, step by step on one thread.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use shelfward_core::{
    CollectionName, CollectionSpec, ErrorKind, Filter, Key, Leg, Metric, Record, Store, Text,
};
use shelfward_memory::MemoryStore;

const MANY: usize = 5_000;

fn spec() -> CollectionSpec {
    CollectionSpec::new(CollectionName::new("c").unwrap(), 1, Metric::Dot, "none")
}

fn records(x: f32) -> Vec<Record> {
    let key = |n| Key::new(Text::new(format!("{n}")).unwrap());
    (0..MANY).map(|n| Record::new(key(n), [x])).collect()
}

/// Polls once; answers what there is by then.
fn step<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_bulk_write_gives_way_to_readers_and_is_seen_whole_at_its_end() {
    let store = Store::new(MemoryStore::new());
    let collection = store.ensure(&spec()).await.unwrap();
    let leg = Leg::dense([1.0], Filter::everything(), MANY);
    let scores = || async {
        let found = collection.search(&leg).await.unwrap();
        found.hits.iter().map(|hit| hit.score).sum::<f64>()
    };
    let (first, second) = (records(1.0), records(2.0));
    let mut write = pin!(collection.upsert(&first));
    let mut steps = 0;
    while step(write.as_mut()).is_none() {
        assert!(scores().await.abs() < 1e-9);
        steps += 1;
    }
    assert!(steps > 3, "{steps}");
    assert!((scores().await - 5_000.0).abs() < 1e-9);
    // Dropped after any number of steps: nothing happened, and the next one has its turn.
    for given in 0..steps {
        let mut dropped = Box::pin(collection.upsert(&second));
        for _ in 0..given {
            assert!(step(dropped.as_mut()).is_none());
        }
        drop(dropped);
        assert!((scores().await - 5_000.0).abs() < 1e-9);
        collection.upsert(&first[..1]).await.unwrap();
    }
    collection.upsert(&second).await.unwrap();
    assert!((scores().await - 10_000.0).abs() < 1e-9);
}

#[tokio::test]
async fn a_small_write_waits_for_a_bulk_one_and_is_not_lost() {
    let store = Store::new(MemoryStore::new());
    let collection = store.ensure(&spec()).await.unwrap();
    let many = records(1.0);
    let few = [Record::new(Key::new(Text::new("few").unwrap()), [7.0])];
    let mut bulk = pin!(collection.upsert(&many));
    let mut small = pin!(collection.upsert(&few));
    assert!(step(bulk.as_mut()).is_none());
    assert!(step(small.as_mut()).is_none());
    bulk.await.unwrap();
    small.await.unwrap();
    let count = collection.count(&Filter::everything()).await.unwrap();
    assert_eq!(count.exact(), Some(MANY as u64 + 1));
}

#[tokio::test]
async fn a_bulk_write_into_what_was_dropped_meanwhile_is_refused() {
    let store = Store::new(MemoryStore::new());
    let collection = store.ensure(&spec()).await.unwrap();
    let many = records(1.0);
    let mut bulk = pin!(collection.upsert(&many));
    assert!(step(bulk.as_mut()).is_none());
    assert!(store.drop_collection(&spec().name).await.unwrap());
    let anew = store.ensure(&spec()).await.unwrap();
    let refused = bulk.await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::StaleHandle));
    let count = anew.count(&Filter::everything()).await.unwrap();
    assert_eq!(count.exact(), Some(0));
}

#[tokio::test]
async fn ensuring_what_is_there_waits_for_no_writer() {
    let store = Store::new(MemoryStore::new());
    let collection = store.ensure(&spec()).await.unwrap();
    let many = records(1.0);
    let mut write = pin!(collection.upsert(&many));
    assert!(step(write.as_mut()).is_none(), "it is under way");
    let again = spec();
    let mut ensured = pin!(store.ensure(&again));
    let ensured = step(ensured.as_mut()).expect("it waits for the writer");
    ensured.unwrap();
    write.await.unwrap();
}
