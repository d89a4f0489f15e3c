//! The library on stores that answer what they were not asked, or less than they hold.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use shelfward_core::capabilities::Capabilities;
use shelfward_core::filter::{FilterSupport, all_of, key};
use shelfward_core::library::{LibrarySpec, Mode, SearchRequest};
use shelfward_core::observer::{Event, Searched};
use shelfward_core::{
    Completeness, Field, FieldKind, Filter, Hit, Leg, LegQuery, LegResult, LibraryIndex,
    LimitReached, Metadata, MetadataKey, Store,
};
use support::{
    Events, Meddle, Meddling, TestEmbedder, ids, library, library_with, memory, name, scope,
    source, tenant,
};

fn searched(events: &Events) -> Vec<Searched> {
    let mut events = events.0.lock().unwrap();
    events
        .drain(..)
        .filter_map(|event| match event {
            Event::Searched(searched) => Some(searched),
            _ => None,
        })
        .collect()
}

async fn with_years(store: &Store) -> LibraryIndex {
    let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
    let spec = LibrarySpec::new(name()).with_fields([year]);
    LibraryIndex::ensure(store, spec, Arc::new(TestEmbedder::default()))
        .await
        .unwrap()
}

// Few that match among many that are near.

/// Drops `$all` from every filter, as some stores do.
struct DropsAll;

impl Meddle for DropsAll {
    fn search_filter(&self, leg: &Leg) -> Option<Filter> {
        let shelfward_core::filter::Node::And(children) = leg.filter.node() else {
            return None;
        };
        let kept = children
            .iter()
            .filter(|child| !child.to_string().contains("$all"));
        all_of(kept.cloned().map(Into::into)).build().ok()
    }
}

#[tokio::test]
async fn a_store_that_drops_a_condition_answers_in_full_or_says_that_it_does_not() {
    let events = Arc::new(Events::default());
    let index = library(&Store::new(Meddling::new(DropsAll))).await;
    let index = index.with_observer(events.clone(), None);
    let org = index.tenant(tenant("a"));
    // Nearer than the tagged ones, and without the tag.
    org.index_source(source("near", &["g"], &["near"; 60]))
        .await
        .unwrap();
    org.index_source(source("tagged", &["g"], &["near, and with a tag"; 5]).tags(["x"]))
        .await
        .unwrap();
    let search = async |top_k| {
        let request = SearchRequest::new("near").mode(Mode::Dense).tags(["x"]);
        let answer = index
            .search(&scope("a", &["g"]), &request.top_k(top_k))
            .await
            .unwrap();
        assert!(answer.passages.iter().all(|p| p.source_id == "tagged"));
        let event = searched(&events).pop().unwrap();
        assert!(
            event
                .dropped
                .iter()
                .all(|dropped| dropped.reason == "narrowing")
        );
        assert_eq!(event.complete, answer.complete);
        (
            answer.passages.len(),
            answer.complete,
            event.legs[0].rounds,
            event.legs[0].end,
            event.dropped.len(),
        )
    };
    // 5, 20 and 80 candidates: the third time holds them all.
    assert_eq!(search(5).await, (5, true, 3, Completeness::Complete, 60));
    // 2, 8 and 32: none of them is among those, and the answer says that there may be more.
    let capped = Completeness::Capped {
        by: LimitReached::Rounds,
    };
    assert_eq!(search(2).await, (0, false, 3, capped, 32));
    // Ranks and scores are of what was answered: the hidden take none.
    let request = SearchRequest::new("near").tags(["x"]).top_k(5);
    let answer = index.search(&scope("a", &["g"]), &request).await.unwrap();
    let ranks: Vec<_> = answer
        .passages
        .iter()
        .map(|p| p.legs.dense.unwrap().rank)
        .collect();
    assert_eq!(ranks, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_store_of_the_kernel_alone_answers_a_callers_range_in_full_or_says_so() {
    struct Kernel;
    impl Meddle for Kernel {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.filter = FilterSupport::kernel();
            can
        }
    }
    let store = Meddling::new(Kernel);
    let asked = store.asked.clone();
    let events = Arc::new(Events::default());
    let index = with_years(&Store::new(store)).await;
    let index = index.with_observer(events.clone(), None);
    let org = index.tenant(tenant("a"));
    let year = |n: i64| Metadata::new().with("year", n).unwrap();
    org.index_source(source("old", &["g"], &["near"; 60]).metadata(year(1999)))
        .await
        .unwrap();
    org.index_source(source("new", &["g"], &["near and new"; 5]).metadata(year(2020)))
        .await
        .unwrap();
    let search = async |top_k| {
        let request = SearchRequest::new("near").mode(Mode::Dense).top_k(top_k);
        let since = key("year").gte(2000).build().unwrap();
        let answer = index
            .search(&scope("a", &["g"]), &request.filter(since))
            .await
            .unwrap();
        (answer.passages.len(), answer.complete)
    };
    assert_eq!(search(5).await, (5, true));
    assert_eq!(search(2).await, (0, false));
    // What the store was not asked to filter is no fault of its filter.
    assert!(
        searched(&events)
            .iter()
            .all(|event| event.dropped.is_empty())
    );
    assert!(
        asked
            .filters()
            .iter()
            .all(|sent| !sent.contains("year") && sent.contains("aclGroups"))
    );
}

#[tokio::test]
async fn ten_of_a_thousand_are_found_as_by_looking_at_each() {
    let mut embedder = TestEmbedder::default().with("query", [1.0, 0.0, 0.0, 0.0]);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    for n in 0..10_usize {
        let vector = [0.1, 1.0 + n as f32, 0.0, 0.0];
        embedder = embedder.with(&format!("far {n}"), vector);
    }
    embedder = embedder.with("near", [1.0, 0.01, 0.0, 0.0]);
    let (index, _) = library_with(&memory(), embedder).await;
    let near = vec!["near"; 990];
    index
        .tenant(tenant("a"))
        .index_source(source("crowd", &["g"], &near))
        .await
        .unwrap();
    let far: Vec<String> = (0..10).map(|n| format!("far {n}")).collect();
    let far: Vec<&str> = far.iter().map(String::as_str).collect();
    let b = index.tenant(tenant("b"));
    b.index_source(source("few", &["g"], &far)).await.unwrap();
    b.index_source(source("one", &["only"], &["far 3"]))
        .await
        .unwrap();
    let request = SearchRequest::new("query").mode(Mode::Dense).top_k(10);
    let answer = index.search(&scope("b", &["g"]), &request).await.unwrap();
    // The larger the second number, the wider the angle to the query.
    let nearest_first: Vec<String> = (0..10).map(|n| format!("few#{n}")).collect();
    assert_eq!(ids(&answer), nearest_first);
    assert!(answer.complete);
    let answer = index
        .search(&scope("b", &["only"]), &request)
        .await
        .unwrap();
    assert_eq!(
        (ids(&answer), answer.complete),
        (vec!["one#0".to_owned()], true)
    );
}

#[tokio::test]
async fn a_store_that_does_not_say_how_it_ended_makes_a_short_answer_incomplete() {
    struct Vague;
    impl Meddle for Vague {
        fn found(&self, mut found: LegResult, _: &Leg) -> LegResult {
            found.end = Completeness::Unknown;
            found
        }
    }
    let index = library(&Store::new(Meddling::new(Vague))).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "two", "three"]))
        .await
        .unwrap();
    for (mode, top_k, complete) in [
        (Mode::Dense, 2, true),
        (Mode::Dense, 3, true),
        (Mode::Dense, 4, false),
        (Mode::Hybrid, 3, true),
        (Mode::Hybrid, 4, false),
    ] {
        let request = SearchRequest::new("one").mode(mode).top_k(top_k);
        let answer = index.search(&scope("a", &["g"]), &request).await.unwrap();
        assert_eq!(answer.complete, complete, "{mode:?} {top_k}");
    }
}

// Hits that nobody asked for.

/// Puts one hit of another tenant, and one without a tenant, before all others.
struct Foreign;

impl Meddle for Foreign {
    fn found(&self, mut found: LegResult, leg: &Leg) -> LegResult {
        let Some(first) = found.hits.first().cloned() else {
            return found;
        };
        let changed = |id: &str, change: &dyn Fn(&mut Metadata)| {
            let mut metadata = Metadata::clone(&first.metadata);
            change(&mut metadata);
            let mut hit = Hit::new(first.key.clone(), 99.0, first.text.clone(), metadata.into());
            hit.key.id = shelfward_core::Text::new(id).unwrap();
            hit
        };
        let tenant_key = || MetadataKey::new("tenantId").unwrap();
        let text = |t: &str| shelfward_core::Text::new(t).unwrap();
        let foreign = [
            changed("other", &|m| drop(m.insert(tenant_key(), text("b")))),
            changed("list", &|m| {
                let list = shelfward_core::Value::texts(["a"]).unwrap();
                drop(m.insert(tenant_key(), list));
            }),
            changed("none", &|m| drop(m.remove("tenantId"))),
            changed("archived", &|m| {
                drop(m.insert(MetadataKey::new("status").unwrap(), text("archived")));
            }),
            changed("negative", &|m| {
                drop(m.insert(MetadataKey::new("index").unwrap(), -1));
            }),
        ];
        found.hits.splice(0..0, foreign);
        found.hits.truncate(leg.top_k);
        found
    }
}

#[tokio::test]
async fn hits_of_others_take_no_place_and_no_rank_in_any_mode() {
    let events = Arc::new(Events::default());
    let index = library(&Store::new(Meddling::new(Foreign))).await;
    let index = index.with_observer(events.clone(), None);
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "one two", "one two three"]))
        .await
        .unwrap();
    let plain = library(&memory()).await;
    plain
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "one two", "one two three"]))
        .await
        .unwrap();
    for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
        for top_k in [1, 2, 3] {
            let request = SearchRequest::new("one").mode(mode).top_k(top_k);
            let reader = scope("a", &["g"]);
            let answer = index.search(&reader, &request).await.unwrap();
            let expected = plain.search(&reader, &request).await.unwrap();
            assert_eq!(answer, expected, "{mode:?} {top_k}");
            let event = searched(&events).pop().unwrap();
            let reasons: std::collections::BTreeSet<_> =
                event.dropped.iter().map(|d| d.reason).collect();
            assert_eq!(
                reasons,
                ["no source id, kind or index", "status", "tenant"].into(),
                "{mode:?} {top_k}"
            );
        }
    }
}

#[tokio::test]
async fn a_lexical_score_by_a_rule_of_the_stores_own_is_not_answered() {
    struct StoreOwn;
    impl Meddle for StoreOwn {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            if let Some(lexical) = &mut can.lexical {
                lexical.scoring = shelfward_core::capabilities::Scoring::StoreOwn;
            }
            can
        }
        fn found(&self, mut found: LegResult, leg: &Leg) -> LegResult {
            if matches!(leg.ask, LegQuery::Lexical { .. }) {
                found.hits.iter_mut().for_each(|hit| hit.score += 1_234.5);
            }
            found
        }
    }
    let index = library(&Store::new(Meddling::new(StoreOwn))).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "one two"]))
        .await
        .unwrap();
    for mode in [Mode::Lexical, Mode::Hybrid] {
        let request = SearchRequest::new("one").mode(mode);
        let answer = index.search(&scope("a", &["g"]), &request).await.unwrap();
        let json = serde_json::to_string(&answer).unwrap();
        assert!(!json.contains("123"), "{json}");
        for passage in &answer.passages {
            let place = passage.legs.lexical.unwrap();
            assert_eq!(place.score, None);
            if mode == Mode::Lexical {
                assert_eq!(passage.score, 1.0 / (60.0 + f64::from(place.rank)));
            }
        }
    }
}
