//! Collections to search.

use std::sync::Arc;

use shelfward_core::filter::key;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Key, Leg,
    Metadata, MetadataKey, Metric, Record, Store, Text,
};
use tokio::runtime::Runtime;

use crate::{TOP_K, WIDTH};

/// A collection and what runs its calls.
pub(crate) struct Held {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) collection: Collection,
}

/// The spec of what is searched: `tenant` is the partition, and `share` is a number from 0 to 999.
pub(crate) fn spec(width: usize) -> CollectionSpec {
    let key = |name| MetadataKey::new(name).unwrap();
    let width = u32::try_from(width).unwrap();
    CollectionSpec::new(
        CollectionName::new("bench").unwrap(),
        width,
        Metric::Cosine,
        "bench",
    )
    .with_fields([
        Field::new(key("tenant"), FieldKind::Text).with_role(FieldRole::Partition),
        Field::new(key("share"), FieldKind::Integer),
    ])
}

/// Records whose tenants are given by their number.
pub(crate) fn records(vectors: &[Arc<[f32]>], tenant: impl Fn(usize) -> String) -> Vec<Record> {
    let record = |(n, vector): (usize, &Arc<[f32]>)| {
        let tenant = tenant(n);
        // Scattered as the groups of a library are.
        let share = i64::try_from((n * 7_919 + n / 1_000) % 1_000).unwrap();
        let metadata = Metadata::new().with("tenant", tenant.as_str()).unwrap();
        let metadata = metadata.with("share", share).unwrap();
        let key = Key::within(
            Text::new(tenant).unwrap(),
            Text::new(format!("v{n:07}")).unwrap(),
        );
        Record::new(key, vector.clone()).with_metadata(metadata)
    };
    vectors.iter().enumerate().map(record).collect()
}

impl Held {
    pub(crate) fn new(store: &Store, width: usize, records: &[Record]) -> Self {
        let runtime = Runtime::new().unwrap();
        let collection = runtime.block_on(async {
            let collection = store.ensure(&spec(width)).await.unwrap();
            for batch in records.chunks(10_000) {
                collection.upsert(batch).await.unwrap();
            }
            collection
        });
        Self {
            runtime: Arc::new(runtime),
            collection,
        }
    }

    /// The ids of the nearest.
    pub(crate) fn search(&self, query: &[f32], filter: &Arc<Filter>) -> Vec<String> {
        let leg = Leg::dense(query, filter.clone(), TOP_K);
        let found = self.runtime.block_on(self.collection.search(&leg)).unwrap();
        found
            .hits
            .iter()
            .map(|hit| hit.key.id.to_string())
            .collect()
    }
}

/// The filter that lets so many of a thousand through.
pub(crate) fn share(per_mille: i64) -> Arc<Filter> {
    Arc::new(key("share").lt(per_mille).build().unwrap())
}

pub(crate) fn everything() -> Arc<Filter> {
    Arc::new(Filter::everything())
}

/// The ids of the nearest by the formula itself.
pub(crate) fn plain(records: &[Record], query: &[f32], filter: &Filter) -> Vec<String> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    let matching = records.iter().filter(|r| filter.matches(&r.metadata));
    let score = |v: &[f32]| dot(query, v) / (dot(query, query).sqrt() * dot(v, v).sqrt());
    let mut scored: Vec<(f64, &Key)> = matching.map(|r| (score(&r.vector), &r.key)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(TOP_K);
    debug_assert_eq!(query.len(), WIDTH);
    scored.iter().map(|(_, key)| key.id.to_string()).collect()
}
