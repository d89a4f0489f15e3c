use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_core::filter::Matcher;
use shelfward_core::{
    Ask, Capabilities, Collection, CollectionSpec, Count, Cursor, End, ErrorKind, Filter, Found,
    Hit, Include, Key, Leg, Metadata, MetadataError, MetadataPatch, NarrowFilter, Operation, Page,
    Record, Replaced, Result, Scalar, StoreError, StoredRecord, Text, VectorProblem, WriteOrder,
    async_trait,
};
use shelfward_resident::{RoaringBitmap, Rows, RowsOptions, Slot, TooManyExpansions};

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
                check_kinds(&spec, &row.metadata).map_err(|e| refuse(e.into()))?;
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

fn check_kinds(spec: &CollectionSpec, metadata: &Metadata) -> Result<(), MetadataError> {
    let mut values = metadata.iter();
    values.try_for_each(|(key, value)| spec.check_value(key, value))
}

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

    /// Refuses what there is no room for, and values that a field declared since this handle was
    /// opened does not hold.
    fn check_records(&self, operation: Operation, rows: &Rows, records: &[Record]) -> Result<()> {
        if !rows.has_room_for(records) {
            let full = ErrorKind::Limit {
                what: "documents, words or letters of words of one partition",
                given: u64::from(u32::MAX),
                max: u64::from(u32::MAX) - 1,
            };
            return Err(self.error(operation, full));
        }
        let width = self.spec.width;
        let mut given = records.iter().map(|record| record.vector.len());
        if let Some(given) = given.find(|given| u32::try_from(*given) != Ok(width)) {
            return Err(self.error(operation, VectorProblem::Width { given, width }));
        }
        if !Arc::ptr_eq(rows.spec(), &self.spec) {
            for record in records {
                check_kinds(rows.spec(), &record.metadata).map_err(|e| self.error(operation, e))?;
            }
        }
        Ok(())
    }

    /// The best of one leg among the rows that its filter matches, or all.
    fn search_rows(&self, rows: &Rows, leg: &Leg, among: Option<&RoaringBitmap>) -> Result<Found> {
        let best = match &leg.ask {
            Ask::Dense(query) => rows.nearest(query, among, leg.top_k),
            Ask::Lexical { words, matching } => {
                if self.capabilities.lexical.is_none() {
                    return Err(self.unsupported(Operation::Search, "lexical search"));
                }
                if leg.filter.never_matches() {
                    return Ok(Found::nothing());
                }
                let partition = self.pinned_partition(&leg.filter)?;
                rows.best(&partition, words, *matching, among, leg.top_k)
                    .map_err(|e| self.error(Operation::Search, too_many_expansions(&e)))?
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

    /// The one partition that a lexical leg's statistics are of; `None` in a collection without
    /// partitions.
    fn pinned_partition(&self, filter: &Filter) -> Result<Option<Text>> {
        let Some(key) = self.spec.partition_key() else {
            return Ok(None);
        };
        match filter.pinned(key.as_str()).as_deref() {
            Some([Scalar::Text(partition)]) => Ok(Some(partition.clone())),
            _ => {
                let invalid = format!("a lexical search must pin {key} by one $eq");
                Err(self.error(Operation::Search, ErrorKind::Invalid(invalid)))
            }
        }
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
        let removed = remove_all(rows, &rows.matching(selector.filter()));
        put_all(rows, with);
        Ok(Replaced::new(exact(removed), with.len()))
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let rows = &mut self.write(Operation::DeleteMatching)?.rows;
        Ok(exact(remove_all(rows, &rows.matching(selector.filter()))))
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
        let matching = rows.matching(selector.filter());
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
        let after = after.map(|cursor| self.key_of(cursor)).transpose()?;
        let rows = &self.read(Operation::Scan)?.rows;
        // One more than asked tells whether there is a next page.
        let mut found = rows.page(filter, after.as_ref(), limit.saturating_add(1));
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next = last.and_then(|slot| Some(cursor_at(&rows.row(*slot)?.key)));
        let stored = found
            .into_iter()
            .filter_map(|slot| rows.stored(slot, include));
        Ok(Page::new(stored.collect(), next))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let rows = &self.read(Operation::Count)?.rows;
        Ok(Count::Exact(rows.matching(filter).len()))
    }

    fn write_order(&self) -> Option<WriteOrder> {
        Some(self.shelf.order.clone())
    }
}

/// The rows that a filter matches; `None` for all of them.
fn among(rows: &Rows, filter: &Filter) -> Option<RoaringBitmap> {
    (!filter.is_everything()).then(|| rows.matching(filter))
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

fn too_many_expansions(error: &TooManyExpansions) -> ErrorKind {
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    ErrorKind::Limit {
        what: "stored words that begin with one word of the query",
        // How many there are would tell of passages that the reader may not see.
        given: as_u64(error.max.saturating_add(1)),
        max: as_u64(error.max),
    }
}

fn exact(n: usize) -> Count {
    u64::try_from(n).map_or(Count::Unknown, Count::Exact)
}

/// The key of the last record seen: the length of its partition, or `-`, a colon, and both texts.
fn cursor_at(key: &Key) -> Cursor {
    Cursor::new(match &key.partition {
        Some(partition) => format!("{}:{partition}{}", partition.as_str().len(), key.id),
        None => format!("-:{}", key.id),
    })
}

impl MemoryCollection {
    fn key_of(&self, cursor: &Cursor) -> Result<Key> {
        let read = |cursor: &str| {
            let (length, rest) = cursor.split_once(':')?;
            let text = |part: &str| Text::new(part).ok();
            if length == "-" {
                return Some(Key::new(text(rest)?));
            }
            let length = length.parse().ok()?;
            Some(Key::within(
                text(rest.get(..length)?)?,
                text(rest.get(length..)?)?,
            ))
        };
        read(cursor.as_str()).ok_or_else(|| {
            let invalid = "the cursor is not one of this store's".to_owned();
            self.error(Operation::Scan, ErrorKind::Invalid(invalid))
        })
    }
}
