//! Rows in memory that are kept in step answer as rows that are read anew, whatever happened in
//! between and whoever wrote it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use shelfward_core::filter::key;
use shelfward_core::{Collection, Filter, Include, LegResult, MetadataKey, MetadataPatch, Value};
use shelfward_sqlite::{SqliteOptions, Synchronous};
use support::{
    collection, dense, key_of, lexical, name, of_source, of_tenant, open_with, seed, source,
};

fn quick() -> SqliteOptions {
    SqliteOptions::default()
        .with_synchronous(Synchronous::Normal)
        .with_verify_on_open(false)
}

/// Hits without their scores' last digits, which depend on nothing but the rows.
async fn answers(collection: &Collection) -> Vec<LegResult> {
    let filters = [
        Filter::everything(),
        of_tenant("t0"),
        key("groups")
            .eq("team:1")
            .and(key("tenant").eq("t1"))
            .build()
            .unwrap(),
        key("index")
            .gte(3)
            .and(key("draft").eq(true))
            .build()
            .unwrap(),
    ];
    let mut answers = Vec::new();
    for filter in filters {
        answers.push(collection.search(&dense(filter, 200)).await.unwrap());
    }
    for tenant in ["t0", "t1"] {
        let leg = lexical("berth closed", of_tenant(tenant), 200);
        answers.push(collection.search(&leg).await.unwrap());
    }
    answers
}

async fn anew(path: &Path) -> Vec<LegResult> {
    let store = open_with(path, quick());
    let collection = store.open(&name()).await.unwrap();
    answers(&collection).await
}

#[tokio::test]
async fn kept_in_step_is_as_read_anew() {
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_HISTORY_SEED"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.db");
    let stores = [open_with(&path, quick()), open_with(&path, quick())];
    let handles = [collection(&stores[0]).await, collection(&stores[1]).await];
    let groups = MetadataKey::new("groups").unwrap();
    let mut met = 0;
    for step in 0..150 {
        let writer = &handles[random.usize(..2)];
        let tenant = ["t0", "t1"][random.usize(..2)];
        let unit = format!("s{}", random.usize(..4));
        let selector = of_source(tenant, &unit);
        match random.usize(..20) {
            0..8 => {
                let records = source(tenant, &unit, random.usize(..12), step);
                writer.replace(&selector, &records).await.unwrap();
            }
            8..11 => {
                let records = source(tenant, &unit, 1 + random.usize(..12), step);
                writer.upsert(&records).await.unwrap();
            }
            11..14 => {
                let keys: Vec<_> = (0..4)
                    .map(|_| key_of(tenant, &unit, random.usize(..12)))
                    .collect();
                writer.delete(&keys).await.unwrap();
            }
            14..17 => {
                let value = Value::texts([format!("team:{}", random.usize(..3))]).unwrap();
                let patch = MetadataPatch::new().set(groups.clone(), value);
                writer.update_metadata(&selector, &patch).await.unwrap();
            }
            17..19 => {
                writer.delete_matching(&selector).await.unwrap();
            }
            _ => {
                writer.delete_all().await.unwrap();
            }
        }
        // Not after each step, so that steps add up.
        if random.usize(..2) == 0 {
            let expected = anew(&path).await;
            for handle in &handles {
                assert_eq!(answers(handle).await, expected, "step {step}");
            }
            let all = Filter::everything();
            let rows = handles[0].scan(&all, None, 1_000, Include::ALL);
            assert_eq!(rows.await.unwrap().records.len(), expected[0].hits.len());
            met += expected[0].hits.len();
        }
    }
    assert!(met > 500, "{met} hits in all");
}
