//! Handles: several on one collection, stale ones, closed ones, and fields declared later.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use shelfward_core::{
    CollectionName, CollectionSpec, Cursor, ErrorKind, Field, FieldKind, Filter, Include, Key, Leg,
    Metadata, MetadataKey, Metric, Record, Store, StoreError, Text,
};
use shelfward_memory::MemoryStore;

fn spec() -> CollectionSpec {
    CollectionSpec::new(CollectionName::new("c").unwrap(), 1, Metric::Dot, "none")
}

fn record(id: &str) -> Record {
    Record::new(Key::new(Text::new(id).unwrap()), [1.0])
}

fn is_stale(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::StaleHandle)
}

#[tokio::test]
async fn a_handle_of_a_dropped_collection_reads_and_writes_nothing_of_the_new_one() {
    let store = Store::new(MemoryStore::new());
    let old = store.ensure(&spec()).await.unwrap();
    old.upsert(&[record("old")]).await.unwrap();
    assert!(store.drop_collection(&spec().name).await.unwrap());
    let new = store.ensure(&spec()).await.unwrap();
    assert!(is_stale(&old.upsert(&[record("late")]).await.unwrap_err()));
    assert!(is_stale(
        &old.count(&Filter::everything()).await.unwrap_err()
    ));
    let leg = Leg::dense([1.0], Filter::everything(), 1);
    assert!(is_stale(&old.search(&leg).await.unwrap_err()));
    assert_eq!(
        new.count(&Filter::everything()).await.unwrap().exact(),
        Some(0)
    );
}

#[tokio::test]
async fn closing_one_handle_leaves_the_others_open() {
    let memory = MemoryStore::new();
    let (a, b) = (Store::new(memory.clone()), Store::new(memory));
    let in_a = a.ensure(&spec()).await.unwrap();
    let in_b = b.open(&spec().name).await.unwrap();
    a.close().await.unwrap();
    assert!(in_a.upsert(&[record("1")]).await.is_err());
    assert!(a.list().await.is_err());
    in_b.upsert(&[record("1")]).await.unwrap();
    assert_eq!(b.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn fields_are_added_when_what_is_stored_keeps_to_them() {
    let store = Store::new(MemoryStore::new());
    let early = store.ensure(&spec()).await.unwrap();
    let year = MetadataKey::new("year").unwrap();
    let held = Metadata::new().with("year", "two thousand").unwrap();
    early
        .upsert(&[record("1").with_metadata(held)])
        .await
        .unwrap();

    let more = spec().with_fields([Field::new(year.clone(), FieldKind::Integer)]);
    let error = store.ensure(&more).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Metadata(_)), "{error}");
    assert!(
        store
            .open(&spec().name)
            .await
            .unwrap()
            .spec()
            .fields
            .is_empty()
    );

    early
        .upsert(&[record("1").with_metadata(Metadata::new().with("year", 2000_i64).unwrap())])
        .await
        .unwrap();
    assert_eq!(store.ensure(&more).await.unwrap().spec().fields.len(), 1);
    // The handle from before knows nothing of the field, and is held to it all the same.
    let text = Metadata::new().with("year", "2001").unwrap();
    assert!(
        early
            .upsert(&[record("2").with_metadata(text)])
            .await
            .unwrap_err()
            .is_refusal()
    );
}

#[tokio::test]
async fn a_scan_goes_on_where_it_was_through_changes() {
    let store = Store::new(MemoryStore::new());
    let collection = store.ensure(&spec()).await.unwrap();
    let records: Vec<_> = ["a:1", "b", "-:c", "d", "é"].map(record).into();
    collection.upsert(&records).await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let page = collection
            .scan(&Filter::everything(), after.as_ref(), 2, Include::METADATA)
            .await
            .unwrap();
        seen.extend(page.records.iter().map(|r| r.key.id.to_string()));
        // The record that the cursor names may go; what follows it must not be skipped.
        collection
            .delete(&[page.records.last().unwrap().key.clone()])
            .await
            .unwrap();
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["-:c", "a:1", "b", "d", "é"]);
    let foreign = Cursor::new("9:x");
    assert!(
        collection
            .scan(&Filter::everything(), Some(&foreign), 2, Include::METADATA)
            .await
            .is_err()
    );
}
