//! What a hybrid search of a library tells: its asker, and the library's observer.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod hybrid_support;

use std::sync::{Arc, Mutex, RwLock};

use hybrid_support::Index;
use hybrid_support::core::{
    Events, Meddle, Meddling, TestEmbedder, library_with, memory, scope, source, tenant,
};
use shelfward_core::library::{ExecutedMode, LibraryError, PassageFilter, SearchRequest};
use shelfward_core::observer::{DigestKey, Event, Searched};
use shelfward_core::{LegKind, LibraryIndex, Limits, Match, Metadata, Store, StoredRecord};
use shelfward_lexical::hybrid::{HybridError, LibraryHybridSearcher};
use shelfward_lexical::{LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

struct Shelf {
    library: LibraryIndex,
    index: Index,
    events: Arc<Events>,
}

impl Shelf {
    async fn over(store: &Store) -> Self {
        let events = Arc::new(Events::default());
        let key = DigestKey::new([7; 32]).unwrap();
        let (library, _) = library_with(store, TestEmbedder::default()).await;
        Self {
            library: library.with_observer(events.clone(), Some(key)),
            index: Arc::new(RwLock::new(LexicalIndex::new(WordRule::Unicode))),
            events,
        }
    }

    async fn file(&self, name: &str, groups: &[&str], texts: &[&str]) {
        let org = self.library.tenant(tenant("a"));
        org.index_source(source(name, groups, texts)).await.unwrap();
        self.events.0.lock().unwrap().clear();
    }

    /// Takes a text into the index alone.
    fn index(&self, id: &str, text: &str) {
        let mut index = self.index.write().unwrap();
        index.add_document(id, text, None).unwrap();
    }

    fn searcher(&self, words: SearchOptions) -> LibraryHybridSearcher<WordRule> {
        let searcher = LibraryHybridSearcher::new(self.library.clone(), self.index.clone());
        match words.max_expansions {
            Some(max) => searcher.with_max_expansions(max),
            None => searcher,
        }
    }

    /// The ids that a search of one reader finds by its words.
    async fn by_words(&self, query: &str, words: SearchOptions) -> Vec<String> {
        let request = SearchRequest::new(query)
            .matching(words.matching)
            .prefix(words.prefix)
            .top_k(50);
        let searcher = self.searcher(words);
        let answer = searcher.search(&scope("a", &["g"]), &request).await;
        let passages = answer.unwrap().passages.into_iter();
        let by_words = passages.filter(|found| found.sparse.is_some());
        by_words.map(|found| found.passage.id.to_string()).collect()
    }

    /// The one event since the last.
    fn told(&self) -> Searched {
        let events = std::mem::take(&mut *self.events.0.lock().unwrap());
        let [Event::Searched(searched)] = &events[..] else {
            panic!("{events:?}")
        };
        searched.clone()
    }
}

#[tokio::test]
async fn one_event_names_exactly_what_was_answered() {
    let shelf = Shelf::over(&memory()).await;
    let texts: Vec<String> = (0..40).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    shelf.file("s", &["g"], &texts).await;
    // Found by its words alone: far behind in the dense leg.
    shelf.index("s#39", "text 39");
    let reader = scope("a", &["g"]);
    let searcher = shelf.searcher(SearchOptions::default());
    for (top_k, narrowing) in [
        (2, PassageFilter::new()),
        (100, PassageFilter::new()),
        (0, PassageFilter::new()),
        (5, PassageFilter::new().tags(["none"])),
    ] {
        let request = SearchRequest::new("39").any_of([narrowing]);
        let answer = searcher
            .search(&reader, &request.clone().top_k(top_k))
            .await
            .unwrap();
        let shown: Vec<_> = answer
            .passages
            .iter()
            .map(|f| f.passage.id.clone())
            .collect();
        let told = shelf.told();
        assert_eq!(told.answered, shown);
        assert_eq!(told.complete, answer.complete);
        assert!(told.dropped.is_empty() && told.groups.is_some());
        let legs: Vec<_> = told.legs.iter().map(|leg| (leg.leg, leg.kept)).collect();
        match top_k {
            0 => assert!(legs.is_empty()),
            2 => assert_eq!(legs, [(LegKind::Dense, 6), (LegKind::Lexical, 1)]),
            100 => assert_eq!(legs, [(LegKind::Dense, 40), (LegKind::Lexical, 1)]),
            _ => assert_eq!(legs, [(LegKind::Dense, 0), (LegKind::Lexical, 0)]),
        }
    }
    // One that is refused tells nothing, not even of the leg that ran.
    let one = SearchOptions::default().prefix(true).max_expansions(1);
    shelf.index("s#1", "39th");
    let request = SearchRequest::new("39");
    let refused = shelf
        .searcher(one)
        .search(&reader, &request.prefix(true).top_k(5))
        .await;
    assert!(refused.is_err() && shelf.events.0.lock().unwrap().is_empty());
}

/// Answers a fetch by a record of other groups.
struct Ignores(Mutex<Option<StoredRecord>>);

impl Meddle for Ignores {
    fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
        match &*self.0.lock().unwrap() {
            Some(record) => vec![Some(record.clone())],
            None => records,
        }
    }
}

#[tokio::test]
async fn what_was_dropped_in_either_leg_is_told() {
    let store = Meddling::new(Ignores(Mutex::default()));
    let meddle = store.meddle.clone();
    let shelf = Shelf::over(&Store::new(store)).await;
    shelf.index("hidden#0", "falcon");
    let key = shelf
        .library
        .tenant(tenant("a"))
        .key(&"hidden".try_into().unwrap(), 0);
    let metadata = r#"{"tenantId":"a","aclGroups":["h"],"status":"active","sourceId":"hidden","kind":"k","index":0}"#;
    let metadata = Metadata::from_json(metadata).unwrap();
    let mut record = StoredRecord::new(key.clone(), metadata.into());
    record.text = Some("falcon".into());
    *meddle.0.lock().unwrap() = Some(record);
    assert!(
        shelf
            .by_words("falcon", SearchOptions::default())
            .await
            .is_empty()
    );
    let told = shelf.told();
    assert!(told.answered.is_empty());
    assert_eq!(told.dropped[0].key, key.to_string());
    assert_eq!(
        (told.dropped.len(), told.dropped[0].reason),
        (1, "access groups")
    );
}

#[tokio::test]
async fn a_refused_prefix_does_not_count_the_words_of_others() {
    let shelf = Shelf::over(&memory()).await;
    shelf.file("mine", &["g"], &["sec"]).await;
    shelf.index("mine#0", "sec");
    shelf.index(
        "theirs#0",
        "secret secretary section sector secure sectarian",
    );
    let few = SearchOptions::default().prefix(true).max_expansions(2);
    let request = SearchRequest::new("sec");
    let refused = shelf
        .searcher(few)
        .search(&scope("a", &["g"]), &request.prefix(true).top_k(5))
        .await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, HybridError::TooManyExpansions { max: 2 }));
    let shown = format!(
        "{refused} {refused:?} {:?}",
        std::error::Error::source(&refused)
    );
    assert!(!shown.contains('7'), "{shown}");
}

#[tokio::test]
async fn a_word_that_was_taken_out_of_a_text_is_not_found_by_an_old_index() {
    let shelf = Shelf::over(&memory()).await;
    shelf
        .file("s", &["g"], &["project falcon is late", "the falconer"])
        .await;
    shelf.index("s#0", "project falcon is late");
    shelf.index("s#1", "the falconer");
    let (any, prefix) = (
        SearchOptions::default(),
        SearchOptions::default().prefix(true),
    );
    assert_eq!(shelf.by_words("Falcon", any).await, ["s#0"]);
    assert_eq!(shelf.by_words("falco", prefix).await.len(), 2);

    shelf
        .file("s", &["g"], &["project is late", "the other"])
        .await;
    for query in ["falcon", "falcon falcon"] {
        assert_eq!(shelf.by_words(query, any).await, [""; 0]);
        assert_eq!(shelf.by_words(query, prefix).await, [""; 0]);
    }
    // By a word that is still there it is found.
    assert_eq!(shelf.by_words("falcon late", any).await, ["s#0"]);
    assert_eq!(shelf.by_words("falc proj", prefix).await, ["s#0"]);
    let all = SearchOptions::default().matching(Match::All);
    assert_eq!(shelf.by_words("project falcon", all).await, [""; 0]);
    assert_eq!(shelf.by_words("late project", all).await, ["s#0"]);
    // Another document under the same id, as of another tenant, is no way either.
    shelf.index("s#1", "a falcon of somebody else");
    assert_eq!(shelf.by_words("falcon", any).await, [""; 0]);
}

#[tokio::test]
async fn an_answer_says_what_ran_and_whether_it_is_all() {
    let shelf = Shelf::over(&memory()).await;
    let searcher = shelf.searcher(SearchOptions::default());
    shelf.file("s", &["g"], &["one", "two"]).await;
    let reader = scope("a", &["g"]);
    let ask = async |query: &str, top_k| {
        let request = SearchRequest::new(query);
        let answer = searcher
            .search(&reader, &request.clone().top_k(top_k))
            .await
            .unwrap();
        (answer.ran, answer.passages.len(), answer.complete)
    };
    assert_eq!(ask("one", 5).await, (ExecutedMode::Hybrid, 2, true));
    assert_eq!(ask("one", 1).await, (ExecutedMode::Hybrid, 1, true));
    assert_eq!(ask("???", 5).await, (ExecutedMode::Dense, 2, true));
    assert_eq!(ask("one", 0).await, (ExecutedMode::Nothing, 0, true));

    // Past what is looked at, nobody knows.
    for n in 0..10_001 {
        shelf.index(&format!("gone-{n}#0"), "one");
    }
    assert_eq!(ask("one", 5).await, (ExecutedMode::Hybrid, 2, false));
}

#[tokio::test]
async fn legs_are_as_deep_as_the_ceilings_of_the_store_allow() {
    let limits = Limits::builder().request_top_k(9).fetch_ids(1).build();
    let shelf = Shelf::over(&memory().with_limits(limits.unwrap())).await;
    shelf
        .file("s", &["g"], &["one", "one two", "one three"])
        .await;
    for (id, text) in [("s#0", "one"), ("s#1", "one two"), ("s#2", "one three")] {
        shelf.index(id, text);
    }
    let searcher = shelf.searcher(SearchOptions::default());
    let (reader, request) = (scope("a", &["g"]), SearchRequest::new("one"));
    let found = searcher
        .search(&reader, &request.clone().top_k(3))
        .await
        .unwrap();
    assert_eq!((found.passages.len(), found.complete), (3, true));
    let refused = searcher
        .search(&reader, &request.clone().top_k(4))
        .await
        .unwrap_err();
    assert!(
        matches!(refused, HybridError::TopK { given: 4, max: 3 }),
        "{refused}"
    );
    let blank = searcher
        .search(&reader, &SearchRequest::new(" ").top_k(3))
        .await;
    assert!(matches!(
        blank,
        Err(HybridError::Library(LibraryError::Refused(_)))
    ));
    // It can be asked from any task.
    let asked =
        tokio::spawn(async move { searcher.search(&reader, &request.clone().top_k(3)).await });
    assert_eq!(asked.await.unwrap().unwrap().passages.len(), 3);
}
