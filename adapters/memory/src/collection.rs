use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_core::filter::Matcher;
use shelfward_core::{
    Ask, Capabilities, Collection, CollectionSpec, Count, Cursor, End, ErrorKind, Filter, Found,
    Hit, Include, Key, Leg, MetadataPatch, NarrowFilter, Operation, Page, Record, Replaced, Result,
    StoreError, StoredRecord, WriteOrder, async_trait,
};
use shelfward_resident::{RoaringBitmap, Rows, RowsOptions, Slot, Stop};

use crate::config::MemoryOptions;
use crate::store::closed;

/// One collection, shared by all its handles.
pub(crate) struct Shelf {
    state: RwLock<State>,
    order: WriteOrder,
}

struct State {
    rows: Rows,
    /// Set when the collection is dropped, for handles that outlive it.
    discarded: bool,
}

impl Shelf {
    pub(crate) fn new(spec: CollectionSpec, options: MemoryOptions) -> Self {
        let mut held = RowsOptions::default();
        held.lexical = options.lexical;
        held.quantized = options.quantized;
        Self {
            state: RwLock::new(State {
                rows: Rows::new(Arc::new(spec), held),
                discarded: false,
            }),
            order: WriteOrder::new(),
        }
    }

    // Every change under the lock is made of steps that cannot panic, so a poisoned lock guards
    // whole rows.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the fields that an equal spec declares and this lacks, if what is stored keeps to them.
    pub(crate) fn add_fields(&self, asked: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&asked.name);
        let mut state = self.write();
        let rows = &mut state.rows;
        let held = rows.spec().clone();
        held.check_serves(asked).map_err(|e| refuse(e.into()))?;
        let lacking: Vec<_> = held.lacking(asked).into_iter().cloned().collect();
        if !lacking.is_empty() {
            let spec = CollectionSpec::clone(&held).with_fields(lacking);
            spec.check().map_err(|e| refuse(e.into()))?;
            for row in rows.slots().iter().filter_map(|slot| rows.row(slot)) {
                spec.check_metadata(&row.metadata)
                    .map_err(|e| refuse(e.into()))?;
            }
            rows.set_spec(Arc::new(spec));
        }
        Ok(())
    }

    /// Empties the collection and marks it for the handles that are still there.
    pub(crate) fn discard(&self) {
        let mut state = self.write();
        state.rows.clear();
        state.discarded = true;
    }
}

/// A call here works within one poll of its future, which is not dropped meanwhile.
const NEVER: Stop<'static> = Stop::NEVER;

/// A handle on a collection.
pub(crate) struct MemoryCollection {
    shelf: Arc<Shelf>,
    spec: Arc<CollectionSpec>,
    capabilities: Capabilities,
    store_closed: Arc<AtomicBool>,
}

impl MemoryCollection {
    pub(crate) fn open(
        shelf: Arc<Shelf>,
        capabilities: Capabilities,
        store_closed: Arc<AtomicBool>,
    ) -> Self {
        let spec = shelf.read().rows.spec().clone();
        Self {
            shelf,
            spec,
            capabilities,
            store_closed,
        }
    }

    fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec.name)
    }

    fn check_open(&self, operation: Operation, state: &State) -> Result<()> {
        if self.store_closed.load(Ordering::SeqCst) {
            return Err(closed(operation).on(&self.spec.name));
        }
        if state.discarded {
            return Err(self.error(operation, ErrorKind::StaleHandle));
        }
        Ok(())
    }

    fn read(&self, operation: Operation) -> Result<RwLockReadGuard<'_, State>> {
        let state = self.shelf.read();
        self.check_open(operation, &state)?;
        Ok(state)
    }

    fn write(&self, operation: Operation) -> Result<RwLockWriteGuard<'_, State>> {
        let state = self.shelf.write();
        self.check_open(operation, &state)?;
        Ok(state)
    }

    fn check_records(&self, operation: Operation, rows: &Rows, records: &[Record]) -> Result<()> {
        rows.check_records(records, &self.spec)
            .map_err(|e| self.error(operation, e))
    }

    /// The best of one leg among the rows that its filter matches, or all.
    fn search_rows(&self, rows: &Rows, leg: &Leg, among: Option<&RoaringBitmap>) -> Result<Found> {
        let best = match &leg.ask {
            Ask::Dense(query) => rows.nearest(query, among, leg.top_k, NEVER),
            Ask::Lexical { words, matching } => {
                if self.capabilities.lexical.is_none() {
                    return Err(self.unsupported(Operation::Search, "lexical search"));
                }
                rows.best(&leg.filter, words, *matching, among, leg.top_k)
                    .map_err(|e| self.error(Operation::Search, e))?
            }
        };
        let hit = |(slot, score): (Slot, f64)| {
            let row = rows.row(slot)?;
            let (text, metadata) = (row.text.clone(), row.metadata.clone());
            Some(Hit::new(row.key.clone(), score, text, metadata))
        };
        Ok(Found::new(
            best.into_iter().filter_map(hit).collect(),
            End::Complete,
        ))
    }
}

#[async_trait]
impl Collection for MemoryCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let rows = &mut self.write(Operation::Upsert)?.rows;
        self.check_records(Operation::Upsert, rows, records)?;
        put_all(rows, records);
        Ok(())
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let rows = &mut self.write(Operation::Delete)?.rows;
        let deleted = keys.iter().filter(|key| rows.remove(key).is_some()).count();
        Ok(exact(deleted))
    }

    async fn search(&self, leg: &Leg) -> Result<Found> {
        let rows = &self.read(Operation::Search)?.rows;
        self.search_rows(rows, leg, among(rows, &leg.filter).as_ref())
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        // One guard, so both legs see one state.
        let rows = &self.read(Operation::Search)?.rows;
        let of_dense = among(rows, &dense.filter);
        let of_lexical = (dense.filter != lexical.filter).then(|| among(rows, &lexical.filter));
        let of_lexical = of_lexical.as_ref().unwrap_or(&of_dense);
        Ok((
            self.search_rows(rows, dense, of_dense.as_ref())?,
            self.search_rows(rows, lexical, of_lexical.as_ref())?,
        ))
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let rows = &self.read(Operation::Fetch)?.rows;
        let within = Matcher::new(within);
        let stored = |key| {
            let slot = rows.slot(key)?;
            let matches = within.matches(&rows.row(slot)?.metadata);
            matches.then(|| rows.stored(slot, include)).flatten()
        };
        Ok(keys.iter().map(stored).collect())
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        let rows = &mut self.write(Operation::Replace)?.rows;
        self.check_records(Operation::Replace, rows, with)?;
        let removed = remove_all(rows, &rows.matching(selector.filter(), NEVER));
        put_all(rows, with);
        Ok(Replaced::new(exact(removed), with.len()))
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let rows = &mut self.write(Operation::DeleteMatching)?.rows;
        Ok(exact(remove_all(
            rows,
            &rows.matching(selector.filter(), NEVER),
        )))
    }

    async fn delete_all(&self) -> Result<Count> {
        Ok(exact(self.write(Operation::DeleteAll)?.rows.clear()))
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let rows = &mut self.write(Operation::UpdateMetadata)?.rows;
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                let checked = rows.spec().check_value(key, value);
                checked.map_err(|e| self.error(Operation::UpdateMetadata, e))?;
            }
        }
        let matching = rows.matching(selector.filter(), NEVER);
        for slot in &matching {
            if let Some(row) = rows.row(slot) {
                let patched = Arc::new(patch.apply(&row.metadata));
                rows.set_metadata(slot, patched);
            }
        }
        Ok(Count::Exact(matching.len()))
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let after =
            (after.map(Cursor::key).transpose()).map_err(|e| self.error(Operation::Scan, e))?;
        let rows = &self.read(Operation::Scan)?.rows;
        Ok(rows.scan(filter, after.as_ref(), limit, include, NEVER))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let rows = &self.read(Operation::Count)?.rows;
        Ok(Count::Exact(rows.matching(filter, NEVER).len()))
    }

    fn write_order(&self) -> Option<WriteOrder> {
        Some(self.shelf.order.clone())
    }
}

/// The rows that a filter matches; `None` for all of them.
fn among(rows: &Rows, filter: &Filter) -> Option<RoaringBitmap> {
    (!filter.is_everything()).then(|| rows.matching(filter, NEVER))
}

fn put_all(rows: &mut Rows, records: &[Record]) {
    for record in records {
        rows.put(record);
    }
}

/// Removes rows; answers how many there were.
fn remove_all(rows: &mut Rows, slots: &RoaringBitmap) -> usize {
    let keys: Vec<Key> = (slots.iter())
        .filter_map(|slot| Some(rows.row(slot)?.key.clone()))
        .collect();
    keys.iter().filter(|key| rows.remove(key).is_some()).count()
}

fn exact(n: usize) -> Count {
    u64::try_from(n).map_or(Count::Unknown, Count::Exact)
}
