//! What `Collection` reads is what the filter means, whatever part of it the store evaluates.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod support;

use std::collections::BTreeSet;
use std::future::Future;

use common::{builders, built, config, filters, keys, metadata, scalars};
use futures_util::FutureExt as _;
use proptest::collection::vec;
use proptest::prelude::*;
use shelfward_core::capabilities::{Capabilities, Counting, Replace};
use shelfward_core::filter::{FilterLimits, FilterSupport, any_of, key};
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Completeness, Count, Cursor, ErrorKind, Field,
    FieldKind, Filter, Include, Key, Leg, LegResult, LimitReached, Limits, Match, Metadata,
    MetadataKey, MetadataPatch, Metric, Operation, Page, QueryWord, Record, Result, Store,
    StoreError, StoredRecord, Text, Value, VectorProblem,
};
use support::{Asked, Meddle, Meddling, Nothing};

/// The answer of a call on a store that never waits.
fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

fn open_spec() -> CollectionSpec {
    let name = CollectionName::new("plain").unwrap();
    CollectionSpec::new(name, 2, Metric::Dot, "none").with_open_fields(true)
}

fn id(n: usize) -> String {
    format!("r{n:03}")
}

/// The record `n`, which a search for `[1, 0]` ranks at place `n`.
fn record(n: usize, metadata: Metadata) -> Record {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let vector = [1_000.0 - n as f32, 1.0];
    Record::new(Key::new(Text::new(id(n)).unwrap()), vector).with_metadata(metadata)
}

fn filed(
    store: impl shelfward_core::adapter::StoreAdapter + 'static,
    held: &[Metadata],
) -> Collection {
    let collection = now(Store::new(store).ensure(&open_spec())).unwrap();
    let records: Vec<_> = (0..).zip(held).map(|(n, m)| record(n, m.clone())).collect();
    now(collection.upsert(&records)).unwrap();
    collection
}

fn everything(collection: &Collection) -> Vec<(String, Metadata)> {
    let page = now(collection.scan(&Filter::everything(), None, 1_000, Include::METADATA)).unwrap();
    let shown = |r: StoredRecord| (r.key.id.to_string(), Metadata::clone(&r.metadata));
    page.records.into_iter().map(shown).collect()
}

/// Evaluates so much of a filter, and may lack the composed calls.
#[derive(Clone, Copy, Debug)]
struct Partly {
    filter: FilterSupport,
    native: bool,
}

impl Meddle for Partly {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.filter = self.filter;
        if !self.native {
            can.count = None;
            can.delete_matching = None;
            can.update_metadata = None;
            can.replace = Replace::DeleteThenWrite;
        }
        can
    }
}

fn partly() -> impl Strategy<Value = Partly> {
    any::<[bool; 8]>().prop_map(|[ne, nin, numbers, texts, exists, or, not, native]| {
        let mut filter = FilterSupport::kernel();
        filter.ne = ne;
        filter.nin = nin;
        filter.number_ranges = numbers;
        filter.text_ranges = texts;
        filter.exists = exists;
        filter.or = or;
        filter.not = not;
        Partly { filter, native }
    })
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn every_read_answers_what_the_filter_means(
        store in partly(),
        filter in filters(),
        held in vec(metadata(), 0..14),
        top_k in 1_usize..8,
    ) {
        let collection = filed(Meddling::new(store), &held);
        let matching: Vec<String> =
            (0..held.len()).filter(|n| filter.matches(&held[*n])).map(id).collect();
        let expected = Count::Exact(matching.len().try_into().unwrap());
        prop_assert_eq!(now(collection.count(&filter)).unwrap(), expected);

        let keys: Vec<_> = (0..held.len()).map(|n| record(n, Metadata::new()).key).collect();
        let fetched = now(collection.fetch(&keys, &filter, Include::ALL)).unwrap();
        let fetched: Vec<_> = fetched.iter().flatten().map(|r| r.key.id.to_string()).collect();
        prop_assert_eq!(&fetched, &matching);

        let (mut scanned, mut after) = (Vec::new(), None::<Cursor>);
        loop {
            let page = now(collection.scan(&filter, after.as_ref(), 3, Include::METADATA)).unwrap();
            prop_assert!(page.records.len() <= 3);
            scanned.extend(page.records.iter().map(|r| r.key.id.to_string()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        prop_assert_eq!(&scanned, &matching);

        // At most 14 candidates, so asking again ends before any ceiling does.
        let found = now(collection.search(&Leg::dense([1.0, 0.0], filter.clone(), top_k))).unwrap();
        let hits: Vec<_> = found.hits.iter().map(|hit| hit.key.id.to_string()).collect();
        prop_assert_eq!(&hits[..], &matching[..top_k.min(matching.len())]);
        prop_assert_eq!(found.end, Completeness::Complete);
    }

    #[test]
    fn every_write_by_a_filter_changes_what_it_matches_or_nothing(
        store in partly(),
        k in keys(),
        v in scalars(),
        rest in builders(),
        held in vec(metadata(), 0..8),
    ) {
        let filter = built(key(k).eq(v).and(rest));
        let selector = filter.clone().narrow().unwrap();
        let whole = filed(Meddling::new(store), &held);
        let matching = held.iter().filter(|m| filter.matches(m)).count();
        let expected = Count::Exact(matching.try_into().unwrap());

        let patch = MetadataPatch::new().set(MetadataKey::new("new").unwrap(), true);
        match now(whole.update_metadata(&selector, &patch)) {
            Ok(count) => {
                prop_assert!(store.native);
                prop_assert_eq!(count, expected);
                let patched = everything(&whole).iter().filter(|(_, m)| m.get("new").is_some()).count();
                prop_assert_eq!(patched, matching);
            }
            Err(error) => {
                prop_assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{}", error);
                prop_assert!(everything(&whole).iter().all(|(_, m)| m.get("new").is_none()));
            }
        }

        let replaced = filed(Meddling::new(store), &held);
        match now(replaced.replace(&selector, &[])) {
            Ok(done) => {
                prop_assert_eq!(done.removed, expected);
                prop_assert_eq!(everything(&replaced).len(), held.len() - matching);
            }
            Err(error) => {
                prop_assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{}", error);
                prop_assert!(store.native, "what is composed needs nothing native");
                prop_assert_eq!(everything(&replaced).len(), held.len());
            }
        }

        let deleted = filed(Meddling::new(store), &held);
        prop_assert_eq!(now(deleted.delete_matching(&selector)).unwrap(), expected);
        let left = everything(&deleted);
        prop_assert_eq!(left.len(), held.len() - matching);
        prop_assert!(left.iter().all(|(_, m)| !filter.matches(m)));
    }
}

#[test]
fn a_delete_that_can_neither_be_native_nor_scanned_deletes_nothing() {
    struct NoScan;
    impl Meddle for NoScan {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.filter = FilterSupport::kernel();
            can.scan = false;
            can
        }
    }
    let store = Meddling::new(NoScan);
    let asked = store.asked.clone();
    let collection = filed(store, &[numbered(1), numbered(9)]);
    asked.take_calls();
    let partly_native = key("t").eq("x").and(key("n").gt(5));
    let selector = built(partly_native).narrow().unwrap();
    let error = now(collection.delete_matching(&selector)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert_eq!(asked.take_calls(), [""; 0]);
    assert_eq!(
        now(collection.count(&Filter::everything())).unwrap(),
        Count::Exact(2)
    );
}

fn numbered(n: i64) -> Metadata {
    Metadata::new()
        .with("n", n)
        .unwrap()
        .with("t", "x")
        .unwrap()
}

/// Evaluates the kernel alone, and answers at most so many hits.
struct Kernel {
    max_top_k: Option<usize>,
}

impl Meddle for Kernel {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.filter = FilterSupport::kernel();
        can.max_top_k = self.max_top_k;
        can
    }
}

/// How a search ends of which only the last 5 of 200 records match, and what it asked for.
fn ends(
    max_top_k: Option<usize>,
    limits: Limits,
    top_k: usize,
) -> (usize, Completeness, Vec<usize>) {
    let store = Meddling::new(Kernel { max_top_k });
    let asked = store.asked.clone();
    let store = Store::new(store).with_limits(limits);
    let collection = now(store.ensure(&open_spec())).unwrap();
    let records: Vec<_> = (0..200)
        .map(|n| record(n, numbered(n.try_into().unwrap())))
        .collect();
    now(collection.upsert(&records)).unwrap();
    let last = built(key("t").eq("x").and(key("n").gte(195)));
    let found = now(collection.search(&Leg::dense([1.0, 0.0], last, top_k))).unwrap();
    let rounds = asked
        .legs
        .lock()
        .unwrap()
        .iter()
        .map(|leg| leg.top_k)
        .collect();
    (found.hits.len(), found.end, rounds)
}

#[test]
fn asking_again_ends_full_or_says_which_ceiling_ended_it() {
    let capped = |by| Completeness::Capped { by };
    let of = |candidates: usize, rounds: u32| {
        let limits = Limits::builder().refill_candidates(candidates);
        limits.refill_rounds(rounds).build().unwrap()
    };
    let (few_candidates, once, many) = (of(50, 9), of(10_000, 1), of(10_000, 9));
    let cases = [
        (
            "full",
            None,
            Limits::default(),
            5,
            (0, capped(LimitReached::Rounds), vec![5, 20, 80]),
        ),
        (
            "k, 4k, 16k",
            None,
            Limits::default(),
            20,
            (5, Completeness::Complete, vec![20, 80, 320]),
        ),
        (
            "to the end",
            None,
            many,
            5,
            (5, Completeness::Complete, vec![5, 20, 80, 320]),
        ),
        (
            "once",
            None,
            once,
            5,
            (0, capped(LimitReached::Rounds), vec![5]),
        ),
        (
            "candidates",
            None,
            few_candidates,
            5,
            (0, capped(LimitReached::Candidates), vec![5, 20, 50]),
        ),
        (
            "the store's",
            Some(30),
            many,
            5,
            (0, capped(LimitReached::StoreTopK), vec![5, 20, 30]),
        ),
        (
            "over the store's",
            Some(30),
            many,
            40,
            (0, capped(LimitReached::StoreTopK), vec![30]),
        ),
        (
            "just enough",
            Some(200),
            many,
            5,
            (5, Completeness::Complete, vec![5, 20, 80, 200]),
        ),
        (
            "never less than asked",
            None,
            few_candidates,
            200,
            (5, capped(LimitReached::Candidates), vec![200]),
        ),
    ];
    for (what, max_top_k, limits, top_k, expected) in cases {
        assert_eq!(ends(max_top_k, limits, top_k), expected, "{what}");
    }
}

#[test]
fn how_the_store_says_that_it_ended_is_handed_on() {
    struct Short;
    impl Meddle for Short {
        fn found(&self, mut found: LegResult, _: &Leg) -> LegResult {
            found.hits.truncate(2);
            found.end = Completeness::Unknown;
            found
        }
    }
    let collection = filed(Meddling::new(Short), &vec![Metadata::new(); 9]);
    let search = |top_k| {
        let leg = Leg::dense([1.0, 0.0], Filter::everything(), top_k);
        now(collection.search(&leg)).unwrap()
    };
    assert_eq!(
        (search(5).hits.len(), search(5).end),
        (2, Completeness::Unknown)
    );
    // Two were asked for, and two there are.
    assert_eq!(
        (search(2).hits.len(), search(2).end),
        (2, Completeness::Complete)
    );
}

#[test]
fn nothing_is_asked_for_what_can_have_no_answer() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let collection = filed(store, &[numbered(1)]);
    asked.take_calls();
    let legs = [
        Leg::dense([1.0, 0.0], Filter::everything(), 0),
        Leg::dense([1.0, 0.0], Filter::nothing(), 5),
        Leg::lexical([], Match::Any, Filter::everything(), 5),
    ];
    for leg in legs {
        assert_eq!(
            now(collection.search(&leg)).unwrap(),
            LegResult::nothing(),
            "{leg:?}"
        );
    }
    let none = now(collection.fetch(&[], &Filter::everything(), Include::ALL)).unwrap();
    assert!(none.is_empty());
    assert_eq!(asked.take_calls(), [""; 0]);
}

/// Refused before the store is asked, by an error of the operation.
fn refused<T>(
    asked: &Asked,
    operation: Operation,
    call: impl Future<Output = Result<T>>,
) -> StoreError
where
    T: std::fmt::Debug,
{
    let error = now(call).unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert_eq!(error.operation(), operation);
    assert_eq!(
        error.collection().map(CollectionName::as_str),
        Some("plain")
    );
    assert_eq!(asked.take_calls(), [""; 0], "{error}");
    common::assert_short_line(&error.to_string());
    error
}

#[test]
fn a_read_that_breaks_a_rule_is_refused_before_the_store_is_asked() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let spec = open_spec().with_open_fields(false).with_fields([Field::new(
        MetadataKey::new("n").unwrap(),
        FieldKind::Integer,
    )]);
    let mut cosine = spec;
    cosine.metric = Metric::Cosine;
    let collection = now(Store::new(store).ensure(&cosine)).unwrap();
    asked.take_calls();
    let search = |leg: Leg| {
        let collection = collection.clone();
        refused(&asked, Operation::Search, async move {
            collection.search(&leg).await
        })
    };
    let dense = |vector: &[f32]| Leg::dense(vector, Filter::everything(), 3);

    let vectors = [
        (&[1.0][..], VectorProblem::Width { given: 1, width: 2 }),
        (&[], VectorProblem::Width { given: 0, width: 2 }),
        (&[1.0, f32::NAN], VectorProblem::NotFinite { at: 1 }),
        (
            &[f32::NEG_INFINITY, 1.0],
            VectorProblem::NotFinite { at: 0 },
        ),
        (&[0.0, -0.0], VectorProblem::Zero),
        (&[f32::MAX, f32::MAX], VectorProblem::Length),
        (&[1e-30, 0.0], VectorProblem::Length),
    ];
    for (vector, expected) in vectors {
        let error = search(dense(vector));
        assert!(
            matches!(error.kind(), ErrorKind::Vector(problem) if *problem == expected),
            "{error}"
        );
    }

    // Two so far apart that their distance is no float.
    let mut euclid = cosine.clone();
    euclid.metric = Metric::Euclidean;
    euclid.name = CollectionName::new("euclid").unwrap();
    let store = Store::new(Meddling::new(Nothing));
    let euclid = now(store.ensure(&euclid)).unwrap();
    for (length, may) in [(9.2e18, true), (9.3e18, false), (1.8e19, false)] {
        let leg = dense(&[-length, 0.0]);
        match now(euclid.search(&leg)) {
            Ok(_) => assert!(may, "{length}"),
            Err(error) => assert!(
                !may && matches!(error.kind(), ErrorKind::Vector(VectorProblem::Length)),
                "{length}: {error}"
            ),
        }
    }

    let error = search(dense(&[1.0, 0.0]).with_top_k(10_001));
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Limit {
                given: 10_001,
                max: 10_000,
                ..
            }
        ),
        "{error}"
    );
    let words: Vec<_> = (0..257)
        .map(|n| QueryWord::new(Text::new(format!("w{n}")).unwrap(), false))
        .collect();
    let error = search(Leg::lexical(words, Match::Any, Filter::everything(), 3));
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Limit {
                given: 257,
                max: 256,
                ..
            }
        ),
        "{error}"
    );

    // A filter that was made within wider limits is still held to the handle's.
    let wide = FilterLimits::new(1 << 20, 1 << 20);
    let nodes = any_of((0..10_000).map(|n| key("n").eq(n)))
        .build_within(&wide)
        .unwrap();
    let values = key("n").is_in(0..10_001).build_within(&wide).unwrap();
    let undeclared = built(key("other").exists(false));
    for (filter, told) in [
        (nodes, "1024"),
        (values, "10000"),
        (undeclared, "declares no such field"),
    ] {
        let errors = [
            search(dense(&[1.0, 0.0]).with_filter(filter.clone())),
            refused(&asked, Operation::Count, collection.count(&filter)),
            refused(
                &asked,
                Operation::Scan,
                collection.scan(&filter, None, 5, Include::ALL),
            ),
            refused(
                &asked,
                Operation::Fetch,
                collection.fetch(&[], &filter, Include::ALL),
            ),
        ];
        for error in errors {
            assert!(matches!(error.kind(), ErrorKind::Filter(_)), "{error}");
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    let everything = Filter::everything();
    let error = refused(
        &asked,
        Operation::Scan,
        collection.scan(&everything, None, 0, Include::ALL),
    );
    assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
    let elsewhere = Key::within(Text::new("p").unwrap(), Text::new("1").unwrap());
    let long = Key::new(Text::new("x".repeat(513)).unwrap());
    for key in [Key::new(Text::new("").unwrap()), long, elsewhere] {
        let keys = [key];
        let error = refused(
            &asked,
            Operation::Fetch,
            collection.fetch(&keys, &everything, Include::ALL),
        );
        assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
    }
}

#[test]
fn a_store_that_answers_a_fetch_or_a_scan_oddly_is_told_on() {
    struct Odd<F, P>(F, P);
    impl<F, P> Meddle for Odd<F, P>
    where
        F: Fn(Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> + Send + Sync + 'static,
        P: Fn(Page) -> Page + Send + Sync + 'static,
    {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.count = None;
            can
        }
        fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
            (self.0)(records)
        }
        fn page(&self, page: Page) -> Page {
            (self.1)(page)
        }
    }
    let turned: [fn(Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>>; 3] = [
        |mut records| {
            records.reverse();
            records
        },
        |mut records| {
            records.pop();
            records
        },
        |mut records| {
            records.push(None);
            records
        },
    ];
    let keys: Vec<_> = (0..2).map(|n| record(n, Metadata::new()).key).collect();
    for odd in turned {
        let collection = filed(
            Meddling::new(Odd(odd, |page| page)),
            &[numbered(1), numbered(2)],
        );
        let error = now(collection.fetch(&keys, &Filter::everything(), Include::ALL)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Contract(_)), "{error}");
    }
    let stuck = |page: Page| Page::new(page.records, Some(Cursor::new("-:r000")));
    let collection = filed(Meddling::new(Odd(|records| records, stuck)), &[numbered(1)]);
    let error = now(collection.count(&Filter::everything())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Contract(_)), "{error}");
}

#[test]
fn long_fetches_are_cut_to_the_stores_batch_and_answered_in_order() {
    struct Two;
    impl Meddle for Two {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.max_batch = Some(2);
            can
        }
    }
    let store = Meddling::new(Two);
    let asked = store.asked.clone();
    let collection = filed(store, &[numbered(0), numbered(1), numbered(2)]);
    assert_eq!(asked.take_calls(), ["upsert", "upsert"]);
    let keys: Vec<_> = [2, 9, 0, 2, 1]
        .map(|n| record(n, Metadata::new()).key)
        .into();
    let fetched = now(collection.fetch(&keys, &Filter::everything(), Include::METADATA)).unwrap();
    let numbers: Vec<_> = fetched
        .iter()
        .map(|r| {
            r.as_ref()
                .and_then(|r| r.metadata.get("n").and_then(Value::as_integer))
        })
        .collect();
    assert_eq!(numbers, [Some(2), None, Some(0), Some(2), Some(1)]);
    assert_eq!(asked.take_calls(), ["fetch", "fetch", "fetch"]);
}

#[test]
fn a_count_of_the_stores_own_is_no_more_exact_than_it_says() {
    struct Vague(Counting, Count);
    impl Meddle for Vague {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.count = Some(self.0);
            can
        }
        fn count(&self, _: Count) -> Count {
            self.1
        }
    }
    for (counting, count) in [
        (Counting::AtLeast, Count::AtLeast(1)),
        (Counting::Unknown, Count::Unknown),
    ] {
        let collection = filed(
            Meddling::new(Vague(counting, count)),
            &[numbered(1), numbered(2)],
        );
        assert_eq!(now(collection.count(&Filter::everything())).unwrap(), count);
    }
}

#[test]
fn every_call_that_reads_carries_the_native_part_of_its_filter() {
    let store = Meddling::new(Kernel { max_top_k: None });
    let asked = store.asked.clone();
    let collection = filed(store, &[numbered(1), numbered(2)]);
    let filter = built(key("t").eq("x").and(key("n").gt(1)));
    let keys: Vec<_> = (0..2).map(|n| record(n, Metadata::new()).key).collect();
    now(collection.search(&Leg::dense([1.0, 0.0], filter.clone(), 1))).unwrap();
    now(collection.fetch(&keys, &filter, Include::ALL)).unwrap();
    now(collection.scan(&filter, None, 5, Include::ALL)).unwrap();
    now(collection.count(&filter)).unwrap();
    let native = r#"{"t":"x"}"#;
    assert!(
        asked
            .filters()
            .iter()
            .chain(&asked.take_within())
            .all(|sent| sent == native)
    );
    let calls: BTreeSet<_> = asked.take_calls().into_iter().collect();
    assert_eq!(calls, ["fetch", "scan", "search", "upsert"].into());
}
