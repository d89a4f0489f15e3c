use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_core::filter::Matcher;
use shelfward_core::{
    Ask, Capabilities, Collection, CollectionSpec, Count, Cursor, End, ErrorKind, Filter, Found,
    Hit, Include, Key, Leg, MetadataPatch, NarrowFilter, Operation, Page, Record, Replaced, Result,
    Scalar, StoreError, StoredRecord, Text, WriteOrder, async_trait,
};
use shelfward_lexical::TooManyExpansions;

use crate::dense;
use crate::rows::{Rows, check_kinds};
use crate::store::closed;

/// One collection, shared by all its handles.
pub(crate) struct Shelf {
    rows: RwLock<Rows>,
    order: WriteOrder,
}

impl Shelf {
    pub(crate) fn new(spec: CollectionSpec, lexical: bool) -> Self {
        Self {
            rows: RwLock::new(Rows::new(spec, lexical)),
            order: WriteOrder::new(),
        }
    }

    // Every change under the lock is made of steps that cannot panic, so a poisoned lock guards
    // whole rows.
    fn read(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the fields that an equal spec declares and this lacks, if what is stored keeps to them.
    pub(crate) fn add_fields(&self, asked: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&asked.name);
        let mut rows = self.write();
        rows.spec
            .check_serves(asked)
            .map_err(|e| refuse(e.into()))?;
        let lacking: Vec<_> = rows.spec.lacking(asked).into_iter().cloned().collect();
        if !lacking.is_empty() {
            let spec = CollectionSpec::clone(&rows.spec).with_fields(lacking);
            spec.check().map_err(|e| refuse(e.into()))?;
            check_kinds(&spec, rows.values()).map_err(|e| refuse(e.into()))?;
            rows.spec = Arc::new(spec);
        }
        Ok(())
    }

    /// Empties the collection and marks it for the handles that are still there.
    pub(crate) fn discard(&self) {
        let mut rows = self.write();
        rows.clear();
        rows.discarded = true;
    }
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
        let spec = shelf.read().spec.clone();
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

    fn check_open(&self, operation: Operation, rows: &Rows) -> Result<()> {
        if self.store_closed.load(Ordering::SeqCst) {
            return Err(closed(operation).on(&self.spec.name));
        }
        if rows.discarded {
            return Err(self.error(operation, ErrorKind::StaleHandle));
        }
        Ok(())
    }

    fn read(&self, operation: Operation) -> Result<RwLockReadGuard<'_, Rows>> {
        let rows = self.shelf.read();
        self.check_open(operation, &rows)?;
        Ok(rows)
    }

    fn write(&self, operation: Operation) -> Result<RwLockWriteGuard<'_, Rows>> {
        let rows = self.shelf.write();
        self.check_open(operation, &rows)?;
        Ok(rows)
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
        if Arc::ptr_eq(&rows.spec, &self.spec) {
            return Ok(());
        }
        rows.check_kinds(records)
            .map_err(|e| self.error(operation, e))
    }

    fn search_rows(&self, rows: &Rows, leg: &Leg) -> Result<Found> {
        let best = match &leg.ask {
            Ask::Dense(query) => dense::nearest(
                rows.matching(&leg.filter),
                query,
                self.spec.metric,
                leg.top_k,
            ),
            Ask::Lexical { words, matching } => {
                let index = (rows.words.as_ref())
                    .filter(|_| self.capabilities.lexical.is_some())
                    .ok_or_else(|| self.unsupported(Operation::Search, "lexical search"))?;
                if leg.filter.never_matches() {
                    return Ok(Found::nothing());
                }
                let partition = self.pinned_partition(&leg.filter)?;
                let matcher = Matcher::new(&leg.filter);
                let allowed = |key: &Key| {
                    let record = rows.get(key);
                    record.is_some_and(|record| matcher.matches(&record.metadata))
                };
                let best = index
                    .best(&partition, words, *matching, leg.top_k, allowed)
                    .map_err(|e| self.error(Operation::Search, too_many_expansions(&e)))?;
                best.into_iter()
                    .filter_map(|(key, score)| Some((score, rows.get(key)?)))
                    .collect()
            }
        };
        let hits = best.into_iter().map(|(score, record)| {
            Hit::new(
                record.key.clone(),
                score,
                record.text.clone(),
                record.metadata.clone(),
            )
        });
        Ok(Found::new(hits.collect(), End::Complete))
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
        let mut rows = self.write(Operation::Upsert)?;
        self.check_records(Operation::Upsert, &rows, records)?;
        rows.insert(records);
        Ok(())
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let mut rows = self.write(Operation::Delete)?;
        let deleted = keys.iter().filter(|key| rows.remove(key)).count();
        Ok(exact(deleted))
    }

    async fn search(&self, leg: &Leg) -> Result<Found> {
        let rows = self.read(Operation::Search)?;
        self.search_rows(&rows, leg)
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        // One guard, so both legs see one state.
        let rows = self.read(Operation::Search)?;
        Ok((
            self.search_rows(&rows, dense)?,
            self.search_rows(&rows, lexical)?,
        ))
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let rows = self.read(Operation::Fetch)?;
        let within = Matcher::new(within);
        let record = |key| {
            rows.get(key)
                .filter(|record| within.matches(&record.metadata))
        };
        Ok(keys
            .iter()
            .map(|key| record(key).map(|r| StoredRecord::of(r, include)))
            .collect())
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        let mut rows = self.write(Operation::Replace)?;
        self.check_records(Operation::Replace, &rows, with)?;
        let removed = rows.remove_matching(selector.filter());
        rows.insert(with);
        Ok(Replaced::new(exact(removed), with.len()))
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let mut rows = self.write(Operation::DeleteMatching)?;
        Ok(exact(rows.remove_matching(selector.filter())))
    }

    async fn delete_all(&self) -> Result<Count> {
        let mut rows = self.write(Operation::DeleteAll)?;
        Ok(exact(rows.clear()))
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let mut rows = self.write(Operation::UpdateMetadata)?;
        for (key, value) in patch.iter() {
            if let Some(value) = value {
                let checked = rows.spec.check_value(key, value);
                checked.map_err(|e| self.error(Operation::UpdateMetadata, e))?;
            }
        }
        Ok(exact(rows.patch_matching(selector.filter(), patch)))
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        let after = after.map(|cursor| self.key_of(cursor)).transpose()?;
        let rows = self.read(Operation::Scan)?;
        let filter = Matcher::new(filter);
        let matching = rows
            .after(after.as_ref())
            .filter(|record| filter.matches(&record.metadata));
        // One more than asked tells whether there is a next page.
        let mut found: Vec<&Record> = matching.take(limit.saturating_add(1)).collect();
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found
            .last()
            .filter(|_| more)
            .map(|record| cursor_at(&record.key));
        Ok(Page::new(
            found
                .into_iter()
                .map(|r| StoredRecord::of(r, include))
                .collect(),
            next,
        ))
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let rows = self.read(Operation::Count)?;
        Ok(exact(rows.matching(filter).count()))
    }

    fn write_order(&self) -> Option<WriteOrder> {
        Some(self.shelf.order.clone())
    }
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
