use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::Poll;

use shelfward_core::adapter::{CollectionAdapter, LockScope, WriteLock};
use shelfward_core::filter::Matcher;
use shelfward_core::{
    Ask, Capabilities, CollectionSpec, Count, Cursor, End, ErrorKind, Filter, Hit, Include, Key,
    Leg, LegResult, MetadataPatch, NarrowFilter, Operation, Page, Precondition, Record, Replaced,
    Result, StoreError, StoredRecord, async_trait,
};
use shelfward_resident::{Changes, RoaringBitmap, Rows, RowsOptions, Slot, Stop};

use crate::config::MemoryOptions;
use crate::store::closed;

/// One collection, shared by all its handles.
pub(crate) struct Shelf {
    state: RwLock<State>,
    /// The lock of whoever changes the rows, from the moment it looks at them until it has. Readers do
    /// not wait for it.
    writer: WriteLock,
}

struct State {
    /// Held by others, too, only while a bulk change is made on a clone.
    rows: Arc<Rows>,
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
                rows: Arc::new(Rows::new(Arc::new(spec), held)),
                discarded: false,
            }),
            writer: WriteLock::new(),
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
    pub(crate) async fn add_fields(&self, asked: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&asked.name);
        let _guard = self.writer.acquire(LockScope::Collection).await;
        let rows = self.read().rows.clone();
        let held = rows.spec();
        held.check_serves(asked).map_err(|e| refuse(e.into()))?;
        let lacking: Vec<_> = held.lacking(asked).into_iter().cloned().collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let spec = CollectionSpec::clone(held).with_fields(lacking);
        spec.check().map_err(|e| refuse(e.into()))?;
        for row in rows.slots().iter().filter_map(|slot| rows.row(slot)) {
            spec.check_metadata(&row.metadata)
                .map_err(|e| refuse(e.into()))?;
        }
        let mut next = Rows::clone(&rows);
        next.set_spec(Arc::new(spec));
        // One that was dropped meanwhile stays empty.
        let mut state = self.write();
        if !state.discarded {
            state.rows = Arc::new(next);
        }
        Ok(())
    }

    /// Empties the collection and marks it for the handles that are still there.
    pub(crate) fn discard(&self) {
        let old = {
            let mut state = self.write();
            state.discarded = true;
            let empty = Arc::new(state.rows.emptied());
            std::mem::replace(&mut state.rows, empty)
        };
        drop(old);
    }
}

/// So many rows are changed between two moments at which the runtime may go on with others.
const SLICE: usize = 1_024;

/// A read works within one poll of its future, which is not dropped meanwhile.
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

    /// One write: `prepare` looks at what there is and says what is to change, or refuses.
    ///
    /// A few rows are changed in place. Many are changed on a clone that takes their place at the end,
    /// so that readers go on; whoever drops the call before that has changed nothing.
    async fn change<T>(
        &self,
        operation: Operation,
        prepare: impl FnOnce(&Rows) -> Result<(Changes, T)>,
    ) -> Result<T> {
        let _guard = self.shelf.writer.acquire(LockScope::Collection).await;
        let rows = self.read(operation)?.rows.clone();
        let (changes, answer) = prepare(&rows)?;
        if !rows.is_bulk(changes.len()) {
            // Or they would be cloned.
            drop(rows);
            let mut state = self.write(operation)?;
            Arc::make_mut(&mut state.rows).apply(&changes);
            return Ok(answer);
        }
        yield_now().await;
        let mut next = Rows::clone(&rows);
        drop(rows);
        yield_now().await;
        next.remove_all(&changes.removed);
        for put in changes.put.chunks(SLICE) {
            yield_now().await;
            next.put_all(put);
        }
        for patched in changes.patched.chunks(SLICE) {
            yield_now().await;
            next.patch_all(patched);
        }
        let next = Arc::new(next);
        let old = std::mem::replace(&mut self.write(operation)?.rows, next);
        // Outside of the lock.
        drop(old);
        Ok(answer)
    }

    fn check_records(&self, operation: Operation, rows: &Rows, records: &[Record]) -> Result<()> {
        rows.check_records(records, &self.spec)
            .map_err(|e| self.error(operation, e))
    }

    /// The best of one leg among the rows that its filter matches, or all.
    fn search_rows(
        &self,
        rows: &Rows,
        leg: &Leg,
        among: Option<&RoaringBitmap>,
    ) -> Result<LegResult> {
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
        Ok(LegResult::new(
            best.into_iter().filter_map(hit).collect(),
            End::Complete,
        ))
    }
}

#[async_trait]
impl CollectionAdapter for MemoryCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.change(Operation::Upsert, |rows| {
            self.check_records(Operation::Upsert, rows, records)?;
            let changes = Changes {
                put: records.to_vec(),
                ..Changes::default()
            };
            Ok((changes, ()))
        })
        .await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.change(Operation::Delete, |rows| {
            let there = keys.iter().filter(|key| rows.slot(key).is_some());
            let there: BTreeSet<&Key> = there.collect();
            Ok(removing(there.into_iter().cloned().collect()))
        })
        .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        // One guard, so all legs see one state.
        let rows = &self.read(Operation::Search)?.rows;
        let mut last: Option<(&Filter, Option<RoaringBitmap>)> = None;
        let mut results = Vec::with_capacity(legs.len());
        for leg in legs {
            let among = match last.take() {
                Some((filter, among)) if *filter == *leg.filter => among,
                _ => among(rows, &leg.filter),
            };
            results.push(self.search_rows(rows, leg, among.as_ref())?);
            last = Some((&leg.filter, among));
        }
        Ok(results)
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

    async fn replace(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.change(Operation::Replace, |rows| {
            self.check_records(Operation::Replace, rows, with)?;
            if precondition.is_some_and(|expected| !meets(rows, expected, selector)) {
                return Ok((Changes::default(), None));
            }
            let (mut changes, removed) = removing(keys_matching(rows, selector));
            changes.put = with.to_vec();
            Ok((changes, Some(Replaced::new(removed, with.len()))))
        })
        .await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        self.change(Operation::DeleteMatching, |rows| {
            Ok(removing(keys_matching(rows, selector)))
        })
        .await
    }

    async fn delete_all(&self) -> Result<Count> {
        let _guard = self.shelf.writer.acquire(LockScope::Collection).await;
        let old = {
            let mut state = self.write(Operation::DeleteAll)?;
            let empty = Arc::new(state.rows.emptied());
            std::mem::replace(&mut state.rows, empty)
        };
        Ok(exact(old.len()))
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        self.change(Operation::UpdateMetadata, |rows| {
            for (key, value) in patch.iter() {
                if let Some(value) = value {
                    let checked = rows.spec().check_value(key, value);
                    checked.map_err(|e| self.error(Operation::UpdateMetadata, e))?;
                }
            }
            let matching = rows.matching(selector.filter(), NEVER);
            let patched = |slot| {
                let row = rows.row(slot)?;
                Some((row.key.clone(), Arc::new(patch.apply(&row.metadata))))
            };
            let changes = Changes {
                patched: matching.iter().filter_map(patched).collect(),
                ..Changes::default()
            };
            Ok((changes, Count::Exact(matching.len())))
        })
        .await
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
}

/// Whether a record, looked for within the selector, is as the precondition says.
fn meets(rows: &Rows, precondition: &Precondition, selector: &NarrowFilter) -> bool {
    let row = rows.slot(&precondition.key).and_then(|slot| rows.row(slot));
    let metadata = row.map(|row| &*row.metadata);
    precondition.is_met_by(metadata.filter(|metadata| selector.filter().matches(metadata)))
}

/// The rows that a filter matches; `None` for all of them.
fn among(rows: &Rows, filter: &Filter) -> Option<RoaringBitmap> {
    (!filter.is_everything()).then(|| rows.matching(filter, NEVER))
}

/// The keys of what a selector matches.
fn keys_matching(rows: &Rows, selector: &NarrowFilter) -> Vec<Key> {
    let matching = rows.matching(selector.filter(), NEVER);
    let key = |slot| Some(rows.row(slot)?.key.clone());
    matching.iter().filter_map(key).collect()
}

/// The change that removes what is under keys, and how many there are.
fn removing(removed: Vec<Key>) -> (Changes, Count) {
    let count = exact(removed.len());
    let changes = Changes {
        removed,
        ..Changes::default()
    };
    (changes, count)
}

/// Lets the runtime go on with others.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn exact(n: usize) -> Count {
    u64::try_from(n).map_or(Count::Unknown, Count::Exact)
}
