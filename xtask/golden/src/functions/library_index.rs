use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use shelfward_core::library::{FoundPassage, IndexSource, LibrarySpec, Passage, SearchRequest};
use shelfward_core::{
    CollectionName, Count, EmbedError, Embedder, Key, LibraryIndex, Metadata, Record, Role, Scope,
    SourceId, Store, TenantId, Text, async_trait,
};
use shelfward_memory::{MemoryOptions, MemoryStore};

use crate::compare::{Compared, near, same};

/// The vectors of a case are rounded to 32 bits at the door.
const TOLERANCE: f64 = 1e-6;

type Failure = Box<dyn std::error::Error>;

pub(super) fn run(input: &Value, case: &Value) -> Compared {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|e| e.to_string())?;
    runtime
        .block_on(steps(input, case))
        .map_err(|e| e.to_string())
}

async fn steps(input: &Value, case: &Value) -> Result<(), Failure> {
    let embedder = Arc::new(Table::of(input)?);
    // The original's store has no lexical leg.
    let store = Store::new(MemoryStore::with_options(
        MemoryOptions::default().with_lexical(false),
    ));
    let name = CollectionName::new("lib")?;
    let mut index = LibraryIndex::ensure(&store, LibrarySpec::new(name), embedder.clone()).await?;
    if let Some(batch) = input.get("batchSize").and_then(Value::as_i64) {
        // The original reads what is below 1 as 1; the type here begins at 1.
        index = index.with_batch_size(usize::try_from(batch.max(1))?)?;
    }
    let library = Library {
        store,
        index,
        tenants: tenants(input),
    };
    let steps = input
        .get("steps")
        .and_then(Value::as_array)
        .ok_or("no steps")?;
    let expected = case
        .get("output")
        .and_then(Value::as_array)
        .ok_or("no output")?;
    for (number, (step, expected)) in steps.iter().zip(expected).enumerate() {
        let before = embedder.counted();
        let answer = library.step(step).await.map_err(|e| e.to_string());
        let after = embedder.counted();
        let what = format!("step {number}");
        compare_answer(&what, answer, expected)?;
        for (name, got) in [
            ("embedCalls", after.0 - before.0),
            ("embedTexts", after.1 - before.1),
        ] {
            if expected.get(name).and_then(Value::as_u64) != Some(u64::try_from(got)?) {
                return Err(format!(
                    "{what}: expected {name} {:?}, got {got}",
                    expected.get(name)
                )
                .into());
            }
        }
    }
    Ok(())
}

fn tenants(input: &Value) -> BTreeSet<String> {
    let steps = input
        .get("steps")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let tenant = |step: &Value| Some(step.get("source")?.get("tenantId")?.as_str()?.to_owned());
    steps
        .filter_map(tenant)
        .filter(|tenant| !tenant.is_empty())
        .collect()
}

struct Library {
    store: Store,
    index: LibraryIndex,
    tenants: BTreeSet<String>,
}

enum Answer {
    Value(Value),
    Found(Vec<FoundPassage>),
}

impl Library {
    async fn step(&self, step: &Value) -> Result<Answer, Failure> {
        let text = |name: &str| {
            step.get(name)
                .and_then(Value::as_str)
                .ok_or_else(|| format!("no {name}"))
        };
        match text("op")? {
            "indexSource" => {
                self.index_source(step.get("source").ok_or("no source")?)
                    .await
            }
            // The original has no tenant here; so it is done in every one.
            "removeSource" => {
                let id = SourceId::new(text("sourceId")?)?;
                let mut removed = Count::Exact(0);
                for tenant in &self.tenants {
                    removed = removed.plus(
                        self.index
                            .tenant(TenantId::new(tenant)?)
                            .remove_source(&id)
                            .await?,
                    );
                }
                Ok(Answer::Value(json!(removed.exact())))
            }
            "removeTenant" => {
                let tenant = TenantId::new(text("tenantId")?)?;
                let removed = self.index.tenant(tenant).remove_tenant().await?;
                Ok(Answer::Value(json!(removed.exact())))
            }
            "search" => self.search(step.get("query").ok_or("no query")?).await,
            "upsertRaw" => {
                self.upsert_raw(step.get("documents").ok_or("no documents")?)
                    .await
            }
            other => Err(format!("the step {other} is not known").into()),
        }
    }

    async fn index_source(&self, source: &Value) -> Result<Answer, Failure> {
        let text = |name: &str| source.get(name).and_then(Value::as_str);
        let groups = texts(source.get("aclGroups"));
        let mut filed = IndexSource::new(
            text("sourceId").ok_or("no sourceId")?,
            text("kind").unwrap_or_default(),
            groups.iter().map(String::as_str),
        )?;
        filed = filed.tags(texts(source.get("tags")));
        filed = filed
            .folder(text("folderId").unwrap_or_default())
            .title(text("title").unwrap_or_default());
        if let Some(metadata) = source.get("metadata") {
            filed = filed.metadata(Metadata::from_json(&metadata.to_string())?);
        }
        let mut passages = Vec::new();
        for passage in source
            .get("passages")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let mut made = Passage::new(
                passage
                    .get("text")
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            );
            if let Some(metadata) = passage.get("metadata") {
                made = made.metadata(Metadata::from_json(&metadata.to_string())?);
            }
            passages.push(made);
        }
        let tenant = TenantId::new(text("tenantId").unwrap_or_default())?;
        let report = self
            .index
            .tenant(tenant)
            .index_source(filed.passages(passages))
            .await?;
        Ok(Answer::Value(json!({ "passages": report.passages })))
    }

    async fn search(&self, query: &Value) -> Result<Answer, Failure> {
        let scope = query.get("scope").ok_or("no scope")?;
        let tenant = scope
            .get("tenantId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let groups = texts(scope.get("aclGroups"));
        let scope = Scope::of(tenant, groups.iter().map(String::as_str))?;
        let mut request = query.clone();
        if let Value::Object(members) = &mut request {
            members.remove("scope");
        }
        let request: SearchRequest = serde_json::from_value(request)?;
        Ok(Answer::Found(
            self.index.search(&scope, &request).await?.passages,
        ))
    }

    async fn upsert_raw(&self, documents: &Value) -> Result<Answer, Failure> {
        let collection = self.store.open(&CollectionName::new("lib")?).await?;
        for document in documents.as_array().into_iter().flatten() {
            let text = |name: &str| {
                document
                    .get(name)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let metadata = document
                .get("metadata")
                .cloned()
                .unwrap_or_else(|| json!({}));
            let metadata = Metadata::from_json(&metadata.to_string())?;
            let key = Key::within(
                Text::new(metadata.text("tenantId").unwrap_or_default())?,
                Text::new(text("id"))?,
            );
            let record = Record::new(key, vector(document.get("embedding")))
                .with_text(text("textContent"))
                .with_metadata(metadata);
            collection.upsert(&[record]).await?;
        }
        Ok(Answer::Value(Value::Null))
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let members = value.and_then(Value::as_array).into_iter().flatten();
    members
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn vector(value: Option<&Value>) -> Vec<f32> {
    let members = value.and_then(Value::as_array).into_iter().flatten();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "stores hold 32 bits; the tolerance is made for it"
    )]
    let vector = members
        .filter_map(Value::as_f64)
        .map(|x| x as f32)
        .collect();
    vector
}

fn compare_answer(what: &str, answer: Result<Answer, String>, expected: &Value) -> Compared {
    match (answer, expected.get("ok")) {
        (Err(_), None) => Ok(()),
        (Err(error), Some(ok)) => Err(format!("{what}: expected {ok}, failed: {error}")),
        (Ok(_), None) => Err(format!(
            "{what}: expected a failure, {:?}",
            expected.get("error")
        )),
        (Ok(Answer::Value(got)), Some(ok)) if same(&got, ok, TOLERANCE) => Ok(()),
        (Ok(Answer::Value(got)), Some(ok)) => Err(format!("{what}: expected {ok}, got {got}")),
        (Ok(Answer::Found(got)), Some(ok)) => {
            let expected = ok.as_array().map_or(&[][..], Vec::as_slice);
            compare_hits(&got, expected).map_err(|why| format!("{what}: {why}"))
        }
    }
}

/// The same hits in the same order, where neighbours of equal scores may stand in either, and any of
/// the equals may be the last.
fn compare_hits(got: &[FoundPassage], expected: &[Value]) -> Compared {
    let ids = |hits: &[&Value]| {
        hits.iter()
            .map(|hit| hit.get("id").cloned().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let all: Vec<&Value> = expected.iter().collect();
    let found: Vec<&str> = got.iter().map(|hit| hit.id.as_str()).collect();
    if got.len() != expected.len() {
        return Err(format!("expected {:?}, got {found:?}", ids(&all)));
    }
    let last = score(expected.last());
    for (hit, place) in got.iter().zip(expected) {
        if !near(hit.score, score(Some(place)), TOLERANCE) {
            return Err(format!(
                "expected {:?} with {}, got {} with {}",
                place.get("id"),
                score(Some(place)),
                hit.id,
                hit.score
            ));
        }
        match expected
            .iter()
            .find(|e| e.get("id").and_then(Value::as_str) == Some(hit.id.as_str()))
        {
            Some(same_id) if near(hit.score, score(Some(same_id)), TOLERANCE) => {
                compare_fields(hit, same_id)?
            }
            // One of several equals at the cut.
            None if near(hit.score, last, TOLERANCE) => {}
            _ => return Err(format!("expected {:?}, got {found:?}", ids(&all))),
        }
    }
    Ok(())
}

fn score(hit: Option<&Value>) -> f64 {
    hit.and_then(|hit| hit.get("score"))
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

fn compare_fields(hit: &FoundPassage, expected: &Value) -> Compared {
    let mut got = serde_json::to_value(hit).map_err(|e| e.to_string())?;
    if let Value::Object(members) = &mut got {
        // The original has no such thing.
        members.remove("legs");
    }
    if same(&got, expected, TOLERANCE) {
        Ok(())
    } else {
        Err(format!("expected {expected}, got {got}"))
    }
}

/// The case's own vectors; a text that has none fails the call.
struct Table {
    width: u32,
    vectors: HashMap<String, Vec<f32>>,
    one_too_few: bool,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

impl Table {
    fn of(input: &Value) -> Result<Self, Failure> {
        let width = input
            .get("dimension")
            .and_then(Value::as_u64)
            .ok_or("no dimension")?;
        let vectors = input
            .get("vectors")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        Ok(Self {
            width: u32::try_from(width)?,
            vectors: vectors
                .map(|(text, numbers)| (text.clone(), vector(Some(numbers))))
                .collect(),
            one_too_few: input.get("embedder").and_then(Value::as_str) == Some("short"),
            calls: AtomicUsize::new(0),
            texts: AtomicUsize::new(0),
        })
    }

    fn counted(&self) -> (usize, usize) {
        (
            self.calls.load(Ordering::SeqCst),
            self.texts.load(Ordering::SeqCst),
        )
    }
}

#[async_trait]
impl Embedder for Table {
    fn id(&self) -> &str {
        "golden"
    }

    fn width(&self) -> u32 {
        self.width
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        let vector = |text: &&str| {
            self.vectors
                .get(*text)
                .cloned()
                .ok_or_else(|| EmbedError::provider("golden", "a text without a vector"))
        };
        let mut vectors = texts.iter().map(vector).collect::<Result<Vec<_>, _>>()?;
        if self.one_too_few {
            vectors.pop();
        }
        Ok(vectors)
    }
}
