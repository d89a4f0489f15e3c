//! Hybrid search over a collection: what is asked of whom, what is refused, and what is fetched.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hybrid_support;

use std::sync::Arc;

use hybrid_support::core::TestEmbedder;
use hybrid_support::{Docs, Index, QUERY, Searcher, TOWARDS, apples, docs, ids, lang, record};
use serde_json::json;
use shelfward_core::filter::key;
use shelfward_core::{
    CollectionName, CollectionSpec, EmbedError, ErrorKind, Field, FieldKind, FieldRole, Filter,
    Key, Metadata, MetadataKey, Metric, Record, Role, SpecError, Text,
};
use shelfward_lexical::SearchOptions;
use shelfward_lexical::hybrid::{HybridError, HybridSearcher, HybridSettings};

/// Three documents in both, nearest first; the words of the last are the best.
async fn three() -> Docs {
    let docs = Docs::new().await;
    for (id, at) in ["a", "b", "c"].into_iter().zip(1_u8..) {
        let away = f32::from(at) / 10.0;
        let text = apples(usize::from(at));
        docs.add(id, &text, record(id, away)).await;
    }
    docs
}

#[tokio::test]
async fn a_blank_query_is_refused_and_nobody_is_asked() {
    let docs = three().await;
    let searcher = docs.searcher().await;
    docs.asked.take_calls();
    for blank in ["", "   ", "\t\n", "\u{3000}", "\u{feff} "] {
        for top_k in [0, 3] {
            let refused = searcher.search(blank, top_k, None).await.unwrap_err();
            assert!(
                matches!(refused, HybridError::BlankQuery),
                "{blank:?}: {refused}"
            );
        }
    }
    assert_eq!(docs.embedder.calls(), 0);
    assert!(docs.asked.take_calls().is_empty());
}

#[tokio::test]
async fn a_long_query_is_refused_and_nobody_is_asked() {
    let mut docs = three().await;
    let limits = docs.store.limits().to_builder().query_chars(5).build();
    docs.store = docs.store.with_limits(limits.unwrap());
    let searcher = docs.searcher().await;
    docs.asked.take_calls();
    let refused = searcher.search("apples", 3, None).await.unwrap_err();
    assert!(
        matches!(refused, HybridError::LongQuery { max: 5 }),
        "{refused}"
    );
    assert_eq!(docs.embedder.calls(), 0);
    assert!(docs.asked.take_calls().is_empty());
    // Characters count, not bytes.
    searcher.search("äpfel", 3, None).await.unwrap();
}

#[tokio::test]
async fn a_query_without_words_is_answered_by_the_dense_leg_alone() {
    let docs = Docs::with(TestEmbedder::default().with("???", TOWARDS)).await;
    for (id, away) in [("far", 0.9), ("near", 0.1)] {
        docs.add(id, "???", record(id, away)).await;
    }
    let hits = docs.searcher().await.search("???", 5, None).await.unwrap();
    assert_eq!(ids(&hits), ["near", "far"]);
    assert!(hits.iter().all(|hit| hit.sparse.is_none()));
    let right = 0.7 / 61.0;
    assert!((hits[0].score - right).abs() < 1e-12);
}

#[tokio::test]
async fn the_query_is_embedded_once_and_as_a_query() {
    let docs = three().await;
    let searcher = docs.searcher().await;
    let english = key("lang").eq("en").build().unwrap();
    for (searches, filter) in [(1, None), (2, Some(&english))] {
        searcher.search(QUERY, 3, filter).await.unwrap();
        assert_eq!(docs.embedder.calls(), searches);
    }
    let roles = docs.embedder.roles.lock().unwrap().clone();
    assert_eq!(roles, [Role::Query, Role::Query]);
}

#[tokio::test]
async fn an_embedder_that_answers_no_vector_is_a_typed_error() {
    let drops = TestEmbedder {
        drops_last: true,
        ..TestEmbedder::default()
    };
    let error = searched(drops).await;
    assert!(
        matches!(
            &error,
            HybridError::Embed(EmbedError::Count {
                asked: 1,
                answered: 0,
                ..
            })
        ),
        "{error}"
    );
    let empty = searched(TestEmbedder::default().with(QUERY, [])).await;
    assert!(
        matches!(&empty, HybridError::Embed(EmbedError::Vector { .. })),
        "{empty}"
    );
    let down = TestEmbedder {
        fails_on: Some(QUERY.to_owned()),
        ..TestEmbedder::default()
    };
    let down = searched(down).await;
    assert!(
        matches!(&down, HybridError::Embed(EmbedError::Provider { .. })),
        "{down}"
    );
    let zeros = searched(TestEmbedder::default().with(QUERY, [0.0; 4])).await;
    assert!(matches!(&zeros, HybridError::Store(_)), "{zeros}");
}

async fn searched(embedder: TestEmbedder) -> HybridError {
    let docs = Docs::with(embedder).await;
    docs.index("a", QUERY);
    let searcher = docs.searcher().await;
    docs.asked.take_calls();
    let error = searcher.search(QUERY, 3, None).await.unwrap_err();
    assert!(!error.to_string().contains(QUERY), "{error}");
    error
}

#[tokio::test]
async fn top_k_0_answers_nothing_and_one_too_large_is_refused() {
    let docs = three().await;
    let searcher = docs.searcher().await;
    docs.asked.take_calls();
    assert!(searcher.search(QUERY, 0, None).await.unwrap().is_empty());
    for top_k in [3_334, usize::MAX] {
        let refused = searcher.search(QUERY, top_k, None).await.unwrap_err();
        let HybridError::TopK { given, max } = refused else {
            panic!("{refused}");
        };
        assert_eq!((given, max), (top_k, 3_333));
    }
    assert_eq!(docs.embedder.calls(), 0);
    assert!(docs.asked.take_calls().is_empty());
    assert_eq!(searcher.search(QUERY, 3_333, None).await.unwrap().len(), 3);
}

#[tokio::test]
async fn what_bm25_alone_found_is_fetched_by_its_id() {
    let docs = Docs::new().await;
    // Three near ones, which fill the dense leg of an answer of one.
    for at in ["x", "y", "z"] {
        docs.store(record(at, 0.1).with_text("near")).await;
    }
    let far = record("far", 9.0).with_metadata(lang("en"));
    docs.store(far.with_text("The store's text.")).await;
    let settings = HybridSettings::default();
    let weights = shelfward_core::fusion::FusionWeights::new(0.1, 0.9, 60.0).unwrap();
    let (metadata, text) = (json!({ "lang": "of the index" }), "apple");
    let added = docs
        .index
        .write()
        .unwrap()
        .add_document("far", text, Some(metadata.clone()));
    added.unwrap();
    let searcher = docs
        .searcher()
        .await
        .with_settings(settings.weights(weights));
    docs.asked.take_calls();
    let hit = searcher.search(QUERY, 1, None).await.unwrap().remove(0);
    assert_eq!(docs.asked.take_calls(), ["search", "fetch"]);
    assert_eq!((hit.id.as_str(), hit.dense), ("far", None));
    assert_eq!(hit.text.as_deref(), Some("The store's text."));
    assert_eq!(hit.metadata.unwrap().text("lang"), Some("en"));
    assert_eq!(hit.index_metadata, Some(metadata));
}

#[tokio::test]
async fn a_stale_document_of_the_index_has_no_text_and_falls_out_under_a_filter() {
    let docs = three().await;
    docs.index("gone", &apples(9));
    // Ids that no store holds, and one that no store could.
    docs.index("nul\0", &apples(8));
    docs.index(&"long".repeat(200), &apples(7));
    let searcher = docs.searcher().await;
    let hits = searcher.search(QUERY, 10, None).await.unwrap();
    assert_eq!(hits.len(), 6);
    let gone = hits.iter().find(|hit| hit.id == "gone").unwrap();
    assert_eq!(
        (&gone.text, &gone.metadata, gone.dense),
        (&None, &None, None)
    );
    assert_eq!(gone.sparse.unwrap().rank, Some(1));
    assert!(hits.iter().filter(|hit| hit.text.is_some()).count() == 3);

    let any = key("lang").exists(false).build().unwrap();
    let mut held = searcher.search(QUERY, 10, Some(&any)).await.unwrap();
    assert!(held.iter().all(|hit| hit.text.is_some()));
    held.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(ids(&held), ["a", "b", "c"]);
}

#[tokio::test]
async fn an_index_may_change_between_searches() {
    let docs = three().await;
    let searcher = docs.searcher().await;
    docs.index.write().unwrap().remove_document("c");
    docs.index("b", "nothing of it");
    let hits = searcher.search(QUERY, 10, None).await.unwrap();
    let in_words: Vec<_> = hits.iter().filter(|hit| hit.sparse.is_some()).collect();
    assert_eq!(in_words.len(), 1);
    assert_eq!(in_words[0].id, "a");
}

#[tokio::test]
async fn the_words_are_searched_as_asked() {
    let docs = Docs::with(TestEmbedder::default().with("app lea", TOWARDS)).await;
    docs.index("both", "apple leaf");
    docs.index("one", "apple");
    let found = async |words: SearchOptions| {
        let searcher = docs.searcher().await.with_words(words);
        searcher.search("app lea", 10, None).await
    };
    let begun = SearchOptions::default().prefix(true);
    assert!(found(SearchOptions::default()).await.unwrap().is_empty());
    assert_eq!(found(begun).await.unwrap().len(), 2);
    let all = begun.matching(shelfward_core::Match::All);
    assert_eq!(ids(&found(all).await.unwrap()), ["both"]);
    let refused = found(begun.max_expansions(0)).await.unwrap_err();
    assert!(
        matches!(refused, HybridError::TooManyExpansions { max: 0 }),
        "{refused}"
    );
}

async fn opened(
    docs: &Docs,
    name: &CollectionName,
    embedder: TestEmbedder,
) -> Result<Searcher, HybridError> {
    let index: Index = docs.index.clone();
    HybridSearcher::open(&docs.store, name, Arc::new(embedder), index).await
}

#[tokio::test]
async fn a_library_is_refused() {
    let docs = three().await;
    hybrid_support::core::library(&docs.store).await;
    let library = hybrid_support::core::name();
    let refused = opened(&docs, &library, TestEmbedder::default())
        .await
        .unwrap_err();
    assert!(
        matches!(refused, HybridError::IsLibrary { field: "tenantId" }),
        "{refused}"
    );
}

#[tokio::test]
async fn a_missing_collection_and_another_model_are_refused() {
    let named = |id: &str, width| TestEmbedder {
        id: id.to_owned(),
        width,
        ..TestEmbedder::default()
    };
    let made = three().await;
    let missing = CollectionName::new("missing").unwrap();
    let error = |refused: Result<Searcher, HybridError>| match refused.unwrap_err() {
        HybridError::Store(error) => error,
        other => panic!("{other}"),
    };
    let missing = error(opened(&made, &missing, TestEmbedder::default()).await);
    assert!(
        matches!(missing.kind(), ErrorKind::NoCollection),
        "{missing:?}"
    );
    for other in [named("another", 4), named("test", 3)] {
        let differs = error(opened(&made, &docs(), other).await);
        assert!(
            matches!(
                differs.kind(),
                ErrorKind::Spec(SpecError::OtherEmbedder { .. } | SpecError::OtherWidth { .. })
            ),
            "{differs:?}"
        );
    }
}

#[tokio::test]
async fn a_collection_in_partitions_needs_one_of_them() {
    let team = Field::new(MetadataKey::new("team").unwrap(), FieldKind::Text);
    let spec = CollectionSpec::new(docs(), 4, Metric::Cosine, "test")
        .with_fields([team.with_role(FieldRole::Partition)]);
    let made = Docs::of(spec, TestEmbedder::default().with(QUERY, TOWARDS)).await;
    for team in ["red", "blue"] {
        let key = Key::within(Text::new(team).unwrap(), Text::new("a").unwrap());
        let record =
            Record::new(key, TOWARDS).with_metadata(Metadata::new().with("team", team).unwrap());
        made.store(record.with_text(format!("{team} apple"))).await;
    }
    made.index("a", "apple");
    let searcher = made.searcher().await;
    let either = key("team").is_in(["red", "blue"]).build().unwrap();
    for filter in [None, Some(&Filter::everything()), Some(&either)] {
        let refused = searcher.search(QUERY, 5, filter).await.unwrap_err();
        let HybridError::NoPartition { field } = refused else {
            panic!("{refused}");
        };
        assert_eq!(field, "team");
    }
    assert_eq!(made.embedder.calls(), 0);
    for team in ["red", "blue"] {
        let filter = key("team").eq(team).build().unwrap();
        let hits = searcher.search(QUERY, 5, Some(&filter)).await.unwrap();
        assert_eq!(ids(&hits), ["a"]);
        assert_eq!(hits[0].text.as_deref().unwrap(), format!("{team} apple"));
        assert!(hits[0].dense.is_some() && hits[0].sparse.is_some());
    }
}

#[tokio::test]
async fn what_can_be_printed_holds_no_text() {
    let docs = three().await;
    let hits = docs.searcher().await.search(QUERY, 3, None).await.unwrap();
    let printed = format!("{:?} {hits:?}", docs.searcher().await);
    assert!(
        !printed.contains("apple") && !printed.contains("leaf"),
        "{printed}"
    );
}
