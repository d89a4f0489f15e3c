//! The Library Index over the memory store, step by step.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::library::{IndexSource, LibrarySpec, Passage, ScopeChange, SearchRequest};
use shelfward_core::{
    CollectionName, Count, EmbedError, Embedder, Groups, Key, LibraryIndex, Role, Scope, SourceId,
    SourceKind, Store, TenantId, async_trait,
};
use shelfward_memory::{MemoryOptions, MemoryStore};

use super::hybrid::Document;
use super::{Failure, metadata, read, wait};
use crate::compare::{Tolerance, cut, parted, ranked, same};
use crate::rule::{Answer, Difference};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Input {
    dimension: u32,
    vectors: HashMap<String, Vec<f32>>,
    /// Read one by one: one that cannot be read fails alone.
    steps: Vec<Value>,
    batch_size: Option<f64>,
    embedder: Option<String>,
    create_collection: Option<bool>,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Step {
    IndexSource { source: Source },
    Search { query: Map<String, Value> },
    RemoveSource { source_id: String },
    RemoveTenant { tenant_id: String },
    SetSourceScope { source_id: String, change: Change },
    UpsertRaw { documents: Vec<Value> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    source_id: Option<String>,
    kind: Option<String>,
    tenant_id: Option<String>,
    acl_groups: Option<Vec<String>>,
    folder_id: Option<String>,
    title: Option<String>,
    tags: Option<Vec<String>>,
    #[serde(default)]
    metadata: Value,
    passages: Vec<OfSource>,
}

#[derive(Deserialize)]
struct OfSource {
    text: String,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    acl_groups: Option<Vec<String>>,
    tags: Option<Vec<String>>,
    /// A null takes the folder away.
    #[serde(default, deserialize_with = "given")]
    folder_id: Option<Option<String>>,
    title: Option<String>,
}

fn given<'de, D: Deserializer<'de>>(folder: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(folder).map(Some)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reader {
    tenant_id: String,
    acl_groups: Vec<String>,
}

pub(super) fn run(input: Input) -> Answer {
    wait(run_steps(input))
}

/// What each step answered, and how often it embedded.
async fn run_steps(input: Input) -> Result<Value, Failure> {
    let embedder = Arc::new(Table {
        width: input.dimension,
        vectors: input.vectors,
        one_too_few: input.embedder.as_deref() == Some("short"),
        calls: AtomicUsize::new(0),
        texts: AtomicUsize::new(0),
    });
    // The original's store has no lexical leg.
    let store = MemoryStore::with_options(MemoryOptions::default().with_lexical(false));
    let name = CollectionName::new("lib")?;
    let checked = Store::new(store.clone());
    let made = input.create_collection != Some(false);
    let opened = if made {
        LibraryIndex::ensure(&checked, LibrarySpec::new(name.clone()), embedder.clone()).await
    } else {
        LibraryIndex::open(&checked, &name, embedder.clone()).await
    };
    let mut index = match opened {
        Ok(index) => index,
        // Without a library, no step can be done.
        Err(why) if !made => {
            let nothing = json!({ "error": why.to_string(), "embedCalls": 0, "embedTexts": 0 });
            return Ok(Value::Array(vec![nothing; input.steps.len()]));
        }
        Err(why) => return Err(why.into()),
    };
    if let Some(size) = input.batch_size {
        // What is below 0 is 1, as it is there, for the type here cannot hold it.
        let size = if size < 0.0 {
            1
        } else {
            read::<super::Whole>(&json!(size))?.0
        };
        index = index.with_batch_size(size)?;
    }
    let written = input
        .steps
        .iter()
        .filter_map(|step| step["source"]["tenantId"].as_str());
    let tenants = written
        .filter(|tenant| !tenant.is_empty())
        .map(str::to_owned)
        .collect();
    let library = Library {
        store,
        name,
        index,
        tenants,
    };
    let mut answers = Vec::new();
    for step in &input.steps {
        let before = embedder.counted();
        let (name, answer) = match library.step(step).await {
            Ok(answer) => ("ok", answer),
            Err(why) => ("error", json!(why.to_string())),
        };
        let after = embedder.counted();
        let (calls, texts) = (after.0 - before.0, after.1 - before.1);
        answers.push(json!({ name: answer, "embedCalls": calls, "embedTexts": texts }));
    }
    Ok(Value::Array(answers))
}

/// A library, the store under it, and the tenants that a case writes for.
struct Library {
    store: MemoryStore,
    name: CollectionName,
    index: LibraryIndex,
    tenants: BTreeSet<String>,
}

impl Library {
    /// Does a step; answers what the original's step answers. Where that names no tenant, it is done
    /// in every one.
    async fn step(&self, step: &Value) -> Result<Value, Failure> {
        let mut count = Count::Exact(0);
        match read(step)? {
            Step::IndexSource { source } => return self.index_source(source).await,
            Step::Search { query } => return self.search(query).await,
            Step::UpsertRaw { documents } => return self.upsert_raw(documents).await,
            Step::RemoveTenant { tenant_id } => {
                let tenant = self.index.tenant(TenantId::new(&tenant_id)?);
                count = tenant.remove_tenant().await?.count();
            }
            Step::RemoveSource { source_id } => {
                let source = SourceId::new(&source_id)?;
                for tenant in &self.tenants {
                    let tenant = self.index.tenant(TenantId::new(tenant)?);
                    count = count.plus(tenant.remove_source(&source).await?.count());
                }
            }
            Step::SetSourceScope { source_id, change } => {
                let change = change.made()?;
                let source = SourceId::new(&source_id)?;
                for tenant in &self.tenants {
                    let tenant = self.index.tenant(TenantId::new(tenant)?);
                    count = count.plus(tenant.set_source_scope(&source, &change).await?.count());
                }
            }
        }
        Ok(json!(count.exact()))
    }

    async fn index_source(&self, source: Source) -> Result<Value, Failure> {
        let text = |given: Option<String>| given.unwrap_or_default();
        let groups = source.acl_groups.unwrap_or_default();
        let groups = groups.iter().map(String::as_str);
        let passages = source
            .passages
            .into_iter()
            .map(|passage| -> Result<_, Failure> {
                Ok(Passage::new(passage.text).metadata(metadata(&passage.metadata)?))
            });
        let passages = passages.collect::<Result<Vec<_>, _>>()?;
        let id = SourceId::new(text(source.source_id))?;
        let kind = SourceKind::new(text(source.kind))?;
        let filed = IndexSource::new(id, kind, Groups::of(groups)?)
            .folder(text(source.folder_id))
            .title(text(source.title))
            .tags(source.tags.unwrap_or_default())
            .metadata(metadata(&source.metadata)?)
            .passages(passages)
            // The original always takes the old passages out.
            .allow_empty(true);
        let tenant = self.index.tenant(TenantId::new(text(source.tenant_id))?);
        Ok(json!({ "passages": tenant.index_source(filed).await?.passages }))
    }

    async fn search(&self, mut query: Map<String, Value>) -> Result<Value, Failure> {
        let reader: Reader = read(&query.remove("scope").unwrap_or_default())?;
        let scope = Scope::of(
            &reader.tenant_id,
            reader.acl_groups.iter().map(String::as_str),
        )?;
        let request: SearchRequest = serde_json::from_value(request(query)?)?;
        let found = self.index.search(&scope, &request).await?;
        let shown = found.passages.iter().map(|passage| {
            let mut shown = json!(passage);
            if let Some(members) = shown.as_object_mut() {
                // The original does not tell where a passage came from, and tells who may read it.
                members.remove("legs");
                let groups: Vec<&str> = passage.access_groups().collect();
                if let (false, Some(metadata)) = (groups.is_empty(), members.get_mut("metadata")) {
                    metadata["aclGroups"] = json!(groups);
                }
            }
            shown
        });
        Ok(shown.collect())
    }

    /// Writes documents past the index and past its checks, as another program would that shares the
    /// collection; what metadata cannot hold is counted as failed. Answers what the original does.
    async fn upsert_raw(&self, documents: Vec<Value>) -> Result<Value, Failure> {
        let collection = self
            .store
            .open(&self.name)
            .await?
            .ok_or("there is no collection")?;
        let mut written = Vec::new();
        for document in &documents {
            let record = read::<Document>(document).map_err(Failure::from);
            let record = record.and_then(|document| {
                document.record(|id, tenant| match tenant {
                    Some(tenant) => Key::within(tenant, id),
                    None => Key::new(id),
                })
            });
            if let Ok(record) = record {
                collection.upsert(&[record]).await?;
                written.push(&document["id"]);
            }
        }
        let failed = documents.len() - written.len();
        Ok(json!({ "upsertedCount": written.len(), "upsertedIds": written, "failedCount": failed }))
    }
}

impl Change {
    fn made(self) -> Result<ScopeChange, Failure> {
        let mut made = ScopeChange::new();
        if let Some(groups) = self.acl_groups {
            made = made.groups(groups.iter().map(String::as_str))?;
        }
        if let Some(tags) = self.tags {
            made = made.tags(tags);
        }
        made = match self.folder_id {
            Some(Some(folder)) => made.folder(folder),
            Some(None) => made.remove_folder(),
            None => made,
        };
        Ok(match self.title {
            Some(title) => made.title(title),
            None => made,
        })
    }
}

/// Answers the vectors that the case gives; a text that has none fails the call.
struct Table {
    width: u32,
    vectors: HashMap<String, Vec<f32>>,
    one_too_few: bool,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

impl Table {
    /// The calls and the texts so far.
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
            let vector = self.vectors.get(*text).cloned();
            vector.ok_or_else(|| EmbedError::provider("golden", "the text has no vector"))
        };
        let mut vectors = texts.iter().map(vector).collect::<Result<Vec<_>, _>>()?;
        if self.one_too_few {
            vectors.pop();
        }
        Ok(vectors)
    }
}

/// How many hits the search of a step asks for.
fn top_k(input: &Value, at: usize) -> Option<usize> {
    match &input["steps"][at]["query"]["topK"] {
        Value::Null => Some(10),
        given => given.as_u64().and_then(|top_k| usize::try_from(top_k).ok()),
    }
}

pub(super) fn differences(input: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    let lists = ours.as_array().zip(expected.as_array());
    let Some((ours, expected)) = lists.filter(|(ours, expected)| ours.len() == expected.len())
    else {
        return vec![Difference::answered(0, "another number of steps")];
    };
    let mut found = Vec::new();
    for (at, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        found.extend(step_difference(input, at, ours, expected));
        for name in ["embedCalls", "embedTexts"] {
            if ours[name] != expected[name] {
                let (ours, expected) = (&ours[name], &expected[name]);
                let what = format!("step {at}: {name} expected {expected}, got {ours}");
                found.push(Difference::answered(at, what));
            }
        }
    }
    found
}

fn step_difference(input: &Value, at: usize, ours: &Value, expected: &Value) -> Option<Difference> {
    let what = match (ours.get("ok"), expected.get("ok")) {
        (None, None) => return None,
        (None, Some(expected)) => {
            let why = ours["error"].as_str().unwrap_or_default();
            let what = format!("step {at}: expected {}, failed: {why}", cut(expected));
            return Some(Difference::refused(at, what));
        }
        (Some(ours), None) => format!("expected a failure, got {}", cut(ours)),
        (Some(ours), Some(expected)) => match (ours.as_array(), expected.as_array()) {
            (Some(ours), Some(expected)) => {
                let full = top_k(input, at) == Some(expected.len());
                ranked(ours, expected, full, Tolerance::SINGLES).err()?
            }
            _ if same(ours, expected, Tolerance::SINGLES) => return None,
            _ => parted(ours, expected),
        },
    };
    Some(Difference::answered(at, format!("step {at}: {what}")))
}

/// The original's query in our words. Its branches take the place of what the search gives, which is
/// said by name here, and what it reads as nothing to narrow by is left out.
fn request(mut query: Map<String, Value>) -> Result<Value, Failure> {
    const OPEN_WHEN_EMPTY: [&str; 3] = ["kinds", "tags", "folderId"];
    let empty = |value: &Value| *value == json!([]) || *value == json!("");
    query.retain(|name, value| !(OPEN_WHEN_EMPTY.contains(&name.as_str()) && empty(value)));
    if let Some(branches) = query.remove("anyOf") {
        let mut given = branches.as_array().into_iter().flatten();
        let lifts = |branch: &Value| {
            let open = |name: &&str| branch.get(name).is_some_and(empty);
            OPEN_WHEN_EMPTY.iter().any(open)
        };
        if given.any(lifts) {
            return Err(
                "a branch that lifts a narrowing by an empty list has no words here".into(),
            );
        }
        query.insert("anyOfWithDefaults".to_owned(), branches);
    }
    Ok(Value::Object(query))
}
