//! Hybrid search over the memory store and a BM25 index.

use std::sync::{Arc, RwLock};

use serde_json::{Map, Value, json};
use shelfward_core::fusion::FusionWeights;
use shelfward_core::{
    CollectionName, CollectionSpec, EmbedError, Embedder, Filter, Key, Metadata, Metric, Record,
    Role, Store, Text, async_trait,
};
use shelfward_lexical::hybrid::{Fusion, HybridHit, HybridSearcher, HybridSettings, SharedIndex};
use shelfward_lexical::{Bm25Index, Bm25Tokenizer};
use shelfward_memory::MemoryStore;

use super::{count_of, read, text_of};
use crate::compare::{Tolerance, ranked};
use crate::rule::{Answer, Deviation, Difference, Function, Ours};

pub(super) const HYBRID_SEARCHER: Function = Function {
    name: "hybridSearcher",
    run,
    differences,
    deviations: &[
        Deviation {
            name: "blank-query",
            why: "a blank query is refused, and nobody is asked; there it is embedded",
            ours: Ours::Refuses,
            applies: |input, _| {
                let query = input.get("query").and_then(Value::as_str);
                query.is_some_and(|query| query.trim().is_empty())
            },
        },
        Deviation {
            name: "zero-vectors",
            why: "a vector of zeros has no cosine and is refused, of a document and of a query; \
                  there it scores 0",
            ours: Ours::Refuses,
            applies: |input, _| {
                let zeros = |vector: &Value| {
                    let mut numbers = vector.as_array().into_iter().flatten();
                    numbers.all(|number| number.as_f64() == Some(0.0))
                };
                let mut vectors = documents(input).filter_map(|held| held.get("embedding"));
                vectors.any(zeros) || input.get("queryVector").is_some_and(zeros)
            },
        },
        Deviation {
            name: "filter-on-both-legs",
            why: "a filter reaches both legs; there it narrows the dense leg only",
            ours: Ours::Answers,
            applies: |input, _| option(input, "filter").is_some(),
        },
        Deviation {
            name: "legs-three-times-as-deep",
            why: "each leg is three times as deep as the answer; there a topK among the options of \
                  the store takes the dense leg's place",
            ours: Ours::Answers,
            applies: |input, _| option(input, "topK").is_some(),
        },
        Deviation {
            name: "no-floor",
            why: "fused scores are no similarities, so there is no floor under either leg",
            ours: Ours::Answers,
            applies: |input, _| option(input, "minSimilarityScore").is_some(),
        },
    ],
};

/// What is handed on to the store there.
fn option<'a>(input: &'a Value, name: &str) -> Option<&'a Value> {
    input.get("queryOptions")?.get(name)
}

/// What the store holds.
fn documents(input: &Value) -> impl Iterator<Item = &Value> {
    let documents = input.get("store").and_then(|store| store.get("documents"));
    documents.and_then(Value::as_array).into_iter().flatten()
}

fn run(input: &Value) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|e| e.to_string())?;
    runtime.block_on(search(input)).map_err(|e| e.to_string())
}

type Failure = Box<dyn std::error::Error>;

async fn search(input: &Value) -> Result<Value, Failure> {
    let embedder = Arc::new(Embeds::of(input)?);
    let name = CollectionName::new("docs")?;
    let store = Store::new(MemoryStore::new());
    let spec = CollectionSpec::new(name.clone(), embedder.width, Metric::Cosine, embedder.id());
    let collection = store.ensure(&spec.with_open_fields(true)).await?;
    let records = documents(input)
        .map(record)
        .collect::<Result<Vec<_>, _>>()?;
    collection.upsert(&records).await?;

    let searcher = HybridSearcher::open(&store, &name, embedder, index(input)?).await?;
    let searcher = searcher.with_settings(settings(input)?);
    let filter = option(input, "filter").map(|filter| Filter::from_json(&filter.to_string()));
    let top_k = count_of(input, "topK").unwrap_or(10);
    let query = text_of(input, "query")?;
    let hits = searcher
        .search(&query, top_k, filter.transpose()?.as_ref())
        .await?;
    Ok(hits.into_iter().map(shown).collect())
}

fn record(document: &Value) -> Result<Record, Failure> {
    let id = Text::new(text_of(document, "id")?)?;
    let vector: Vec<f64> = read(document, "embedding")?;
    let record = Record::new(Key::new(id), singles(&vector));
    let record = match document.get("metadata").filter(|given| !given.is_null()) {
        Some(metadata) => record.with_metadata(Metadata::from_json(&metadata.to_string())?),
        None => record,
    };
    Ok(match read::<Option<String>>(document, "textContent")? {
        Some(text) => record.with_text(text),
        None => record,
    })
}

fn index(input: &Value) -> Result<SharedIndex<Bm25Tokenizer>, Failure> {
    let mut index = Bm25Index::new(Bm25Tokenizer::seed());
    for document in read::<Vec<Value>>(input, "bm25")? {
        let metadata = document.get("metadata").filter(|given| !given.is_null());
        let (id, text) = (text_of(&document, "id")?, text_of(&document, "text")?);
        index.add_document(&id, &text, metadata.cloned())?;
    }
    Ok(Arc::new(RwLock::new(index)))
}

fn settings(input: &Value) -> Result<HybridSettings, Failure> {
    let config = input.get("config").unwrap_or(&Value::Null);
    let or = |name: &str, default| config.get(name).and_then(Value::as_f64).unwrap_or(default);
    // The defaults that the original documents.
    let weights = FusionWeights::new(
        or("denseWeight", 0.7),
        or("sparseWeight", 0.3),
        or("rrfK", 60.0),
    )?;
    let fusion = match config.get("fusionMethod").and_then(Value::as_str) {
        None | Some("rrf") => Fusion::ReciprocalRank,
        Some("weighted-sum") => Fusion::WeightedSum,
        Some("interleave") => Fusion::Interleave,
        Some(other) => return Err(format!("no way to fuse is called {other}").into()),
    };
    Ok(HybridSettings::default().weights(weights).fusion(fusion))
}

fn shown(hit: HybridHit) -> Value {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), json!(hit.id));
    shown.insert("score".to_owned(), json!(hit.score));
    let legs = [
        ("denseScore", "denseRank", hit.dense),
        ("sparseScore", "sparseRank", hit.sparse),
    ];
    for (score, rank, place) in legs {
        if let Some(place) = place {
            shown.insert(score.to_owned(), json!(place.score));
            shown.extend(place.rank.map(|place| (rank.to_owned(), json!(place))));
        }
    }
    // What BM25 alone found is fetched by its id here, and there it is where the store can; the
    // original of this store cannot. What is fetched is tested beside the searcher.
    let held = hit.dense.and(hit.metadata);
    let metadata = held
        .filter(|held| !held.is_empty())
        .map(|held| json!(*held));
    if let Some(metadata) = metadata.or(hit.index_metadata) {
        shown.insert("metadata".to_owned(), metadata);
    }
    if let Some(text) = hit.dense.and(hit.text) {
        shown.insert("textContent".to_owned(), json!(text));
    }
    Value::Object(shown)
}

fn differences(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let lists = ours.as_array().zip(expected.as_array());
    let Some((ours, expected)) = lists else {
        return vec![Difference::answered(0, "one of the two is no list")];
    };
    let full = count_of(input, "topK").unwrap_or(10) == expected.len();
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

impl Embeds {
    fn of(input: &Value) -> Result<Self, Failure> {
        let store = input.get("store").unwrap_or(&Value::Null);
        let vectors: Vec<Vec<f64>> = match input.get("queryVector") {
            Some(_) => vec![read(input, "queryVector")?],
            None => {
                let answered = input.get("embedderAnswers").unwrap_or(&Value::Null);
                read::<Option<_>>(answered, "embeddings")?.unwrap_or_default()
            }
        };
        Ok(Self {
            width: read(store, "dimension")?,
            vectors: vectors.iter().map(|vector| singles(vector)).collect(),
        })
    }
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

/// Numbers as stores hold them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "stores hold single precision; the comparison allows for it"
)]
fn singles(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|number| *number as f32).collect()
}
