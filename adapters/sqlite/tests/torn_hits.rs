//! Two stores on one file, records that go back and forth, and what always holds of a hit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use shelfward_core::filter::key;
use shelfward_core::{Collection, Filter, Leg, Match, MetadataKey, Record, Value, query_words};
use support::{collection, ids, of_source, open, record, source, spec};

/// One of the two forms of a record: all of it differs.
#[derive(Clone, Copy)]
struct Form {
    group: &'static str,
    text: &'static str,
    vector: [f32; 4],
}

const FORMS: [Form; 2] = [
    Form {
        group: "g0",
        text: "evenword",
        vector: [1.0, 0.0, 0.0, 0.0],
    },
    Form {
        group: "g1",
        text: "oddword",
        vector: [0.0, 1.0, 0.0, 0.0],
    },
];

impl Form {
    fn record(self, index: usize) -> Record {
        let mut record = record("t", "flip", index, 0).with_text(self.text);
        let groups = Value::texts([self.group]).unwrap();
        Arc::make_mut(&mut record.metadata).insert(MetadataKey::new("groups").unwrap(), groups);
        record.vector = self.vector.into();
        record
    }

    fn filter(self) -> Filter {
        let filter = key("tenant").eq("t").and(key("groups").eq(self.group));
        filter.build().unwrap()
    }
}

async fn write(collection: Collection, writer: usize, end: Instant) -> usize {
    let flips = of_source("t", "flip");
    let mut writes = 0;
    while Instant::now() < end {
        writes += 1;
        let form = FORMS[(writes + writer) % 2];
        let records: Vec<_> = (0..3).map(|index| form.record(index)).collect();
        match writes % 5 {
            0 => drop(collection.delete_matching(&flips).await.unwrap()),
            1 => collection.upsert(&records).await.unwrap(),
            _ => drop(collection.replace(&flips, &records).await.unwrap()),
        }
    }
    writes
}

async fn search(collection: Collection, end: Instant) -> usize {
    let mut hits = 0;
    while Instant::now() < end {
        for form in FORMS {
            let filter = form.filter();
            let words = query_words(form.text, spec().word_rule, false).unwrap();
            let near = Leg::dense(form.vector, filter.clone(), 10);
            let worded = Leg::lexical(words, Match::All, filter.clone(), 10);
            let (near, worded) = collection.search_both(&near, &worded).await.unwrap();
            let keys = |found| ids(found).into_iter().collect::<BTreeSet<_>>();
            assert_eq!(keys(&near), keys(&worded));
            for hit in near.hits.iter().chain(&worded.hits) {
                assert!(filter.matches(&hit.metadata), "{:?}", hit.metadata);
                assert_eq!(hit.text.as_deref(), Some(form.text));
            }
            assert!(near.hits.iter().all(|hit| hit.score > 0.999));
            hits += near.hits.len();
        }
    }
    hits
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_hit_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (a, b) = (open(&path), open(&path));
    let both = [collection(&a).await, collection(&b).await];
    both[0].upsert(&source("t", "still", 300, 9)).await.unwrap();
    let end = Instant::now() + Duration::from_secs(3);
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for (writer, collection) in both.iter().enumerate() {
        writers.push(tokio::spawn(write(collection.clone(), writer, end)));
        readers.push(tokio::spawn(search(collection.clone(), end)));
        readers.push(tokio::spawn(search(collection.clone(), end)));
    }
    let (mut writes, mut hits) = (0, 0);
    for writer in writers {
        writes += writer.await.unwrap();
    }
    for reader in readers {
        hits += reader.await.unwrap();
    }
    assert!(writes > 10 && hits > 0, "{writes} writes, {hits} hits");
}

/// A look at the header takes no lock, and may meet a file that is half written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_opens_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.db");
    let store = open(&path);
    let c = collection(&store).await;
    let writer = tokio::spawn(async move {
        for round in 0..150 {
            c.upsert(&source("t", "s", 40, round)).await.unwrap();
        }
    });
    while !writer.is_finished() {
        let path = path.clone();
        tokio::task::spawn_blocking(move || drop(open(&path)))
            .await
            .unwrap();
    }
    writer.await.unwrap();
    assert_eq!(store.list().await.unwrap().len(), 1);
}
