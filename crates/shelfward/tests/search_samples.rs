//! Samples of search by words, with the values that they must have.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, RwLock};

use shelfward::fusion::{FusionWeights, reciprocal_rank_fusion};
use shelfward::lexical::fuzzy::{
    FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, Match, within_one_edit,
};
use shelfward::lexical::hybrid::{HybridHit, HybridSearcher, HybridSettings};
use shelfward::lexical::{
    AddError, Bm25Index, Bm25Tokenizer, Document, Hit, LexicalIndex, SearchOptions, Stemmer,
    Tokenizer,
};
use shelfward::text::{SnippetAround, WordRule, snippet_around};
use shelfward::websearch::{
    Candidate, ProviderRanks, ProviderWeights, build_tf_vector, build_vocabulary, compute_rrf,
    compute_weighted_rrf, normalize_url, semantic_dedup,
};
use shelfward::{
    CollectionName, CollectionSpec, EmbedError, Embedder, Key, Metric, Record, Role, Text,
    async_trait, embed_checked,
};

const FAQ: [(&str, &str); 3] = [
    ("faq-1", "Reset a password from the sign-in page."),
    ("faq-2", "Passwords expire after ninety days."),
    ("faq-3", "Two-factor codes arrive by text message."),
];

fn faq<T: Tokenizer>(tokenizer: T) -> LexicalIndex<T> {
    let mut index = LexicalIndex::new(tokenizer);
    let documents = FAQ.map(|(id, text)| Document {
        id,
        text,
        metadata: None,
    });
    index.add_documents(&documents).unwrap();
    index
}

fn ids<'a>(hits: &[Hit<'a>]) -> Vec<&'a str> {
    hits.iter().map(|hit| hit.id).collect()
}

fn answers<T: Tokenizer>(index: &LexicalIndex<T>) {
    let all = SearchOptions::default().matching(Match::All);
    let begun = SearchOptions::default().prefix(true);
    assert_eq!(ids(&index.search("password reset", 10)), ["faq-1"]);
    let found = |query, options| ids(&index.search_with(query, 10, &options).unwrap());
    assert_eq!(found("pass", begun), ["faq-1", "faq-2"]);
    assert!(found("password expire", all).is_empty());
    assert_eq!(found("password expire", all.prefix(true)), ["faq-2"]);
}

#[test]
fn an_index_of_a_faq_is_searched_saved_and_restored() {
    let index = faq(Bm25Tokenizer::plain_english());
    answers(&index);
    let saved = serde_json::to_string(&index.to_json()).unwrap();
    let restored = Bm25Index::from_json_text(&saved, Bm25Tokenizer::plain_english()).unwrap();
    answers(&restored);
    assert_eq!(restored.to_json(), index.to_json());
    assert_eq!(index.to_json()["v"], 1);
    // By another rule, too: what counts here is no stop word.
    let by_rule = faq(WordRule::Unicode);
    assert_eq!(ids(&by_rule.search("password reset", 10)), ["faq-1"]);
}

#[test]
fn scores_are_those_of_the_formula() {
    let index = faq(Bm25Tokenizer::plain_english());
    // "reset", "password", "sign" and "page"; "passwords", "expire", "ninety" and "days";
    // "two", "factor", "codes", "arrive", "text" and "message".
    let stats = index.stats();
    assert_eq!((stats.document_count, stats.term_count), (3, 14));
    assert!((stats.average_length - 14.0 / 3.0).abs() < 1e-12);
    let idf = (2.5_f64 / 1.5 + 1.0).ln();
    let word = |count: f64| {
        let norm = 1.2 * (1.0 - 0.75 + 0.75 * 4.0 / (14.0 / 3.0));
        count * idf * 2.2 / (1.0 + norm)
    };
    for (query, words) in [
        ("reset", 1.0),
        ("password reset", 2.0),
        ("reset reset", 2.0),
    ] {
        let score = index.search(query, 10)[0].score;
        assert!((score - word(words)).abs() < 1e-12, "{query}: {score}");
    }
    assert!(index.search("the by a", 10).is_empty(), "stop words alone");
    assert!(index.search("reset", 0).is_empty());
}

#[test]
fn stems_find_other_forms() {
    let mut stemmed = Bm25Index::new(Bm25Tokenizer::plain_english().stem(Stemmer::Porter));
    stemmed
        .add_document("a", "She was running late.", None)
        .unwrap();
    assert_eq!(ids(&stemmed.search("run", 10)), ["a"]);
    let plain = faq(Bm25Tokenizer::plain_english());
    assert_eq!(ids(&plain.search("password", 10)), ["faq-1"]);
}

#[test]
fn documents_are_replaced_refused_and_removed() {
    let mut index = faq(Bm25Tokenizer::plain_english());
    index
        .add_document("faq-1", "Nothing of that sort.", None)
        .unwrap();
    assert!(index.search("password reset", 10).is_empty());
    assert_eq!(index.add_document("", "text", None), Err(AddError::EmptyId));
    assert_eq!(index.add_document("id", "", None), Err(AddError::EmptyText));
    assert!(index.remove_document("faq-1"));
    assert!(!index.remove_document("faq-1"));
    assert_eq!(index.len(), 2);
}

#[test]
fn a_snippet_is_placed_by_whoever_keeps_the_texts() {
    let index = faq(WordRule::Unicode);
    let hit = index.search("ninety", 1)[0];
    let (_, text) = FAQ.into_iter().find(|(id, _)| *id == hit.id).unwrap();
    let around = SnippetAround {
        before: 6,
        after: 8,
        ..SnippetAround::default()
    };
    let snippet = snippet_around(text, &WordRule::Unicode.query_words("ninety"), &around);
    assert_eq!(snippet.text, "after ninety days.");
}

#[test]
fn a_search_box_forgives_typos() {
    let settings = FuzzySettings::new([("title", 10.0), ("body", 1.0)]);
    let mut index = FuzzyIndex::new(settings).unwrap();
    let documents = [
        (
            "refunds",
            "Refunds",
            "A refund goes back to the card that paid.",
        ),
        (
            "shipping",
            "Shipping",
            "Orders ship within two business days.",
        ),
    ];
    let documents = documents.map(|(id, title, body)| {
        FuzzyDocument::new(id)
            .field("title", title)
            .field("body", body)
    });
    index.add_documents(documents).unwrap();
    let score = |query| index.search(query, &FuzzySearch::default())[0].score;
    assert!((score("refnud") - 0.5).abs() < f64::EPSILON);
    assert!((score("ref") - 7.5).abs() < f64::EPSILON);
    let hits = index.search("refund", &FuzzySearch::default());
    let [passage] = hits[0].passages.as_slice() else {
        panic!("{hits:?}");
    };
    assert_eq!(&*passage.text, "A refund goes back to the card that paid.");
    let marks: Vec<_> = passage.marks.iter().map(|m| (m.start, m.end)).collect();
    assert_eq!(marks, [(2, 8)]);
    assert!(within_one_edit("refnud", "refund"));
}

#[test]
fn two_rankings_become_one() {
    let fused = reciprocal_rank_fusion(
        &[("a", 1), ("b", 2)],
        &[("b", 1), ("c", 2)],
        &FusionWeights::default(),
    );
    let order: Vec<_> = fused.iter().map(|fused| fused.id).collect();
    assert_eq!(order, ["b", "a", "c"]);
    let right = [0.7 / 62.0 + 0.3 / 61.0, 0.7 / 61.0, 0.3 / 62.0];
    for ((fused, right), about) in fused.iter().zip(right).zip([0.0162, 0.0115, 0.0048]) {
        assert!((fused.score - right).abs() < 1e-15);
        assert!((fused.score - about).abs() < 5e-5);
    }
}

fn candidate(url: &str, snippet: &str, ranks: &[(&str, u32)]) -> Candidate {
    let ranks = ranks.iter().map(|(name, rank)| ((*name).to_owned(), *rank));
    Candidate {
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        provider_ranks: ProviderRanks::from(ranks.collect::<Vec<_>>()),
        ..Candidate::default()
    }
}

#[test]
fn the_results_of_search_providers_are_merged_and_fused() {
    let address = "https://www.example.com/tea/?utm_source=x&id=1&ref=y";
    assert_eq!(
        normalize_url("http://www.example.com/tea/"),
        "example.com/tea"
    );
    assert_eq!(
        normalize_url("https://example.com/tea?utm_source=x&ref=y"),
        "example.com/tea"
    );
    assert!(!normalize_url(address).contains("utm_source"));

    let pages = vec![
        candidate("https://b.example", "", &[("one", 1)]),
        candidate("https://a.example", "", &[("one", 0), ("two", 2)]),
    ];
    let fused = compute_rrf(pages.clone(), 60.0).unwrap();
    assert_eq!(fused[0].url, "https://a.example");
    assert!((fused[0].rrf_score - (1.0 / 60.0 + 1.0 / 62.0)).abs() < 1e-15);
    let weights = ProviderWeights::new([("two", 0.5)]).unwrap();
    let weighted = compute_weighted_rrf(pages, &weights, 60.0).unwrap();
    assert!((weighted[0].rrf_score - (1.0 / 60.0 + 0.5 / 62.0)).abs() < 1e-15);

    let copies = vec![
        candidate(
            "https://a.example/tea",
            "How green tea is made",
            &[("one", 0)],
        ),
        candidate("http://www.a.example/tea/", "Green tea", &[("two", 3)]),
        candidate(
            "https://c.example",
            "how green tea is made",
            &[("three", 1)],
        ),
        candidate("https://d.example", "Coffee, mostly", &[("three", 2)]),
    ];
    let merged = semantic_dedup(copies, 0.85).unwrap();
    assert_eq!(merged.len(), 2);
    let ranks: Vec<_> = merged[0].provider_ranks.iter().collect();
    assert_eq!(ranks, [("one", 0), ("two", 3), ("three", 1)]);
    assert_eq!(merged[0].snippet, "How green tea is made");

    // Words end at every character but ASCII letters, digits and the low line.
    let vocabulary = build_vocabulary(["café tea tea"]);
    let vector = build_tf_vector("café tea tea", &vocabulary);
    assert_eq!(vector, [1.0 / 3.0, 2.0 / 3.0]);
    assert_eq!(build_tf_vector("caf", &vocabulary), [1.0, 0.0]);
}

/// How often each of four words stands in a text.
struct Counts;

#[async_trait]
impl Embedder for Counts {
    fn id(&self) -> &str {
        "counts"
    }

    fn width(&self) -> u32 {
        4
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let count = |text: &str, word: &str| {
            let words = WordRule::Unicode.words(text);
            words
                .iter()
                .filter(|w| w.starts_with(word))
                .fold(0.1, |sum, _| sum + 1.0)
        };
        let words = ["password", "expire", "ninety", "code"];
        let vector = |text: &&str| words.map(|word| count(text, word)).to_vec();
        Ok(texts.iter().map(vector).collect())
    }
}

#[tokio::test]
async fn a_hybrid_search_answers_both_ranks_the_text_and_the_metadata() {
    let store = shelfward::connect("memory:").await.unwrap();
    let name = CollectionName::new("docs").unwrap();
    let spec = CollectionSpec::new(name.clone(), 4, Metric::Cosine, "counts");
    let collection = store.ensure(&spec).await.unwrap();
    let texts = FAQ.map(|(_, text)| text);
    let vectors = embed_checked(&Counts, Role::Passage, &texts).await.unwrap();
    let records = FAQ.into_iter().zip(vectors).map(|((id, text), vector)| {
        Record::new(Key::new(Text::new(id).unwrap()), vector).with_text(text)
    });
    collection
        .upsert(&records.collect::<Vec<_>>())
        .await
        .unwrap();

    let bm25 = Arc::new(RwLock::new(faq(Bm25Tokenizer::plain_english())));
    let searcher = HybridSearcher::open(&store, &name, Arc::new(Counts), bm25)
        .await
        .unwrap()
        .with_settings(
            HybridSettings::default().weights(FusionWeights::new(0.7, 0.3, 60.0).unwrap()),
        );
    let results = searcher.search("reset a password", 5, None).await.unwrap();
    let [best, second, third] = results.as_slice() else {
        panic!("{results:?}");
    };
    assert_eq!(
        [&*best.id, &*second.id, &*third.id],
        ["faq-1", "faq-2", "faq-3"]
    );
    let ranks = |hit: &HybridHit| [hit.dense, hit.sparse].map(|place| place.and_then(|p| p.rank));
    assert_eq!(ranks(best), [Some(1), Some(1)]);
    assert_eq!(ranks(second), [Some(2), None]);
    assert!((best.score - (0.7 / 61.0 + 0.3 / 61.0)).abs() < 1e-15);
    assert!((second.score - 0.7 / 62.0).abs() < 1e-15);
    assert_eq!(best.text.as_deref(), Some(FAQ[0].1));
    assert!(best.metadata.as_ref().unwrap().is_empty());
}
