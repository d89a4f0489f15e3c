//! Handles: several on one file, stale ones, closed ones, fields declared later, values that return.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use shelfward_core::adapter::StoreAdapter;
use shelfward_core::filter::key;
use shelfward_core::{
    CollectionName, CollectionSpec, Cursor, ErrorKind, Field, FieldKind, Filter, Include, Key,
    Metadata, MetadataKey, MetadataPatch, Metric, Precondition, Record, Scalar, Store, StoreError,
    Text, Value,
};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::{
    collection, dense, everything, ids, lexical, name, of_source, of_tenant, open, record, rows,
    source, spec, versions,
};

fn plain() -> CollectionSpec {
    CollectionSpec::new(name(), 1, Metric::Dot, "none")
}

fn bare(id: &str) -> Record {
    Record::new(Key::new(Text::new(id).unwrap()), [1.0])
}

fn is_stale(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::StaleHandle)
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_others_writes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let (a, b) = (open(&path), open(&path));
    let (a, b) = (collection(&a).await, collection(&b).await);
    let tenant = of_tenant("t");
    for version in 0..20 {
        let selector = of_source("t", "s");
        a.replace(&selector, &source("t", "s", 5, version))
            .await
            .unwrap();
        let v = i64::try_from(version).unwrap();
        assert_eq!(versions(&b, "t", "s").await, [v; 5]);
        let words = format!("v{version}");
        let found = b
            .search(&lexical(&words, tenant.clone(), 10))
            .await
            .unwrap();
        assert_eq!(found.hits.len(), 5);

        // A narrowing by one is in force for the other at once, on both legs.
        let narrow = MetadataPatch::new().set(
            MetadataKey::new("groups").unwrap(),
            Value::texts(["team:9"]).unwrap(),
        );
        b.update_metadata(&selector, &narrow).await.unwrap();
        let everybody = key("groups").eq("all").and(key("tenant").eq("t"));
        let everybody = everybody.build().unwrap();
        let (near, worded) = a
            .search_both(
                &dense(everybody.clone(), 10),
                &lexical("berth", everybody.clone(), 10),
            )
            .await
            .unwrap();
        assert!(near.hits.is_empty() && worded.hits.is_empty());

        // So is a removal.
        let gone = record("t", "s", 3, 0).key;
        a.delete(&[gone]).await.unwrap();
        let found = b.search(&dense(tenant.clone(), 10)).await.unwrap();
        let mut found = ids(&found);
        found.sort();
        assert_eq!(found, ["s#0000", "s#0001", "s#0002", "s#0004"]);
    }
    b.delete_all().await.unwrap();
    assert!(
        a.search(&dense(Filter::everything(), 10))
            .await
            .unwrap()
            .hits
            .is_empty()
    );
}

#[tokio::test]
async fn what_was_written_is_there_when_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.db");
    let written = {
        let store = open(&path);
        let collection = collection(&store).await;
        collection.upsert(&source("t", "s", 50, 1)).await.unwrap();
        let held = everything(&collection).await.unwrap();
        store.close().await.unwrap();
        held
    };
    // The last handle leaves one file behind.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
    let store = open(&path);
    let collection = store.open(&name()).await.unwrap();
    assert_eq!(*collection.spec(), spec());
    assert_eq!(everything(&collection).await.unwrap(), written);
    let found = collection
        .search(&dense(of_tenant("t"), 100))
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 50);
}

#[tokio::test]
async fn a_handle_of_a_dropped_collection_reads_and_writes_nothing_of_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stale.db");
    let (store, other) = (open(&path), open(&path));
    let old = store.ensure(&plain()).await.unwrap();
    old.upsert(&[bare("old")]).await.unwrap();
    let leg = shelfward_core::Leg::dense([1.0], Filter::everything(), 1);
    assert_eq!(old.search(&leg).await.unwrap().hits.len(), 1);
    assert!(other.drop_collection(&name()).await.unwrap());
    assert!(is_stale(&old.search(&leg).await.unwrap_err()));
    let new = other.ensure(&plain()).await.unwrap();
    assert!(is_stale(&old.upsert(&[bare("late")]).await.unwrap_err()));
    assert!(is_stale(
        &old.count(&Filter::everything()).await.unwrap_err()
    ));
    assert!(is_stale(&old.search(&leg).await.unwrap_err()));
    assert_eq!(rows(&new).await, 0);
    // The same store opens the new one.
    let again = store.open(&name()).await.unwrap();
    assert_eq!(again.search(&leg).await.unwrap().hits.len(), 0);
}

#[tokio::test]
async fn closing_one_handle_leaves_the_others_open() {
    let sqlite = SqliteStore::in_memory().unwrap();
    let (a, b) = (Store::new(sqlite.clone()), Store::new(sqlite));
    let in_a = a.ensure(&plain()).await.unwrap();
    let in_b = b.open(&name()).await.unwrap();
    a.close().await.unwrap();
    assert!(in_a.upsert(&[bare("1")]).await.is_err());
    assert!(a.list().await.is_err());
    in_b.upsert(&[bare("1")]).await.unwrap();
    assert_eq!(b.list().await.unwrap().len(), 1);
    b.close().await.unwrap();
    assert!(in_b.count(&Filter::everything()).await.is_err());
}

#[tokio::test]
async fn fields_are_added_when_what_is_stored_keeps_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fields.db");
    let store = open(&path);
    let open_spec = plain().with_open_fields(true);
    let early = store.ensure(&open_spec).await.unwrap();
    let year = MetadataKey::new("year").unwrap();
    let held = Metadata::new().with("year", "two thousand").unwrap();
    early
        .upsert(&[bare("1").with_metadata(held)])
        .await
        .unwrap();

    let tags = Field::new(MetadataKey::new("tags").unwrap(), FieldKind::TextList);
    let more = (open_spec.clone()).with_fields([Field::new(year, FieldKind::Integer), tags]);
    let error = store.ensure(&more).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Metadata(_)), "{error}");
    let still = store.open(&name()).await.unwrap();
    assert!(still.spec().fields.is_empty());
    assert_eq!(rows(&still).await, 1);

    let held = Metadata::new().with("year", 2000_i64).unwrap();
    let held = held.with("tags", ["x", "y"]).unwrap();
    early
        .upsert(&[bare("1").with_metadata(held)])
        .await
        .unwrap();
    let filter = |json: &str| Filter::from_json(json).unwrap();
    let by_year = filter(r#"{"year":{"$gt":1999},"tags":"y"}"#);
    let leg = shelfward_core::Leg::dense([1.0], by_year.clone(), 1);
    assert_eq!(early.search(&leg).await.unwrap().hits.len(), 1);
    let now = store.ensure(&more).await.unwrap();
    assert_eq!(now.spec().fields.len(), 2);
    for handle in [&now, &early] {
        assert_eq!(handle.count(&by_year).await.unwrap().exact(), Some(1));
        assert_eq!(handle.search(&leg).await.unwrap().hits.len(), 1);
    }
    // The handle from before knows nothing of the field, and is held to it all the same.
    let text = Metadata::new().with("year", "2001").unwrap();
    let refused = early.upsert(&[bare("2").with_metadata(text)]).await;
    assert!(refused.unwrap_err().is_refusal());
    // The tables are those that a store would have made at once.
    store.close().await.unwrap();
    let again = open(&path).open(&name()).await.unwrap();
    assert_eq!(*again.spec(), more);
    assert_eq!(again.count(&by_year).await.unwrap().exact(), Some(1));
}

#[tokio::test]
async fn values_come_back_as_they_were_given() {
    let store = Store::new(SqliteStore::in_memory().unwrap());
    let collection = store.ensure(&plain().with_open_fields(true)).await.unwrap();
    let floats = [
        5.0,
        0.1,
        1e300,
        5e-324,
        f64::MAX,
        9_007_199_254_740_993.0,
        1e19,
        -1e-7,
        123_456_789.123_456_78,
    ];
    let mut metadata = Metadata::new()
        .with("least", i64::MIN)
        .and_then(|m| m.with("most", i64::MAX))
        .and_then(|m| m.with("true", true))
        .and_then(|m| m.with("text", "\"q\"\\\n\u{7f}\u{2028}é e\u{301} \u{10ffff}"))
        .and_then(|m| m.with("empty", Vec::<i64>::new()))
        .and_then(|m| {
            m.with(
                "mixed",
                vec![Scalar::from(1_i64), Scalar::float(1.0).unwrap()],
            )
        })
        .and_then(|m| m.with("truths", [true, false, true]))
        .unwrap();
    for (n, float) in floats.into_iter().enumerate() {
        metadata = metadata.with(&format!("f{n}"), float).unwrap();
    }
    let key = MetadataKey::stored("_shelfward_revision").unwrap();
    metadata.insert(key, Scalar::text("0f").unwrap());
    let given = bare("1").with_metadata(metadata.clone()).with_text("t");
    // The library writes its own keys past refusal of `Collection`, so this goes bare.
    let sqlite = SqliteStore::in_memory().unwrap();
    sqlite.create(collection.spec()).await.unwrap();
    let bare = sqlite.open(&name()).await.unwrap().unwrap();
    bare.upsert(&[given]).await.unwrap();
    let checked = Store::new(sqlite).open(&name()).await.unwrap();
    let held = everything(&checked).await.unwrap();
    let held = &held[0].metadata;
    assert_eq!(**held, metadata);
    for (key, value) in metadata.iter() {
        // Equality knows 5 as 5.0; the kinds must be the same too.
        assert_eq!(
            format!("{value:?}"),
            format!("{:?}", held.get(key.as_str()).unwrap())
        );
        if let (Value::Scalar(Scalar::Float(a)), Some(Value::Scalar(Scalar::Float(b)))) =
            (value, held.get(key.as_str()))
        {
            assert_eq!(a.get().to_bits(), b.get().to_bits());
        }
    }
}

#[tokio::test]
async fn closing_the_last_handle_releases_the_file_though_a_clone_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.db");
    let sqlite = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    drop(sqlite.clone());
    let store = Store::new(sqlite);
    let collection = store.ensure(&plain()).await.unwrap();
    collection.upsert(&[bare("1")]).await.unwrap();
    store.close().await.unwrap();
    let log = folder.path().join("library.db-wal");
    assert!(!log.exists(), "the log is still beside the file");
}

#[tokio::test]
async fn a_collection_is_served_until_its_own_handle_is_closed() {
    let first = SqliteStore::in_memory().unwrap();
    let second = first.clone();
    let collection = Store::new(second).ensure(&plain()).await.unwrap();
    // The store handle that opened it was dropped; the collection still holds the store.
    first.close().await.unwrap();
    collection.upsert(&[bare("1")]).await.unwrap();
    assert_eq!(rows(&collection).await, 1);
}

#[tokio::test]
async fn a_replace_that_expects_something_else_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("expected.db");
    let sqlite = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let held = Store::new(sqlite).ensure(&spec()).await.unwrap();
    let selector = of_source("t", "s");
    let (old, new) = (source("t", "s", 3, 1), source("t", "s", 2, 2));
    let first = old[0].key.clone();
    let absent = Precondition::new(first.clone(), None);
    let as_old = Precondition::new(first.clone(), Some(old[0].metadata.clone()));
    assert!(
        held.compare_and_replace(&selector, &old, &as_old)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(rows(&held).await, 0);
    let replaced = held
        .compare_and_replace(&selector, &old, &absent)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((replaced.removed.exact(), replaced.written), (Some(0), 3));
    assert!(
        held.compare_and_replace(&selector, &new, &absent)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(versions(&held, "t", "s").await, [1; 3]);
    // Looked for within the selector: under another one it is absent.
    let elsewhere = of_source("t", "other");
    let moved = held
        .compare_and_replace(&elsewhere, &[], &as_old)
        .await
        .unwrap();
    assert!(moved.is_none());
    let replaced = held
        .compare_and_replace(&selector, &new, &as_old)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((replaced.removed.exact(), replaced.written), (Some(3), 2));
    assert_eq!(versions(&held, "t", "s").await, [2; 2]);
}

#[tokio::test]
async fn a_scan_goes_on_where_it_was_through_changes() {
    let store = Store::new(SqliteStore::in_memory().unwrap());
    let collection = store.ensure(&plain()).await.unwrap();
    let records: Vec<_> = ["a:1", "b", "-:c", "d", "é"].map(bare).into();
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
        let last = page.records.last().unwrap().key.clone();
        collection.delete(&[last]).await.unwrap();
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["-:c", "a:1", "b", "d", "é"]);
    let foreign = Cursor::new("9:x");
    let refused = collection
        .scan(&Filter::everything(), Some(&foreign), 2, Include::METADATA)
        .await;
    assert!(refused.unwrap_err().is_refusal());
}

#[tokio::test]
async fn fields_are_added_to_a_collection_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    let store = open(&path);
    let early = collection(&store).await;
    let beside = CollectionSpec::new(
        CollectionName::new("other").unwrap(),
        1,
        Metric::Dot,
        "none",
    );
    let beside = store.ensure(&beside).await.unwrap();
    beside.upsert(&[bare("kept")]).await.unwrap();
    let added = Field::new(MetadataKey::new("more").unwrap(), FieldKind::Text);
    let wider = spec().with_fields([added]);
    store.ensure(&wider).await.unwrap();
    early.upsert(&source("t", "s", 3, 0)).await.unwrap();
    store.close().await.unwrap();
    let store = open(&path);
    let again = store.open(&name()).await.unwrap();
    assert_eq!(*again.spec(), wider);
    assert_eq!(rows(&again).await, 3);
    let beside = store.open(&beside.spec().name).await.unwrap();
    assert_eq!(rows(&beside).await, 1);
}

#[tokio::test]
async fn a_collection_made_anew_by_another_store_is_not_mixed_with_the_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("anew.db");
    let (a, b) = (open(&path), open(&path));
    let leg = dense(of_tenant("t"), 10);
    let old = collection(&a).await;
    old.upsert(&source("t", "s", 5, 0)).await.unwrap();
    assert_eq!(old.search(&leg).await.unwrap().hits.len(), 5);
    // Its tables take the number of the old ones.
    b.drop_collection(&name()).await.unwrap();
    let new = collection(&b).await;
    new.upsert(&source("t", "s", 2, 1)).await.unwrap();
    assert!(is_stale(&old.search(&leg).await.unwrap_err()));
    let late = old.upsert(&source("t", "s", 2, 1)).await;
    assert!(is_stale(&late.unwrap_err()));
    let again = a.open(&name()).await.unwrap();
    for handle in [&new, &again] {
        assert_eq!(handle.search(&leg).await.unwrap().hits.len(), 2);
    }
    // With fields added, old handles read and search the tables that hold them.
    let added = Field::new(MetadataKey::new("more").unwrap(), FieldKind::Text);
    let wide = b.ensure(&spec().with_fields([added])).await.unwrap();
    wide.upsert(&source("t", "z", 2, 1)).await.unwrap();
    for handle in [&new, &again, &wide] {
        assert_eq!(handle.search(&leg).await.unwrap().hits.len(), 4);
    }
    let without = key("more").exists(false).build().unwrap();
    let found = wide.search(&dense(without, 10)).await.unwrap();
    assert_eq!(found.hits.len(), 4);
}
