//! How much a call reads.

use shelfward_core::filter::key;
use shelfward_core::{MetadataKey, MetadataPatch};

use crate::ground::{Ground, dense, of_source, of_tenant, source, spec, tests, text};

tests!(
    writes_of_a_source_read_no_other_rows,
    answers_are_full_under_any_filter
);

/// Scans of the whole table, and rows that were read by them, since the server last began to count.
async fn read_whole(ground: &Ground) -> i64 {
    let table = format!("'{}.shelfward_c'::regclass", ground.schema());
    // A connection tells the server what it did when it has been idle for a moment.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    let sql = format!("SELECT coalesce(seq_scan, 0) FROM pg_stat_all_tables WHERE relid = {table}");
    ground.number(&sql).await
}

async fn writes_of_a_source_read_no_other_rows(ground: Ground) {
    let store = ground.store_with("index=none").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    for n in 0..40 {
        let records = source(&format!("t{}", n % 4), &format!("s{n}"), 200, 1);
        collection.upsert(&records).await.unwrap();
    }
    ground
        .sql(&format!("ANALYZE {}.shelfward_c", ground.schema()))
        .await;
    let before = read_whole(&ground).await;
    let one = of_source("t1", "s1");
    let replaced = collection
        .replace(&one, &source("t1", "s1", 150, 2))
        .await
        .unwrap();
    assert_eq!(replaced.removed.exact(), Some(200));
    let patch = MetadataPatch::new().set(MetadataKey::new("note").unwrap(), text("seen"));
    let patched = collection.update_metadata(&one, &patch).await.unwrap();
    assert_eq!(patched.exact(), Some(150));
    let removed = collection.delete_matching(&one).await.unwrap();
    assert_eq!(removed.exact(), Some(150));
    let of_tenant = of_tenant("t2").narrow().unwrap();
    let removed = collection.delete_matching(&of_tenant).await.unwrap();
    assert_eq!(removed.exact(), Some(2_000));
    assert_eq!(
        read_whole(&ground).await,
        before,
        "scans of the whole table"
    );
    // One that does read it is seen.
    let whole = format!("SELECT count(meta) FROM {}.shelfward_c", ground.schema());
    assert_eq!(ground.number(&whole).await, 5_800);
    assert!(read_whole(&ground).await > before);
}

/// A few rows far from the query, beyond all that a walk through the graph looks at.
async fn answers_are_full_under_any_filter(ground: Ground) {
    let store = ground.store_with("ef_search=10").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    for n in 0..30 {
        collection
            .upsert(&source("near", &format!("s{n}"), 200, 1))
            .await
            .unwrap();
    }
    let far: Vec<_> = (0..25)
        .map(|n| {
            let mut record = crate::ground::record("far", "f", n, 1);
            record.vector = [-1.0, n as f32 / 50.0, 0.0, -0.5].into();
            record
        })
        .collect();
    collection.upsert(&far).await.unwrap();
    ground
        .sql(&format!("ANALYZE {}.shelfward_c", ground.schema()))
        .await;
    for filter in [
        of_tenant("far"),
        key("source").eq("f").build().unwrap(),
        key("source")
            .is_in(["f", "none"])
            .and(key("weight").gte(0))
            .build()
            .unwrap(),
    ] {
        let found = collection.search(&dense(filter.clone(), 20)).await.unwrap();
        assert_eq!(found.hits.len(), 20, "{filter}");
        let found = collection.search(&dense(filter.clone(), 50)).await.unwrap();
        assert_eq!(found.hits.len(), 25, "{filter}");
    }
}
