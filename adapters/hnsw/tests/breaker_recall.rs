//! Recall where points lie oddly.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod common;
use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{Filter, Metric, Record};
use shelfward_hnsw::HnswStore;
use std::collections::HashSet;

fn truth(metric: Metric, records: &[Record], query: &[f32], k: usize) -> HashSet<String> {
    let mut scored: Vec<(f64, String)> = records
        .iter()
        .map(|r| (score(metric, &r.vector, query), r.key.id.to_string()))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(k).map(|(_, id)| id).collect()
}

/// Half of the records are one text with a little noise.
#[tokio::test(flavor = "multi_thread")]
async fn near_duplicates_leave_the_rest_findable() {
    let mut low = Vec::new();
    for metric in [Metric::Cosine, Metric::Euclidean, Metric::Dot] {
        for (noise, share) in [
            (1e-6_f32, 2),
            (1e-4, 2),
            (1e-2, 2),
            (1e-6, 10),
            (1e-4, 10),
            (1e-6, 30),
        ] {
            let store = HnswStore::in_memory_with(graph_always()).unwrap();
            let c = collection(&store, &spec(32, metric)).await;
            let mut dice = Dice(3);
            let center = dice.vector(32);
            let n = 3_000;
            let records: Vec<Record> = (0..n)
                .map(|i| {
                    let v = if i % share == 0 {
                        center.iter().map(|x| x + dice.number() * noise).collect()
                    } else {
                        dice.vector(32)
                    };
                    record(&format!("{i:05}"), &v, "u", i as i64)
                })
                .collect();
            c.upsert(&records).await.unwrap();
            store.settle().await.unwrap();
            let (mut sum, mut near) = (0.0, 0.0);
            for _ in 0..40 {
                let query = dice.vector(32);
                let found = ids(&c, &query, Filter::everything(), 10).await;
                let t = truth(metric, &records, &query, 10);
                sum += found.iter().filter(|id| t.contains(*id)).count() as f64 / 400.0;
                let query: Vec<f32> = center.iter().map(|x| x + dice.number() * 0.3).collect();
                let others: Vec<Record> = records.clone();
                let found = ids(&c, &query, Filter::everything(), 10).await;
                let t = truth(metric, &others, &query, 10);
                near += found.iter().filter(|id| t.contains(*id)).count() as f64 / 400.0;
            }
            eprintln!(
                "{metric} noise {noise} share 1/{share}: recall {sum:.3}, near the cluster {near:.3}"
            );
            if sum < 0.95 {
                low.push((metric, noise, share, sum));
            }
        }
    }
    assert!(low.is_empty(), "{low:?}");
}

/// What the reader may see lies elsewhere than the query.
#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_goes_against_the_query_finds_the_nearest_all_the_same() {
    let mut low = Vec::new();
    for metric in [Metric::Cosine, Metric::Euclidean, Metric::Dot] {
        for share in [2, 5, 20] {
            let store = HnswStore::in_memory_with(graph_always()).unwrap();
            let c = collection(&store, &spec(32, metric)).await;
            let mut dice = Dice(4);
            let center = dice.vector(32);
            let n = 6_000;
            let records: Vec<Record> = (0..n)
                .map(|i| {
                    let far = i % share == 0;
                    let noise = dice.vector(32);
                    let v: Vec<f32> = if far {
                        noise.iter().zip(&center).map(|(x, c)| x - c).collect()
                    } else {
                        noise
                            .iter()
                            .zip(&center)
                            .map(|(x, c)| x * 0.3 + c)
                            .collect()
                    };
                    record(
                        &format!("{i:05}"),
                        &v,
                        if far { "b" } else { "a" },
                        i as i64,
                    )
                })
                .collect();
            c.upsert(&records).await.unwrap();
            store.settle().await.unwrap();
            let b: Vec<Record> = records
                .iter()
                .filter(|r| r.metadata.text("unit") == Some("b"))
                .cloned()
                .collect();
            let mut sum = 0.0;
            for _ in 0..40 {
                let noise = dice.vector(32);
                let query: Vec<f32> = noise
                    .iter()
                    .zip(&center)
                    .map(|(x, c)| x * 0.3 + c)
                    .collect();
                let found = ids(&c, &query, field("unit").eq("b").build().unwrap(), 10).await;
                let t = truth(metric, &b, &query, 10);
                assert!(found.len() == 10);
                sum += found.iter().filter(|id| t.contains(*id)).count() as f64 / 400.0;
            }
            eprintln!(
                "{metric} share 1/{share}: recall {sum:.3} {:?}",
                store.graph(&name()).await.unwrap().unwrap().searches
            );
            if sum < 0.95 {
                low.push((metric, share, sum));
            }
        }
    }
    assert!(low.is_empty(), "{low:?}");
}
