//! What happens when locks are held for long, and when a change ends in the middle.

use std::future::poll_fn;
use std::path::Path;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use shelfward_core::adapter::CollectionAdapter as _;
use shelfward_core::{CollectionName, Filter, Key, Metric, Persistence, Record, Text};
use shelfward_resident::WriteBatch;

use super::*;
use crate::collection::HnswCollection;
use crate::store_handle::StoreHandle;

/// Fails where a hang would keep a test from ending.
const DEADLINE: Duration = Duration::from_secs(30);

fn spec(name: &str) -> CollectionSpec {
    CollectionSpec::new(CollectionName::new(name).unwrap(), 2, Metric::Dot, "none")
}

fn made(handle: &StoreHandle, name: &str) -> Arc<CollectionState> {
    handle
        .store
        .create(&spec(name), &CancelToken::default())
        .unwrap();
    handle.store.open(&spec(name).name).unwrap().unwrap()
}

fn record(id: &str) -> Record {
    Record::new(Key::new(Text::new(id).unwrap()), [1.0, 2.0])
}

#[test]
fn reads_go_on_while_more_writes_wait_than_there_are_threads() {
    const THREADS: usize = 16;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(THREADS)
        .enable_all()
        .build()
        .unwrap();
    let handle = Arc::new(StoreHandle::in_memory_by_default());
    let states: Vec<_> = (0..2 * THREADS)
        .map(|n| made(&handle, &format!("c{n}")))
        .collect();
    runtime.block_on(async {
        let open =
            |state: &Arc<CollectionState>| HnswCollection::open(state.clone(), handle.clone());
        let held: Vec<_> = states.iter().map(open).collect();
        let records: Vec<_> = (0..3).map(|n| [record(&n.to_string())]).collect();
        let guards: Vec<_> = states.iter().map(|state| state.files()).collect();
        let mut writes: Vec<_> = (held.iter())
            .flat_map(|held| records.iter().map(|record| held.upsert(record)))
            .collect();
        for write in &mut writes {
            let begun = poll_fn(|context| Poll::Ready(write.as_mut().poll(context)));
            assert!(begun.await.is_pending());
        }
        let everything = Filter::everything();
        let read = tokio::time::timeout(DEADLINE, held[0].count(&everything)).await;
        drop(guards);
        // All of them together: one that is not polled may have another one's place.
        let all_written = poll_fn(|context| {
            writes.retain_mut(|write| match write.as_mut().poll(context) {
                Poll::Ready(written) => {
                    written.unwrap();
                    false
                }
                Poll::Pending => true,
            });
            if writes.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        all_written.await;
        read.expect("no read waits for a writer").unwrap();
        assert_eq!(held[0].count(&everything).await.unwrap().exact(), Some(3));
    });
}

#[test]
fn a_collection_is_opened_while_another_one_is_being_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let handle = Arc::new(StoreHandle::open(folder.path(), HnswOptions::default()).unwrap());
    let dropped = made(&handle, "dropped");
    made(&handle, "other");
    // A drop waits for a save.
    let saving = dropped.saving();
    let (say, ended) = mpsc::channel();
    std::thread::scope(|scope| {
        let (handle, of_drop) = (&handle, say.clone());
        let (started, start) = mpsc::channel();
        scope.spawn(move || {
            started.send(()).unwrap();
            let name = &spec("dropped").name;
            of_drop.send((
                true,
                handle
                    .store
                    .drop_collection(name, &CancelToken::default())
                    .is_ok(),
            ))
        });
        scope.spawn(move || {
            start.recv().unwrap();
            for _ in 0..1_000 {
                handle.store.open(&spec("other").name).unwrap().unwrap();
                std::thread::yield_now();
            }
            say.send((false, true))
        });
        let first = ended.recv_timeout(DEADLINE);
        drop(saving);
        assert_eq!(first, Ok((false, true)), "it waited for the drop");
        assert_eq!(ended.recv_timeout(DEADLINE), Ok((true, true)));
    });
}

#[test]
fn a_change_that_panics_behind_its_log_is_never_served_by_half_nor_saved() {
    let folder = tempfile::tempdir().unwrap();
    let handle = Arc::new(StoreHandle::open(folder.path(), HnswOptions::default()).unwrap());
    let state = made(&handle, "c");
    let put = |records: &[Record]| {
        let records = records.to_vec();
        move |view: &WriterView| {
            let put = records.clone();
            let batch = WriteBatch {
                put,
                ..WriteBatch::default()
            };
            Ok((view.log_entry(batch), ()))
        }
    };
    let token = CancelToken::default();
    let upsert = Operation::Upsert;
    state.change(upsert, &token, put(&[record("a")])).unwrap();
    let both = put(&[record("b"), record("c")]);
    let halved = |contents: &mut Contents, entry: &LogEntry| {
        let mut half = entry.clone();
        half.put.truncate(1);
        drop(contents.apply(&half));
        panic!("in the middle of a change");
    };
    let failed = state.change_by(upsert, &token, both, halved).unwrap_err();
    assert_eq!(failed.persistence(), Persistence::Unknown, "{failed}");

    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let held = HnswCollection::open(state.clone(), handle.clone());
        let everything = Filter::everything();
        let read = held.count(&everything).await.unwrap_err();
        assert!(
            read.to_string().contains("open the collection again"),
            "{read}"
        );
        let write = held.upsert(&[record("d")]).await.unwrap_err();
        assert!(write.changed_nothing(), "{write}");
    });
    assert!(state.save().is_err());
    // The write was in the log, so whoever opens the collection anew finds all of it.
    let count = |state: &CollectionState| state.read().rows.len();
    let name = &spec("c").name;
    let again = handle.store.open(name).unwrap().unwrap();
    assert_eq!(count(&again), 3);
    again.change(upsert, &token, put(&[record("d")])).unwrap();
    drop((state, again));
    handle.close().unwrap();
    let handle = StoreHandle::open(Path::new(folder.path()), HnswOptions::default()).unwrap();
    assert_eq!(count(&handle.store.open(name).unwrap().unwrap()), 4);
}
