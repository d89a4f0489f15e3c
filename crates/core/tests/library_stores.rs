//! The library on stores that answer oddly or can little, and what it hands on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use shelfward_core::capabilities::{Capabilities, Counting, Replace};
use shelfward_core::filter::key;
use shelfward_core::library::{ExecutedMode, LibraryError, Mode, PassageFilter, SearchRequest};
use shelfward_core::observer::Event;
use shelfward_core::{
    Count, ErrorKind, Key, Leg, LegResult, LibraryIndex, Match, Metadata, Record, Store, Text,
};
use support::{
    Events, Meddle, Meddling, TestEmbedder, id, ids, library, memory, name, scope, source, tenant,
};

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
        .any_of([PassageFilter::new().kinds(["mail"]), PassageFilter::new()])
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
struct OddAnswers(fn(LegResult) -> LegResult);

impl Meddle for OddAnswers {
    fn found(&self, found: LegResult, _: &Leg) -> LegResult {
        (self.0)(found)
    }
}

async fn odd_answer(odd: fn(LegResult) -> LegResult) -> Result<Vec<String>, LibraryError> {
    let index = library(&Store::new(Meddling::new(OddAnswers(odd)))).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["g"], &["a", "b", "c"]))
        .await
        .unwrap();
    let request = SearchRequest::new("a").mode(Mode::Dense).top_k(2);
    let answer = index.search(&scope("org1", &["g"]), &request).await?;
    Ok(ids(&answer))
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
    // The one whose place it took is asked for again.
    assert_eq!(twice.await.unwrap().len(), 2);
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
    let collection = store.open_unscoped(&name()).await.unwrap();
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
    assert_eq!(hybrid.ran, ExecutedMode::Dense);
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
    assert!(
        org.index_source(source("s1", &["g"], &[" "]))
            .await
            .is_err()
    );
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
        (failed.source.as_ref().map(AsRef::as_ref), failed.change),
        (Some("s1"), "indexed")
    );
}
