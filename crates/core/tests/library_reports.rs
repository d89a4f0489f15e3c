//! Faults that other libraries of this kind were reported for, as tests of this one.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::sync::Arc;

use shelfward_core::capabilities::Capabilities;
use shelfward_core::filter::{FilterSupport, key};
use shelfward_core::library::{
    Affected, ExecutedMode, LibraryError, LibrarySpec, Mode, ScopeChange, SearchRequest,
};
use shelfward_core::observer::Event;
use shelfward_core::{
    Count, ErrorKind, Field, FieldKind, Filter, LibraryIndex, Metadata, MetadataKey, Operation,
    Persistence, Result, Store, StoreError,
};
use support::{
    Events, Meddle, Meddling, Nothing, TestEmbedder, id, ids, library, library_with, memory, name,
    scope, source, tenant,
};

async fn found(index: &LibraryIndex, groups: &[&str], request: SearchRequest) -> Vec<String> {
    let answer = index.search(&scope("a", groups), &request).await.unwrap();
    ids(&answer)
}

fn dense() -> SearchRequest {
    SearchRequest::new("words").mode(Mode::Dense).top_k(100)
}

async fn with_years(store: &Store) -> LibraryIndex {
    let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
    let spec = LibrarySpec::new(name()).with_fields([year]);
    LibraryIndex::ensure(store, spec, Arc::new(TestEmbedder::default()))
        .await
        .unwrap()
}

// A filter that does not leave the process, or that the store ignores.

#[tokio::test]
async fn every_call_about_a_source_names_its_tenant() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let index = library(&Store::new(store)).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["one"]))
        .await
        .unwrap();
    let change = ScopeChange::new().groups(["h"]).unwrap();
    org.set_source_scope(&id("s"), &change)
        .await
        .unwrap()
        .count();
    org.remove_source(&id("s")).await.unwrap().count();
    org.remove_tenant().await.unwrap().count();
    let within = asked.take_within();
    assert!(within.len() >= 8, "{within:?}");
    for filter in within {
        assert!(filter.contains(r#""tenantId":"a""#), "{filter}");
    }
}

#[tokio::test]
async fn the_filter_of_a_search_holds_scope_narrowing_and_the_callers_own() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let index = with_years(&Store::new(store)).await;
    let request = SearchRequest::new("words")
        .kinds(["session", "mail"])
        .folder("f")
        .tags(["x", "y"])
        .source_ids([id("s1")])
        .filter(key("year").gte(2020).build().unwrap());
    // The request is what it was when it has been written and read again.
    let json = serde_json::to_string(&request).unwrap();
    let read: SearchRequest = serde_json::from_str(&json).unwrap();
    found(&index, &["g2", "g1"], read).await;
    let whole = concat!(
        r#"{"tenantId":"a","aclGroups":{"$in":["g1","g2"]},"status":"active","#,
        r#""kind":{"$in":["session","mail"]},"folderId":"f","tags":{"$all":["x","y"]},"#,
        r#""sourceId":{"$in":["s1"]},"year":{"$gte":2020}}"#
    );
    assert_eq!(asked.filters(), [whole, whole], "both legs");
}

// Containment in a list.

#[tokio::test]
async fn one_shared_group_is_enough_and_every_tag_is_needed() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g1", "g2"], &["words"]).tags(["a", "b", "c"]))
        .await
        .unwrap();
    for (groups, hit) in [
        (&["g2", "g9"][..], true),
        (&["g9"], false),
        (&["g"], false),
        (&["g1,g2"], false),
        (&["G1"], false),
    ] {
        assert_eq!(
            found(&index, groups, dense()).await.len(),
            usize::from(hit),
            "{groups:?}"
        );
    }
    for (tags, hit) in [
        (&["a", "b"][..], true),
        (&["a", "z"], false),
        (&["c", "b", "a", "a"], true),
        (&[], false),
        (&["a,b"], false),
    ] {
        let request = dense().tags(tags.iter().copied());
        assert_eq!(
            found(&index, &["g1"], request).await.len(),
            usize::from(hit),
            "{tags:?}"
        );
    }
    // The same `$in` on a plain field.
    for (kinds, hit) in [
        (&["document", "mail"][..], true),
        (&["mail"], false),
        (&[], false),
    ] {
        let request = dense().kinds(kinds.iter().copied());
        assert_eq!(
            found(&index, &["g1"], request).await.len(),
            usize::from(hit),
            "{kinds:?}"
        );
    }
}

// Missing, null and empty.

#[tokio::test]
async fn what_a_source_does_not_hold_no_positive_condition_finds() {
    let index = with_years(&memory()).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("bare", &["g"], &["words"]))
        .await
        .unwrap();
    let null = Metadata::from_json(r#"{"year":null}"#).unwrap();
    org.index_source(source("null", &["g"], &["words"]).metadata(null))
        .await
        .unwrap();
    let year = Metadata::from_json(r#"{"year":2020}"#).unwrap();
    org.index_source(
        source("filed", &["g"], &["words"])
            .metadata(year)
            .folder("f"),
    )
    .await
    .unwrap();
    assert_eq!(
        found(&index, &["g"], dense().folder("f")).await,
        ["filed#0"]
    );
    assert_eq!(
        found(&index, &["g"], dense().folder_ids(["f", "h"])).await,
        ["filed#0"]
    );
    assert!(
        found(&index, &["g"], dense().folder_ids([""; 0]))
            .await
            .is_empty()
    );
    assert!(found(&index, &["g"], dense().folder("")).await.is_empty());
    let rows: [(&str, &[&str]); 9] = [
        (r#"{"year":2020}"#, &["filed#0"]),
        (r#"{"year":{"$in":[2020]}}"#, &["filed#0"]),
        (r#"{"year":{"$all":[2020]}}"#, &["filed#0"]),
        (r#"{"year":{"$gte":0}}"#, &["filed#0"]),
        (r#"{"year":{"$exists":true}}"#, &["filed#0"]),
        (r#"{"year":{"$in":[]}}"#, &[]),
        (r#"{"year":{"$all":[]}}"#, &["bare#0", "filed#0", "null#0"]),
        (r#"{"year":{"$ne":2020}}"#, &["bare#0", "null#0"]),
        (r#"{"year":{"$not":{"$gte":0}}}"#, &["bare#0", "null#0"]),
    ];
    for (json, expected) in rows {
        let filter = Filter::from_json(json).unwrap();
        let mut answered = found(&index, &["g"], dense().filter(filter)).await;
        answered.sort();
        assert_eq!(answered, expected, "{json}");
    }
}

// Deleting too much, or nothing.

/// Answers writes by something else than doing them.
struct Pretends {
    delete: Option<fn() -> Result<Count>>,
    update: Option<fn() -> Result<Count>>,
}

const HONEST: Pretends = Pretends {
    delete: None,
    update: None,
};

impl Meddle for Pretends {
    fn delete(&self) -> Option<Result<Count>> {
        self.delete.map(|answer| answer())
    }

    fn update(&self) -> Option<Result<Count>> {
        self.update.map(|answer| answer())
    }
}

/// A library with one source in a store that is honest, and again in one that pretends.
async fn pretending(meddle: Pretends) -> (LibraryIndex, Arc<Events>) {
    let store = Meddling::new(meddle);
    let raw = Store::new(store.memory.clone());
    library(&raw)
        .await
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "two"]))
        .await
        .unwrap();
    let events = Arc::new(Events::default());
    let index = library(&Store::new(store)).await;
    (index.with_observer(events.clone(), None), events)
}

fn failed_as(error: LibraryError, kind: fn(&ErrorKind) -> bool) -> StoreError {
    match error {
        LibraryError::Store(error) if kind(error.kind()) => error,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_absent_source_is_none_and_nothing_else_goes() {
    let (index, events) = pretending(HONEST).await;
    let org = index.tenant(tenant("a"));
    assert_eq!(
        org.remove_source(&id("absent")).await.unwrap(),
        Affected::Nothing
    );
    let change = ScopeChange::new().groups(["h"]).unwrap();
    let narrowed = org.set_source_scope(&id("absent"), &change).await.unwrap();
    assert!(narrowed.is_nothing() && narrowed.count() == Count::Exact(0));
    let nobody = index.tenant(tenant("nobody"));
    assert_eq!(nobody.remove_tenant().await.unwrap(), Affected::Nothing);
    assert_eq!(found(&index, &["g"], dense()).await.len(), 2);
    assert_eq!(events.0.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_delete_that_leaves_the_passages_is_never_reported_as_done() {
    let answers: [fn() -> Result<Count>; 4] = [
        || Ok(Count::Exact(0)),
        || Ok(Count::Exact(2)),
        || Ok(Count::Unknown),
        || Ok(Count::AtLeast(1)),
    ];
    for delete in answers {
        let (index, events) = pretending(Pretends {
            delete: Some(delete),
            ..HONEST
        })
        .await;
        let org = index.tenant(tenant("a"));
        let contract = |kind: &ErrorKind| matches!(kind, ErrorKind::Contract(_));
        let error = failed_as(org.remove_source(&id("s")).await.unwrap_err(), contract);
        assert!(
            error.to_string().contains("2 records are still there"),
            "{error}"
        );
        failed_as(org.remove_tenant().await.unwrap_err(), contract);
        let shown = format!("{:?}", events.0.lock().unwrap());
        assert_eq!(shown.matches("Failed(").count(), 2, "{shown}");
        assert!(!shown.contains("Changed("), "{shown}");
    }
}

#[tokio::test]
async fn a_delete_that_the_store_says_failed_is_an_error() {
    let (index, _) = pretending(Pretends {
        delete: Some(|| {
            Err(StoreError::new(
                Operation::DeleteMatching,
                ErrorKind::Unavailable,
            ))
        }),
        ..HONEST
    })
    .await;
    let org = index.tenant(tenant("a"));
    let error = org.remove_source(&id("s")).await.unwrap_err();
    assert_eq!(error.persistence(), Persistence::Temporary);
    failed_as(error, |kind| matches!(kind, ErrorKind::Unavailable));
    assert_eq!(found(&index, &["g"], dense()).await.len(), 2);
}

#[tokio::test]
async fn a_narrowing_that_changes_nothing_is_never_reported_as_done() {
    let answers: [fn() -> Result<Count>; 3] = [
        || Ok(Count::Exact(0)),
        || Ok(Count::Exact(2)),
        || Ok(Count::Unknown),
    ];
    for update in answers {
        let (index, events) = pretending(Pretends {
            update: Some(update),
            ..HONEST
        })
        .await;
        let change = ScopeChange::new().groups(["few"]).unwrap();
        let narrowed = index
            .tenant(tenant("a"))
            .set_source_scope(&id("s"), &change)
            .await;
        failed_as(narrowed.unwrap_err(), |kind| {
            matches!(kind, ErrorKind::Contract(_))
        });
        let events = events.0.lock().unwrap();
        assert!(matches!(&events[..], [Event::Failed(f)] if f.change == "rescoped"));
    }
}

#[tokio::test]
async fn a_count_of_a_removal_is_what_was_there_whatever_the_store_counts() {
    struct Silent;
    impl Meddle for Silent {
        fn capabilities(&self, mut can: Capabilities) -> Capabilities {
            can.delete_matching = None;
            can.filter = FilterSupport::kernel();
            can
        }
    }
    let index = library(&Store::new(Meddling::new(Silent))).await;
    let org = index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["one", "two", "three"]))
        .await
        .unwrap();
    assert_eq!(
        org.remove_source(&id("s")).await.unwrap().count(),
        Count::Exact(3)
    );
    assert!(found(&index, &["g"], dense()).await.is_empty());
}

// A tail that is left after indexing again.

#[tokio::test]
async fn indexing_fewer_passages_leaves_no_tail() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("a"));
    let lexical = |word: &str| SearchRequest::new(word).mode(Mode::Lexical);
    let first = org
        .index_source(source("s", &["g"], &["alpha", "beta", "gamma"]))
        .await
        .unwrap();
    assert_eq!((first.passages, first.replaced), (3, Count::Exact(0)));
    assert_eq!(found(&index, &["g"], lexical("gamma")).await, ["s#2"]);
    let second = org
        .index_source(source("s", &["g"], &["alpha"]))
        .await
        .unwrap();
    assert_eq!((second.passages, second.replaced), (1, Count::Exact(3)));
    assert!(found(&index, &["g"], lexical("gamma")).await.is_empty());
    assert_eq!(found(&index, &["g"], dense()).await, ["s#0"]);
    assert!(org.index_source(source("s", &["g"], &[])).await.is_err());
    assert_eq!(found(&index, &["g"], dense()).await, ["s#0"]);
    let emptied = source("s", &["g"], &[]).allow_empty(true);
    let third = org.index_source(emptied).await.unwrap();
    assert_eq!((third.passages, third.replaced), (0, Count::Exact(1)));
    assert!(found(&index, &["g"], dense()).await.is_empty());
}

// One name in two tenants.

#[tokio::test]
async fn a_source_of_one_name_in_two_tenants_is_two_sources() {
    let index = library(&memory()).await;
    let (a, b) = (index.tenant(tenant("a")), index.tenant(tenant("b")));
    a.index_source(source("handbook", &["g"], &["ours", "ours too"]))
        .await
        .unwrap();
    b.index_source(source("handbook", &["g"], &["theirs"]))
        .await
        .unwrap();
    assert_ne!(a.key(&id("handbook"), 0), b.key(&id("handbook"), 0));
    let change = ScopeChange::new().groups(["nobody"]).unwrap().title("Mine");
    assert_eq!(
        b.set_source_scope(&id("handbook"), &change)
            .await
            .unwrap()
            .count(),
        Count::Exact(1)
    );
    assert_eq!(found(&index, &["g"], dense()).await.len(), 2);
    assert_eq!(
        b.remove_source(&id("handbook")).await.unwrap().count(),
        Count::Exact(1)
    );
    assert_eq!(
        b.remove_source(&id("handbook")).await.unwrap().count(),
        Count::Exact(0)
    );
    assert_eq!(b.remove_tenant().await.unwrap().count(), Count::Exact(0));
    let answer = index.search(&scope("a", &["g"]), &dense()).await.unwrap();
    let mut answered = ids(&answer);
    answered.sort_unstable();
    assert_eq!(answered, ["handbook#0", "handbook#1"]);
    assert!(
        answer
            .passages
            .iter()
            .all(|p| p.text.starts_with("ours") && p.title.is_none())
    );
    // Names that run together are not one.
    let joined = index.tenant(tenant("ab"));
    assert_ne!(
        joined.key(&id("c"), 0).id,
        index.tenant(tenant("a")).key(&id("bc"), 0).id
    );
}

// Queries that ask for nothing.

#[tokio::test]
async fn blank_queries_ask_nobody_and_queries_without_words_only_the_dense_leg() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let (index, embedder) = library_with(&Store::new(store), TestEmbedder::default()).await;
    index
        .tenant(tenant("a"))
        .index_source(source("s", &["g"], &["one", "two"]))
        .await
        .unwrap();
    let reader = scope("a", &["g"]);
    let before = embedder.calls();
    let called = || (embedder.calls() - before, asked.take_calls());
    called();
    for blank in ["", "   ", "\t\r\n", "\u{feff}\u{3000}"] {
        for mode in [Mode::Lexical, Mode::Hybrid, Mode::Dense] {
            let request = SearchRequest::new(blank).mode(mode);
            assert!(index.search(&reader, &request).await.is_err(), "{blank:?}");
        }
    }
    assert_eq!(called(), (0, vec![]));
    let ask = async |mode| {
        let request = SearchRequest::new("???").mode(mode);
        let answer = index.search(&reader, &request).await.unwrap();
        (answer.passages.len(), answer.ran, answer.complete)
    };
    assert_eq!(ask(Mode::Lexical).await, (0, ExecutedMode::Lexical, true));
    assert_eq!(called(), (0, vec![]));
    assert_eq!(ask(Mode::Hybrid).await, (2, ExecutedMode::Dense, true));
    assert_eq!(called(), (1, vec!["search"]));
    assert_eq!(ask(Mode::Dense).await, (2, ExecutedMode::Dense, true));
}
