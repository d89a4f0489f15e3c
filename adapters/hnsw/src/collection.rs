use std::collections::HashSet;
use std::sync::Arc;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::filter::Matcher;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, NarrowFilter, Operation, Page, Precondition, Record, Replaced, Result,
    StoreError, StoredRecord, async_trait,
};

use shelfward_resident::Stop as Watched;

use crate::answers::found;
use crate::capabilities::capabilities;
use crate::files::change::Change;
use crate::home::Handle;
use crate::job::{Stop, blocking};
use crate::shelf::Shelf;
use crate::shelf::state::{Before, State};

/// A handle on a collection.
pub(crate) struct HnswCollection {
    at: At,
    capabilities: Capabilities,
}

/// What a job on a thread of its own needs of the handle.
#[derive(Clone)]
pub(crate) struct At {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) spec: Arc<CollectionSpec>,
    handle: Arc<Handle>,
}

impl HnswCollection {
    pub(crate) fn open(shelf: Arc<Shelf>, handle: Arc<Handle>) -> Self {
        let spec = shelf.read().rows.spec().clone();
        Self {
            capabilities: capabilities(handle.home.options(), handle.home.is_durable()),
            at: At {
                shelf,
                spec,
                handle,
            },
        }
    }

    /// Runs a read on one state.
    async fn read<T: Send + 'static>(
        &self,
        operation: Operation,
        read: impl FnOnce(&At, &State, Watched<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let at = self.at.clone();
        blocking(operation, move |stop| {
            let state = at.shelf.read();
            at.check_open(operation, state.discarded)?;
            stop.check(operation)?;
            let answer = read(&at, &state, stop.watched());
            stop.check(operation)?;
            answer
        })
        .await
    }

    /// Runs a write: what `prepare` says is to change, changes.
    async fn write<T: Send + 'static>(
        &self,
        operation: Operation,
        prepare: impl FnOnce(&At, &Before, Watched<'_>) -> Result<(Change, T)> + Send + 'static,
    ) -> Result<T> {
        let at = self.at.clone();
        blocking(operation, move |stop: &Stop| {
            let written = at.shelf.change(operation, stop, |before| {
                at.check_open(operation, before.discarded)?;
                prepare(&at, before, stop.watched())
            });
            written.map_err(|e| e.on(&at.spec.name))
        })
        .await
    }
}

impl At {
    pub(crate) fn error(&self, operation: Operation, kind: impl Into<ErrorKind>) -> StoreError {
        StoreError::new(operation, kind).on(&self.spec.name)
    }

    fn check_open(&self, operation: Operation, discarded: bool) -> Result<()> {
        let open = self.handle.check_open(operation);
        open.map_err(|e| e.on(&self.spec.name))?;
        if discarded {
            return Err(self.error(operation, ErrorKind::StaleHandle));
        }
        Ok(())
    }

    fn check_records(
        &self,
        operation: Operation,
        state: &Before,
        records: &[Record],
    ) -> Result<()> {
        // A vector of another width would be written to the log, which could not be read any more.
        (state.rows.check_records(records, &self.spec)).map_err(|e| self.error(operation, e))
    }
}

/// The keys of what a selector matches.
fn keys_matching(state: &Before, selector: &NarrowFilter, stop: Watched<'_>) -> Vec<Key> {
    let matching = state.rows.matching(selector.filter(), stop);
    let key = |slot| Some(state.rows.row(slot)?.key.clone());
    matching.iter().filter_map(key).collect()
}

#[async_trait]
impl CollectionAdapter for HnswCollection {
    fn spec(&self) -> &CollectionSpec {
        &self.at.spec
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        let records = records.to_vec();
        self.write(Operation::Upsert, move |at, state, _| {
            at.check_records(Operation::Upsert, state, &records)?;
            Ok((state.putting(&records), ()))
        })
        .await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        let keys: HashSet<Key> = keys.iter().cloned().collect();
        self.write(Operation::Delete, move |_, state, _| {
            let there = |key: &Key| state.rows.slot(key).is_some();
            let mut keys: Vec<Key> = keys.into_iter().filter(there).collect();
            keys.sort_unstable();
            let count = exact(keys.len());
            Ok((Change::remove(keys), count))
        })
        .await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        let legs = legs.to_vec();
        let can = self.capabilities.lexical.is_some();
        // One guard, so all legs see one state.
        self.read(Operation::Search, move |at, state, stop| {
            let results = legs.iter().map(|leg| found(at, state, leg, can, stop));
            results.collect()
        })
        .await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        let (keys, within) = (keys.to_vec(), within.clone());
        self.read(Operation::Fetch, move |_, state, _| {
            let within = Matcher::new(&within);
            let stored = |key| {
                let slot = state.rows.slot(key)?;
                let matches = within.matches(&state.rows.row(slot)?.metadata);
                matches.then(|| state.rows.stored(slot, include)).flatten()
            };
            Ok(keys.iter().map(stored).collect())
        })
        .await
    }

    async fn replace(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        if precondition.is_some() {
            return Err(self.unsupported(Operation::Replace, "a precondition"));
        }
        let (selector, with) = (selector.clone(), with.to_vec());
        self.write(Operation::Replace, move |at, state, stop| {
            at.check_records(Operation::Replace, state, &with)?;
            let mut removed = keys_matching(state, &selector, stop);
            let replaced = Replaced::new(exact(removed.len()), with.len());
            // What comes back under its key is written over, and keeps its node where it can.
            let back: HashSet<&Key> = with.iter().map(|record| &record.key).collect();
            removed.retain(|key| !back.contains(key));
            let change = Change {
                removed,
                ..state.putting(&with)
            };
            Ok((change, Some(replaced)))
        })
        .await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        let selector = selector.clone();
        self.write(Operation::DeleteMatching, move |_, state, stop| {
            let removed = keys_matching(state, &selector, stop);
            let count = exact(removed.len());
            Ok((Change::remove(removed), count))
        })
        .await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.write(Operation::DeleteAll, move |_, state, _| {
            let change = Change {
                clear: !state.rows.is_empty(),
                ..Change::default()
            };
            Ok((change, exact(state.rows.len())))
        })
        .await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        let (selector, patch) = (selector.clone(), patch.clone());
        self.write(Operation::UpdateMetadata, move |at, state, stop| {
            for (key, value) in patch.iter() {
                if let Some(value) = value {
                    let checked = state.rows.spec().check_value(key, value);
                    checked.map_err(|e| at.error(Operation::UpdateMetadata, e))?;
                }
            }
            let matching = state.rows.matching(selector.filter(), stop);
            let patched = |slot| {
                let row = state.rows.row(slot)?;
                Some((row.key.clone(), Arc::new(patch.apply(&row.metadata))))
            };
            let change = Change {
                patched: matching.iter().filter_map(patched).collect(),
                ..Change::default()
            };
            Ok((change, Count::Exact(matching.len())))
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
            (after.map(Cursor::key).transpose()).map_err(|e| self.at.error(Operation::Scan, e))?;
        let filter = filter.clone();
        self.read(Operation::Scan, move |_, state, stop| {
            Ok(state
                .rows
                .scan(&filter, after.as_ref(), limit, include, stop))
        })
        .await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        let filter = filter.clone();
        self.read(Operation::Count, move |_, state, stop| {
            Ok(Count::Exact(state.rows.matching(&filter, stop).len()))
        })
        .await
    }
}

fn exact(n: usize) -> Count {
    u64::try_from(n).map_or(Count::Unknown, Count::Exact)
}
