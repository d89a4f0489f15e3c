//! What a store hands out when a collection is opened, and what it refuses then.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use futures_util::FutureExt as _;
use shelfward_core::capabilities::{Capabilities, Counting, Replace, Writers};
use shelfward_core::library::{LibrarySpec, Mode, SearchRequest};
use shelfward_core::{
    CollectionSpec, Count, ErrorKind, Field, FieldKind, FieldRole, Filter, Include, Key,
    LibraryIndex, Metadata, MetadataKey, Metric, Precondition, Record, Result, Store, Text,
};
use support::{
    Meddle, Meddling, Nothing, TestEmbedder, id, library, memory, name, scope, source, tenant,
};

fn spec() -> CollectionSpec {
    let field =
        |name, role| Field::new(MetadataKey::new(name).unwrap(), FieldKind::Text).with_role(role);
    CollectionSpec::new(name(), 1, Metric::Dot, "none").with_fields([
        field("shelf", FieldRole::Unit),
        field("colour", FieldRole::Plain),
    ])
}

fn record(colour: &str) -> Record {
    let metadata = Metadata::new().with("shelf", "a").unwrap();
    Record::new(Key::new(Text::new("1").unwrap()), [1.0])
        .with_metadata(metadata.with("colour", colour).unwrap())
}

fn colour(records: &[Option<shelfward_core::StoredRecord>]) -> Option<String> {
    let metadata = &records.first()?.as_ref()?.metadata;
    metadata.text("colour").map(str::to_owned)
}

#[test]
fn a_replace_with_a_precondition_changes_nothing_where_it_is_not_met() {
    let store = memory();
    let collection = store.ensure(&spec()).now_or_never().unwrap().unwrap();
    let shelf = Filter::from_json(r#"{"shelf":"a"}"#)
        .unwrap()
        .narrow()
        .unwrap();
    let (red, blue) = (record("red"), record("blue"));
    collection
        .upsert(std::slice::from_ref(&red))
        .now_or_never()
        .unwrap()
        .unwrap();
    let read = || {
        let key = [red.key.clone()];
        let read = collection.fetch(&key, shelf.filter(), Include::METADATA);
        colour(&read.now_or_never().unwrap().unwrap())
    };
    let replace = |precondition: Precondition| {
        let replaced =
            collection.compare_and_replace(&shelf, std::slice::from_ref(&blue), &precondition);
        replaced.now_or_never().unwrap().unwrap()
    };
    let wrong = [
        Precondition::new(red.key.clone(), Some(blue.metadata.clone())),
        Precondition::new(red.key.clone(), None),
        Precondition::new(
            Key::new(Text::new("2").unwrap()),
            Some(red.metadata.clone()),
        ),
    ];
    for precondition in wrong {
        assert_eq!(replace(precondition), None);
        assert_eq!(read().as_deref(), Some("red"));
    }
    let right = Precondition::new(red.key.clone(), Some(red.metadata.clone()));
    assert_eq!(replace(right).map(|replaced| replaced.written), Some(1));
    assert_eq!(read().as_deref(), Some("blue"));
}

#[test]
fn a_collection_of_a_library_is_handed_out_by_a_call_that_says_unscoped() {
    let store = memory();
    let _index = library(&store).now_or_never().unwrap();
    let refused = store.open(&name()).now_or_never().unwrap().unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::IsLibrary), "{refused}");
    assert!(refused.to_string().contains("open_unscoped"), "{refused}");
    let opened = store
        .open_unscoped(&name())
        .now_or_never()
        .unwrap()
        .unwrap();
    let refused = store
        .ensure(opened.spec())
        .now_or_never()
        .unwrap()
        .unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::IsLibrary), "{refused}");
}

#[tokio::test]
async fn capabilities_that_no_caller_could_be_safe_with_are_refused_by_name() {
    struct Declares(Replace, bool);
    impl Meddle for Declares {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.writers = Writers::AllProcesses;
            can.replace = self.0;
            if self.1 {
                can.delete_matching = None;
            }
            can
        }
    }
    for (replace, no_delete, named) in [
        (Replace::DeleteThenWrite, false, "atomic replace"),
        (Replace::Atomic, true, "delete by filter"),
    ] {
        let store = Meddling::new(Declares(replace, no_delete));
        let made_before = store.memory.clone();
        let store = Store::new(store);
        let spec = LibrarySpec::new(name());
        let made = LibraryIndex::ensure(&store, spec, Arc::new(TestEmbedder::default())).await;
        let error = made.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert!(
            store.list().await.unwrap().is_empty(),
            "nothing was created"
        );
        Store::new(made_before).ensure(&self::spec()).await.unwrap();
        let error = store.open(&name()).await.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[tokio::test]
async fn a_delete_that_misses_is_found_out_by_a_scan_where_counts_are_inexact() {
    struct Vague;
    impl Meddle for Vague {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.count = Some(Counting::AtLeast);
            can
        }
        fn count(&self, count: Count) -> Count {
            count.exact().map_or(count, Count::AtLeast)
        }
        fn delete(&self) -> Option<Result<Count>> {
            Some(Ok(Count::Exact(2)))
        }
    }
    let index = library(&Store::new(Meddling::new(Vague))).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["one", "two"]))
        .await
        .unwrap();
    let removed = org.remove_source(&id("s")).await;
    let request = SearchRequest::new("one").mode(Mode::Dense);
    let seen = index.search(&scope("a", &["g"]), &request).await.unwrap();
    assert_eq!(seen.passages.len(), 2, "the store missed");
    let error = removed.unwrap_err().to_string();
    assert!(error.contains("outside its contract"), "{error}");
}

#[tokio::test]
async fn stores_over_clones_of_one_adapter_share_the_locks_of_writers() {
    let adapter = Meddling::new(Nothing);
    let locks = shelfward_core::adapter::StoreAdapter::write_locks(&adapter);
    let held = locks
        .of(&name())
        .acquire(shelfward_core::adapter::LockScope::Collection)
        .await;
    let collection = Store::new(adapter.memory.clone())
        .ensure(&spec())
        .await
        .unwrap();
    let red = [record("red")];
    let mut write = Box::pin(collection.upsert(&red));
    assert!((&mut write).now_or_never().is_none(), "it waits");
    drop(held);
    write.await.unwrap();
}
