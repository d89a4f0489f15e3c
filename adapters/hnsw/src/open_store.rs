//! What all handles of one store share: its options, its directory and its collections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use shelfward_adapter::cancel::{BlockingJobs, CancelToken};
use shelfward_core::adapter::WriteLocks;
use shelfward_core::{CollectionName, CollectionSpec, Operation, Result};

use crate::config::HnswOptions;
use crate::error::{FileError, FileResult, closed};
use crate::files::layout::{Layout, collection_names};
use crate::jobs::begin_commit;
use crate::state::CollectionState;
use crate::store_dir::StoreDir;

/// Writes of all collections that have a thread: they wait for the disk, and for locks.
const WRITES: usize = 8;
/// Openings, creations and drops that have a thread: a load takes one for as long as it reads.
const CATALOG: usize = 32;

pub(crate) struct OpenStore {
    options: HnswOptions,
    /// `None` in memory.
    dir: Option<StoreDir>,
    collections: Mutex<Collections>,
    pub(crate) locks: WriteLocks,
    pub(crate) reads: BlockingJobs,
    pub(crate) writes: BlockingJobs,
    pub(crate) catalog: BlockingJobs,
    pub(crate) settling: BlockingJobs,
}

#[derive(Default)]
struct Collections {
    /// The collections that were used since the store was opened; all of them in memory.
    by_name: BTreeMap<CollectionName, Arc<Entry>>,
    /// Set when the last handle was closed.
    closed: bool,
}

/// One collection: locked while it is loaded, created or dropped, which others are not kept from.
/// `None` where it is not loaded, or does not exist.
type Entry = Mutex<Option<Arc<CollectionState>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenStore {
    pub(crate) fn new(options: HnswOptions, dir: Option<StoreDir>) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            options,
            dir,
            collections: Mutex::default(),
            locks: WriteLocks::new(),
            reads: BlockingJobs::new((4 * cores).max(16)),
            writes: BlockingJobs::new(WRITES),
            catalog: BlockingJobs::new(CATALOG),
            settling: BlockingJobs::new(1),
        }
    }

    pub(crate) fn options(&self) -> &HnswOptions {
        &self.options
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.dir.is_some()
    }

    /// Works on the entry of one collection, alone.
    fn with_entry<T>(
        &self,
        operation: Operation,
        name: &CollectionName,
        work: impl FnOnce(&mut Option<Arc<CollectionState>>) -> Result<T>,
    ) -> Result<T> {
        let entry = {
            let mut collections = lock(&self.collections);
            if collections.closed {
                return Err(closed(operation));
            }
            collections.by_name.entry(name.clone()).or_default().clone()
        };
        let mut state = lock(&entry);
        // What came to its turn after the last handle was closed ends here.
        let answer = if lock(&self.collections).closed {
            Err(closed(operation))
        } else {
            work(&mut state)
        };
        let is_empty = state.is_none();
        drop(state);
        if is_empty {
            let mut collections = lock(&self.collections);
            // The map's own and this one: nobody else has it, or gets it while the map is locked.
            if Arc::strong_count(&entry) <= 2 && lock(&entry).is_none() {
                collections.by_name.remove(name);
            }
        }
        answer
    }

    /// The collections in memory. The lock of each is waited for.
    fn loaded(&self) -> Vec<(CollectionName, Arc<CollectionState>)> {
        let entries: Vec<_> = {
            let collections = lock(&self.collections);
            let by_name = collections.by_name.iter();
            by_name
                .map(|(n, entry)| (n.clone(), entry.clone()))
                .collect()
        };
        let loaded = entries.into_iter();
        loaded
            .filter_map(|(name, entry)| Some((name, lock(&entry).clone()?)))
            .collect()
    }

    /// Creates a collection, or adds the fields that an equal one lacks.
    pub(crate) fn create(&self, spec: &CollectionSpec, token: &CancelToken) -> Result<()> {
        let operation = Operation::Create;
        let failed = |e: FileError| e.during(operation).on(&spec.name);
        let existing = self.with_entry(operation, &spec.name, |entry| {
            if let Some(existing) = self.find(entry, &spec.name).map_err(failed)? {
                return Ok(Some(existing));
            }
            let _gate = begin_commit(token, operation)?;
            let state = match self.layout(&spec.name) {
                Some(layout) => {
                    CollectionState::create(layout, spec.clone(), self.options).map_err(failed)?
                }
                None => CollectionState::in_memory(spec.clone(), self.options),
            };
            *entry = Some(Arc::new(state));
            Ok(None)
        })?;
        existing.map_or(Ok(()), |existing| existing.add_fields(spec, token))
    }

    pub(crate) fn open(&self, name: &CollectionName) -> Result<Option<Arc<CollectionState>>> {
        let found = self.with_entry(Operation::Open, name, |entry| {
            let found = self.find(entry, name);
            found.map_err(|e| e.during(Operation::Open).on(name))
        })?;
        if let Some(state) = &found {
            // A graph that could not be loaded is built from here on.
            state.start_maintenance();
        }
        Ok(found)
    }

    fn find(
        &self,
        entry: &mut Option<Arc<CollectionState>>,
        name: &CollectionName,
    ) -> FileResult<Option<Arc<CollectionState>>> {
        let layout = self.layout(name);
        if let Some(state) = entry {
            if state.check_whole().is_ok() || layout.is_none() {
                return Ok(Some(state.clone()));
            }
            // Its files are whole.
            state.release_files();
            *entry = None;
        }
        if let Some(layout) = layout {
            *entry = CollectionState::load(layout, self.options)?.map(Arc::new);
        }
        Ok(entry.clone())
    }

    fn layout(&self, name: &CollectionName) -> Option<Layout> {
        let dir = self.dir.as_ref()?;
        Some(Layout::new(dir.path(), name))
    }

    pub(crate) fn list(&self) -> Result<Vec<CollectionName>> {
        match &self.dir {
            Some(dir) => collection_names(dir.path()).map_err(|e| e.during(Operation::List)),
            None => Ok(self.loaded().into_iter().map(|(name, _)| name).collect()),
        }
    }

    /// Drops a collection; one whose files cannot be read too. What a drop that failed left of its
    /// files is removed by the next one.
    pub(crate) fn drop_collection(
        &self,
        name: &CollectionName,
        token: &CancelToken,
    ) -> Result<bool> {
        let operation = Operation::DropCollection;
        self.with_entry(operation, name, |entry| {
            if let Some(state) = entry {
                let ended = state.discard(token).map_err(|e| e.on(name));
                if state.read().discarded {
                    *entry = None;
                }
                return ended.map(|()| true);
            }
            let Some(layout) = self.layout(name) else {
                return Ok(false);
            };
            let _gate = begin_commit(token, operation)?;
            layout.remove().map_err(|e| e.during(operation).on(name))
        })
    }

    pub(crate) fn check_in_place(&self) -> FileResult<()> {
        self.dir.as_ref().map_or(Ok(()), StoreDir::check_in_place)
    }

    pub(crate) fn check_health(&self) -> Result<()> {
        match &self.dir {
            Some(dir) => dir.check().map_err(|e| e.during(Operation::Health)),
            None => Ok(()),
        }
    }

    /// Waits until no maintenance is left to do.
    pub(crate) fn settle(&self) {
        for (_, state) in self.loaded() {
            state.settle();
        }
    }

    /// Saves every collection. Answers the first error, after the others were saved; what was written to
    /// that collection is in its log.
    pub(crate) fn close(&self) -> FileResult<()> {
        let mut ended = Ok(());
        let entries = {
            let mut collections = lock(&self.collections);
            collections.closed = true;
            std::mem::take(&mut collections.by_name)
        };
        for entry in entries.into_values() {
            if let Some(state) = lock(&entry).take() {
                let closed = state.close();
                if ended.is_ok() {
                    ended = closed;
                }
            }
        }
        // Handles that were closed may be there for longer than the store is open.
        if let Some(dir) = &self.dir {
            dir.unlock();
        }
        ended
    }
}
