//! How two legs become one answer: ranks, sums and turns.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hybrid_support;

use hybrid_support::{Docs, QUERY, apples, ids, record};
use shelfward_core::fusion::FusionWeights;
use shelfward_lexical::hybrid::{Fusion, HybridHit, HybridSettings, LegRank};

/// Documents of the dense leg, best first, and of the BM25 leg, best first.
async fn legs(dense: &[&str], sparse: &[&str]) -> Docs {
    let docs = Docs::new().await;
    for (id, away) in dense.iter().zip(1_u8..) {
        docs.store(record(id, f32::from(away) / 10.0)).await;
    }
    for (at, id) in sparse.iter().enumerate() {
        docs.index(id, &apples(9 - at));
    }
    docs
}

async fn search(docs: &Docs, settings: HybridSettings, top_k: usize) -> Vec<HybridHit> {
    let searcher = docs.searcher().await.with_settings(settings);
    searcher.search(QUERY, top_k, None).await.unwrap()
}

fn rank(place: Option<LegRank>) -> Option<u32> {
    place.and_then(|place| place.rank)
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

#[tokio::test]
async fn a_leg_that_did_not_find_a_document_gives_it_no_rank() {
    let docs = legs(&["p", "q", "r"], &["s", "t", "r"]).await;
    let hits = search(&docs, HybridSettings::default(), 5).await;
    assert_eq!(ids(&hits), ["r", "p", "q", "s", "t"]);
    let right = [0.015_873, 0.011_475, 0.011_290, 0.004_918, 0.004_839];
    for (hit, right) in hits.iter().zip(right) {
        close(hit.score, right);
    }
    let ranks: Vec<_> = hits
        .iter()
        .map(|h| (rank(h.dense), rank(h.sparse)))
        .collect();
    let (first, second, third) = (Some(1), Some(2), Some(3));
    assert_eq!(
        ranks,
        [
            (third, third),
            (first, None),
            (second, None),
            (None, first),
            (None, second)
        ]
    );
    // What both found stays among the best three.
    let three = search(&docs, HybridSettings::default(), 3).await;
    assert_eq!(ids(&three), ["r", "p", "q"]);
}

#[tokio::test]
async fn of_equal_scores_the_dense_legs_comes_first() {
    let docs = legs(&["p", "q", "r"], &["s", "t", "r"]).await;
    let equal = HybridSettings::default().weights(FusionWeights::EQUAL);
    let hits = search(&docs, equal, 5).await;
    assert_eq!(ids(&hits), ["r", "p", "s", "q", "t"]);
    close(hits[0].score, 2.0 / 63.0);
    assert!((hits[1].score - hits[2].score).abs() < f64::EPSILON);
}

#[tokio::test]
async fn a_weighted_sum_is_of_the_legs_own_scores() {
    let docs = legs(&["p", "r"], &["s", "r", "t"]).await;
    // One that points away, so that the least cosine is below 0.
    let mut away = record("away", 0.0);
    away.vector = [-1.0, 0.5, 0.0, 0.0].into();
    docs.store(away).await;
    let settings = HybridSettings::default().fusion(Fusion::WeightedSum);
    let hits = search(&docs, settings, 10).await;
    assert_eq!(hits.len(), 5);
    let scores = |of: fn(&HybridHit) -> Option<LegRank>| {
        let scores: Vec<f64> = hits.iter().filter_map(of).map(|p| p.score).collect();
        let (min, max) = scores.iter().fold((0.0_f64, 1.0_f64), |(min, max), s| {
            (min.min(*s), max.max(*s))
        });
        move |score: f64| (score - min) / (max - min)
    };
    let (dense, sparse) = (scores(|h| h.dense), scores(|h| h.sparse));
    for hit in &hits {
        let sum = hit.dense.map_or(0.0, |p| 0.7 * dense(p.score))
            + hit.sparse.map_or(0.0, |p| 0.3 * sparse(p.score));
        close(hit.score, sum);
        assert_eq!((rank(hit.dense), rank(hit.sparse)), (None, None));
    }
    assert_eq!(hits[0].id, "r");
    assert_eq!(hits.last().unwrap().id, "away");
    close(hits.last().unwrap().score, 0.0);
}

#[tokio::test]
async fn turns_step_over_what_the_other_leg_had_and_count_it() {
    let docs = legs(&["a", "b", "c"], &["b", "a", "d"]).await;
    let settings = HybridSettings::default().fusion(Fusion::Interleave);
    let hits = search(&docs, settings, 10).await;
    let shown: Vec<_> = hits
        .iter()
        .map(|h| (h.id.as_str(), rank(h.dense), rank(h.sparse)))
        .collect();
    assert_eq!(
        shown,
        [
            ("a", Some(1), None),
            ("b", None, Some(1)),
            ("c", Some(3), None),
            ("d", None, Some(3)),
        ]
    );
    for hit in &hits {
        let own = hit.dense.or(hit.sparse).unwrap();
        close(hit.score, own.score);
    }
    // An answer that ends in the middle of a turn.
    assert_eq!(ids(&search(&docs, settings, 3).await), ["a", "b", "c"]);
    assert_eq!(ids(&search(&docs, settings, 1).await), ["a"]);
}

#[tokio::test]
async fn a_leg_may_be_empty() {
    for fusion in [
        Fusion::ReciprocalRank,
        Fusion::WeightedSum,
        Fusion::Interleave,
    ] {
        let settings = HybridSettings::default().fusion(fusion);
        let dense = search(&legs(&["a", "b"], &[]).await, settings, 10).await;
        assert_eq!(ids(&dense), ["a", "b"], "{fusion:?}");
        let sparse = search(&legs(&[], &["a", "b"]).await, settings, 10).await;
        assert_eq!(ids(&sparse), ["a", "b"], "{fusion:?}");
        let neither = search(&legs(&[], &[]).await, settings, 10).await;
        assert!(neither.is_empty(), "{fusion:?}");
    }
}

#[tokio::test]
async fn each_leg_is_three_times_as_deep_as_the_answer() {
    let docs = legs(&["a", "b", "c", "d", "e"], &["v", "w", "x", "d", "y"]).await;
    docs.searcher().await.search(QUERY, 1, None).await.unwrap();
    assert_eq!(docs.asked.legs.lock().unwrap()[0].top_k, 3);
    // "d" is fourth in both: found with top_k 2, whose legs are six deep, and not with 1.
    assert_eq!(
        ids(&search(&docs, HybridSettings::default(), 1).await),
        ["a"]
    );
    assert_eq!(
        ids(&search(&docs, HybridSettings::default(), 2).await),
        ["d", "a"]
    );
}
