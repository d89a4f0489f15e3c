//! The rules of the port, each with its test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use shelfward_core::capabilities::{Capabilities, Counting, Lexical, Replace, Words};
use shelfward_core::filter::{FilterSupport, key};
use shelfward_core::library::{LibraryError, Mode, Narrowing, Ran, ScopeChange, SearchRequest};
use shelfward_core::observer::{DigestKey, Event, Searched};
use shelfward_core::{
    Ceilings, CollectionName, CollectionSpec, Count, End, ErrorKind, Field, FieldKind, FieldRole,
    Filter, Found, Hit, Include, Key, Leg, LibraryIndex, Match, Metadata, MetadataKey,
    MetadataPatch, Metric, Record, Store, Text, query_words,
};
use support::{
    Events, Meddle, Meddling, Nothing, TestEmbedder, id, ids, library, memory, name, scope, source,
    tenant,
};

/// Answers every search as if there were no filter, but for the partition.
struct IgnoresFilters;

impl Meddle for IgnoresFilters {
    fn search_filter(&self, leg: &Leg) -> Option<Filter> {
        // A lexical leg needs its partition; another tenant's hits come with the dense one.
        let tenant = leg.filter.pinned("tenantId")?.pop()?;
        Some(match leg.ask {
            shelfward_core::Ask::Dense(_) => Filter::everything(),
            shelfward_core::Ask::Lexical { .. } => key("tenantId").eq(tenant).build().unwrap(),
        })
    }
}

fn searched(events: &Events) -> Vec<Searched> {
    let events = events.0.lock().unwrap();
    let searched = events.iter().filter_map(|event| match event {
        Event::Searched(searched) => Some(searched.clone()),
        _ => None,
    });
    searched.collect()
}

#[tokio::test]
async fn a_store_that_ignores_its_filter_widens_nothing_and_is_told_on() {
    let store = Meddling::new(IgnoresFilters);
    let asked = store.asked.clone();
    let index = library(&Store::new(store)).await;
    let events = Arc::new(Events::default());
    let index = index.with_observer(events.clone(), Some(DigestKey::new("key")));
    index
        .tenant(tenant("b"))
        .index_source(source("theirs", &["x"], &["near", "near", "near"]))
        .await
        .unwrap();
    index
        .tenant(tenant("a"))
        .index_source(source("ours", &["x"], &["far away"]))
        .await
        .unwrap();
    index
        .tenant(tenant("a"))
        .index_source(source("hidden", &["y"], &["near"]))
        .await
        .unwrap();

    for mode in [Mode::Dense, Mode::Hybrid] {
        let answer = index
            .search(&scope("a", &["x"]), &SearchRequest::new("near").mode(mode))
            .await
            .unwrap();
        assert_eq!(ids(&answer), ["ours#0"]);
        // Hidden hits take no rank: what is published tells of none of them.
        assert_eq!(answer.passages[0].legs.dense.unwrap().rank, 1);
    }
    // The store was asked for the tenant, the groups and the status, in every call.
    for filter in asked.filters() {
        for part in [
            r#""tenantId":"a""#,
            r#""aclGroups":{"$in":["x"]}"#,
            r#""status":"active""#,
        ] {
            assert!(filter.contains(part), "{filter}");
        }
    }
    let event = &searched(&events)[0];
    assert_eq!(event.answered, ["ours#0"]);
    assert_eq!(event.dropped.len(), 4);
    assert!(event.dropped.iter().any(|d| d.reason == "tenant"));
    assert!(event.dropped.iter().any(|d| d.reason == "access groups"));
}

#[tokio::test]
async fn rule_1_ranks_are_counted_after_the_check_and_fused_here() {
    let index = library(&Store::new(Meddling::new(IgnoresFilters))).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("hidden", &["secret"], &["snow snow"; 60]))
        .await
        .unwrap();
    org.index_source(source("seen", &["x"], &["snow in the south", "rain"]))
        .await
        .unwrap();
    let answer = index
        .search(&scope("a", &["x"]), &SearchRequest::new("snow").top_k(2))
        .await
        .unwrap();
    assert_eq!(
        (ids(&answer), answer.ran),
        (vec!["seen#0", "seen#1"], Ran::Hybrid)
    );
    let first = &answer.passages[0];
    assert_eq!(first.legs.lexical.unwrap().rank, 1);
    let dense = first.legs.dense.unwrap().rank;
    assert!((first.score - (1.0 / (60.0 + f64::from(dense)) + 1.0 / 61.0)).abs() < 1e-15);
    assert!(answer.passages[1].legs.lexical.is_none());
}

#[tokio::test]
async fn rule_1_one_leg_asks_top_k_and_two_ask_for_more() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let index = library(&Store::new(store)).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["x"], &["one"]))
        .await
        .unwrap();
    let x = scope("a", &["x"]);
    for (mode, top_k, expected) in [
        (Mode::Dense, 7, vec![7]),
        (Mode::Hybrid, 7, vec![50, 50]),
        (Mode::Hybrid, 20, vec![60, 60]),
    ] {
        asked.legs.lock().unwrap().clear();
        index
            .search(&x, &SearchRequest::new("one").mode(mode).top_k(top_k))
            .await
            .unwrap();
        assert_eq!(
            asked
                .legs
                .lock()
                .unwrap()
                .iter()
                .map(|leg| leg.top_k)
                .collect::<Vec<_>>(),
            expected
        );
    }
}

/// Evaluates the kernel of filters alone.
struct Kernel;

impl Meddle for Kernel {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.filter = FilterSupport::kernel();
        can
    }
}

fn plain_spec() -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    CollectionSpec::new(
        CollectionName::new("plain").unwrap(),
        2,
        Metric::Cosine,
        "none",
    )
    .with_fields([field("n", FieldKind::Integer), field("t", FieldKind::Text)])
}

fn plain(id: &str, n: i64) -> Record {
    let metadata = Metadata::new()
        .with("n", n)
        .unwrap()
        .with("t", "x")
        .unwrap();
    Record::new(Key::new(Text::new(id).unwrap()), [1.0, 0.001]).with_metadata(metadata)
}

#[tokio::test]
async fn rule_3_what_the_engine_does_not_serve_is_evaluated_and_asked_for_again() {
    let store = Meddling::new(Kernel);
    let asked = store.asked.clone();
    let collection = Store::new(store).ensure(&plain_spec()).await.unwrap();
    let records: Vec<_> = (0..40).map(|n| plain(&format!("r{n:02}"), n)).collect();
    collection.upsert(&records).await.unwrap();
    let filter = key("t").eq("x").and(key("n").gte(30)).build().unwrap();
    let found = collection
        .search(&Leg::dense([1.0, 0.0], filter.clone(), 5))
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 5);
    assert!(found.hits.iter().all(|hit| filter.matches(&hit.metadata)));
    // What was sent is the native part, for 5, then 20, then 80.
    let sent: Vec<_> = asked
        .legs
        .lock()
        .unwrap()
        .iter()
        .map(|leg| (leg.filter.to_string(), leg.top_k))
        .collect();
    let native = r#"{"t":"x"}"#.to_owned();
    assert_eq!(
        sent,
        [(native.clone(), 5), (native.clone(), 20), (native, 80)]
    );
    // The same residual in every other way of reading.
    assert_eq!(collection.count(&filter).await.unwrap(), Count::Exact(10));
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    let fetched = collection
        .fetch(&keys, &filter, Include::METADATA)
        .await
        .unwrap();
    assert_eq!(fetched.iter().flatten().count(), 10);
    let page = collection
        .scan(&filter, None, 100, Include::METADATA)
        .await
        .unwrap();
    assert_eq!(page.records.len(), 10);
}

#[tokio::test]
async fn rule_3_a_selector_is_never_widened() {
    let collection = Store::new(Meddling::new(Kernel))
        .ensure(&plain_spec())
        .await
        .unwrap();
    collection
        .upsert(
            &(0..10)
                .map(|n| plain(&format!("r{n}"), n))
                .collect::<Vec<_>>(),
        )
        .await
        .unwrap();
    let some = key("t")
        .eq("x")
        .and(key("n").lt(3))
        .build()
        .unwrap()
        .narrow()
        .unwrap();
    // A delete acts by the keys of a scan under the whole filter.
    assert_eq!(
        collection.delete_matching(&some).await.unwrap(),
        Count::Exact(3)
    );
    assert_eq!(
        collection.count(&Filter::everything()).await.unwrap(),
        Count::Exact(7)
    );
    // A replace that is atomic, and an update, cannot be composed so, and are refused.
    let rest = key("t")
        .eq("x")
        .and(key("n").lt(5))
        .build()
        .unwrap()
        .narrow()
        .unwrap();
    let patch = MetadataPatch::new().set(MetadataKey::new("n").unwrap(), 9);
    let refused = [
        collection.replace(&rest, &[]).await.unwrap_err(),
        collection.update_metadata(&rest, &patch).await.unwrap_err(),
    ];
    assert!(
        refused
            .iter()
            .all(|e| matches!(e.kind(), ErrorKind::Unsupported(_)))
    );
    assert_eq!(
        collection.count(&Filter::everything()).await.unwrap(),
        Count::Exact(7)
    );
}

/// Answers by hashed words: more than it was asked for.
struct Hashed;

impl Meddle for Hashed {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        let mut lexical = Lexical::exact();
        lexical.words = Words::Superset;
        lexical.prefix = false;
        can.lexical = Some(lexical);
        can
    }

    fn found(&self, mut found: Found, leg: &Leg) -> Found {
        if matches!(leg.ask, shelfward_core::Ask::Lexical { .. }) {
            let metadata = found.hits[0].metadata.clone();
            let odd = Key::new(Text::new("odd").unwrap());
            found.hits.insert(
                0,
                Hit::new(odd, 9.0, Some("nothing of the kind".into()), metadata),
            );
        }
        found
    }
}

#[tokio::test]
async fn rule_4_words_are_looked_for_again_only_where_the_store_answers_more() {
    let collection = Store::new(Meddling::new(Hashed))
        .ensure(&plain_spec())
        .await
        .unwrap();
    collection
        .upsert(&[plain("a", 1).with_text("snow falls")])
        .await
        .unwrap();
    let words = |prefix| query_words("snow", collection.spec().word_rule, prefix).unwrap();
    let leg = Leg::lexical(words(false), Match::Any, Filter::everything(), 5);
    let found = collection.search(&leg).await.unwrap();
    assert_eq!(
        found
            .hits
            .iter()
            .map(|hit| hit.key.id.as_str())
            .collect::<Vec<_>>(),
        ["a"]
    );
    // A prefix is native or refused: what was not found cannot be added afterwards.
    let prefix = Leg::lexical(words(true), Match::Any, Filter::everything(), 5);
    let error = collection.search(&prefix).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
}

struct NoTransactions;

impl Meddle for NoTransactions {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.replace = Replace::DeleteThenWrite;
        can.max_batch = Some(2);
        can
    }

    fn yields(&self) -> usize {
        1
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_5_writers_of_a_source_take_turns_where_writes_are_composed() {
    let store = Store::new(Meddling::new(NoTransactions));
    let index = library(&store).await;
    let again = LibraryIndex::open(&store, &name(), Arc::new(TestEmbedder::default()))
        .await
        .unwrap();
    for _ in 0..20 {
        let tasks: Vec<_> = [(&index, "aaa", 3), (&again, "bbb", 5)]
            .into_iter()
            .map(|(index, letter, n)| {
                let org = index.tenant(tenant("org1"));
                tokio::spawn(async move {
                    org.index_source(source("s1", &["g"], &vec![letter; n]))
                        .await
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let request = SearchRequest::new("x").mode(Mode::Dense).top_k(100);
        let answer = index
            .search(&scope("org1", &["g"]), &request)
            .await
            .unwrap();
        let texts: Vec<_> = answer.passages.iter().map(|p| &*p.text).collect();
        assert!(texts == ["aaa"; 3] || texts == ["bbb"; 5], "{texts:?}");
    }
}

struct NoUpdates;

impl Meddle for NoUpdates {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.update_metadata = None;
        can
    }
}

#[tokio::test]
async fn rule_8_an_update_is_never_emulated_and_a_patch_never_moves_a_record() {
    let store = Meddling::new(NoUpdates);
    let asked = store.asked.clone();
    let index = library(&Store::new(store)).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["g"], &["a"]))
        .await
        .unwrap();
    let before = asked.number();
    let change = ScopeChange::new().groups(["h"]).unwrap();
    let error = org.set_source_scope(&id("s1"), &change).await.unwrap_err();
    assert!(
        matches!(error, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::Unsupported(_)))
    );
    assert_eq!(asked.number(), before);
}

#[tokio::test]
async fn rule_9_every_passage_carries_its_revision_and_count_and_nobody_reads_them() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let index = library(&Store::new(store)).await;
    let org = index.tenant(tenant("org1"));
    let revisions = || -> Vec<String> {
        let written = asked.written.lock().unwrap().split_off(0);
        let revision = |r: &Record| r.metadata.text("_shelfward_revision").unwrap().to_owned();
        assert!(
            written
                .iter()
                .all(|r| r.metadata.get("_shelfward_count").unwrap().as_integer()
                    == i64::try_from(written.len()).ok())
        );
        written.iter().map(revision).collect()
    };
    org.index_source(source("s1", &["g"], &["a", "b"]))
        .await
        .unwrap();
    let first = revisions();
    assert!(
        first[0] == first[1]
            && first[0].len() == 16
            && first[0].bytes().all(|b| b.is_ascii_hexdigit())
    );
    org.index_source(
        source("s1", &["g", "h"], &["a", "b"])
            .title("T")
            .folder("f"),
    )
    .await
    .unwrap();
    assert_eq!(
        revisions(),
        first,
        "where a source stands is not its content"
    );
    org.index_source(source("s1", &["g"], &["a", "c"]))
        .await
        .unwrap();
    assert_ne!(revisions()[0], first[0]);

    let answer = index
        .search(&scope("org1", &["g"]), &SearchRequest::new("a"))
        .await
        .unwrap();
    let json = serde_json::to_string(&answer).unwrap();
    assert!(
        !answer.passages.is_empty() && !json.contains("_shelfward_"),
        "{json}"
    );
}

#[tokio::test]
async fn rule_10_asking_again_ends_at_its_ceilings_and_says_so() {
    let collection = {
        let store = Store::new(Meddling::new(Kernel));
        let store = store.with_ceilings(Ceilings::default().with_refill_rounds(2));
        store.ensure(&plain_spec()).await.unwrap()
    };
    collection
        .upsert(
            &(0..100)
                .map(|n| plain(&format!("r{n:02}"), n))
                .collect::<Vec<_>>(),
        )
        .await
        .unwrap();
    let last = key("t").eq("x").and(key("n").gte(95)).build().unwrap();
    let found = collection
        .search(&Leg::dense([1.0, 0.0], last, 5))
        .await
        .unwrap();
    assert!(found.hits.is_empty());
    assert!(matches!(found.end, End::Capped { .. }), "{:?}", found.end);
}

#[tokio::test]
async fn rule_11_a_lexical_leg_pins_one_partition() {
    let index = library(&memory()).await;
    let collection = memory().ensure(index.spec()).await.unwrap();
    let words = query_words("a", collection.spec().word_rule, false).unwrap();
    for filter in [
        "{}",
        r#"{"tenantId":{"$in":["a","b"]}}"#,
        r#"{"aclGroups":"g"}"#,
        r#"{"$or":[{"tenantId":"a"},{"tenantId":"b"}]}"#,
    ] {
        let leg = Leg::lexical(
            words.clone(),
            Match::Any,
            Filter::from_json(filter).unwrap(),
            5,
        );
        assert!(
            collection.search(&leg).await.unwrap_err().is_refusal(),
            "{filter}"
        );
    }
    let pinned = Filter::from_json(r#"{"tenantId":"a"}"#).unwrap();
    collection
        .search(&Leg::lexical(words, Match::Any, pinned, 5))
        .await
        .unwrap();
}

#[tokio::test]
async fn rule_12_events_hold_no_text_and_groups_only_by_a_keyed_digest() {
    let index = library(&memory()).await;
    index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["secretgroup"], &["secrettext"]))
        .await
        .unwrap();
    let search = async |key: Option<DigestKey>, groups: &[&str]| {
        let events = Arc::new(Events::default());
        let index = index.clone().with_observer(events.clone(), key);
        index
            .search(&scope("org1", groups), &SearchRequest::new("secretquery"))
            .await
            .unwrap();
        let event = searched(&events).pop().unwrap();
        let shown = format!("{event:?} {}", serde_json::to_string(&event).unwrap());
        assert!(
            !["secretgroup", "secrettext", "secretquery"]
                .iter()
                .any(|secret| shown.contains(secret)),
            "{shown}"
        );
        event.groups
    };
    let digest = search(Some(DigestKey::new("one")), &["secretgroup", "b"])
        .await
        .unwrap();
    assert_eq!(digest.len(), 64);
    assert_eq!(
        search(Some(DigestKey::new("one")), &["b", "secretgroup"])
            .await
            .as_ref(),
        Some(&digest)
    );
    assert_ne!(
        search(Some(DigestKey::new("two")), &["secretgroup", "b"])
            .await
            .unwrap(),
        digest
    );
    assert_ne!(
        search(Some(DigestKey::new("one")), &["secretgroup"])
            .await
            .unwrap(),
        digest
    );
    assert_eq!(search(None, &["secretgroup"]).await, None);
    assert!(!format!("{:?}", DigestKey::new("hunter2")).contains("hunter2"));
}

#[tokio::test]
async fn rule_12_what_is_shown_for_logs_holds_no_text() {
    let record = plain("a", 1).with_text("secret");
    let leg = Leg::lexical(
        query_words("secret", shelfward_core::WordRule::Seed, false).unwrap(),
        Match::Any,
        key("t").eq("secret").build().unwrap(),
        5,
    );
    let hit = Hit::new(
        record.key.clone(),
        1.0,
        record.text.clone(),
        record.metadata.clone(),
    );
    let index = library(&memory()).await;
    index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["secret"], &["secret"]))
        .await
        .unwrap();
    let answer = index
        .search(&scope("org1", &["secret"]), &SearchRequest::new("secret"))
        .await
        .unwrap();
    assert_eq!(answer.passages.len(), 1);
    let shown = [
        format!("{record:?}"),
        format!("{leg:?}"),
        format!("{hit:?}"),
        format!("{:?}", scope("org1", &["secret"])),
        format!("{:?}", SearchRequest::new("secret")),
        format!("{:?}", source("s1", &["secret"], &["secret"])),
        format!("{answer:?}"),
        format!("{index:?}"),
    ];
    assert!(
        shown.iter().all(|text| !text.contains("secret")),
        "{shown:?}"
    );
}

#[tokio::test]
async fn a_request_read_back_from_json_has_lost_no_condition() {
    let request = SearchRequest::new("budget")
        .mode(Mode::Dense)
        .top_k(3)
        .matching(Match::All)
        .prefix(true)
        .kinds(["session"])
        .folder("f")
        .folder_ids(["f", "g"])
        .tags(["x"])
        .source_ids([id("s1")])
        .any_of([Narrowing::new().kinds(["mail"]), Narrowing::new()])
        .filter(key("year").gte(2020).build().unwrap());
    let json = serde_json::to_string(&request).unwrap();
    assert_eq!(
        serde_json::from_str::<SearchRequest>(&json).unwrap(),
        request,
        "{json}"
    );
    for odd in [
        r#"{"text":"a","unknown":1}"#,
        r#"{"text":"a","scope":{"tenantId":"b"}}"#,
        r#"{"text":"a","anyOf":[{"mode":"dense"}]}"#,
        r#"{"text":"a","anyOf":[{"topK":3}]}"#,
        r#"{"text":"a","tags":["x"],"tags":["y"]}"#,
        r#"{"text":"a","filter":{"x":1,"x":2}}"#,
        r#"{"text":"a","sourceIds":[""]}"#,
    ] {
        assert!(serde_json::from_str::<SearchRequest>(odd).is_err(), "{odd}");
    }
}

/// Says that it deleted nothing, or something else than it did.
struct Miscounts;

impl Meddle for Miscounts {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.delete_matching = Some(Counting::Unknown);
        can
    }

    fn count(&self, count: Count) -> Count {
        count.plus(Count::Exact(1))
    }
}

#[tokio::test]
async fn a_store_whose_numbers_do_not_add_up_is_told_on() {
    let index = library(&Store::new(Meddling::new(Miscounts))).await;
    let error = index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["g"], &["a"]))
        .await
        .unwrap_err();
    assert!(matches!(error, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::Contract(_))));
}

/// Answers what nobody asked for.
struct OddAnswers(fn(Found) -> Found);

impl Meddle for OddAnswers {
    fn found(&self, found: Found, _: &Leg) -> Found {
        (self.0)(found)
    }
}

async fn odd_answer(odd: fn(Found) -> Found) -> Result<Vec<String>, LibraryError> {
    let index = library(&Store::new(Meddling::new(OddAnswers(odd)))).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["g"], &["a", "b", "c"]))
        .await
        .unwrap();
    let request = SearchRequest::new("a").mode(Mode::Dense).top_k(2);
    let answer = index.search(&scope("org1", &["g"]), &request).await?;
    Ok(ids(&answer).into_iter().map(str::to_owned).collect())
}

#[tokio::test]
async fn odd_answers_of_a_store_are_errors_or_mended() {
    let nan = odd_answer(|mut found| {
        found.hits[0].score = f64::NAN;
        found
    });
    assert!(
        matches!(nan.await, Err(LibraryError::Store(e)) if matches!(e.kind(), ErrorKind::Contract(_)))
    );
    let more = odd_answer(|mut found| {
        let again = found.hits.clone();
        found.hits.extend(again);
        found
    });
    assert_eq!(more.await.unwrap().len(), 2);
    let twice = odd_answer(|mut found| {
        found.hits[1] = found.hits[0].clone();
        found
    });
    assert_eq!(twice.await.unwrap(), ["s1#0"]);
    let backwards = odd_answer(|mut found| {
        found.hits.reverse();
        found
    });
    assert_eq!(backwards.await.unwrap()[0], "s1#0");
    // A hit of the right metadata under another tenant's key is nobody's.
    let stolen = odd_answer(|mut found| {
        found.hits[0].key.partition = Some(Text::new("org2").unwrap());
        found
    });
    assert!(!stolen.await.unwrap().contains(&"s1#0".to_owned()));
}

#[tokio::test]
async fn records_that_are_no_passages_are_never_returned() {
    let store = memory();
    let index = library(&store).await;
    let collection = store.open(&name()).await.unwrap();
    let whole = r#"{"tenantId":"org1","aclGroups":["g"],"status":"active","sourceId":"s","kind":"k","index":0}"#;
    let put = async |id: &str, json: &str| {
        let metadata = Metadata::from_json(json).unwrap();
        let key = Key::within(Text::new("org1").unwrap(), Text::new(id).unwrap());
        collection
            .upsert(&[Record::new(key, [1.0; 4]).with_metadata(metadata)])
            .await
            .unwrap();
    };
    put("whole", whole).await;
    for missing in ["aclGroups", "status", "sourceId", "kind", "index"] {
        let mut json: serde_json::Value = serde_json::from_str(whole).unwrap();
        json.as_object_mut().unwrap().remove(missing);
        put(missing, &json.to_string()).await;
    }
    put("archived", &whole.replace("active", "archived")).await;
    put("empty-groups", &whole.replace(r#"["g"]"#, "[]")).await;
    let answer = index
        .search(
            &scope("org1", &["g"]),
            &SearchRequest::new("x").mode(Mode::Dense),
        )
        .await
        .unwrap();
    assert_eq!(ids(&answer), ["s#0"]);
}

#[tokio::test]
async fn partition_and_key_must_agree() {
    let fields = [
        Field::new(MetadataKey::new("tenant").unwrap(), FieldKind::Text)
            .with_role(FieldRole::Partition),
    ];
    let collection = memory()
        .ensure(&plain_spec().with_fields(fields))
        .await
        .unwrap();
    let metadata = Metadata::new().with("tenant", "a").unwrap();
    let text = |t: &str| Text::new(t).unwrap();
    let wrong = [Key::new(text("1")), Key::within(text("b"), text("1"))];
    for key in wrong {
        let record = Record::new(key, [1.0, 0.0]).with_metadata(metadata.clone());
        assert!(collection.upsert(&[record]).await.unwrap_err().is_refusal());
    }
    let right = Record::new(Key::within(text("a"), text("1")), [1.0, 0.0]).with_metadata(metadata);
    collection.upsert(&[right]).await.unwrap();
}

#[tokio::test]
async fn starved_searches_are_full_with_a_store_that_filters() {
    let index = library(&memory()).await;
    let near = vec!["near"; 990];
    index
        .tenant(tenant("a"))
        .index_source(source("near", &["g"], &near))
        .await
        .unwrap();
    let far: Vec<String> = (0..10).map(|n| format!("zzzz{n}")).collect();
    let far: Vec<&str> = far.iter().map(String::as_str).collect();
    index
        .tenant(tenant("b"))
        .index_source(source("far", &["g", "h"], &far))
        .await
        .unwrap();
    index
        .tenant(tenant("b"))
        .index_source(source("one", &["only"], &["qqqq"]))
        .await
        .unwrap();
    let request = SearchRequest::new("near").mode(Mode::Dense);
    for (groups, expected) in [(&["g"][..], 10), (&["only"], 1)] {
        let answer = index.search(&scope("b", groups), &request).await.unwrap();
        assert_eq!(answer.passages.len(), expected);
        assert!(
            answer.complete
                && answer
                    .passages
                    .iter()
                    .all(|p| p.metadata.text("tenantId") == Some("b"))
        );
    }
}

#[tokio::test]
async fn the_roles_of_texts_reach_the_embedder() {
    let (index, embedder) = support::library_with(&memory(), TestEmbedder::default()).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["a", "b", "c"]))
        .await
        .unwrap();
    index
        .search(&scope("a", &["g"]), &SearchRequest::new("a"))
        .await
        .unwrap();
    use shelfward_core::Role::{Passage, Query};
    assert_eq!(*embedder.roles.lock().unwrap(), [Passage, Query]);
    let small = index.with_batch_size(2).unwrap();
    small
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["a", "b", "c"]))
        .await
        .unwrap();
    assert_eq!(embedder.calls(), 4);
}

#[test]
fn fusion_gives_what_was_worked_out_by_hand() {
    use shelfward_core::fusion::{FusionWeights, reciprocal_rank_fusion};
    let dense = [("p", 1), ("q", 2), ("r", 3)];
    let lexical = [("s", 1), ("t", 2), ("r", 3)];
    let fused = reciprocal_rank_fusion(&dense, &lexical, &FusionWeights::default());
    let shown: Vec<_> = fused
        .iter()
        .map(|hit| format!("{} {:.6}", hit.id, hit.score))
        .collect();
    assert_eq!(
        shown,
        [
            "r 0.015873",
            "p 0.011475",
            "q 0.011290",
            "s 0.004918",
            "t 0.004839"
        ]
    );
    let equal = reciprocal_rank_fusion(&dense, &lexical, &FusionWeights::EQUAL);
    assert_eq!((equal[0].id, equal[0].score), ("r", 2.0 / 63.0));
    for (weights, name) in [
        ((-1.0, 1.0, 60.0), "denseWeight"),
        ((1.0, f64::NAN, 60.0), "sparseWeight"),
        ((1.0, 1.0, f64::INFINITY), "k"),
    ] {
        let error = FusionWeights::new(weights.0, weights.1, weights.2).unwrap_err();
        assert_eq!(error.name(), name);
        assert!(error.to_string().contains(name));
    }
}

#[tokio::test]
async fn a_dense_only_store_answers_hybrid_densely_and_refuses_lexical() {
    struct DenseOnly;
    impl Meddle for DenseOnly {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.lexical = None;
            can
        }
    }
    let (index, embedder) = support::library_with(
        &Store::new(Meddling::new(DenseOnly)),
        TestEmbedder::default(),
    )
    .await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["a", "b"]))
        .await
        .unwrap();
    let ask = async |mode| {
        index
            .search(&scope("a", &["g"]), &SearchRequest::new("a").mode(mode))
            .await
    };
    let (dense, hybrid) = (
        ask(Mode::Dense).await.unwrap(),
        ask(Mode::Hybrid).await.unwrap(),
    );
    assert_eq!(dense, hybrid);
    assert_eq!(hybrid.ran, Ran::Dense);
    let before = embedder.calls();
    match ask(Mode::Lexical).await.unwrap_err() {
        LibraryError::Store(e) => assert!(matches!(e.kind(), ErrorKind::Unsupported(_))),
        other => panic!("{other}"),
    }
    assert_eq!(embedder.calls(), before);
}

#[tokio::test]
async fn a_store_that_could_never_take_a_source_out_is_refused_at_once() {
    struct WriteOnly;
    impl Meddle for WriteOnly {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.replace = Replace::DeleteThenWrite;
            can.delete_matching = None;
            can.scan = false;
            can
        }
    }
    let store = Store::new(Meddling::new(WriteOnly));
    let spec = shelfward_core::library::LibrarySpec::new(name());
    let error = LibraryIndex::ensure(&store, spec, Arc::new(TestEmbedder::default()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::Unsupported(_)))
    );
}

#[tokio::test]
async fn a_write_that_failed_after_it_was_sent_is_told_to_the_observer_and_a_refused_one_is_not() {
    let events = Arc::new(Events::default());
    let index = library(&Store::new(Meddling::new(Miscounts))).await;
    let org = index
        .with_observer(events.clone(), None)
        .tenant(tenant("org1"));
    assert!(org.index_source(source("s1", &[], &["a"])).await.is_err());
    assert!(events.0.lock().unwrap().is_empty());
    assert!(
        org.index_source(source("s1", &["g"], &["a"]))
            .await
            .is_err()
    );
    let [Event::Failed(failed)] = &events.0.lock().unwrap()[..] else {
        panic!("one failure")
    };
    assert_eq!(
        (failed.source.as_deref(), failed.change),
        (Some("s1"), "indexed")
    );
}
