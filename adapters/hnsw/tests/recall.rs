//! Searches through the graph against looking at everything: full, right where they must be, and
//! near enough everywhere else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::{BTreeMap, HashSet};

use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{Collection, Filter, Metric, Record};
use shelfward_hnsw::HnswStore;

/// Points in clusters, source by source, so that clusters come one after the other.
fn clustered(dice: &mut Dice, records: usize, width: usize) -> Vec<Vec<f32>> {
    let mut centre = dice.vector(width);
    (0..records)
        .map(|n| {
            if n % 40 == 0 {
                centre = dice.vector(width);
            }
            centre.iter().map(|x| x + 0.3 * dice.number()).collect()
        })
        .collect()
}

type Held = BTreeMap<String, (Vec<f32>, i64)>;

async fn write(
    collection: &Collection,
    held: &mut Held,
    dice: &mut Dice,
    numbers: &[usize],
    vectors: &[Vec<f32>],
) {
    let records: Vec<Record> = numbers
        .iter()
        .zip(vectors)
        .map(|(n, vector)| {
            let share = i64::try_from(dice.below(1_000)).unwrap();
            held.insert(format!("{n:05}"), (vector.clone(), share));
            record(&format!("{n:05}"), vector, "u", share)
        })
        .collect();
    collection.upsert(&records).await.unwrap();
}

/// The mean share of the true ten nearest.
async fn recall(
    collection: &Collection,
    held: &Held,
    metric: Metric,
    below: i64,
    dice: &mut Dice,
) -> f64 {
    let filter = if below >= 1_000 {
        Filter::everything()
    } else {
        field("share").lt(below).build().unwrap()
    };
    let vectors: Vec<&Vec<f32>> = held.values().map(|(vector, _)| vector).collect();
    let width = vectors[0].len();
    let (mut hit, mut wanted) = (0, 0);
    for round in 0..60 {
        let mut query = vectors[dice.below(vectors.len())].clone();
        if round % 3 > 0 {
            query
                .iter_mut()
                .zip(dice.vector(width))
                .for_each(|(x, y)| *x += 0.2 * y);
        }
        let mut scores: Vec<(f64, &str)> = held
            .iter()
            .filter(|(_, (_, share))| *share < below)
            .map(|(id, (vector, _))| (-score(metric, &query, vector), id.as_str()))
            .collect();
        scores.sort_by(|a, b| a.0.total_cmp(&b.0));
        scores.truncate(10);
        let found = ids(collection, &query, filter.clone(), 10).await;
        assert_eq!(found.len(), scores.len(), "a search must be full");
        let found: HashSet<&str> = found.iter().map(String::as_str).collect();
        hit += scores.iter().filter(|(_, id)| found.contains(id)).count();
        wanted += scores.len();
    }
    hit as f64 / wanted.max(1) as f64
}

async fn recall_of(metric: Metric) {
    let mut dice = Dice(7);
    let store = HnswStore::in_memory_with(graph_always()).unwrap();
    let collection = collection(&store, &spec(32, metric)).await;
    let mut held = Held::new();
    let vectors = clustered(&mut dice, 5_000, 32);
    for (n, part) in vectors.chunks(500).enumerate() {
        let numbers: Vec<usize> = (n * 500..).take(part.len()).collect();
        write(&collection, &mut held, &mut dice, &numbers, part).await;
    }
    store.settle().await.unwrap();
    let report = store.graph(&name()).await.unwrap().unwrap();
    assert_eq!((report.nodes - report.dead, report.unindexed), (5_000, 0));
    // Half of it is replaced, some of it again and again.
    for _ in 0..25 {
        let from = dice.below(100);
        let numbers: Vec<usize> = (0..100).map(|n| (from + n * 50) % 5_000).collect();
        let vectors = clustered(&mut dice, 100, 32);
        write(&collection, &mut held, &mut dice, &numbers, &vectors).await;
    }
    store.settle().await.unwrap();
    let before = store.graph(&name()).await.unwrap().unwrap().searches;
    for below in [1_000, 500, 100, 10, 1] {
        let recall = recall(&collection, &held, metric, below, &mut dice).await;
        assert!(recall >= 0.98, "{metric} at {below} of 1000: {recall}");
    }
    let after = store.graph(&name()).await.unwrap().unwrap().searches;
    assert!(
        after - before >= 200,
        "{} searches went through the graph",
        after - before
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cosine_recalls_at_every_selectivity_after_many_replaces() {
    recall_of(Metric::Cosine).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dot_recalls_at_every_selectivity_after_many_replaces() {
    recall_of(Metric::Dot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn euclidean_recalls_at_every_selectivity_after_many_replaces() {
    recall_of(Metric::Euclidean).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_of_few_far_records_is_answered_in_full() {
    // 990 records near the query, 10 far away that alone may answer; then one.
    for options in [
        graph_always(),
        graph_always().with_costs(Default::default()),
    ] {
        let store = HnswStore::in_memory_with(options).unwrap();
        let collection = collection(&store, &spec(4, Metric::Cosine)).await;
        let mut dice = Dice(3);
        let records: Vec<Record> = (0..1_000)
            .map(|n| {
                let far = n % 100 == 50;
                let side = if far { -1.0 } else { 1.0 };
                let vector: Vec<f32> = dice.vector(4).iter().map(|x| side + 0.1 * x).collect();
                record(&format!("{n:04}"), &vector, if far { "b" } else { "a" }, n)
            })
            .collect();
        collection.upsert(&records).await.unwrap();
        store.settle().await.unwrap();
        let few = || field("unit").eq("b").build().unwrap();
        let found = ids(&collection, &[1.0; 4], few(), 10).await;
        let mut sorted = found.clone();
        sorted.sort_unstable();
        let expected: Vec<String> = (0..10).map(|n| format!("{:04}", n * 100 + 50)).collect();
        assert_eq!(sorted, expected);
        // In the order of a look at everything.
        let vector_of = |id: &String| records[id.parse::<usize>().unwrap()].vector.clone();
        let scores: Vec<f64> = found
            .iter()
            .map(|id| score(Metric::Cosine, &[1.0; 4], &vector_of(id)))
            .collect();
        assert!(
            scores.windows(2).all(|two| two[0] >= two[1] - 1e-7),
            "{scores:?}"
        );
        let one = field("share").eq(50).build().unwrap();
        assert_eq!(ids(&collection, &[1.0; 4], one, 10).await, ["0050"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_vectors_are_all_found_and_in_the_order_of_their_keys() {
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
        let store = HnswStore::in_memory_with(graph_always()).unwrap();
        let collection = collection(&store, &spec(2, metric)).await;
        let mut records: Vec<Record> = (0..300)
            .map(|n| record(&format!("{n:04}"), &[0.6, 0.8], "same", n))
            .collect();
        records.extend((300..600).map(|n| {
            let turn = n as f32 * 0.01;
            record(
                &format!("{n:04}"),
                &[-turn.cos().abs(), -turn.sin().abs()],
                "other",
                n,
            )
        }));
        collection.upsert(&records).await.unwrap();
        store.settle().await.unwrap();
        let report = store.graph(&name()).await.unwrap().unwrap();
        assert!(report.nodes <= 301, "{report:?}");
        let first: Vec<String> = (0..20).map(|n| format!("{n:04}")).collect();
        assert_eq!(
            ids(&collection, &[0.6, 0.8], Filter::everything(), 20).await,
            first,
            "{metric}"
        );
        let all = ids(&collection, &[0.6, 0.8], Filter::everything(), 1_000).await;
        assert_eq!(all.len(), 600, "{metric}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_vectors_and_very_long_ones_have_their_place_where_they_are_legal() {
    for metric in [Metric::Dot, Metric::Euclidean] {
        let store = HnswStore::in_memory_with(graph_always()).unwrap();
        let collection = collection(&store, &spec(3, metric)).await;
        let mut dice = Dice(11);
        let mut held = Held::new();
        let zeros = vec![vec![0.0; 3]; 60];
        let numbers: Vec<usize> = (0..60).collect();
        write(&collection, &mut held, &mut dice, &numbers, &zeros).await;
        store.settle().await.unwrap();
        let query = [0.0, 1.0, 0.0];
        assert_eq!(
            ids(&collection, &query, Filter::everything(), 5)
                .await
                .len(),
            5
        );

        // Each batch is far longer than the one before: first looked at one by one, then given a place.
        for (round, length) in [1.0_f32, 1e3, 1e9, 1e-9].into_iter().enumerate() {
            let vectors: Vec<Vec<f32>> = (0..400)
                .map(|_| dice.vector(3).iter().map(|x| x * length).collect())
                .collect();
            let numbers: Vec<usize> = (1_000 * (round + 1)..).take(400).collect();
            write(&collection, &mut held, &mut dice, &numbers, &vectors).await;
            for settled in [false, true] {
                if settled {
                    store.settle().await.unwrap();
                    let report = store.graph(&name()).await.unwrap().unwrap();
                    assert!(report.unindexed < 400, "{metric} {length}: {report:?}");
                }
                for query in [
                    [0.0, 0.0, 0.0],
                    [1.0, -2.0, 0.5],
                    [1e8, 0.0, 1e8],
                    [1e-8, 0.0, 0.0],
                ] {
                    let mut best: Vec<f64> = held
                        .values()
                        .map(|(vector, _)| score(metric, &query, vector))
                        .collect();
                    best.sort_by(|a, b| b.total_cmp(a));
                    let found = ids(&collection, &query, Filter::everything(), 10).await;
                    assert_eq!(found.len(), 10);
                    // The first is as good as the best; the rest are scored by the same vectors.
                    let first = score(metric, &query, &held[&found[0]].0);
                    let near = (first - best[0]).abs() <= 1e-5 * best[0].abs().max(1e-6);
                    assert!(near, "{metric} {length} {query:?}: {first} for {}", best[0]);
                }
            }
        }
    }
}

/// Half of the vectors are equal but for the signs of their zeros: one node, and not a knot of a
/// thousand that leads nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn signed_zeros_do_not_cut_a_graph() {
    let store = HnswStore::in_memory_with(graph_always()).unwrap();
    let collection = collection(&store, &spec(24, Metric::Euclidean)).await;
    let mut dice = Dice(3);
    let numbers: Vec<usize> = (0..3_000).collect();
    let vectors: Vec<Vec<f32>> = numbers
        .iter()
        .map(|n| {
            if n % 2 == 1 {
                return dice.vector(24);
            }
            let mut vector: Vec<f32> = (0..24).map(|_| [0.0, -0.0][dice.below(2)]).collect();
            vector[0] = 0.5;
            vector
        })
        .collect();
    let mut held = Held::new();
    write(&collection, &mut held, &mut dice, &numbers, &vectors).await;
    store.settle().await.unwrap();
    let report = store.graph(&name()).await.unwrap().unwrap();
    assert_eq!(report.nodes, 1_501);
    let others: Held = held
        .into_iter()
        .filter(|(_, (vector, _))| vector[1] != 0.0)
        .collect();
    let mut found = 0;
    for _ in 0..50 {
        // Far from the one point, so that all of the nearest are others.
        let mut query = dice.vector(24);
        query[0] = -1.0;
        let score = |vector: &[f32]| score(Metric::Euclidean, vector, &query);
        let mut truth: Vec<(&String, f64)> = (others.iter())
            .map(|(id, (vector, _))| (id, score(vector)))
            .collect();
        truth.sort_by(|a, b| b.1.total_cmp(&a.1));
        let truth: HashSet<&String> = truth.iter().take(10).map(|(id, _)| *id).collect();
        let ids = ids(&collection, &query, Filter::everything(), 10).await;
        found += ids.iter().filter(|id| truth.contains(id)).count();
    }
    assert!(found > 450, "{found} of 500");
}
