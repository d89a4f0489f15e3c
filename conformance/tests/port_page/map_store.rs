use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Completeness, Count, Cursor, ErrorKind, Filter,
    Hit, Include, Key, Leg, LegQuery, LegResult, MetadataPatch, Metric, Operation, Page,
    Precondition, Record, Replaced, Result, Selector, StoreError, StoredRecord, async_trait,
};

/// A store that keeps records in maps. A clone is another handle, closed by itself.
#[derive(Default)]
pub struct MapStore {
    shared: Arc<Shared>,
    closed: Arc<AtomicBool>,
}

#[derive(Default)]
struct Shared {
    collections: Mutex<HashMap<CollectionName, Arc<Mutex<Rows>>>>,
    locks: WriteLocks,
}

struct Rows {
    spec: CollectionSpec,
    records: BTreeMap<Key, Record>,
    /// Set for handles that outlive the collection.
    is_dropped: bool,
}

/// What a collection of this store can do: everything but a search by words.
fn capabilities() -> Capabilities {
    let mut can = Capabilities::exact();
    can.lexical = None;
    can
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check_open(closed: &AtomicBool, operation: Operation) -> Result<()> {
    if closed.load(Ordering::SeqCst) {
        let invalid = "this handle of the store was closed".to_owned();
        return Err(StoreError::new(operation, ErrorKind::Invalid(invalid)));
    }
    Ok(())
}

impl Clone for MapStore {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            closed: Arc::default(),
        }
    }
}

#[async_trait]
impl StoreAdapter for MapStore {
    fn kind(&self) -> &'static str {
        "map"
    }

    fn capabilities(&self, _: &CollectionSpec) -> Capabilities {
        capabilities()
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        check_open(&self.closed, Operation::Create)?;
        let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&spec.name);
        let mut collections = lock(&self.shared.collections);
        let Some(rows) = collections.get(&spec.name) else {
            let rows = Rows {
                spec: spec.clone(),
                records: BTreeMap::new(),
                is_dropped: false,
            };
            collections.insert(spec.name.clone(), Arc::new(Mutex::new(rows)));
            return Ok(());
        };
        // An equal spec may declare more fields, if what is stored keeps to them.
        let mut rows = lock(rows);
        let there = &rows.spec;
        there.check_compatible(spec).map_err(|e| refuse(e.into()))?;
        let lacking: Vec<_> = there.missing_fields(spec).into_iter().cloned().collect();
        let wider = there.clone().with_fields(lacking);
        wider.check().map_err(|e| refuse(e.into()))?;
        for record in rows.records.values() {
            let checked = wider.check_metadata(&record.metadata);
            checked.map_err(|e| refuse(e.into()))?;
        }
        rows.spec = wider;
        Ok(())
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        check_open(&self.closed, Operation::Open)?;
        let rows = lock(&self.shared.collections).get(name).cloned();
        Ok(rows.map(|rows| -> Arc<dyn CollectionAdapter> {
            let spec = lock(&rows).spec.clone();
            Arc::new(MapCollection {
                rows,
                spec,
                capabilities: capabilities(),
                closed: self.closed.clone(),
            })
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        check_open(&self.closed, Operation::List)?;
        let mut names: Vec<_> = lock(&self.shared.collections).keys().cloned().collect();
        names.sort();
        Ok(names)
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        check_open(&self.closed, Operation::DropCollection)?;
        let rows = lock(&self.shared.collections).remove(name);
        if let Some(rows) = &rows {
            lock(rows).is_dropped = true;
        }
        Ok(rows.is_some())
    }

    async fn health(&self) -> Result<()> {
        check_open(&self.closed, Operation::Health)
    }

    fn write_locks(&self) -> WriteLocks {
        self.shared.locks.clone()
    }

    async fn close(&self) -> Result<()> {
        self.closed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

struct MapCollection {
    rows: Arc<Mutex<Rows>>,
    /// As it was when the handle was opened.
    spec: CollectionSpec,
    capabilities: Capabilities,
    closed: Arc<AtomicBool>,
}

impl MapCollection {
    /// One state for the whole of a call, so that every answer and every write is of one state.
    fn rows(&self, operation: Operation) -> Result<MutexGuard<'_, Rows>> {
        check_open(&self.closed, operation).map_err(|e| e.on(&self.spec.name))?;
        let rows = lock(&self.rows);
        if rows.is_dropped {
            return Err(StoreError::new(operation, ErrorKind::StaleHandle).on(&self.spec.name));
        }
        Ok(rows)
    }

    /// The collection may have gained fields since the records were checked against this handle's.
    fn check(&self, operation: Operation, rows: &Rows, records: &[Record]) -> Result<()> {
        let mut records = records.iter();
        records
            .try_for_each(|record| rows.spec.check_metadata(&record.metadata))
            .map_err(|e| StoreError::new(operation, e).on(&self.spec.name))
    }

    fn best(&self, rows: &Rows, leg: &Leg) -> Result<LegResult> {
        let LegQuery::Dense(query) = &leg.ask else {
            return Err(self.unsupported(Operation::Search, "lexical search"));
        };
        let matching = rows.records.values();
        let matching = matching.filter(|record| leg.filter.matches(&record.metadata));
        let hit = |record: &Record| {
            let score = score(self.spec.metric, query, &record.vector);
            let (text, metadata) = (record.text.clone(), record.metadata.clone());
            Hit::new(record.key.clone(), score, text, metadata)
        };
        let mut hits: Vec<Hit> = matching.map(hit).collect();
        // Equal scores in the order of the keys, so that the same search finds the same again.
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
        hits.truncate(leg.top_k);
        Ok(LegResult::new(hits, Completeness::Complete))
    }
}

#[async_trait]
impl CollectionAdapter for MapCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let mut rows = self.rows(Operation::Upsert)?;
        self.check(Operation::Upsert, &rows, records)?;
        let keyed = records
            .iter()
            .map(|record| (record.key.clone(), record.clone()));
        rows.records.extend(keyed);
        Ok(())
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let mut rows = self.rows(Operation::Delete)?;
        let removed = keys.iter().filter(|key| rows.records.remove(key).is_some());
        Ok(Count::Exact(removed.count() as u64))
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let rows = self.rows(Operation::Search)?;
        legs.iter().map(|leg| self.best(&rows, leg)).collect()
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let rows = self.rows(Operation::Fetch)?;
        let stored = |key| {
            let record = rows.records.get(key)?;
            let matches = within.matches(&record.metadata);
            matches.then(|| StoredRecord::of(record, include))
        };
        Ok(keys.iter().map(stored).collect())
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        if precondition.is_some() {
            // Writers of one process: the caller has looked under its own lock.
            return Err(self.unsupported(Operation::Replace, "a precondition"));
        }
        let mut rows = self.rows(Operation::Replace)?;
        self.check(Operation::Replace, &rows, with)?;
        let before = rows.records.len();
        let filter = selector.filter();
        rows.records
            .retain(|_, record| !filter.matches(&record.metadata));
        let removed = Count::Exact((before - rows.records.len()) as u64);
        let keyed = with
            .iter()
            .map(|record| (record.key.clone(), record.clone()));
        rows.records.extend(keyed);
        Ok(Some(Replaced::new(removed, with.len())))
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        let mut rows = self.rows(Operation::DeleteMatching)?;
        let before = rows.records.len();
        let filter = selector.filter();
        rows.records
            .retain(|_, record| !filter.matches(&record.metadata));
        Ok(Count::Exact((before - rows.records.len()) as u64))
    }

    async fn delete_all(&self) -> Result<Count> {
        let mut rows = self.rows(Operation::DeleteAll)?;
        let removed = std::mem::take(&mut rows.records);
        Ok(Count::Exact(removed.len() as u64))
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        let operation = Operation::UpdateMetadata;
        let mut rows = self.rows(operation)?;
        for (key, value) in patch.iter() {
            let checked = value.map_or(Ok(()), |value| rows.spec.check_value(key, value));
            checked.map_err(|e| StoreError::new(operation, e).on(&self.spec.name))?;
        }
        let mut updated = 0;
        for record in rows.records.values_mut() {
            if selector.filter().matches(&record.metadata) {
                record.metadata = Arc::new(patch.apply(&record.metadata));
                updated += 1;
            }
        }
        Ok(Count::Exact(updated))
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let refuse = |kind| StoreError::new(Operation::Scan, kind).on(&self.spec.name);
        // By key, so that a scan goes on where it was through writes.
        let after = after.map(Cursor::key).transpose().map_err(refuse)?;
        let rows = self.rows(Operation::Scan)?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = rows.records.range((from, Bound::Unbounded));
        let mut found = behind.filter(|(_, record)| filter.matches(&record.metadata));
        let page: Vec<_> = found.by_ref().take(limit).collect();
        let last = page.last().filter(|_| found.next().is_some());
        let next = last.map(|(key, _)| Cursor::after(key));
        let stored = page
            .iter()
            .map(|(_, record)| StoredRecord::of(record, include));
        Ok(Page::new(stored.collect(), next))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let rows = self.rows(Operation::Count)?;
        let records = rows.records.values();
        let matching = records.filter(|record| filter.matches(&record.metadata));
        Ok(Count::Exact(matching.count() as u64))
    }
}

/// Higher is better, whatever the metric.
fn score(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(x, y)| (f64::from(*x), f64::from(*y)));
    let dot: f64 = pairs().map(|(x, y)| x * y).sum();
    let length = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    match metric {
        Metric::Dot => dot,
        Metric::Cosine => (dot / (length(a) * length(b))).clamp(-1.0, 1.0),
        // Euclidean: no other is declared, so no other is asked for.
        _ => -pairs().map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt(),
    }
}
