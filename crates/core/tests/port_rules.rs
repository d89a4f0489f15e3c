//! The rules of the port, each with its test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use shelfward_core::capabilities::{Capabilities, Lexical, Replace, Words};
use shelfward_core::filter::{FilterSupport, key};
use shelfward_core::library::{ExecutedMode, LibraryError, Mode, ScopeChange, SearchRequest};
use shelfward_core::observer::{DigestKey, Event, Searched};
use shelfward_core::{
    CollectionName, CollectionSpec, Completeness, Count, ErrorKind, Field, FieldKind, FieldRole,
    Filter, Hit, Include, Key, Leg, LegResult, LibraryIndex, Limits, Match, Metadata, MetadataKey,
    MetadataPatch, Metric, Operation, Persistence, Record, Store, StoreError, Text, query_words,
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
            shelfward_core::LegQuery::Dense(_) => Filter::everything(),
            shelfward_core::LegQuery::Lexical { .. } => key("tenantId").eq(tenant).build().unwrap(),
        })
    }
}

fn digest_key(byte: u8) -> DigestKey {
    DigestKey::new([byte; 16]).unwrap()
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
    let index = index.with_observer(events.clone(), Some(digest_key(1)));
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
        (
            ["seen#0", "seen#1"].map(str::to_owned).into(),
            ExecutedMode::Hybrid
        )
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

    fn found(&self, mut found: LegResult, leg: &Leg) -> LegResult {
        if matches!(leg.ask, shelfward_core::LegQuery::Lexical { .. }) {
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
        let store = store.with_limits(Limits::builder().refill_rounds(2).build().unwrap());
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
    assert!(
        matches!(found.end, Completeness::Capped { .. }),
        "{:?}",
        found.end
    );
}

#[tokio::test]
async fn rule_11_a_lexical_leg_pins_one_partition() {
    let index = library(&memory()).await;
    let collection = memory().ensure_unscoped(index.spec()).await.unwrap();
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
    let digest = search(Some(digest_key(1)), &["secretgroup", "b"])
        .await
        .unwrap();
    assert_eq!(digest.len(), 64);
    assert_eq!(
        search(Some(digest_key(1)), &["b", "secretgroup"])
            .await
            .as_ref(),
        Some(&digest)
    );
    assert_ne!(
        search(Some(digest_key(2)), &["secretgroup", "b"])
            .await
            .unwrap(),
        digest
    );
    assert_ne!(
        search(Some(digest_key(1)), &["secretgroup"]).await.unwrap(),
        digest
    );
    assert_eq!(search(None, &["secretgroup"]).await, None);
    assert!(!format!("{:?}", DigestKey::new("hunter2".repeat(3)).unwrap()).contains("hunter2"));
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

#[test]
fn a_write_that_never_got_its_turn_may_be_repeated_and_one_that_may_have_landed_not() {
    let timeout = || ErrorKind::Timeout(Duration::from_secs(1));
    for (kind, else_) in [
        (timeout(), Persistence::Unknown),
        (ErrorKind::Engine, Persistence::Unknown),
        (ErrorKind::Unavailable, Persistence::Temporary),
    ] {
        let told = format!("{kind:?}");
        let error = StoreError::new(Operation::Upsert, kind);
        assert_eq!(error.persistence(), else_, "{told}");
        let error = error.nothing_done();
        assert_eq!(error.persistence(), Persistence::Temporary, "{told}");
    }
    // Of these the kind says already what was done, and what a repetition does.
    for (kind, is) in [
        (ErrorKind::Full, Persistence::Permanent),
        (ErrorKind::Denied("get the right"), Persistence::Permanent),
        (ErrorKind::Unverified, Persistence::Unknown),
    ] {
        let error = StoreError::new(Operation::Upsert, kind).nothing_done();
        assert_eq!(error.persistence(), is, "{error}");
    }
}
