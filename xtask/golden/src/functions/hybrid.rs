//! Hybrid search over the memory store and a BM25 index.

use std::sync::{Arc, RwLock};

use serde::Deserialize;
use serde_json::{Value, json};
use shelfward_core::{
    CollectionName, CollectionSpec, EmbedError, Embedder, Filter, Key, Metric, Record, Role, Store,
    Text, async_trait,
};
use shelfward_lexical::hybrid::{Fusion, HybridHit, HybridSearcher, HybridSettings};
use shelfward_lexical::{Bm25Index, Bm25Tokenizer};
use shelfward_memory::MemoryStore;

use super::fusion::Weights;
use super::lexical::Added;
use super::{Failure, Whole, metadata, object, or, some, wait};
use crate::compare::{Tolerance, ranked};
use crate::rule::{Answer, Difference};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Input {
    store: Held,
    bm25: Vec<Added>,
    query: String,
    query_vector: Option<Vec<f32>>,
    /// What the embedder says instead.
    #[serde(default)]
    embedder_answers: Embeddings,
    top_k: Option<Whole>,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    query_options: QueryOptions,
}

#[derive(Deserialize)]
struct Held {
    dimension: u32,
    #[serde(default)]
    documents: Vec<Document>,
}

/// What a store holds, or another program writes into it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) id: String,
    embedding: Vec<f32>,
    #[serde(default)]
    pub(super) metadata: Value,
    text_content: Option<String>,
}

#[derive(Default, Deserialize)]
struct Embeddings {
    embeddings: Option<Vec<Vec<f32>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Config {
    fusion_method: Option<String>,
    #[serde(flatten)]
    weights: Weights,
}

#[derive(Default, Deserialize)]
struct QueryOptions {
    filter: Option<Value>,
}

impl Document {
    /// Its record under a key, made of its id and metadata.
    pub(super) fn record(self, key: fn(Text, Option<Text>) -> Key) -> Result<Record, Failure> {
        let metadata = metadata(&self.metadata)?;
        let tenant = metadata.text("tenantId").map(Text::new).transpose()?;
        let record = Record::new(key(Text::new(self.id)?, tenant), self.embedding);
        let record = record.with_metadata(metadata);
        Ok(match self.text_content {
            Some(text) => record.with_text(text),
            None => record,
        })
    }
}

pub(super) fn run(input: Input) -> Answer {
    wait(search(input))
}

async fn search(input: Input) -> Result<Value, Failure> {
    let embedder = Arc::new(Embeds {
        width: input.store.dimension,
        vectors: match input.query_vector {
            Some(vector) => vec![vector],
            None => input.embedder_answers.embeddings.unwrap_or_default(),
        },
    });
    let name = CollectionName::new("docs")?;
    let store = Store::new(MemoryStore::new());
    let spec = CollectionSpec::new(name.clone(), embedder.width, Metric::Cosine, embedder.id());
    let collection = store.ensure(&spec.with_open_fields(true)).await?;
    let documents = input.store.documents.into_iter();
    let records = documents.map(|document| document.record(|id, _| Key::new(id)));
    collection
        .upsert(&records.collect::<Result<Vec<_>, _>>()?)
        .await?;

    let mut index = Bm25Index::new(Bm25Tokenizer::plain_english());
    for document in input.bm25 {
        document.to(&mut index)?;
    }
    let index = Arc::new(RwLock::new(index));
    let fusion = match input.config.fusion_method.as_deref() {
        None | Some("rrf") => Fusion::ReciprocalRank,
        Some("weighted-sum") => Fusion::WeightedSum,
        Some("interleave") => Fusion::Interleave,
        Some(other) => return Err(format!("no way to fuse is called {other}").into()),
    };
    let settings = HybridSettings::default()
        .weights(input.config.weights.made()?)
        .fusion(fusion);
    let searcher = HybridSearcher::open(&store, &name, embedder, index).await?;
    let filter = input
        .query_options
        .filter
        .map(|filter| Filter::from_json(&filter.to_string()));
    let filter = filter.transpose()?;
    let searcher = searcher.with_settings(settings);
    let hits = searcher.search(&input.query, or(input.top_k, 10), filter.as_ref());
    Ok(hits.await?.into_iter().map(shown).collect())
}

fn shown(hit: HybridHit) -> Value {
    // What BM25 alone found is fetched by its id here, and there it is where the store can; the
    // original of this store cannot. What is fetched is tested beside the searcher.
    let held = hit.dense.and(hit.metadata).filter(|held| !held.is_empty());
    object([
        ("id", some(hit.id)),
        ("score", some(hit.score)),
        ("denseScore", hit.dense.and_then(|place| some(place.score))),
        (
            "denseRank",
            hit.dense.and_then(|place| place.rank).and_then(some),
        ),
        (
            "sparseScore",
            hit.sparse.and_then(|place| some(place.score)),
        ),
        (
            "sparseRank",
            hit.sparse.and_then(|place| place.rank).and_then(some),
        ),
        (
            "metadata",
            held.map(|held| json!(*held)).or(hit.index_metadata),
        ),
        ("textContent", hit.dense.and(hit.text).and_then(some)),
    ])
}

pub(super) fn differences(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let (Some(ours), Some(expected)) = (ours.as_array(), expected.as_array()) else {
        return vec![Difference::answered(0, "one of the two is no list")];
    };
    let full = or(super::read(&input["topK"]).ok(), 10) == expected.len();
    let parted = ranked(ours, expected, full, Tolerance::SINGLES).err();
    parted
        .map(|what| Difference::answered(0, what))
        .into_iter()
        .collect()
}

/// Answers the vector that the case gives for the query, or what it says is answered instead.
struct Embeds {
    width: u32,
    vectors: Vec<Vec<f32>>,
}

#[async_trait]
impl Embedder for Embeds {
    fn id(&self) -> &str {
        "golden"
    }

    fn width(&self) -> u32 {
        self.width
    }

    async fn embed(&self, _: Role, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(self.vectors.clone())
    }
}
