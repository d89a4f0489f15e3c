//! How much a call reads.

use shelfward_core::filter::key;
use shelfward_core::{Leg, MetadataKey, MetadataPatch, Store};

use crate::ground::{
    Ground, dense, lexical, name, of_source, of_tenant, source, spec, tests, text,
};

tests!(
    writes_of_a_source_read_no_other_rows,
    answers_are_full_under_any_filter,
    a_reader_of_little_is_answered_without_the_graph,
    both_legs_of_an_answer_are_of_one_snapshot,
);

/// Ends the connections of a store: each has then told what it did. One that is kept may take ten seconds.
async fn told(store: Store) {
    store.close().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
}

/// Scans of the whole table, and rows that were read by them, since the server last began to count.
async fn read_whole(ground: &Ground) -> i64 {
    let table = format!("'{}.shelfward_c'::regclass", ground.schema());
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
    // What filling read is counted before what follows: a table of few rows is read whole.
    told(store).await;
    let before = read_whole(&ground).await;
    let store = ground.store_with("index=none").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
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
    told(store).await;
    assert_eq!(
        read_whole(&ground).await,
        before,
        "scans of the whole table"
    );
    // One that does read it is seen.
    let whole = format!("SELECT count(meta) FROM {}.shelfward_c", ground.schema());
    assert_eq!(ground.number(&whole).await, 5_800);
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert!(read_whole(&ground).await > before);
}

/// How often a graph was walked, since the server last began to count.
async fn walks(ground: &Ground) -> i64 {
    let index = format!("'{}.shelfward__c_hnsw'::regclass", ground.schema());
    let sql = format!("SELECT idx_scan FROM pg_stat_all_indexes WHERE indexrelid = {index}");
    ground.number(&sql).await
}

/// Numbers that look drawn, and are the same each time.
fn drawn(count: usize) -> impl FnMut() -> Vec<f32> {
    let mut state = 7_u64;
    move || {
        let mut next = || {
            state = (state.wrapping_mul(6_364_136_223_846_793_005))
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

/// By its own estimate the server would walk past four in five rows that the reader may not see, and
/// find a part of what is nearest.
async fn a_reader_of_little_is_answered_without_the_graph(ground: Ground) {
    let store = ground.store().await;
    let mut wide = spec("c");
    wide.width = 16;
    let collection = store.ensure(&wide).await.unwrap();
    let schema = ground.schema();
    // Made at once, a graph takes a part of the time.
    let drop = format!("DROP INDEX {schema}.shelfward__c_hnsw");
    ground.sql(&drop).await;
    let mut vector = drawn(16);
    let asked = vector();
    let mut nearest = Vec::new();
    for n in 0..150 {
        let tenant = if n % 5 == 0 { "few" } else { "many" };
        let mut records = source(tenant, &format!("s{n}"), 200, 1);
        for record in &mut records {
            let vector = vector();
            if tenant == "few" {
                nearest.push((cosine(&asked, &vector), record.key.clone()));
            }
            record.vector = vector.into();
        }
        collection.upsert(&records).await.unwrap();
    }
    let make = format!(
        "CREATE INDEX shelfward__c_hnsw ON {schema}.shelfward_c USING hnsw (embedding vector_cosine_ops); \
         ANALYZE {schema}.shelfward_c"
    );
    ground.sql(&make).await;
    let leg = |filter, top_k| Leg::dense(asked.as_slice(), filter, top_k);
    let found = collection.search(&leg(of_tenant("few"), 50)).await;
    told(store).await;
    assert_eq!(walks(&ground).await, 0, "walked for one in five");
    nearest.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let nearest: Vec<_> = nearest.into_iter().take(50).map(|(_, key)| key).collect();
    let found: Vec<_> = found.unwrap().hits.into_iter().map(|hit| hit.key).collect();
    assert_eq!(found, nearest);
    // For one who may see nearly all it is what the graph is for.
    let store = ground.store().await;
    let collection = store.open(&name("c")).await.unwrap();
    let found = collection
        .search(&leg(of_tenant("many"), 10))
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 10);
    told(store).await;
    assert_eq!(walks(&ground).await, 1, "walks for one who sees nearly all");
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

async fn both_legs_of_an_answer_are_of_one_snapshot(ground: Ground) {
    let collection = ground.store().await.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 5, 0)).await.unwrap();
    let writing = {
        let collection = ground.store().await.ensure(&spec("c")).await.unwrap();
        tokio::spawn(async move {
            for version in 1.. {
                let records = source("t", "a", if version % 2 == 0 { 5 } else { 9 }, version);
                let replaced = collection.replace(&of_source("t", "a"), &records).await;
                replaced.unwrap();
            }
        })
    };
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3_000 {
        // Fewer are there than are asked for, so the graph does not do.
        let legs = [
            dense(of_tenant("t"), 50),
            lexical("berth closed", of_tenant("t"), 50),
        ];
        let (near, worded) = collection.search_both(&legs[0], &legs[1]).await.unwrap();
        let version = |hit: &shelfward_core::Hit| {
            let version = hit.metadata.get("version");
            version.and_then(|version| version.as_integer()).unwrap()
        };
        let first = version(&near.hits[0]);
        seen.insert(first);
        let passages = if first % 2 == 0 { 5 } else { 9 };
        assert_eq!((near.hits.len(), worded.hits.len()), (passages, passages));
        let all = near.hits.iter().chain(&worded.hits);
        assert!(all.map(version).all(|version| version == first));
    }
    writing.abort();
    assert!(seen.len() > 10, "{} versions were seen", seen.len());
}
