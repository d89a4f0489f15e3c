//! Stores and embedders for the tests of the library and `Collection`.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses some of it; a test fails by panicking"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::capabilities::Capabilities;
use shelfward_core::library::{IndexSource, LibrarySpec, Passage, SearchAnswer};
use shelfward_core::observer::{Event, Observer};
use shelfward_core::{
    CollectionName, CollectionSpec, Count, Cursor, EmbedError, Embedder, Filter, Groups, Include,
    Key, Leg, LegResult, LibraryIndex, MetadataPatch, Page, Precondition, Record, Replaced, Result,
    Role, Scope, Selector, SourceId, SourceKind, Store, StoreError, StoredRecord, TenantId,
    async_trait,
};
use shelfward_memory::MemoryStore;

/// Vectors from a table, else from the bytes of the text; counts calls, and fails as it is told.
pub struct TestEmbedder {
    pub table: HashMap<String, Vec<f32>>,
    pub calls: AtomicUsize,
    pub roles: Mutex<Vec<Role>>,
    pub fails_on: Option<String>,
    pub drops_last: bool,
    pub yields: usize,
    pub id: String,
    pub width: u32,
}

impl Default for TestEmbedder {
    fn default() -> Self {
        Self {
            table: HashMap::new(),
            calls: AtomicUsize::new(0),
            roles: Mutex::default(),
            fails_on: None,
            drops_last: false,
            yields: 0,
            id: "test".to_owned(),
            width: 4,
        }
    }
}

impl TestEmbedder {
    pub fn with(mut self, text: &str, vector: impl Into<Vec<f32>>) -> Self {
        self.table.insert(text.to_owned(), vector.into());
        self
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Embedder for TestEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn width(&self) -> u32 {
        self.width
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.roles.lock().unwrap().push(role);
        for _ in 0..self.yields {
            tokio::task::yield_now().await;
        }
        if texts
            .iter()
            .any(|text| self.fails_on.as_deref() == Some(*text))
        {
            return Err(EmbedError::provider(&self.id, "the provider is down"));
        }
        let vector = |text: &&str| {
            self.table.get(*text).cloned().unwrap_or_else(|| {
                let mut vector = vec![0.5; self.width as usize];
                for byte in text.bytes() {
                    vector[usize::from(byte) % self.width as usize] += 1.0;
                }
                vector
            })
        };
        let mut vectors: Vec<_> = texts.iter().map(vector).collect();
        if self.drops_last {
            vectors.pop();
        }
        Ok(vectors)
    }
}

/// What a test makes of a call before it reaches the memory store.
pub trait Meddle: Send + Sync + 'static {
    fn capabilities(&self, can: Capabilities) -> Capabilities {
        can
    }

    fn upsert(&self, _: &[Record]) -> Option<StoreError> {
        None
    }

    fn found(&self, found: LegResult, _: &Leg) -> LegResult {
        found
    }

    fn count(&self, count: Count) -> Count {
        count
    }

    fn fetched(&self, records: Vec<Option<StoredRecord>>) -> Vec<Option<StoredRecord>> {
        records
    }

    fn page(&self, page: Page) -> Page {
        page
    }

    /// A replace that was given up, and lands before a scan.
    fn late(&self) -> Option<(Selector, Vec<Record>)> {
        None
    }

    /// What a delete, by key or by filter, answers in the place of deleting.
    fn delete(&self) -> Option<Result<Count>> {
        None
    }

    /// What an update answers in the place of updating.
    fn update(&self) -> Option<Result<Count>> {
        None
    }

    /// How often each call gives way before it does anything.
    fn yields(&self) -> usize {
        0
    }

    /// The filter that the memory store is searched with in the place of the given one.
    fn search_filter(&self, _: &Leg) -> Option<Filter> {
        None
    }
}

/// A store that meddles and writes down what it is asked.
pub struct Meddling<M> {
    pub memory: MemoryStore,
    pub meddle: Arc<M>,
    pub asked: Arc<Asked>,
}

#[derive(Default)]
pub struct Asked {
    pub legs: Mutex<Vec<Leg>>,
    pub calls: Mutex<Vec<&'static str>>,
    pub written: Mutex<Vec<Record>>,
    /// The filters of the calls that are no search.
    pub within: Mutex<Vec<String>>,
}

impl Asked {
    fn note(&self, filter: &Filter) {
        self.within.lock().unwrap().push(filter.to_string());
    }

    /// The calls since this was last asked for.
    pub fn take_calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    /// The filters of the calls that are no search, since this was last asked for.
    pub fn take_within(&self) -> Vec<String> {
        std::mem::take(&mut *self.within.lock().unwrap())
    }

    pub fn number(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    pub fn filters(&self) -> Vec<String> {
        self.legs
            .lock()
            .unwrap()
            .iter()
            .map(|leg| leg.filter.to_string())
            .collect()
    }
}

impl<M: Meddle> Meddling<M> {
    pub fn new(meddle: M) -> Self {
        Self {
            memory: MemoryStore::new(),
            meddle: Arc::new(meddle),
            asked: Arc::default(),
        }
    }
}

#[async_trait]
impl<M: Meddle> StoreAdapter for Meddling<M> {
    fn kind(&self) -> &'static str {
        "meddling"
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.meddle.capabilities(self.memory.capabilities(spec))
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.memory.create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        Ok(StoreAdapter::open(&self.memory, name).await?.map(|inner| {
            let can = self.meddle.capabilities(inner.capabilities().clone());
            let (meddle, asked) = (self.meddle.clone(), self.asked.clone());
            Arc::new(MeddlingCollection {
                inner,
                meddle,
                asked,
                can,
            }) as Arc<dyn CollectionAdapter>
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.memory.list().await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.memory.drop_collection(name).await
    }

    fn write_locks(&self) -> WriteLocks {
        self.memory.write_locks()
    }

    async fn health(&self) -> Result<()> {
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

struct MeddlingCollection<M> {
    inner: Arc<dyn CollectionAdapter>,
    meddle: Arc<M>,
    asked: Arc<Asked>,
    can: Capabilities,
}

impl<M: Meddle> MeddlingCollection<M> {
    async fn enter(&self, call: &'static str) {
        self.asked.calls.lock().unwrap().push(call);
        for _ in 0..self.meddle.yields() {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl<M: Meddle> CollectionAdapter for MeddlingCollection<M> {
    fn spec(&self) -> &CollectionSpec {
        self.inner.spec()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.enter("upsert").await;
        self.asked
            .written
            .lock()
            .unwrap()
            .extend_from_slice(records);
        match self.meddle.upsert(records) {
            Some(error) => Err(error),
            None => self.inner.upsert(records).await,
        }
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.enter("delete").await;
        match self.meddle.delete() {
            Some(answer) => answer,
            None => self.inner.delete(keys).await,
        }
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        self.enter("search").await;
        self.asked.legs.lock().unwrap().extend_from_slice(legs);
        let meddled = legs.iter().map(|leg| {
            let filter = self.meddle.search_filter(leg);
            filter.map_or_else(|| leg.clone(), |filter| leg.with_filter(filter))
        });
        let found = self.inner.search(&meddled.collect::<Vec<_>>()).await?;
        let found = found.into_iter().zip(legs);
        Ok(found
            .map(|(found, leg)| self.meddle.found(found, leg))
            .collect())
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.enter("fetch").await;
        self.asked.note(within);
        let fetched = self.inner.fetch(keys, within, include).await?;
        Ok(self.meddle.fetched(fetched))
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.enter("replace").await;
        self.asked.note(selector.filter());
        self.asked.written.lock().unwrap().extend_from_slice(with);
        if let Some(error) = self.meddle.upsert(with) {
            return Err(error);
        }
        self.inner.replace(selector, with, precondition).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.enter("delete_matching").await;
        self.asked.note(selector.filter());
        match self.meddle.delete() {
            Some(answer) => answer,
            None => self.inner.delete_matching(selector).await,
        }
    }

    async fn delete_all(&self) -> Result<Count> {
        self.enter("delete_all").await;
        self.inner.delete_all().await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        self.enter("update_metadata").await;
        self.asked.note(selector.filter());
        match self.meddle.update() {
            Some(answer) => answer,
            None => self.inner.update_metadata(selector, patch).await,
        }
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.enter("scan").await;
        self.asked.note(filter);
        if let Some((selector, with)) = self.meddle.late() {
            self.inner.replace(&selector, &with, None).await?;
        }
        let page = self.inner.scan(filter, after, limit, include).await?;
        Ok(self.meddle.page(page))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.enter("count").await;
        self.asked.note(filter);
        Ok(self.meddle.count(self.inner.count(filter).await?))
    }
}

/// Meddles with nothing.
pub struct Nothing;

impl Meddle for Nothing {}

/// Keeps every event.
#[derive(Default)]
pub struct Events(pub Mutex<Vec<Event>>);

impl Observer for Events {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

pub fn name() -> CollectionName {
    CollectionName::new("library").unwrap()
}

pub async fn library(store: &Store) -> LibraryIndex {
    library_with(store, TestEmbedder::default()).await.0
}

pub async fn library_with(
    store: &Store,
    embedder: TestEmbedder,
) -> (LibraryIndex, Arc<TestEmbedder>) {
    let embedder = Arc::new(embedder);
    let index = LibraryIndex::ensure(store, LibrarySpec::new(name()), embedder.clone())
        .await
        .unwrap();
    (index, embedder)
}

pub fn memory() -> Store {
    Store::new(MemoryStore::new())
}

pub fn source(id: &str, groups: &[&str], texts: &[&str]) -> IndexSource {
    let passages = texts.iter().map(|text| Passage::new(*text));
    source_of("document", id, groups).passages(passages)
}

/// A source without passages.
pub fn source_of(kind: &str, id: &str, groups: &[&str]) -> IndexSource {
    let kind = SourceKind::new(kind).unwrap();
    IndexSource::new(self::id(id), kind, Groups::of(groups).unwrap())
}

pub fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

pub fn id(id: &str) -> SourceId {
    SourceId::new(id).unwrap()
}

pub fn scope(tenant: &str, groups: &[&str]) -> Scope {
    Scope::of(tenant, groups.iter().copied()).unwrap()
}

pub fn ids(answer: &SearchAnswer) -> Vec<String> {
    answer
        .passages
        .iter()
        .map(|passage| passage.id.to_string())
        .collect()
}
