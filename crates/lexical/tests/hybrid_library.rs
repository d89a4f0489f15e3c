//! Hybrid search over a library: an index that holds too much widens no answer.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hybrid_support;

use std::sync::{Arc, RwLock};

use hybrid_support::core::{
    Meddling, Nothing, TestEmbedder, id, library_with, memory, scope, source, tenant,
};
use hybrid_support::{Index, QUERY, apples};
use shelfward_core::library::{
    ExecutedMode, IndexSource, LibraryError, Mode, PassageFilter, Refusal, ScopeChange,
    SearchRequest,
};
use shelfward_core::{EmbedError, LibraryIndex, Match, Scope, Store};
use shelfward_lexical::LexicalIndex;
use shelfward_lexical::hybrid::{
    Fusion, HybridError, HybridPassage, HybridSettings, LibraryHybridSearcher,
};
use shelfward_text::WordRule;

/// A library with an index that nobody removes anything from.
struct Shelf {
    library: LibraryIndex,
    embedder: Arc<TestEmbedder>,
    index: Index,
}

impl Shelf {
    async fn new() -> Self {
        Self::over(&memory(), TestEmbedder::default()).await
    }

    async fn over(store: &Store, embedder: TestEmbedder) -> Self {
        let (library, embedder) = library_with(store, embedder).await;
        Self {
            library,
            embedder,
            index: Arc::new(RwLock::new(LexicalIndex::new(WordRule::Unicode))),
        }
    }

    async fn add(&self, of: &str, source: IndexSource, name: &str, texts: &[&str]) {
        self.library
            .tenant(tenant(of))
            .index_source(source)
            .await
            .unwrap();
        let mut index = self.index.write().unwrap();
        for (text, at) in texts.iter().zip(0..) {
            index
                .add_document(&format!("{name}#{at}"), text, None)
                .unwrap();
        }
    }

    /// A source of tenant `a` under these groups, in both.
    async fn file(&self, name: &str, groups: &[&str], texts: &[&str]) {
        self.add("a", source(name, groups, texts), name, texts)
            .await;
    }

    fn searcher(&self) -> LibraryHybridSearcher<WordRule> {
        LibraryHybridSearcher::new(self.library.clone(), self.index.clone())
    }

    async fn found(&self, scope: &Scope, request: &SearchRequest) -> Vec<String> {
        let found = self
            .searcher()
            .search(scope, &request.clone().top_k(100))
            .await
            .unwrap();
        assert!(found.complete);
        let mut found = ids(&found.passages);
        found.sort();
        found
    }
}

fn ids(found: &[HybridPassage]) -> Vec<String> {
    found
        .iter()
        .map(|found| found.passage.id.to_string())
        .collect()
}

fn apple() -> SearchRequest {
    SearchRequest::new(QUERY)
}

#[tokio::test]
async fn what_is_out_of_scope_is_never_answered_though_the_index_holds_it() {
    let shelf = Shelf::new().await;
    shelf
        .file("mine", &["g", "h"], &["an apple", "a pear"])
        .await;
    shelf
        .file("theirs", &["h"], &["apple apple", "apple"])
        .await;
    shelf
        .add(
            "b",
            source("other", &["g"], &["apple"]),
            "other",
            &["apple"],
        )
        .await;
    // The same source id in another tenant, with a passage more.
    let texts = ["apple", "apple", "apple"];
    shelf
        .add("b", source("mine", &["g"], &texts), "mine", &texts)
        .await;
    let ours = shelf.found(&scope("a", &["g"]), &apple()).await;
    assert_eq!(ours, ["mine#0", "mine#1"]);
    let found = shelf
        .searcher()
        .search(&scope("a", &["g"]), &apple().top_k(9))
        .await
        .unwrap()
        .passages;
    assert!(
        found
            .iter()
            .all(|found| !found.passage.text.contains("apple apple"))
    );
    assert_eq!(
        *found[0].passage.text, *"an apple",
        "tenant b's text is not ours"
    );
    let theirs = shelf.found(&scope("a", &["h"]), &apple()).await;
    assert_eq!(theirs, ["mine#0", "mine#1", "theirs#0", "theirs#1"]);
    let others = shelf.found(&scope("b", &["g"]), &apple()).await;
    assert_eq!(others, ["mine#0", "mine#1", "mine#2", "other#0"]);
    assert!(shelf.found(&scope("c", &["g"]), &apple()).await.is_empty());
    assert!(
        shelf
            .found(&scope("a", &["none"]), &apple())
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn what_was_removed_or_narrowed_is_gone_at_once() {
    let shelf = Shelf::new().await;
    for name in ["removed", "narrowed", "shorter", "kept"] {
        shelf.file(name, &["g"], &["apple", "apple"]).await;
    }
    let org = shelf.library.tenant(tenant("a"));
    org.remove_source(&id("removed")).await.unwrap().count();
    let change = ScopeChange::new().groups(["h"]).unwrap();
    org.set_source_scope(&id("narrowed"), &change)
        .await
        .unwrap()
        .count();
    org.index_source(source("shorter", &["g"], &["apple"]))
        .await
        .unwrap();
    let found = shelf.found(&scope("a", &["g"]), &apple()).await;
    assert_eq!(found, ["kept#0", "kept#1", "shorter#0"]);
    let widened = shelf.found(&scope("a", &["h"]), &apple()).await;
    assert_eq!(widened, ["narrowed#0", "narrowed#1"]);
}

#[tokio::test]
async fn ids_of_no_passage_are_passed_over() {
    let shelf = Shelf::new().await;
    shelf.file("s#1", &["g"], &["apple"]).await;
    for odd in [
        "s",
        "s#",
        "#0",
        "s#1#00",
        "s#1#+0",
        "s#1#-1",
        "s#1#4294967296",
        "s#2",
        "s#1#7",
    ] {
        shelf
            .index
            .write()
            .unwrap()
            .add_document(odd, &apples(9), None)
            .unwrap();
    }
    let long = format!("{}#0", "x".repeat(5_000));
    shelf
        .index
        .write()
        .unwrap()
        .add_document(&long, &apples(9), None)
        .unwrap();
    let found = shelf
        .searcher()
        .search(&scope("a", &["g"]), &apple().top_k(5))
        .await
        .unwrap()
        .passages;
    assert_eq!(ids(&found), ["s#1#0"]);
    assert_eq!(found[0].sparse.unwrap().rank, Some(1));
}

#[tokio::test]
async fn narrowing_reaches_both_legs() {
    let shelf = Shelf::new().await;
    let texts = ["apple"];
    let plain = |name: &str| source(name, &["g"], &texts);
    shelf
        .add("a", plain("tagged").tags(["x", "y"]), "tagged", &texts)
        .await;
    shelf
        .add("a", plain("filed").folder("f"), "filed", &texts)
        .await;
    shelf.add("a", plain("plain"), "plain", &texts).await;
    let reader = scope("a", &["g"]);
    let cases = [
        (apple().tags(["x"]), vec!["tagged#0"]),
        (apple().tags(["x", "z"]), vec![]),
        (apple().folder("f"), vec!["filed#0"]),
        (apple().folder_ids(["f", "g"]), vec!["filed#0"]),
        (apple().source_ids([id("plain")]), vec!["plain#0"]),
        (apple().source_ids(Vec::<String>::new()), vec![]),
        (apple().kinds(["session"]), vec![]),
        (
            apple().any_of([
                PassageFilter::new().tags(["y"]),
                PassageFilter::new().folder("f"),
            ]),
            vec!["filed#0", "tagged#0"],
        ),
        (apple(), vec!["filed#0", "plain#0", "tagged#0"]),
    ];
    for (request, right) in cases {
        assert_eq!(shelf.found(&reader, &request).await, right, "{request:?}");
    }
}

#[tokio::test]
async fn many_hidden_hits_do_not_crowd_out_the_readable() {
    let shelf = Shelf::new().await;
    let hidden = apples(9);
    for at in 0..60 {
        let name = format!("hidden-{at}");
        shelf.file(&name, &["h"], &[&hidden]).await;
    }
    for (name, times) in [("third", 1), ("first", 3), ("second", 2)] {
        shelf.file(name, &["g"], &[&apples(times)]).await;
    }
    // What the dense leg finds first has none of the words.
    let near = vec!["apple"; 20];
    let dense = source("near", &["g"], &near);
    shelf
        .library
        .tenant(tenant("a"))
        .index_source(dense)
        .await
        .unwrap();
    let settings = HybridSettings::default().fusion(Fusion::Interleave);
    let searcher = shelf.searcher().with_settings(settings);
    let found = searcher
        .search(&scope("a", &["g"]), &apple().top_k(6))
        .await
        .unwrap()
        .passages;
    let of_words: Vec<_> = found
        .iter()
        .filter(|found| found.sparse.is_some())
        .collect();
    let names: Vec<_> = of_words
        .iter()
        .map(|f| f.passage.source_id.as_str())
        .collect();
    assert_eq!(names, ["first", "second", "third"]);
    let ranks: Vec<_> = of_words
        .iter()
        .map(|f| f.sparse.unwrap().rank.unwrap())
        .collect();
    assert_eq!(ranks, [1, 2, 3]);
    assert_eq!(found.len(), 6);
}

#[tokio::test]
async fn a_passage_is_shown_as_the_library_shows_it_with_the_fused_score() {
    let shelf = Shelf::new().await;
    let titled = source("s", &["g"], &["apple"]).title("Fruit").tags(["x"]);
    shelf.add("a", titled, "s", &["apple"]).await;
    let found = shelf
        .searcher()
        .search(&scope("a", &["g"]), &apple().top_k(5))
        .await
        .unwrap()
        .passages;
    let passage = &found[0].passage;
    assert_eq!(passage.id, "s#0");
    assert_eq!(&*passage.text, "apple");
    assert_eq!(
        (passage.title.as_deref(), passage.index),
        (Some("Fruit"), 0)
    );
    assert!((passage.score - 1.0 / 61.0).abs() < 1e-12);
    assert_eq!((passage.legs.dense, passage.legs.lexical), (None, None));
    let ranks = [found[0].dense, found[0].sparse].map(|place| place.unwrap().rank);
    assert_eq!(ranks, [Some(1), Some(1)]);
}

#[tokio::test]
async fn blank_queries_and_top_k_ask_nobody() {
    let store = Meddling::new(Nothing);
    let asked = store.asked.clone();
    let shelf = Shelf::over(&Store::new(store), TestEmbedder::default()).await;
    shelf.file("s", &["g"], &["apple"]).await;
    let embedded = shelf.embedder.calls();
    asked.take_calls();
    let (searcher, reader) = (shelf.searcher(), scope("a", &["g"]));
    for blank in ["", " \t", "\u{feff}"] {
        for top_k in [0, 5] {
            let request = SearchRequest::new(blank);
            let refused = searcher
                .search(&reader, &request.top_k(top_k))
                .await
                .unwrap_err();
            let blank = matches!(
                refused,
                HybridError::Library(LibraryError::Refused(Refusal::BlankQuery))
            );
            assert!(blank, "{refused}");
        }
    }
    assert!(
        searcher
            .search(&reader, &apple().top_k(0))
            .await
            .unwrap()
            .passages
            .is_empty()
    );
    for top_k in [334, usize::MAX] {
        let refused = searcher
            .search(&reader, &apple().top_k(top_k))
            .await
            .unwrap_err();
        assert!(
            matches!(refused, HybridError::TopK { max: 333, .. }),
            "{refused}"
        );
    }
    assert_eq!(shelf.embedder.calls(), embedded);
    assert!(asked.take_calls().is_empty());

    assert_eq!(
        searcher
            .search(&reader, &apple().top_k(333))
            .await
            .unwrap()
            .passages
            .len(),
        1
    );
    assert_eq!(
        shelf.embedder.calls(),
        embedded + 1,
        "one embedding for each search"
    );
}

#[tokio::test]
async fn a_query_without_words_is_answered_by_the_dense_leg_alone() {
    let shelf = Shelf::new().await;
    shelf.file("s", &["g"], &["???"]).await;
    let request = SearchRequest::new("???");
    let found = shelf
        .searcher()
        .search(&scope("a", &["g"]), &request.top_k(5))
        .await
        .unwrap()
        .passages;
    assert_eq!(ids(&found), ["s#0"]);
    assert_eq!(found[0].sparse, None);
}

#[tokio::test]
async fn an_embedder_that_answers_no_vector_is_a_typed_error() {
    let drops = TestEmbedder {
        drops_last: true,
        ..TestEmbedder::default()
    };
    let shelf = Shelf::over(&memory(), drops).await;
    let searched = shelf
        .searcher()
        .search(&scope("a", &["g"]), &apple().top_k(5))
        .await;
    let Err(HybridError::Library(LibraryError::Embed(EmbedError::Count { answered: 0, .. }))) =
        searched
    else {
        panic!("{searched:?}");
    };
}

#[tokio::test]
async fn the_mode_of_the_request_says_which_legs_run() {
    let shelf = Shelf::new().await;
    shelf
        .file("s", &["g"], &["an apple", "a pear", "apple pie"])
        .await;
    let (searcher, reader) = (shelf.searcher(), scope("a", &["g"]));
    let embedded = shelf.embedder.calls();
    for (mode, ran, count, embeddings) in [
        (Mode::Lexical, ExecutedMode::Lexical, 2, 0),
        (Mode::Dense, ExecutedMode::Dense, 3, 1),
        (Mode::Hybrid, ExecutedMode::Hybrid, 3, 2),
    ] {
        let found = searcher.search(&reader, &apple().mode(mode)).await.unwrap();
        assert_eq!((found.ran, found.passages.len()), (ran, count), "{mode:?}");
        assert!(found.complete);
        assert_eq!(shelf.embedder.calls(), embedded + embeddings, "{mode:?}");
        let by_words = |found: &&HybridPassage| found.sparse.is_some();
        let words = found.passages.iter().filter(by_words).count();
        assert_eq!(words, if mode == Mode::Dense { 0 } else { 2 });
        let by_vector = found.passages.iter().filter(|found| found.dense.is_some());
        assert_eq!(by_vector.count(), if mode == Mode::Lexical { 0 } else { 3 });
    }
    // A leg by itself looks no deeper than it answers.
    let most = shelf.library.limits().request_top_k();
    for mode in [Mode::Lexical, Mode::Dense] {
        let asked = apple().mode(mode);
        assert!(
            searcher
                .search(&reader, &asked.clone().top_k(most))
                .await
                .is_ok()
        );
        let refused = searcher
            .search(&reader, &asked.top_k(most + 1))
            .await
            .unwrap_err();
        let refusal = HybridError::Library(LibraryError::Refused(Refusal::TopK {
            given: most + 1,
            max: most,
        }));
        assert_eq!(refused.to_string(), refusal.to_string());
    }
    let one = apple().mode(Mode::Lexical).top_k(1);
    let found = searcher.search(&reader, &one).await.unwrap();
    assert_eq!((ids(&found.passages).len(), found.complete), (1, true));
    let wordless = SearchRequest::new("???").mode(Mode::Lexical);
    let found = searcher.search(&reader, &wordless).await.unwrap();
    assert!(found.passages.is_empty() && found.complete);
    assert!(
        searcher
            .search(&reader, &SearchRequest::new(" ").mode(Mode::Lexical))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_request_says_how_words_match() {
    let shelf = Shelf::new().await;
    shelf
        .file("s", &["g"], &["an apple", "a pear", "apple pie", "pies"])
        .await;
    let (searcher, reader) = (shelf.searcher(), scope("a", &["g"]));
    let asked = SearchRequest::new("apple pie").mode(Mode::Lexical);
    for (request, right) in [
        (asked.clone(), vec!["s#0", "s#2"]),
        (asked.clone().matching(Match::All), vec!["s#2"]),
        (asked.clone().prefix(true), vec!["s#0", "s#2", "s#3"]),
        (asked.matching(Match::All).prefix(true), vec!["s#2"]),
    ] {
        let mut found = ids(&searcher.search(&reader, &request).await.unwrap().passages);
        found.sort();
        assert_eq!(found, right, "{request:?}");
    }
}

#[tokio::test]
async fn the_index_is_made_anew_from_the_library() {
    let shelf = Shelf::new().await;
    shelf.file("kept", &["g"], &["an apple", "a pear"]).await;
    shelf.file("removed", &["g"], &["apple"]).await;
    shelf.file("hidden", &["h"], &["apple"]).await;
    let other = source("other", &["g"], &["apple"]);
    shelf.add("b", other, "other", &["apple"]).await;
    let org = shelf.library.tenant(tenant("a"));
    org.remove_source(&id("removed")).await.unwrap().count();
    org.index_source(source("late", &["g"], &["apple pie"]))
        .await
        .unwrap();
    let searcher = shelf.searcher();
    searcher.rebuild(tenant("a")).await.unwrap();
    {
        let index = shelf.index.read().unwrap();
        let held = ["kept#0", "kept#1", "late#0", "hidden#0"];
        assert!(held.iter().all(|id| index.contains(id)));
        assert_eq!(index.len(), held.len(), "no other tenant's, none removed");
    }
    let asked = apple().mode(Mode::Lexical);
    let answer = searcher.search(&scope("a", &["g"]), &asked).await.unwrap();
    let mut found = ids(&answer.passages);
    found.sort();
    assert_eq!(found, ["kept#0", "late#0"]);
}
