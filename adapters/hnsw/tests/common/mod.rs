//! What the tests of this store share.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test uses a part of it, and none is a library"
)]

use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, Filter, Key, Leg, Metadata,
    MetadataKey, Metric, Record, Store, Text,
};
use shelfward_hnsw::{HnswOptions, HnswStore, PlannerCosts};

/// Numbers without an order.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % n as u64).unwrap()
    }

    /// Between −1 and 1, most of them small.
    pub fn number(&mut self) -> f32 {
        let mut unit = || (self.roll() >> 40) as f32 / (1_u32 << 24) as f32;
        (unit() + unit() + unit()) * (2.0 / 3.0) - 1.0
    }

    pub fn vector(&mut self, width: usize) -> Vec<f32> {
        (0..width).map(|_| self.number()).collect()
    }
}

pub fn name() -> CollectionName {
    CollectionName::new("c").unwrap()
}

pub fn spec(width: u32, metric: Metric) -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    CollectionSpec::new(name(), width, metric, "none").with_fields([
        field("unit", FieldKind::Text),
        field("share", FieldKind::Integer),
    ])
}

/// Options under which a graph is made early and always asked.
pub fn graph_always() -> HnswOptions {
    HnswOptions::default()
        .with_graph_from(50)
        .with_rebuild_from(20)
        .with_sync(false)
        .with_costs(PlannerCosts::default().with_scan(1e9))
}

pub fn key(id: &str) -> Key {
    Key::new(Text::new(id).unwrap())
}

pub fn record(id: &str, vector: &[f32], unit: &str, share: i64) -> Record {
    let metadata = Metadata::new()
        .with("unit", unit)
        .and_then(|m| m.with("share", share))
        .unwrap();
    Record::new(key(id), vector)
        .with_text(format!("text of {id}"))
        .with_metadata(metadata)
}

pub async fn collection(store: &HnswStore, spec: &CollectionSpec) -> Collection {
    Store::new(store.clone()).ensure(spec).await.unwrap()
}

pub fn score(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    match metric {
        Metric::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
        Metric::Dot => dot(a, b),
        _ => {
            let apart: f64 = a
                .iter()
                .zip(b)
                .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
                .sum();
            -apart.sqrt()
        }
    }
}

pub async fn ids(collection: &Collection, query: &[f32], filter: Filter, k: usize) -> Vec<String> {
    let found = collection
        .search(&Leg::dense(query, filter, k))
        .await
        .unwrap();
    found
        .hits
        .iter()
        .map(|hit| hit.key.id.to_string())
        .collect()
}

pub async fn close(store: &HnswStore) {
    StoreAdapter::close(store).await.unwrap();
}

/// Everything that a collection holds, in the order of its keys.
pub async fn all(collection: &Collection) -> Vec<shelfward_core::StoredRecord> {
    let everything = Filter::everything();
    let include = shelfward_core::Include::ALL;
    let page = collection
        .scan(&everything, None, 1_000_000, include)
        .await
        .unwrap();
    page.records
}

/// The files of a folder, as a kill leaves them.
pub fn copied(from: &std::path::Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    copy
}
