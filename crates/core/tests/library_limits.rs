//! The limits of a library: exactly at each it passes, one over it is refused with the number
//! named, before anybody is asked and with nothing lost.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use shelfward_core::filter::{FilterLimits, FilterProblem, any_of, key};
use shelfward_core::library::{
    IndexSource, LibraryError, LibrarySpec, Mode, Passage, PassageFilter, PassageId, Reading,
    Refusal, ScopeChange, SearchRequest,
};
use shelfward_core::{
    Count, ErrorKind, Filter, Groups, GroupsError, LibraryIndex, Limits, Metadata, NameProblem,
    Scope, SourceId, SourceKind, Store,
};
use std::sync::Arc;
use support::{
    Asked, Meddling, Nothing, TestEmbedder, id, library_with, name, scope, source, source_of,
    tenant,
};

struct Watched {
    index: LibraryIndex,
    embedder: Arc<TestEmbedder>,
    asked: Arc<Asked>,
}

impl Watched {
    async fn new(limits: Limits) -> Self {
        let store = Meddling::new(Nothing);
        let asked = store.asked.clone();
        let store = Store::new(store).with_limits(limits);
        let embedder = Arc::new(TestEmbedder::default());
        let spec = LibrarySpec::new(name()).with_open_fields(true);
        let index = LibraryIndex::ensure(&store, spec, embedder.clone())
            .await
            .unwrap();
        asked.take_calls();
        Self {
            index,
            embedder,
            asked,
        }
    }

    /// The refusal of a request, which asked nobody.
    async fn refused(&self, request: SearchRequest) -> LibraryError {
        let embedded = self.embedder.calls();
        let reader = scope("a", &["g"]);
        let error = self.index.search(&reader, &request).await.unwrap_err();
        assert_eq!(self.asked.take_calls(), [""; 0], "{error}");
        assert_eq!(self.embedder.calls(), embedded, "{error}");
        assert!(error.to_string().len() < 500, "{error}");
        error
    }

    async fn passes(&self, request: SearchRequest) {
        let reader = scope("a", &["g"]);
        self.index.search(&reader, &request).await.unwrap();
        self.asked.take_calls();
    }
}

fn filter_problem(error: LibraryError) -> FilterProblem {
    match error {
        LibraryError::Filter(error) => error.problem().clone(),
        other => panic!("{other}"),
    }
}

fn refusal(error: LibraryError) -> Refusal {
    match error {
        LibraryError::Refused(refusal) => refusal,
        other => panic!("{other}"),
    }
}

/// A filter of so many nodes, made within wider limits than a library's.
fn of_nodes(nodes: i64) -> Filter {
    let wide = FilterLimits::new(1 << 20, 1 << 20);
    let tests = any_of((1..nodes).map(|n| key("n").eq(n)));
    tests.build_within(&wide).unwrap()
}

#[tokio::test]
async fn a_filter_of_ten_thousand_nodes_is_refused_in_every_mode() {
    let library = Watched::new(Limits::default()).await;
    for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
        let ask = |nodes| {
            SearchRequest::new("words")
                .mode(mode)
                .filter(of_nodes(nodes))
        };
        let problem = filter_problem(library.refused(ask(10_000)).await);
        assert_eq!(
            problem,
            FilterProblem::TooManyNodes {
                nodes: 10_004,
                max: 1_024
            }
        );
        // The scope takes four: itself, the tenant, the groups and the status.
        library.passes(ask(1_020)).await;
        let problem = filter_problem(library.refused(ask(1_021)).await);
        assert_eq!(
            problem,
            FilterProblem::TooManyNodes {
                nodes: 1_025,
                max: 1_024
            }
        );
    }
}

#[tokio::test]
async fn values_are_counted_with_those_of_the_scope() {
    let library = Watched::new(Limits::default()).await;
    let ids = |n: usize| (0..n).map(|n| id(&n.to_string()));
    let ask = |n| SearchRequest::new("words").source_ids(ids(n));
    // One tenant, one group, one status.
    library.passes(ask(9_997)).await;
    let problem = filter_problem(library.refused(ask(9_998)).await);
    assert_eq!(
        problem,
        FilterProblem::TooManyValues {
            values: 10_001,
            max: 10_000
        }
    );
    // Branches do not repeat the scope, so a reader of 9,000 groups can still have many.
    let groups: Vec<String> = (0..9_000).map(|n| format!("team:{n}")).collect();
    let reader = Scope::of("a", &groups).unwrap();
    let branches = (0..300).map(|n| PassageFilter::new().folder(n.to_string()).kinds(["k"]));
    let request = SearchRequest::new("words").any_of(branches);
    library.index.search(&reader, &request).await.unwrap();
}

#[tokio::test]
async fn a_filter_may_be_as_deep_as_the_scope_leaves_room_for() {
    let library = Watched::new(Limits::default()).await;
    let deep = |levels| {
        let nots = (1..levels).fold(key("n").eq(1), |f, _| shelfward_core::filter::not(f));
        SearchRequest::new("words").filter(nots.build().unwrap())
    };
    library.passes(deep(63)).await;
    let problem = filter_problem(library.refused(deep(64)).await);
    assert_eq!(problem, FilterProblem::TooDeep { max: 64 });
}

#[tokio::test]
async fn query_texts_words_and_numbers_of_hits_pass_at_their_ceilings() {
    let library = Watched::new(Limits::default()).await;
    library.passes(SearchRequest::new("é".repeat(8_192))).await;
    library.passes(SearchRequest::new("x").top_k(1_000)).await;
    let over = library.refused(SearchRequest::new("x").top_k(1_001)).await;
    assert_eq!(
        refusal(over),
        Refusal::TopK {
            given: 1_001,
            max: 1_000
        }
    );
    let words = |n: usize| (0..n).map(|n| format!("w{n} ")).collect::<String>();
    for mode in [Mode::Lexical, Mode::Hybrid] {
        let ask = |text: String| SearchRequest::new(text).mode(mode);
        library.passes(ask(words(256))).await;
        // Distinct words: said twice, one is one.
        library.passes(ask(words(256).repeat(2))).await;
        match library.refused(ask(words(257))).await {
            LibraryError::Store(error) => assert!(
                matches!(
                    error.kind(),
                    ErrorKind::Limit {
                        given: 257,
                        max: 256,
                        ..
                    }
                ),
                "{error}"
            ),
            other => panic!("{other}"),
        }
    }
    // Nothing is looked up by its words here.
    library
        .passes(SearchRequest::new(words(300)).mode(Mode::Dense))
        .await;
}

#[tokio::test]
async fn ceilings_are_settable_and_those_of_the_handle_hold() {
    let small = Limits::builder()
        .request_top_k(10)
        .query_chars(10)
        .query_words(2)
        .filter_nodes(8)
        .filter_values(6)
        .source_passages(2)
        .fetch_ids(2)
        .build();
    let library = Watched::new(small.unwrap()).await;
    library.passes(SearchRequest::new("two words.")).await;
    let over = library.refused(SearchRequest::new("x").top_k(11)).await;
    assert_eq!(refusal(over), Refusal::TopK { given: 11, max: 10 });
    let long = library.refused(SearchRequest::new("eleven char")).await;
    assert_eq!(refusal(long), Refusal::LongQuery { chars: 11, max: 10 });
    let words = library.refused(SearchRequest::new("a b c")).await;
    assert!(words.to_string().contains("3 given, at most 2"), "{words}");
    library
        .passes(SearchRequest::new("x").filter(of_nodes(4)))
        .await;
    let nodes = library
        .refused(SearchRequest::new("x").filter(of_nodes(5)))
        .await;
    assert_eq!(
        filter_problem(nodes),
        FilterProblem::TooManyNodes { nodes: 9, max: 8 }
    );
    let tags = library
        .refused(SearchRequest::new("x").tags(["1", "2", "3", "4"]))
        .await;
    assert_eq!(
        filter_problem(tags),
        FilterProblem::TooManyValues { values: 7, max: 6 }
    );

    let org = library.index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["one", "two"]))
        .await
        .unwrap();
    library.asked.take_calls();
    let embedded = library.embedder.calls();
    let three = source("s", &["g"], &["one", "two", "three"]);
    let error = org.index_source(three).await.unwrap_err();
    assert_eq!(
        refusal(error),
        Refusal::TooManyPassages {
            source_id: id("s"),
            passages: 3,
            max: 2
        }
    );
    assert_eq!(library.asked.take_calls(), [""; 0]);
    assert_eq!(library.embedder.calls(), embedded);

    let reader = scope("a", &["g"]);
    let read: Vec<PassageId> = (0..3).map(|n| PassageId::new(id("s"), n)).collect();
    let fetch = async |ids: &[PassageId]| library.index.fetch(&reader, &Reading::new(), ids).await;
    assert!(fetch(&read[..2]).await.unwrap().iter().all(Option::is_some));
    library.asked.take_calls();
    let three = fetch(&read).await.unwrap_err();
    assert_eq!(refusal(three), Refusal::TooManyIds { given: 3, max: 2 });
    assert_eq!(library.asked.take_calls(), [""; 0]);
    assert_eq!(
        org.remove_source(&id("s")).await.unwrap().count(),
        Count::Exact(2)
    );
}

#[tokio::test]
async fn a_source_of_one_passage_too_many_is_refused_and_the_old_one_stays() {
    let library = Watched::new(Limits::default()).await;
    let org = library.index.tenant(tenant("a"));
    org.index_source(source("s", &["g"], &["old"]))
        .await
        .unwrap();
    library.asked.take_calls();
    let passages = std::iter::repeat_n(Passage::new("x"), 100_001);
    let large = source_of("document", "s", &["g"]).passages(passages);
    let error = org.index_source(large).await.unwrap_err();
    assert_eq!(
        refusal(error),
        Refusal::TooManyPassages {
            source_id: id("s"),
            passages: 100_001,
            max: 100_000
        }
    );
    assert_eq!(library.asked.take_calls(), [""; 0]);
    assert_eq!(
        org.remove_source(&id("s")).await.unwrap().count(),
        Count::Exact(1)
    );
}

#[tokio::test]
async fn nine_thousand_groups_are_filed_and_read_and_one_more_is_refused() {
    let (index, _) = library_with(&support::memory(), TestEmbedder::default()).await;
    let org = index.tenant(tenant("a"));
    let groups: Vec<String> = (0..9_001).map(|n| format!("team:{n}")).collect();
    let (all, most) = (&groups[..], &groups[..9_000]);
    let kind = SourceKind::new("document").unwrap();
    let filed = IndexSource::new(id("s"), kind, Groups::of(most).unwrap());
    org.index_source(filed.passages([Passage::new("one")]))
        .await
        .unwrap();
    let expected = GroupsError::TooManyGroups {
        groups: 9_001,
        max: 9_000,
    };
    assert_eq!(Groups::of(all).unwrap_err(), expected);
    assert_eq!(ScopeChange::new().groups(all).unwrap_err(), expected);
    let change = |groups| ScopeChange::new().groups(groups).unwrap();

    let request = SearchRequest::new("one");
    let reads = async |groups: &[String]| {
        let reader = Scope::of("a", groups).unwrap();
        index
            .search(&reader, &request)
            .await
            .unwrap()
            .passages
            .len()
    };
    assert_eq!(
        reads(&groups[8_999..9_000]).await,
        1,
        "the last of them reads it"
    );
    assert_eq!(reads(most).await, 1);
    assert_eq!(reads(&groups[9_000..]).await, 0);
    let narrowed = org.set_source_scope(&id("s"), &change(&groups[..1])).await;
    assert_eq!(narrowed.unwrap().count(), Count::Exact(1));
    assert_eq!(reads(&groups[1..]).await, 0);
}

#[tokio::test]
async fn names_and_texts_at_their_ends_are_held_and_found() {
    let (index, _) = library_with(&support::memory(), TestEmbedder::default()).await;
    let longest = [
        "x".repeat(128),
        "é".repeat(64),
        " ".to_owned(),
        "'; --".to_owned(),
    ];
    for name in &longest {
        let org = index.tenant(tenant(name));
        let source_id = name.repeat(4);
        let filed = source_of(name, &source_id, &[name.as_str()])
            .tags([name, ""])
            .title(name)
            .passages([Passage::new("one"), Passage::new("?")]);
        org.index_source(filed).await.unwrap();
        let request = SearchRequest::new("one").tags([name, ""]);
        let reader = Scope::of(name, [name]).unwrap();
        let answer = index.search(&reader, &request).await.unwrap();
        assert_eq!(answer.passages.len(), 2, "{name:?}");
        let first = &answer.passages[0];
        assert_eq!(first.id, format!("{source_id}#{}", first.index));
        assert_eq!(first.title.as_deref(), Some(name.as_str()));
        assert_eq!(first.tags, [name, ""]);
        assert_eq!(
            org.remove_source(&id(&source_id)).await.unwrap().count(),
            Count::Exact(2)
        );
    }
    let long = SourceId::new("x".repeat(513)).unwrap_err();
    assert_eq!(
        long.problem(),
        &NameProblem::TooLong {
            bytes: 513,
            max: 512
        }
    );
    assert!(SourceKind::new("x".repeat(129)).is_err());
    let GroupsError::Name(group) = Groups::of(["g", ""]).unwrap_err() else {
        panic!("an empty name")
    };
    assert_eq!(
        (group.what(), group.problem()),
        ("access group", &NameProblem::Empty)
    );
    let huge = SourceId::new("x".repeat(10 << 20)).unwrap_err();
    assert!(huge.to_string().len() < 300, "{huge}");
}

#[tokio::test]
async fn metadata_of_a_hundred_thousand_values_is_held_whole() {
    let (index, _) = library_with(&support::memory(), TestEmbedder::default()).await;
    let org = index.tenant(tenant("a"));
    let many: Vec<i64> = (0..100_000).collect();
    let metadata = Metadata::new().with("many", many).unwrap();
    let filed = source("s", &["g"], &["one"]).metadata(metadata.clone());
    org.index_source(filed).await.unwrap();
    let reader = scope("a", &["g"]);
    let answer = index
        .search(&reader, &SearchRequest::new("one"))
        .await
        .unwrap();
    assert_eq!(
        answer.passages[0].metadata.get("many"),
        metadata.get("many")
    );
}
