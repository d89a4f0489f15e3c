//! Dense and lexical search against values worked out by hand, and against sorting everything.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use shelfward_core::filter::key;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Key, Leg,
    LegResult, Match, Metadata, MetadataKey, Metric, Record, Store, Text, query_words,
};
use shelfward_memory::MemoryStore;

async fn open(spec: CollectionSpec) -> Collection {
    Store::new(MemoryStore::new()).ensure(&spec).await.unwrap()
}

fn spec(width: u32, metric: Metric) -> CollectionSpec {
    CollectionSpec::new(CollectionName::new("c").unwrap(), width, metric, "none")
}

fn plain(id: &str, vector: &[f32]) -> Record {
    Record::new(Key::new(Text::new(id).unwrap()), vector)
}

fn ids(found: &LegResult) -> Vec<String> {
    found
        .hits
        .iter()
        .map(|hit| hit.key.id.to_string())
        .collect()
}

fn scores(found: &LegResult) -> Vec<f64> {
    found.hits.iter().map(|hit| hit.score).collect()
}

#[tokio::test]
async fn each_metric_scores_higher_for_better_by_known_values() {
    let cases: [(Metric, [f64; 3]); 3] = [
        (Metric::Cosine, [1.0, 0.0, -1.0]),
        (Metric::Dot, [2.0, 0.0, -1.0]),
        (Metric::Euclidean, [-1.0, -(2.0_f64.sqrt()), -2.0]),
    ];
    for (metric, expected) in cases {
        let collection = open(spec(2, metric)).await;
        let records = [
            plain("same", &[2.0, 0.0]),
            plain("across", &[0.0, 1.0]),
            plain("against", &[-1.0, 0.0]),
        ];
        collection.upsert(&records).await.unwrap();
        let found = collection
            .search(&Leg::dense([1.0, 0.0], Filter::everything(), 10))
            .await
            .unwrap();
        assert_eq!(ids(&found), ["same", "across", "against"], "{metric}");
        assert_eq!(scores(&found), expected, "{metric}");
    }
}

#[tokio::test]
async fn equal_scores_come_in_the_order_of_keys_however_they_were_written() {
    let collection = open(spec(1, Metric::Dot)).await;
    for id in ["d", "a", "c", "b"] {
        let record = plain(id, &[1.0]).with_text("an apple");
        collection.upsert(&[record]).await.unwrap();
    }
    let words = query_words("apple", collection.spec().word_rule, false).unwrap();
    for top_k in 1..=4 {
        let leg = Leg::lexical(words.clone(), Match::Any, Filter::everything(), top_k);
        let found = collection.search(&leg).await.unwrap();
        assert_eq!(ids(&found), ["a", "b", "c", "d"][..top_k]);
        let found = collection
            .search(&Leg::dense([1.0], Filter::everything(), top_k))
            .await
            .unwrap();
        assert_eq!(ids(&found), ["a", "b", "c", "d"][..top_k]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_best_are_those_that_sorting_everything_gives(
        vectors in proptest::collection::vec(proptest::array::uniform2(-3_i8..=3), 0..60),
        query in proptest::array::uniform2(-3_i8..=3),
        top_k in 0_usize..70,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let collection = open(spec(2, Metric::Dot)).await;
            let float = |v: [i8; 2]| [f32::from(v[0]), f32::from(v[1])];
            let records: Vec<_> =
                vectors.iter().enumerate().map(|(n, v)| plain(&format!("{n:03}"), &float(*v))).collect();
            collection.upsert(&records).await.unwrap();
            let leg = Leg::dense(float(query), Filter::everything(), top_k);
            let found = collection.search(&leg).await.unwrap();
            let dot = |v: &[i8; 2]| i32::from(v[0]) * i32::from(query[0]) + i32::from(v[1]) * i32::from(query[1]);
            let mut expected: Vec<(i32, usize)> =
                vectors.iter().enumerate().map(|(n, v)| (-dot(v), n)).collect();
            expected.sort_unstable();
            expected.truncate(top_k);
            let expected: Vec<_> = expected.into_iter().map(|(_, n)| format!("{n:03}")).collect();
            assert_eq!(ids(&found), expected);
        });
    }
}

fn tenants() -> CollectionSpec {
    let field = |name: &str| Field::new(MetadataKey::new(name).unwrap(), FieldKind::Text);
    spec(1, Metric::Cosine).with_fields([
        field("tenant").with_role(FieldRole::Partition),
        field("kind"),
    ])
}

fn document(tenant: &str, id: &str, text: &str) -> Record {
    let metadata = Metadata::new()
        .with("tenant", Text::new(tenant).unwrap())
        .unwrap();
    let key = Key::within(Text::new(tenant).unwrap(), Text::new(id).unwrap());
    Record::new(key, [1.0])
        .with_text(text)
        .with_metadata(metadata)
}

async fn lexical(
    collection: &Collection,
    query: &str,
    matching: Match,
    prefix: bool,
) -> Vec<(String, f64)> {
    let words = query_words(query, collection.spec().word_rule, prefix).unwrap();
    let filter = key("tenant").eq("a").build().unwrap();
    let found = collection
        .search(&Leg::lexical(words, matching, filter, 10))
        .await
        .unwrap();
    ids(&found).into_iter().zip(scores(&found)).collect()
}

fn assert_scores(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((id, score), (expected_id, expected_score)) in found.iter().zip(expected) {
        assert_eq!(id, expected_id);
        assert!(
            (score - expected_score).abs() < 5e-5,
            "{id}: {score} is not {expected_score}"
        );
    }
}

#[tokio::test]
async fn a_word_that_every_document_holds_still_scores_above_nothing() {
    let cases: [(&[&str], &str, &[(&str, f64)]); 3] = [
        (
            &["pink", "pink", "pink"],
            "pink",
            &[("0", 0.1335), ("1", 0.1335), ("2", 0.1335)],
        ),
        (&["rain", "snow"], "rain", &[("0", std::f64::consts::LN_2)]),
        (&["lone"], "lone", &[("0", 0.2877)]),
    ];
    for (texts, query, expected) in cases {
        let collection = open(tenants()).await;
        for (n, text) in texts.iter().enumerate() {
            collection
                .upsert(&[document("a", &n.to_string(), text)])
                .await
                .unwrap();
        }
        assert_scores(
            &lexical(&collection, query, Match::Any, false).await,
            expected,
        );
    }
}

#[tokio::test]
async fn any_all_and_prefix_find_what_they_should() {
    let collection = open(tenants()).await;
    let texts = [
        ("faq-1", "Reset a password from the sign-in page."),
        ("faq-2", "Passwords expire after ninety days."),
        ("faq-3", "Two-factor codes arrive by text message."),
    ];
    for (id, text) in texts {
        collection.upsert(&[document("a", id, text)]).await.unwrap();
    }
    let cases: [(&str, Match, bool, &[&str]); 6] = [
        ("password reset", Match::Any, false, &["faq-1"]),
        ("pass", Match::Any, false, &[]),
        ("pass", Match::Any, true, &["faq-2", "faq-1"]),
        ("password expire", Match::All, false, &[]),
        ("password expire", Match::All, true, &["faq-2"]),
        // A prefix of one letter is matched exactly, and "a" is a word of the first.
        ("a", Match::Any, true, &["faq-1"]),
    ];
    for (query, matching, prefix, expected) in cases {
        let found = lexical(&collection, query, matching, prefix).await;
        let found: Vec<_> = found.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(found, expected, "{query} {matching:?} {prefix}");
    }
}

#[tokio::test]
async fn a_score_tells_nothing_of_another_tenant() {
    let collection = open(tenants()).await;
    collection
        .upsert(&[document("a", "1", "merger"), document("a", "2", "lunch")])
        .await
        .unwrap();
    let before = lexical(&collection, "merger lunch", Match::Any, false).await;
    for n in 0..50 {
        collection
            .upsert(&[document("b", &n.to_string(), "merger merger talks")])
            .await
            .unwrap();
    }
    assert_eq!(
        lexical(&collection, "merger lunch", Match::Any, false).await,
        before
    );
}

#[tokio::test]
async fn a_record_without_a_text_takes_no_part_and_one_without_words_counts() {
    let collection = open(tenants()).await;
    collection
        .upsert(&[document("a", "1", "rain")])
        .await
        .unwrap();
    let one = lexical(&collection, "rain", Match::Any, false).await;
    let metadata = Metadata::new()
        .with("tenant", Text::new("a").unwrap())
        .unwrap();
    let key = Key::within(Text::new("a").unwrap(), Text::new("2").unwrap());
    collection
        .upsert(&[Record::new(key, [1.0]).with_metadata(metadata)])
        .await
        .unwrap();
    assert_eq!(lexical(&collection, "rain", Match::Any, false).await, one);
    collection.upsert(&[document("a", "3", "…")]).await.unwrap();
    // N 2, n 1, lengths 1 and 0: idf ln 2, and the length 1 is twice the average.
    let expected = std::f64::consts::LN_2 * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 2.0));
    assert_scores(
        &lexical(&collection, "rain", Match::Any, false).await,
        &[("1", expected)],
    );
}

#[tokio::test]
async fn a_prefix_of_too_many_words_is_refused_and_one_of_just_enough_is_not() {
    let collection = open(tenants()).await;
    let words = |n: usize| (0..n).map(|n| format!("word{n} ")).collect::<String>();
    let search = async || {
        let words = query_words("wo", collection.spec().word_rule, true).unwrap();
        let filter = key("tenant").eq("a").build().unwrap();
        collection
            .search(&Leg::lexical(words, Match::Any, filter, 10))
            .await
    };
    collection
        .upsert(&[document("a", "1", &words(1_024))])
        .await
        .unwrap();
    assert_eq!(search().await.unwrap().hits.len(), 1);
    collection
        .upsert(&[document("a", "1", &words(1_025))])
        .await
        .unwrap();
    let error = search().await.unwrap_err();
    assert!(error.is_refusal(), "{error}");
    // Another tenant's words are another tenant's.
    collection
        .upsert(&[
            document("a", "1", "wood"),
            document("b", "1", &words(2_000)),
        ])
        .await
        .unwrap();
    assert_eq!(search().await.unwrap().hits.len(), 1);
}
