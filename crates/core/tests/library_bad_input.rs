//! What goes wrong around a library: each with its typed error or defined outcome, nothing lost, and
//! nobody seeing more.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::sync::Arc;

use futures_util::FutureExt as _;
use shelfward_core::library::{
    ExecutedMode, LibraryError, LibrarySpec, Mode, Refusal, ScopeChange, SearchRequest,
};
use shelfward_core::{
    AccessGroup, Count, EmbedError, ErrorKind, FailedRecord, Field, FieldKind, Filter, Groups,
    GroupsError, LibraryIndex, Metadata, MetadataKey, Operation, Persistence, Record, Scope,
    ScopeError, SourceId, SourceKind, Store, StoreError, TenantId,
};
use support::{
    Meddle, Meddling, Nothing, TestEmbedder, id, ids, library, library_with, memory, name, scope,
    source, tenant,
};

async fn seen(index: &LibraryIndex, groups: &[&str]) -> Vec<String> {
    let request = SearchRequest::new("words").mode(Mode::Dense).top_k(1_000);
    let answer = index
        .search(&scope("org1", groups), &request)
        .await
        .unwrap();
    let mut seen: Vec<String> = ids(&answer);
    seen.sort();
    seen
}

fn refusal(error: LibraryError) -> Refusal {
    match error {
        LibraryError::Refused(refusal) => refusal,
        other => panic!("not a refusal but {other}"),
    }
}

#[test]
fn empty_names_cannot_be_made() {
    for text in ["", "a\0b", &"x".repeat(129)] {
        assert!(TenantId::new(text).is_err(), "{text:?}");
        assert!(AccessGroup::new(text).is_err(), "{text:?}");
    }
    assert!(SourceId::new("").is_err());
    assert!(SourceId::new("x".repeat(513)).is_err());
    assert!(SourceId::new("x".repeat(512)).is_ok());
    assert_eq!(Scope::of("org1", [""; 0]), Err(ScopeError::NoGroups));
    assert!(matches!(Scope::of("", ["g"]), Err(ScopeError::Name(_))));
    let many: Vec<String> = (0..9_001).map(|n| n.to_string()).collect();
    let error = Scope::of("org1", many.iter().map(String::as_str)).unwrap_err();
    assert_eq!(
        error,
        ScopeError::TooManyGroups {
            groups: 9_001,
            max: 9_000
        }
    );
    let repeated = vec!["g"; 9_001];
    assert_eq!(Scope::of("org1", repeated).unwrap().groups().len(), 1);
}

#[tokio::test]
async fn a_source_without_groups_kind_or_passages_is_refused_and_the_old_one_stays() {
    let index = library(&memory()).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["g"], &["alpha", "beta"]))
        .await
        .unwrap();
    assert_eq!(Groups::of([""; 0]), Err(GroupsError::NoGroups));
    assert_eq!(
        ScopeChange::new().groups([""; 0]),
        Err(GroupsError::NoGroups)
    );
    assert!(SourceKind::new("").is_err());
    let error = org
        .index_source(source("s1", &["g"], &[]))
        .await
        .unwrap_err();
    assert_eq!(refusal(error), Refusal::NoPassages(id("s1")));
    let nothing = org
        .set_source_scope(&id("s1"), &ScopeChange::new())
        .await
        .unwrap_err();
    assert_eq!(refusal(nothing), Refusal::NothingToChange);
    assert_eq!(seen(&index, &["g"]).await, ["s1#0", "s1#1"]);

    org.index_source(source("s1", &["g"], &[]).allow_empty(true))
        .await
        .unwrap();
    assert!(seen(&index, &["g"]).await.is_empty());
}

#[tokio::test]
async fn an_embedder_that_fails_leaves_the_old_source_whole() {
    let store = memory();
    let index = library(&store).await;
    index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["g"], &["old", "old too"]))
        .await
        .unwrap();
    let faults: [(TestEmbedder, fn(&EmbedError) -> bool); 2] = [
        (
            TestEmbedder {
                drops_last: true,
                ..TestEmbedder::default()
            },
            |e| {
                matches!(
                    e,
                    EmbedError::Count {
                        asked: 2,
                        answered: 1,
                        ..
                    }
                )
            },
        ),
        (
            TestEmbedder {
                fails_on: Some("bad".to_owned()),
                ..TestEmbedder::default()
            },
            |e| matches!(e, EmbedError::Provider { .. }),
        ),
    ];
    for (embedder, expected) in faults {
        let faulty = LibraryIndex::open(&store, &name(), Arc::new(embedder))
            .await
            .unwrap();
        let answer = faulty
            .tenant(tenant("org1"))
            .index_source(source("s1", &["wide"], &["good", "bad"]))
            .await;
        match answer.unwrap_err() {
            LibraryError::Embed(error) => assert!(expected(&error), "{error}"),
            other => panic!("{other}"),
        }
        assert_eq!(seen(&index, &["g"]).await, ["s1#0", "s1#1"]);
        assert!(seen(&index, &["wide"]).await.is_empty());
    }
}

#[tokio::test]
async fn a_query_that_cannot_be_embedded_is_an_error_and_no_answer() {
    let store = memory();
    library(&store).await;
    let odd = TestEmbedder::default().with("odd", [f32::INFINITY; 4]);
    let index = LibraryIndex::open(&store, &name(), Arc::new(odd))
        .await
        .unwrap();
    let answer = index
        .search(&scope("org1", &["g"]), &SearchRequest::new("odd"))
        .await;
    assert!(matches!(
        answer,
        Err(LibraryError::Embed(EmbedError::Vector { .. }))
    ));
}

#[tokio::test]
async fn another_model_or_width_is_refused_with_both_named() {
    let store = memory();
    library(&store).await;
    let other_model = TestEmbedder {
        id: "other".to_owned(),
        ..TestEmbedder::default()
    };
    let other_width = TestEmbedder {
        width: 8,
        ..TestEmbedder::default()
    };
    for (embedder, both) in [(other_model, ["test", "other"]), (other_width, ["4", "8"])] {
        let embedder = Arc::new(embedder);
        let opened = LibraryIndex::open(&store, &name(), embedder.clone())
            .await
            .unwrap_err();
        let ensured = LibraryIndex::ensure(&store, LibrarySpec::new(name()), embedder)
            .await
            .unwrap_err();
        for error in [opened, ensured] {
            let text = error.to_string();
            assert!(both.iter().all(|part| text.contains(part)), "{text}");
        }
    }
}

#[tokio::test]
async fn open_creates_nothing_and_ensure_adds_fields() {
    let store = memory();
    let missing = LibraryIndex::open(&store, &name(), Arc::new(TestEmbedder::default()))
        .await
        .unwrap_err();
    assert!(
        matches!(missing, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::NoCollection))
    );
    assert!(store.list().await.unwrap().is_empty());
    library(&store).await;
    let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
    let more = LibrarySpec::new(name()).with_fields([year]);
    let index = LibraryIndex::ensure(&store, more, Arc::new(TestEmbedder::default()))
        .await
        .unwrap();
    assert!(index.spec().field("year").is_some());
    let own = Field::new(MetadataKey::new("tenantId").unwrap(), FieldKind::Text);
    let error = LibraryIndex::ensure(
        &store,
        LibrarySpec::new(name()).with_fields([own]),
        Arc::new(TestEmbedder::default()),
    )
    .await
    .unwrap_err();
    assert_eq!(refusal(error), Refusal::OwnField("tenantId".to_owned()));
    let plain = shelfward_core::CollectionName::new("plain").unwrap();
    let spec = shelfward_core::CollectionSpec::new(
        plain.clone(),
        4,
        shelfward_core::Metric::Cosine,
        "test",
    );
    store.ensure(&spec).await.unwrap();
    let error = LibraryIndex::open(&store, &plain, Arc::new(TestEmbedder::default()))
        .await
        .unwrap_err();
    assert!(matches!(refusal(error), Refusal::NoLibrary(_)));
}

struct FailsOne;

impl Meddle for FailsOne {
    fn upsert(&self, records: &[Record]) -> Option<StoreError> {
        let first = records.first()?;
        let failed = FailedRecord::new(first.key.clone(), "the disk is full");
        Some(StoreError::new(
            Operation::Upsert,
            ErrorKind::PartialWrite(vec![failed]),
        ))
    }
}

#[tokio::test]
async fn a_store_that_says_one_record_failed_is_an_error_that_names_it() {
    let index = library(&Store::new(Meddling::new(FailsOne))).await;
    let org = index.tenant(tenant("org1"));
    let error = org
        .index_source(source("s1", &["g"], &["a", "b"]))
        .await
        .unwrap_err();
    let LibraryError::Store(error) = error else {
        panic!("{error}")
    };
    let ErrorKind::PartialWrite(failed) = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(failed[0].key, org.key(&id("s1"), 0));
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[tokio::test]
async fn what_a_record_cannot_hold_is_refused_before_anything_is_embedded() {
    let store = memory();
    let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
    let embedder = Arc::new(TestEmbedder::default());
    let spec = LibrarySpec::new(name()).with_fields([year]);
    let index = LibraryIndex::ensure(&store, spec, embedder.clone())
        .await
        .unwrap();
    let org = index.tenant(tenant("org1"));
    let wrong_kind = Metadata::new().with("year", "two thousand").unwrap();
    assert!(
        org.index_source(source("s1", &["g"], &["a"]).metadata(wrong_kind))
            .await
            .is_err()
    );
    let mut reserved = Metadata::new();
    reserved.insert(MetadataKey::stored("_shelfward_revision").unwrap(), 1);
    assert!(matches!(
        org.index_source(source("s1", &["g"], &["a"]).metadata(reserved))
            .await
            .unwrap_err(),
        LibraryError::Metadata(_)
    ));
    assert!(
        org.index_source(source("s1", &["g"], &["a\0b"]))
            .await
            .is_err()
    );
    assert!(
        org.index_source(source("s1", &["g"], &["a"]).tags(["a\0b"]))
            .await
            .is_err()
    );
    assert_eq!(embedder.calls(), 0);
    let long = "k".repeat(10 << 20);
    let error = MetadataKey::new(&long).unwrap_err().to_string();
    assert!(error.len() < 300 && error.contains("128 bytes"), "{error}");
}

#[tokio::test]
async fn the_ceilings_of_a_request_are_typed_and_nobody_is_asked() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let (index, embedder) = library_with(&Store::new(store), TestEmbedder::default()).await;
    let before = asked.number();
    let ann = scope("org1", &["g"]);
    let ask = async |request: SearchRequest| index.search(&ann, &request).await;

    let none = ask(SearchRequest::new("words").top_k(0)).await.unwrap();
    assert_eq!(
        (none.passages.len(), none.complete, none.ran),
        (0, true, ExecutedMode::Nothing)
    );
    let million = ask(SearchRequest::new("words").top_k(1_000_000))
        .await
        .unwrap_err();
    assert_eq!(
        refusal(million),
        Refusal::TopK {
            given: 1_000_000,
            max: 1_000
        }
    );
    let long = ask(SearchRequest::new("é".repeat(8_193)))
        .await
        .unwrap_err();
    assert_eq!(
        refusal(long),
        Refusal::LongQuery {
            chars: 8_193,
            max: 8_192
        }
    );
    let many: String = (0..257).map(|n| format!("w{n} ")).collect();
    let many = ask(SearchRequest::new(many)).await.unwrap_err();
    assert!(
        matches!(many, LibraryError::Store(e) if matches!(e.kind(), ErrorKind::Limit { given: 257, max: 256, .. }))
    );
    for blank in ["", "   ", "\n\t", "\u{feff}", "\u{a0}"] {
        for mode in [Mode::Dense, Mode::Hybrid, Mode::Lexical] {
            let error = ask(SearchRequest::new(blank).mode(mode)).await.unwrap_err();
            assert_eq!(refusal(error), Refusal::BlankQuery);
        }
    }
    for own in ["tenantId", "aclGroups", "status", "sourceId", "index"] {
        let filter = Filter::from_json(&format!(r#"{{"$not":{{"{own}":"x"}}}}"#)).unwrap();
        assert!(matches!(
            ask(SearchRequest::new("words").filter(filter)).await,
            Err(LibraryError::Filter(_))
        ));
    }
    let undeclared = Filter::from_json(r#"{"year":1}"#).unwrap();
    assert!(
        ask(SearchRequest::new("words")
            .filter(undeclared)
            .mode(Mode::Dense))
        .await
        .is_err()
    );
    assert!(
        ask(SearchRequest::new("words").source_ids(Vec::<String>::new()))
            .await
            .unwrap()
            .passages
            .is_empty()
    );
    assert_eq!((embedder.calls(), asked.number()), (0, before));
    assert_eq!(
        refusal(index.with_batch_size(0).unwrap_err()),
        Refusal::ZeroBatch
    );
}

#[tokio::test]
async fn a_query_without_words_answers_nothing_by_word_and_the_dense_leg_in_hybrid() {
    let (index, embedder) = library_with(&memory(), TestEmbedder::default()).await;
    index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["g"], &["a", "b"]))
        .await
        .unwrap();
    let before = embedder.calls();
    let ann = scope("org1", &["g"]);
    let lexical = index
        .search(&ann, &SearchRequest::new("???").mode(Mode::Lexical))
        .await
        .unwrap();
    assert_eq!(
        (lexical.passages.len(), lexical.ran, embedder.calls()),
        (0, ExecutedMode::Lexical, before)
    );
    let hybrid = index
        .search(&ann, &SearchRequest::new("???"))
        .await
        .unwrap();
    assert_eq!(
        (hybrid.passages.len(), hybrid.ran, embedder.calls()),
        (2, ExecutedMode::Dense, before + 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_source_from_two_tasks_is_one_of_the_two_whole() {
    for _ in 0..30 {
        let index = library(&memory()).await;
        let file = |letter: &'static str, n: usize| {
            let org = index.tenant(tenant("org1"));
            tokio::spawn(async move {
                org.index_source(source("s1", &["g"], &vec![letter; n]))
                    .await
            })
        };
        let (a, b) = (file("aaaa", 3), file("bbbb", 5));
        a.await.unwrap().unwrap();
        b.await.unwrap().unwrap();
        let request = SearchRequest::new("words").mode(Mode::Dense).top_k(100);
        let answer = index
            .search(&scope("org1", &["g"]), &request)
            .await
            .unwrap();
        let texts: Vec<_> = answer.passages.iter().map(|p| &*p.text).collect();
        assert!(texts == ["aaaa"; 3] || texts == ["bbbb"; 5], "{texts:?}");
    }
}

#[tokio::test]
async fn a_narrowing_while_a_wide_replace_runs_stays_in_force() {
    let store = memory();
    let index = library(&store).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["all", "few"], &["secret plans"]))
        .await
        .unwrap();

    let slow = TestEmbedder {
        yields: 3,
        ..TestEmbedder::default()
    };
    let slow = LibraryIndex::open(&store, &name(), Arc::new(slow))
        .await
        .unwrap()
        .tenant(tenant("org1"));
    let mut replace =
        Box::pin(slow.index_source(source("s1", &["all", "few"], &["secret plans", "more"])));
    assert!((&mut replace).now_or_never().is_none(), "it is embedding");
    let narrow = ScopeChange::new().groups(["few"]).unwrap();
    assert_eq!(
        org.set_source_scope(&id("s1"), &narrow)
            .await
            .unwrap()
            .count(),
        Count::Exact(1)
    );

    let error = replace.await.unwrap_err();
    let LibraryError::Store(error) = error else {
        panic!("{error}")
    };
    assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{error}");
    assert_eq!(error.persistence(), Persistence::Temporary);
    assert!(seen(&index, &["all"]).await.is_empty());
    assert_eq!(seen(&index, &["few"]).await, ["s1#0"]);
    // With the groups decided meanwhile, or fewer, the same is indexed.
    org.index_source(source("s1", &["few"], &["secret plans", "more"]))
        .await
        .unwrap();
    assert_eq!(seen(&index, &["few"]).await, ["s1#0", "s1#1"]);
}

#[tokio::test]
async fn a_removal_while_a_replace_runs_stays_in_force() {
    let store = memory();
    let index = library(&store).await;
    let org = index.tenant(tenant("org1"));
    org.index_source(source("s1", &["g"], &["old"]))
        .await
        .unwrap();
    let slow = TestEmbedder {
        yields: 3,
        ..TestEmbedder::default()
    };
    let slow = LibraryIndex::open(&store, &name(), Arc::new(slow))
        .await
        .unwrap()
        .tenant(tenant("org1"));
    let mut replace = Box::pin(slow.index_source(source("s1", &["g"], &["new"])));
    assert!((&mut replace).now_or_never().is_none());
    assert_eq!(
        org.remove_source(&id("s1")).await.unwrap().count(),
        Count::Exact(1)
    );
    assert!(replace.await.is_err());
    assert!(seen(&index, &["g"]).await.is_empty());
}

struct Slow;

impl Meddle for Slow {
    fn yields(&self) -> usize {
        2
    }
}

#[tokio::test]
async fn a_write_dropped_at_any_step_happened_or_did_not_and_never_happens_later() {
    let mut outcomes = std::collections::BTreeSet::new();
    for steps in 0..40 {
        let store = Store::new(Meddling::new(Slow));
        let index = library(&store).await;
        let org = index.tenant(tenant("org1"));
        org.index_source(source("s1", &["g"], &["old", "old", "old"]))
            .await
            .unwrap();
        let mut replace = Box::pin(org.index_source(source("s1", &["g"], &["new"])));
        let done = (0..steps).any(|_| (&mut replace).now_or_never().is_some());
        drop(replace);
        let now = seen(&index, &["g"]).await.len();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(seen(&index, &["g"]).await.len(), now, "after {steps} steps");
        assert!(now == 3 || now == 1, "{now} passages after {steps} steps");
        outcomes.insert((now, done));
        // Nobody is locked out by the one that was dropped.
        org.index_source(source("s1", &["g"], &["again", "again"]))
            .await
            .unwrap();
        assert_eq!(seen(&index, &["g"]).await.len(), 2);
    }
    assert!(
        outcomes.contains(&(3, false)) && outcomes.contains(&(1, true)),
        "{outcomes:?}"
    );
}

#[tokio::test]
async fn a_filter_that_nothing_can_match_answers_nothing_in_every_mode() {
    let year = Field::new(MetadataKey::new("year").unwrap(), FieldKind::Integer);
    let spec = LibrarySpec::new(name()).with_fields([year]);
    let index = LibraryIndex::ensure(&memory(), spec, Arc::new(TestEmbedder::default()))
        .await
        .unwrap();
    index
        .tenant(tenant("org1"))
        .index_source(source("s1", &["g"], &["alpha"]))
        .await
        .unwrap();
    for json in [
        r#"{"year":"2020"}"#,
        r#"{"$or":[]}"#,
        r#"{"year":{"$all":[1.5]}}"#,
        r#"{"year":{"$in":["x"]}}"#,
        r#"{"$or":[{"year":"a"},{"year":true}]}"#,
    ] {
        for mode in [Mode::Dense, Mode::Hybrid, Mode::Lexical] {
            let filter = Filter::from_json(json).unwrap();
            let request = SearchRequest::new("alpha").filter(filter).mode(mode);
            let answer = index
                .search(&scope("org1", &["g"]), &request)
                .await
                .unwrap();
            assert!(
                answer.passages.is_empty() && answer.complete,
                "{json} {mode:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_re_filing_while_a_replace_runs_is_not_undone() {
    let store = memory();
    let index = library(&store).await;
    let org = index.tenant(tenant("org1"));
    let filed = || {
        source("s1", &["g"], &["a"])
            .folder("public")
            .title("A")
            .tags(["x"])
    };
    org.index_source(filed()).await.unwrap();
    let slow = TestEmbedder {
        yields: 3,
        ..TestEmbedder::default()
    };
    let slow = LibraryIndex::open(&store, &name(), Arc::new(slow))
        .await
        .unwrap()
        .tenant(tenant("org1"));
    let mut replace = Box::pin(slow.index_source(filed()));
    assert!((&mut replace).now_or_never().is_none());
    let change = ScopeChange::new().folder("archive").tags(["hold"]);
    org.set_source_scope(&id("s1"), &change)
        .await
        .unwrap()
        .count();
    assert!(replace.await.unwrap_err().is_conflict());
    let answer = index
        .search(
            &scope("org1", &["g"]),
            &SearchRequest::new("a").tags(["hold"]),
        )
        .await
        .unwrap();
    assert_eq!(answer.passages[0].folder_id.as_deref(), Some("archive"));
    // What says the same as was decided meanwhile is indexed.
    org.index_source(
        source("s1", &["g"], &["a"])
            .folder("archive")
            .title("A")
            .tags(["hold"]),
    )
    .await
    .unwrap();
}
