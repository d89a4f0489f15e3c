//! A collection and an index of the same documents, for the tests of hybrid search.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses some of it; a test fails by panicking"
)]

// The stores and the embedder that the library's own tests use.
#[path = "../../../core/tests/support/mod.rs"]
pub mod core;

use std::sync::{Arc, RwLock};

use shelfward_core::{
    CollectionName, CollectionSpec, Field, FieldKind, Key, Metadata, MetadataKey, Metric, Record,
    Store, Text,
};
use shelfward_lexical::LexicalIndex;
use shelfward_lexical::hybrid::{HybridHit, HybridSearcher, SharedIndex};
use shelfward_text::WordRule;

use self::core::{Asked, Meddling, Nothing, TestEmbedder};

pub type Index = SharedIndex<WordRule>;
pub type Searcher = HybridSearcher<WordRule>;

/// A collection `docs` with the declared fields `lang` and `page`, and what may be asked of it.
pub struct Docs {
    pub store: Store,
    pub asked: Arc<Asked>,
    pub embedder: Arc<TestEmbedder>,
    pub index: Index,
}

pub fn docs() -> CollectionName {
    CollectionName::new("docs").unwrap()
}

/// The query of most tests, and its vector.
pub const QUERY: &str = "apple";
pub const TOWARDS: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

impl Docs {
    pub async fn new() -> Self {
        Self::with(TestEmbedder::default().with(QUERY, TOWARDS)).await
    }

    pub async fn with(embedder: TestEmbedder) -> Self {
        let fields = [("lang", FieldKind::Text), ("page", FieldKind::Integer)];
        let fields = fields.map(|(name, kind)| Field::new(MetadataKey::new(name).unwrap(), kind));
        let spec = CollectionSpec::new(docs(), 4, Metric::Cosine, "test").with_fields(fields);
        Self::of(spec, embedder).await
    }

    pub async fn of(spec: CollectionSpec, embedder: TestEmbedder) -> Self {
        let memory = Meddling::new(Nothing);
        let asked = memory.asked.clone();
        let store = Store::new(memory);
        store.ensure(&spec).await.unwrap();
        Self {
            store,
            asked,
            embedder: Arc::new(embedder),
            index: Arc::new(RwLock::new(LexicalIndex::new(WordRule::Unicode))),
        }
    }

    /// Writes to the collection alone.
    pub async fn store(&self, record: Record) {
        let collection = self.store.open(&docs()).await.unwrap();
        collection.upsert(&[record]).await.unwrap();
    }

    /// Writes to the index alone.
    pub fn index(&self, id: &str, text: &str) {
        let mut index = self.index.write().unwrap();
        index.add_document(id, text, None).unwrap();
    }

    /// Writes to both.
    pub async fn add(&self, id: &str, text: &str, record: Record) {
        self.store(record.with_text(text)).await;
        self.index(id, text);
    }

    pub async fn searcher(&self) -> Searcher {
        let (embedder, index) = (self.embedder.clone(), self.index.clone());
        HybridSearcher::open(&self.store, &docs(), embedder, index)
            .await
            .unwrap()
    }
}

/// A record whose vector leans away from the query's by so much: 0 is the nearest.
pub fn record(id: &str, away: f32) -> Record {
    Record::new(Key::new(Text::new(id).unwrap()), [1.0, away, 0.0, 0.0])
}

pub fn lang(lang: &str) -> Metadata {
    Metadata::new().with("lang", lang).unwrap()
}

pub fn ids(hits: &[HybridHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.id.as_str()).collect()
}

/// A text in which `apple` stands so often among ten words.
pub fn apples(times: usize) -> String {
    let words = (0..10).map(|at| if at < times { "apple" } else { "leaf" });
    words.collect::<Vec<_>>().join(" ")
}
