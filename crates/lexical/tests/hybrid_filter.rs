//! A filter reaches both legs, whatever the index holds.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hybrid_support;

use std::collections::BTreeSet;

use hybrid_support::{Docs, QUERY, apples, ids, lang, record};
use serde_json::json;
use shelfward_core::filter::key;
use shelfward_core::{Filter, Metadata};

fn english() -> Filter {
    key("lang").eq("en").build().unwrap()
}

#[tokio::test]
async fn what_the_filter_excludes_is_never_answered() {
    let docs = Docs::new().await;
    docs.add(
        "en",
        &apples(1),
        record("en", 0.5).with_metadata(lang("en")),
    )
    .await;
    docs.add(
        "fr",
        &apples(9),
        record("fr", 0.1).with_metadata(lang("fr")),
    )
    .await;
    docs.add("none", &apples(9), record("none", 0.1)).await;
    // What the index says of it matches; what the store says does not, and that counts.
    let (said, text) = (json!({ "lang": "en" }), apples(9));
    docs.store(record("lies", 0.1).with_metadata(lang("fr")))
        .await;
    let added = docs
        .index
        .write()
        .unwrap()
        .add_document("lies", &text, Some(said.clone()));
    added.unwrap();
    // And one that the store does not hold at all.
    let added = docs
        .index
        .write()
        .unwrap()
        .add_document("gone", &text, Some(said));
    added.unwrap();

    let searcher = docs.searcher().await;
    let hits = searcher.search(QUERY, 10, Some(&english())).await.unwrap();
    assert_eq!(ids(&hits), ["en"]);
    // Its rank is among what may be answered.
    assert_eq!(hits[0].sparse.unwrap().rank, Some(1));
    assert_eq!(searcher.search(QUERY, 10, None).await.unwrap().len(), 5);
    let never = key("lang").is_in::<&str>([]).build().unwrap();
    assert!(
        searcher
            .search(QUERY, 10, Some(&never))
            .await
            .unwrap()
            .is_empty()
    );
    let refused = key("undeclared").eq("x").build().unwrap();
    searcher
        .search(QUERY, 10, Some(&refused))
        .await
        .unwrap_err();
}

#[tokio::test]
async fn many_excluded_documents_do_not_crowd_out_the_others() {
    let docs = Docs::new().await;
    for at in 0..200 {
        let id = format!("fr-{at}");
        docs.add(&id, &apples(9), record(&id, 0.1).with_metadata(lang("fr")))
            .await;
    }
    // Far away in the dense leg, so that its ten are the nearer ones without the word.
    for at in 0..30_u8 {
        let id = format!("near-{at}");
        docs.store(record(&id, 0.2).with_metadata(lang("en"))).await;
    }
    for (id, times) in [("third", 1), ("first", 3), ("second", 2)] {
        let far = record(id, 50.0).with_metadata(lang("en"));
        docs.add(id, &apples(times), far).await;
    }
    let searcher = docs.searcher().await;
    let hits = searcher.search(QUERY, 10, Some(&english())).await.unwrap();
    let in_words: Vec<_> = hits.iter().filter(|hit| hit.sparse.is_some()).collect();
    assert_eq!(in_words.len(), 0, "0.3 / 61 is less than 0.7 / 70");
    let words = shelfward_core::fusion::FusionWeights::new(0.3, 0.7, 60.0).unwrap();
    let settings = shelfward_lexical::hybrid::HybridSettings::default().weights(words);
    let searcher = searcher.with_settings(settings);
    let hits = searcher.search(QUERY, 10, Some(&english())).await.unwrap();
    assert_eq!(ids(&hits)[..3], ["first", "second", "third"]);
    let ranks: Vec<_> = hits[..3].iter().map(|h| h.sparse.unwrap().rank).collect();
    assert_eq!(ranks, [Some(1), Some(2), Some(3)]);
}

/// Every filter over every document answers what looking at each document would.
#[tokio::test]
async fn both_legs_answer_what_the_filter_matches() {
    let docs = Docs::new().await;
    let langs = [Some("en"), Some("fr"), None];
    let mut held = Vec::new();
    for page in 0..12_u8 {
        let id = format!("d{page}");
        let mut metadata = Metadata::new().with("page", i64::from(page)).unwrap();
        if let Some(lang) = langs[usize::from(page) % 3] {
            metadata = metadata.with("lang", lang).unwrap();
        }
        // Some are in one of the two alone.
        let record = record(&id, f32::from(page)).with_metadata(metadata.clone());
        match page % 4 {
            0 => docs.store(record).await,
            _ => {
                docs.add(&id, &apples(usize::from(page % 5) + 1), record)
                    .await
            }
        }
        held.push((id, metadata));
    }
    docs.index("gone", &apples(9));
    let searcher = docs.searcher().await;
    let filters = [
        key("lang").eq("en"),
        key("lang").ne("en"),
        key("lang").exists(false),
        key("page").gte(6),
        key("page").lt(2).or(key("lang").eq("fr")),
        shelfward_core::filter::not(key("page").is_in([1, 2, 3])),
    ];
    for filter in filters {
        let filter = filter.build().unwrap();
        let hits = searcher.search(QUERY, 50, Some(&filter)).await.unwrap();
        let found: BTreeSet<_> = ids(&hits).into_iter().collect();
        let right = held.iter().filter(|(_, metadata)| filter.matches(metadata));
        let right: BTreeSet<_> = right.map(|(id, _)| id.as_str()).collect();
        assert_eq!(found, right, "{filter}");
    }
}
