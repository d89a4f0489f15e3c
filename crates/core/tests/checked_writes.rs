//! What `Collection` writes: all of it, once, in turn, or refused before the store is asked.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use shelfward_core::capabilities::{Capabilities, Replace};
use shelfward_core::filter::{FilterLimits, any_of, key};
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Count, ErrorKind, Field, FieldKind, FieldRole,
    Filter, Include, Key, Metadata, MetadataKey, MetadataPatch, Metric, Operation, Persistence,
    Record, Result, Selector, Store, StoreError, Text, VectorProblem,
};
use support::{Asked, Meddle, Meddling, Nothing};

/// The answer of a call on a store that never waits.
fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

/// Shops in towns: a town is a partition, a shop a unit.
fn spec() -> CollectionSpec {
    let field = |name, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    CollectionSpec::new(
        CollectionName::new("shops").unwrap(),
        2,
        Metric::Cosine,
        "none",
    )
    .with_fields([
        field("town", FieldKind::Text).with_role(FieldRole::Partition),
        field("shop", FieldKind::Text).with_role(FieldRole::Unit),
        field("floor", FieldKind::Integer),
        field("tags", FieldKind::TextList),
    ])
}

fn item(town: &str, shop: &str, id: &str) -> Record {
    let metadata = Metadata::new()
        .with("town", town)
        .unwrap()
        .with("shop", shop)
        .unwrap();
    Record::new(Key::within(text(town), text(id)), [1.0, 0.5])
        .with_text(format!("{id} of {shop}"))
        .with_metadata(metadata)
}

fn with(record: Record, json: &str) -> Record {
    let mut metadata = Metadata::clone(&record.metadata);
    for (key, value) in Metadata::from_json(json).unwrap().iter() {
        metadata.insert(key.clone(), value.clone());
    }
    record.with_metadata(metadata)
}

fn shop(town: &str, shop: &str) -> Selector {
    let shop = key("town").eq(town).and(key("shop").eq(shop));
    shop.build().unwrap().narrow().unwrap()
}

fn open<M: Meddle>(meddle: M) -> (Collection, Arc<Asked>) {
    let store = Meddling::new(meddle);
    let asked = store.asked.clone();
    (now(Store::new(store).ensure(&spec())).unwrap(), asked)
}

fn held(collection: &Collection) -> Vec<String> {
    let page = now(collection.scan(&Filter::everything(), None, 1_000, Include::TEXT)).unwrap();
    page.records.iter().map(|r| r.key.to_string()).collect()
}

#[test]
fn of_records_under_one_key_the_last_is_written() {
    let (collection, asked) = open(Nothing);
    let records = [
        with(item("a", "s", "1"), r#"{"floor":1}"#),
        item("a", "s", "2"),
        with(item("a", "s", "1"), r#"{"floor":2}"#),
        // The same id in another partition is another record.
        item("b", "s", "1"),
    ];
    now(collection.upsert(&records)).unwrap();
    let written: Vec<_> = asked
        .written
        .lock()
        .unwrap()
        .iter()
        .map(|r| r.key.to_string())
        .collect();
    assert_eq!(written, ["a/1", "a/2", "b/1"]);
    let first = [records[0].key.clone()];
    let fetched = now(collection.fetch(&first, &Filter::everything(), Include::ALL)).unwrap();
    assert_eq!(
        fetched[0].as_ref().unwrap().metadata.get("floor"),
        Some(&2.into())
    );
    asked.take_calls();
    now(collection.upsert(&[])).unwrap();
    assert_eq!(asked.take_calls(), [""; 0], "nothing to write");
}

#[test]
fn words_are_those_of_the_collections_rule_whatever_a_caller_says() {
    let (collection, asked) = open(Nothing);
    let mut record = item("a", "s", "1").with_text(format!("Two CRANES, {}", "x".repeat(600)));
    record.words = Arc::from([text("lies")]);
    now(collection.upsert(&[record])).unwrap();
    let words: Vec<String> = asked.written.lock().unwrap()[0]
        .words
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(words, ["two", "cranes", &"x".repeat(512)]);
}

/// Takes few records at once, and fails at one of the calls that write.
struct Batches {
    max: usize,
    replace: Replace,
    fails_at: usize,
    error: fn(&[Record]) -> StoreError,
    calls: AtomicUsize,
}

impl Batches {
    fn of(max: usize) -> Self {
        Self {
            max,
            replace: Replace::Atomic,
            fails_at: usize::MAX,
            error: |_| StoreError::new(Operation::Upsert, ErrorKind::Unavailable),
            calls: AtomicUsize::new(0),
        }
    }
}

impl Meddle for Batches {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.max_batch = Some(self.max);
        can.replace = self.replace;
        can
    }

    fn upsert(&self, records: &[Record]) -> Option<StoreError> {
        let at = self.calls.fetch_add(1, Ordering::SeqCst);
        (at == self.fails_at).then(|| (self.error)(records))
    }
}

fn five() -> Vec<Record> {
    ["1", "2", "3", "4", "5"]
        .map(|id| item("a", "s", id))
        .into()
}

#[test]
fn writes_and_deletes_are_cut_to_the_stores_batch_and_an_atomic_replace_never_is() {
    let (collection, asked) = open(Batches::of(2));
    now(collection.upsert(&five())).unwrap();
    assert_eq!(asked.take_calls(), ["upsert"; 3]);
    let replaced = now(collection.replace(&shop("a", "s"), &five())).unwrap();
    assert_eq!((replaced.removed, replaced.written), (Count::Exact(5), 5));
    assert_eq!(asked.take_calls(), ["replace"]);
    let mut keys: Vec<_> = five().into_iter().map(|r| r.key).collect();
    keys.extend(keys.clone());
    keys.push(Key::within(text("a"), text("absent")));
    assert_eq!(now(collection.delete(&keys)).unwrap(), Count::Exact(5));
    assert_eq!(
        asked.take_calls(),
        ["delete"; 3],
        "each key once, two at a time"
    );

    let (collection, asked) = open(Batches {
        replace: Replace::DeleteThenWrite,
        ..Batches::of(2)
    });
    now(collection.upsert(&five()[..1])).unwrap();
    asked.take_calls();
    let replaced = now(collection.replace(&shop("a", "s"), &five())).unwrap();
    assert_eq!((replaced.removed, replaced.written), (Count::Exact(1), 5));
    // Never written before the old is gone: a narrowed scope would leave the old to be seen.
    assert_eq!(
        asked.take_calls(),
        ["delete_matching", "upsert", "upsert", "upsert"]
    );
}

/// The keys that an error names as not written, each with why.
fn unwritten(error: &StoreError) -> Vec<(String, String)> {
    let ErrorKind::PartialWrite(failed) = error.kind() else {
        panic!("{error}")
    };
    failed
        .iter()
        .map(|f| (f.key.to_string(), f.reason.clone()))
        .collect()
}

fn named(keys: &[(&str, &str)]) -> Vec<(String, String)> {
    keys.iter()
        .map(|(key, why)| ((*key).to_owned(), (*why).to_owned()))
        .collect()
}

const CARRIED: &str = "the call that carried it failed";
const NOT_SENT: &str = "not sent after the failure";

#[test]
fn a_batch_that_fails_names_what_is_not_written_and_nothing_else() {
    let (collection, _) = open(Batches {
        fails_at: 1,
        ..Batches::of(2)
    });
    let error = now(collection.upsert(&five())).unwrap_err();
    let expected = [("a/3", CARRIED), ("a/4", CARRIED), ("a/5", NOT_SENT)];
    assert_eq!(unwritten(&error), named(&expected));
    assert_eq!(held(&collection), ["a/1", "a/2"]);
    assert!(!error.is_refusal());
    assert_eq!(error.persistence(), Persistence::Permanent);
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("unavailable"), "{source}");

    // The store's own names are kept, and what was never sent is added.
    let (collection, _) = open(Batches {
        fails_at: 0,
        error: |records| {
            let second = shelfward_core::FailedRecord::new(records[1].key.clone(), "disk full");
            StoreError::new(Operation::Upsert, ErrorKind::PartialWrite(vec![second]))
        },
        ..Batches::of(3)
    });
    let error = now(collection.upsert(&five())).unwrap_err();
    let expected = [("a/2", "disk full"), ("a/4", NOT_SENT), ("a/5", NOT_SENT)];
    assert_eq!(unwritten(&error), named(&expected));
    let shown = error.to_string();
    assert!(
        shown.starts_with(
            "failed to upsert in shops: 3 of the records were not written: a/2 (disk full)"
        ),
        "{shown}"
    );

    // One batch, of which nothing is known: the store says it best.
    let (collection, _) = open(Batches {
        fails_at: 0,
        ..Batches::of(9)
    });
    let error = now(collection.upsert(&five())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable), "{error}");
    assert!(held(&collection).is_empty());
}

#[test]
fn a_composed_replace_that_fails_after_its_delete_says_what_is_left() {
    let (collection, _) = open(Batches {
        replace: Replace::DeleteThenWrite,
        fails_at: 1,
        ..Batches::of(9)
    });
    now(collection.upsert(&five())).unwrap();
    let error = now(collection.replace(&shop("a", "s"), &five()[..2])).unwrap_err();
    // "Unavailable, nothing changed" would be a lie: the old is gone.
    assert_eq!(
        unwritten(&error),
        named(&[("a/1", CARRIED), ("a/2", CARRIED)])
    );
    assert_eq!(error.operation(), Operation::Replace);
    assert!(held(&collection).is_empty());
    // The same replace again heals it.
    now(collection.replace(&shop("a", "s"), &five()[..2])).unwrap();
    assert_eq!(held(&collection), ["a/1", "a/2"]);
}

/// What was refused, before the store was asked.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    asked: &Asked,
    operation: Operation,
    call: impl Future<Output = Result<T>>,
) -> StoreError {
    let error = now(call).unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert_eq!(error.operation(), operation, "{error}");
    assert_eq!(error.persistence(), Persistence::Permanent);
    assert_eq!(asked.take_calls(), [""; 0], "{error}");
    assert!(error.to_string().len() < 400, "{error}");
    error
}

/// Holds little.
struct Small;

impl Meddle for Small {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.max_metadata_bytes = Some(40);
        can.max_text_bytes = Some(20);
        can
    }
}

#[test]
fn a_record_that_breaks_a_rule_is_refused_with_all_of_its_call() {
    let (collection, asked) = open(Small);
    let good = item("a", "s", "1");
    now(collection.upsert(std::slice::from_ref(&good))).unwrap();
    asked.take_calls();

    let mut reserved = Metadata::clone(&good.metadata);
    reserved.insert(MetadataKey::stored("_shelfward_revision").unwrap(), 1);
    let mut moved = good.clone();
    moved.key = Key::within(text("b"), text("1"));
    let mut nowhere = good.clone();
    nowhere.key = Key::new(text("1"));
    let mut unfiled = good.clone();
    unfiled.metadata = Arc::default();
    let vector = |vector: [f32; 2]| {
        let mut record = good.clone();
        record.vector = Arc::from(vector);
        record
    };
    let mut wide = good.clone();
    wide.vector = Arc::from([1.0, 2.0, 3.0]);

    let cases: Vec<(Record, fn(&ErrorKind) -> bool)> = vec![
        (good.clone().with_metadata(reserved), |e| {
            matches!(e, ErrorKind::Metadata(_))
        }),
        (with(good.clone(), r#"{"floor":"one"}"#), |e| {
            matches!(e, ErrorKind::Metadata(_))
        }),
        (with(good.clone(), r#"{"floor":1.5}"#), |e| {
            matches!(e, ErrorKind::Metadata(_))
        }),
        (with(good.clone(), r#"{"tags":[1]}"#), |e| {
            matches!(e, ErrorKind::Metadata(_))
        }),
        (with(good.clone(), r#"{"shop":["s"]}"#), |e| {
            matches!(e, ErrorKind::Metadata(_))
        }),
        (
            good.clone().with_text("a\0b"),
            |e| matches!(e, ErrorKind::Invalid(told) if told.contains("U+0000")),
        ),
        (good.clone().with_text("x".repeat(21)), |e| {
            matches!(
                e,
                ErrorKind::Limit {
                    given: 21,
                    max: 20,
                    ..
                }
            )
        }),
        (
            with(good.clone(), r#"{"note":"some twenty-eight bytes long"}"#),
            |e| {
                matches!(
                    e,
                    ErrorKind::Limit {
                        given: 42,
                        max: 40,
                        ..
                    }
                )
            },
        ),
        (moved, |e| matches!(e, ErrorKind::Invalid(_))),
        (nowhere, |e| matches!(e, ErrorKind::Invalid(_))),
        (unfiled, |e| matches!(e, ErrorKind::Invalid(_))),
        (item("a", "s", ""), |e| matches!(e, ErrorKind::Invalid(_))),
        (item("a", "s", &"x".repeat(513)).with_text(""), |e| {
            matches!(e, ErrorKind::Invalid(_))
        }),
        (wide, |e| {
            matches!(
                e,
                ErrorKind::Vector(VectorProblem::Width { given: 3, width: 2 })
            )
        }),
        (vector([f32::NAN, 1.0]), |e| {
            matches!(e, ErrorKind::Vector(VectorProblem::NotFinite { at: 0 }))
        }),
        (vector([0.0, 0.0]), |e| {
            matches!(e, ErrorKind::Vector(VectorProblem::Zero))
        }),
        (vector([f32::MAX, 1.0]), |e| {
            matches!(e, ErrorKind::Vector(VectorProblem::Length))
        }),
    ];
    for (bad, expected) in cases {
        // The good record before it is not written either.
        let call = [item("a", "s", "2"), bad];
        let selector = shop("a", "s");
        let errors = [
            refused(&asked, Operation::Upsert, collection.upsert(&call)),
            refused(
                &asked,
                Operation::Replace,
                collection.replace(&selector, &call),
            ),
        ];
        for error in errors {
            assert!(expected(error.kind()), "{error}");
        }
        assert_eq!(held(&collection), ["a/1"]);
        asked.take_calls();
    }
}

#[test]
fn rule_5_writes_by_key_wait_for_others_of_their_partition_alone() {
    struct Slow;
    impl Meddle for Slow {
        fn yields(&self) -> usize {
            1
        }
    }
    let (collection, asked) = open(Slow);
    let (near, far) = (item("a", "s", "1"), item("b", "s", "1"));
    let keys = [&near, &far].map(|record| record.key.clone());
    let mut write = Box::pin(collection.upsert(std::slice::from_ref(&near)));
    assert!((&mut write).now_or_never().is_none());
    assert_eq!(asked.take_calls(), ["upsert"]);

    let mut same = Box::pin(collection.delete(&keys[..1]));
    let mut other = Box::pin(collection.delete(&keys[1..]));
    for _ in 0..5 {
        assert!((&mut same).now_or_never().is_none(), "it waits");
    }
    assert_eq!(asked.take_calls(), [""; 0]);
    assert!((&mut other).now_or_never().is_none());
    assert_eq!(now(other).unwrap(), Count::Exact(0));
    assert_eq!(asked.take_calls(), ["delete"]);

    now(write).unwrap();
    assert!((&mut same).now_or_never().is_none());
    assert_eq!(
        now(same).unwrap(),
        Count::Exact(1),
        "what was written before it"
    );
}

#[test]
fn a_replace_takes_only_what_its_selector_names() {
    for replace in [Replace::Atomic, Replace::DeleteThenWrite] {
        let (collection, asked) = open(Batches {
            replace,
            ..Batches::of(9)
        });
        now(collection.upsert(&[item("a", "s", "1"), item("b", "s", "1")])).unwrap();
        asked.take_calls();
        for stray in [item("a", "t", "9"), item("b", "s", "9")] {
            let with = [item("a", "s", "2"), stray];
            let selector = shop("a", "s");
            let error = refused(
                &asked,
                Operation::Replace,
                collection.replace(&selector, &with),
            );
            assert!(error.to_string().contains("/9"), "{error}");
        }
        assert_eq!(held(&collection), ["a/1", "b/1"]);
    }
}

#[test]
fn rule_8_a_patch_never_touches_partition_unit_or_what_is_the_librarys() {
    let (collection, asked) = open(Small);
    now(collection.upsert(&[item("a", "s", "1")])).unwrap();
    asked.take_calls();
    let key = |name: &str| MetadataKey::stored(name).unwrap();
    let patches = [
        MetadataPatch::new(),
        MetadataPatch::new().set(key("town"), text("b")),
        MetadataPatch::new().remove(key("town")),
        MetadataPatch::new().set(key("shop"), text("t")),
        MetadataPatch::new().remove(key("shop")),
        MetadataPatch::new()
            .set(key("floor"), 1)
            .set(key("town"), text("a")),
        MetadataPatch::new().set(key("_shelfward_count"), 1),
        MetadataPatch::new().remove(key("_shelfward_revision")),
        MetadataPatch::new().set(key("floor"), text("one")),
        MetadataPatch::new().set(key("note"), text(&"x".repeat(40))),
    ];
    for patch in patches {
        let selector = shop("a", "s");
        refused(
            &asked,
            Operation::UpdateMetadata,
            collection.update_metadata(&selector, &patch),
        );
    }
    let patch = MetadataPatch::new()
        .set(key("floor"), 3)
        .remove(key("tags"));
    assert_eq!(
        now(collection.update_metadata(&shop("a", "s"), &patch)).unwrap(),
        Count::Exact(1)
    );
    assert_eq!(
        asked.take_calls(),
        ["scan", "update_metadata"],
        "the limit is that of each record as it will be"
    );

    let (collection, asked) = open(Nothing);
    now(collection.upsert(&[item("a", "s", "1")])).unwrap();
    asked.take_calls();
    now(collection.update_metadata(&shop("a", "s"), &patch)).unwrap();
    assert_eq!(
        asked.take_calls(),
        ["update_metadata"],
        "where there is none, nothing is read"
    );
}

#[test]
fn a_patch_takes_no_record_past_the_limit_of_its_metadata() {
    let (collection, asked) = open(Small);
    let key = |name: &str| MetadataKey::stored(name).unwrap();
    let large = with(item("a", "s", "2"), r#"{"note":"some text"}"#);
    now(collection.upsert(&[item("a", "s", "1"), large])).unwrap();
    let everything = Filter::everything();
    let all = || now(collection.scan(&everything, None, 9, Include::METADATA)).unwrap();
    let before = all();
    asked.take_calls();
    // Small by itself, and for the first of the two.
    let more = MetadataPatch::new().set(key("more"), text("so much of it, again"));
    let error = now(collection.update_metadata(&shop("a", "s"), &more)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Limit { max: 40, .. }),
        "{error}"
    );
    let record = error.record().map(ToString::to_string);
    assert_eq!(record.as_deref(), Some("a/2"));
    assert!(
        error.is_refusal() && error.to_string().contains("a/2"),
        "{error}"
    );
    assert_eq!(asked.take_calls(), ["scan"]);
    assert_eq!(all(), before);
    // In the place of what is there it fits.
    let other = more.remove(key("note"));
    now(collection.update_metadata(&shop("a", "s"), &other)).unwrap();
}

#[test]
fn a_delete_that_failed_half_way_does_not_say_that_nothing_was_changed() {
    struct Fails(AtomicUsize, usize);
    impl Meddle for Fails {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.max_batch = Some(2);
            can.delete_matching = None;
            can
        }
        fn delete(&self) -> Option<Result<Count>> {
            (self.0.fetch_add(1, Ordering::SeqCst) == self.1).then(|| {
                Err(StoreError::new(
                    Operation::Delete,
                    ErrorKind::Denied("get the right to delete"),
                ))
            })
        }
    }
    for by_filter in [false, true] {
        let delete = |fails_at| {
            let (collection, _) = open(Fails(AtomicUsize::new(0), fails_at));
            let records = ["1", "2", "3", "4", "5"].map(|id| item("a", "s", id));
            now(collection.upsert(&records)).unwrap();
            let error = if by_filter {
                now(collection.delete_matching(&shop("a", "s"))).unwrap_err()
            } else {
                let keys: Vec<_> = records.iter().map(|r| r.key.clone()).collect();
                now(collection.delete(&keys)).unwrap_err()
            };
            (error, held(&collection).len())
        };
        let (error, left) = delete(1);
        assert_eq!(left, 3);
        let half = ErrorKind::PartialDelete { sent: 2, of: 5 };
        assert_eq!(error.kind().to_string(), half.to_string());
        assert_eq!(error.persistence(), Persistence::Unknown);
        assert!(!error.changed_nothing());
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.to_string().contains("permission denied"), "{source}");
        // Of the first part nothing was done before.
        let (error, left) = delete(0);
        assert_eq!((error.persistence(), left), (Persistence::Permanent, 5));
    }
}

#[test]
fn rule_8_what_was_deleted_meanwhile_is_not_brought_back_by_an_update() {
    let (collection, _) = open(Nothing);
    now(collection.upsert(&five())).unwrap();
    let keys: Vec<_> = five().into_iter().take(2).map(|r| r.key).collect();
    now(collection.delete(&keys)).unwrap();
    let patch = MetadataPatch::new().set(MetadataKey::new("floor").unwrap(), 3);
    let count = now(collection.update_metadata(&shop("a", "s"), &patch)).unwrap();
    assert_eq!(count, Count::Exact(3));
    assert_eq!(held(&collection), ["a/3", "a/4", "a/5"]);
}

#[test]
fn empty_and_open_selectors_are_errors_and_delete_nothing() {
    let (collection, asked) = open(Nothing);
    now(collection.upsert(&five())).unwrap();
    asked.take_calls();
    // "Everything" cannot be written as a selector at all.
    for open in ["{}", r#"{"$and":[]}"#, r#"{"shop":{"$nin":[]}}"#] {
        Filter::from_json(open).unwrap().narrow().unwrap_err();
    }
    refused(&asked, Operation::Delete, collection.delete(&[]));
    let wide = FilterLimits::new(1 << 20, 1 << 20);
    let large = any_of((0..5_000).map(|n| key("shop").eq(n.to_string())));
    let large = large.build_within(&wide).unwrap().narrow().unwrap();
    refused(
        &asked,
        Operation::DeleteMatching,
        collection.delete_matching(&large),
    );
    let undeclared = key("colour").eq("red").build().unwrap().narrow().unwrap();
    refused(
        &asked,
        Operation::DeleteMatching,
        collection.delete_matching(&undeclared),
    );
    // What no record can hold selects none, and the store need not be asked.
    let never = key("town").eq(1).build().unwrap().narrow().unwrap();
    assert_eq!(
        now(collection.delete_matching(&never)).unwrap(),
        Count::Exact(0)
    );
    let patch = MetadataPatch::new().set(MetadataKey::new("floor").unwrap(), 3);
    assert_eq!(
        now(collection.update_metadata(&never, &patch)).unwrap(),
        Count::Exact(0)
    );
    assert_eq!(asked.take_calls(), [""; 0]);
    assert_eq!(held(&collection).len(), 5);
    assert_eq!(now(collection.delete_all()).unwrap(), Count::Exact(5));
    assert!(held(&collection).is_empty());
}

#[test]
fn a_zero_vector_is_refused_only_where_it_has_no_meaning() {
    for (metric, taken) in [
        (Metric::Cosine, false),
        (Metric::Dot, true),
        (Metric::Euclidean, true),
    ] {
        let mut spec = spec();
        spec.metric = metric;
        let collection = now(Store::new(Meddling::new(Nothing)).ensure(&spec)).unwrap();
        let mut record = item("a", "s", "1");
        record.vector = Arc::from([0.0, 0.0]);
        assert_eq!(now(collection.upsert(&[record])).is_ok(), taken, "{metric}");
    }
}

#[test]
fn a_library_over_a_handle_calls_no_more_than_one_that_the_store_opened() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let store = Store::new(store);
    let index = now(support::library(&store));
    let handle = now(store.open_unscoped(&support::name())).unwrap();
    let embedder = Arc::new(support::TestEmbedder::default());
    let again = shelfward_core::LibraryIndex::over(handle, embedder).unwrap();
    for (index, source) in [(index, "one"), (again, "two")] {
        asked.take_calls();
        let source = support::source(source, &["g"], &["words"]);
        now(index.tenant(support::tenant("t")).index_source(source)).unwrap();
        assert_eq!(
            asked.take_calls(),
            ["fetch", "fetch", "replace", "count"],
            "no call is made twice"
        );
    }
}

#[test]
fn a_spec_that_contradicts_itself_or_the_store_creates_nothing() {
    struct Little;
    impl Meddle for Little {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.max_width = Some(8);
            can.metrics = [Metric::Cosine].into();
            can.open_fields = false;
            can
        }
    }
    let store = Store::new(Meddling::new(Little));
    let field = |name, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    let mut no_width = spec();
    no_width.width = 0;
    let mut no_embedder = spec();
    no_embedder.embedder = String::new();
    let mut too_wide = spec();
    too_wide.width = 9;
    let mut dot = spec();
    dot.metric = Metric::Dot;
    let cases: Vec<(CollectionSpec, &str)> = vec![
        (no_width, "at least 1 dimension"),
        (no_embedder, "needs an id"),
        (too_wide, "9 given, at most 8"),
        (dot, "this metric"),
        (spec().with_open_fields(true), "undeclared fields"),
        (
            spec().with_fields([field("floor", FieldKind::Integer)]),
            "floor is declared twice",
        ),
        (
            spec().with_fields([field("county", FieldKind::Text).with_role(FieldRole::Partition)]),
            "town and county have the same role",
        ),
        (
            CollectionSpec::new(spec().name, 2, Metric::Cosine, "none").with_fields([field(
                "towns",
                FieldKind::TextList,
            )
            .with_role(FieldRole::Partition)]),
            "towns has a role",
        ),
    ];
    for (spec, told) in cases {
        let error = now(store.ensure(&spec)).unwrap_err();
        assert!(
            error.is_refusal() && error.to_string().contains(told),
            "{error}"
        );
    }
    assert!(now(store.list()).unwrap().is_empty());
}
