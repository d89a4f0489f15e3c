//! What all handles of one store share: its folder, and its collections.

mod folder;
mod place;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::adapter::WriteLocks;
use shelfward_core::{CollectionName, CollectionSpec, Operation, Result};

use crate::config::HnswOptions;
use crate::error::FileResult;
use crate::files::layout::{Layout, collections};
use crate::job::Stop;
use crate::shelf::Shelf;
use folder::Folder;
pub(crate) use place::{Handle, closed};

pub(crate) struct Home {
    options: HnswOptions,
    /// `None`: nothing is kept.
    folder: Option<Folder>,
    /// The collections that were used since the store was opened; all of them where nothing is kept.
    shelves: Mutex<BTreeMap<CollectionName, Arc<Shelf>>>,
    /// Set, under the lock of the collections, when the last handle was closed. What was asked for
    /// before and comes to its turn afterwards finds it.
    is_shut: AtomicBool,
    pub(crate) locks: WriteLocks,
}

impl Home {
    fn new(options: HnswOptions, folder: Option<Folder>) -> Self {
        Self {
            options,
            folder,
            shelves: Mutex::default(),
            is_shut: AtomicBool::new(false),
            locks: WriteLocks::new(),
        }
    }

    pub(crate) fn options(&self) -> &HnswOptions {
        &self.options
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.folder.is_some()
    }

    fn shelves(&self) -> MutexGuard<'_, BTreeMap<CollectionName, Arc<Shelf>>> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_shelves(
        &self,
        operation: Operation,
    ) -> Result<MutexGuard<'_, BTreeMap<CollectionName, Arc<Shelf>>>> {
        let shelves = self.shelves();
        if self.is_shut.load(Ordering::SeqCst) {
            return Err(closed(operation));
        }
        Ok(shelves)
    }

    /// Creates a collection, or adds the fields that an equal one lacks.
    pub(crate) fn create(&self, spec: &CollectionSpec, stop: &Stop) -> Result<()> {
        let operation = Operation::Create;
        let failed = |e: crate::error::FileError| e.during(operation).on(&spec.name);
        let mut shelves = self.open_shelves(operation)?;
        if let Some(shelf) = self.find(&mut shelves, &spec.name).map_err(failed)? {
            drop(shelves);
            return shelf.add_fields(spec, stop);
        }
        let _gate = stop.commit(operation)?;
        let shelf = match self.layout(&spec.name) {
            Some(layout) => Shelf::create(layout, spec.clone(), self.options).map_err(failed)?,
            None => Shelf::in_memory(spec.clone(), self.options),
        };
        shelves.insert(spec.name.clone(), Arc::new(shelf));
        Ok(())
    }

    pub(crate) fn open(&self, name: &CollectionName) -> Result<Option<Arc<Shelf>>> {
        let found = self.find(&mut *self.open_shelves(Operation::Open)?, name);
        let found = found.map_err(|e| e.during(Operation::Open).on(name))?;
        if let Some(shelf) = &found {
            // A graph that could not be loaded is built from here on.
            shelf.look_after();
        }
        Ok(found)
    }

    fn find(
        &self,
        shelves: &mut BTreeMap<CollectionName, Arc<Shelf>>,
        name: &CollectionName,
    ) -> FileResult<Option<Arc<Shelf>>> {
        if let Some(shelf) = shelves.get(name) {
            return Ok(Some(shelf.clone()));
        }
        let Some(layout) = self.layout(name) else {
            return Ok(None);
        };
        let loaded = Shelf::load(layout, self.options)?.map(Arc::new);
        if let Some(shelf) = &loaded {
            shelves.insert(name.clone(), shelf.clone());
        }
        Ok(loaded)
    }

    fn layout(&self, name: &CollectionName) -> Option<Layout> {
        let folder = self.folder.as_ref()?;
        Some(Layout::new(folder.path(), name))
    }

    pub(crate) fn list(&self) -> Result<Vec<CollectionName>> {
        match &self.folder {
            Some(folder) => collections(folder.path()).map_err(|e| e.during(Operation::List)),
            None => Ok(self.shelves().keys().cloned().collect()),
        }
    }

    /// Drops a collection; one whose files cannot be read too. What a drop that failed left of its
    /// files is removed by the next one.
    pub(crate) fn drop_collection(&self, name: &CollectionName, stop: &Stop) -> Result<bool> {
        let mut shelves = self.open_shelves(Operation::DropCollection)?;
        if let Some(shelf) = shelves.get(name) {
            let ended = shelf.discard(stop).map_err(|e| e.on(name));
            if shelf.read().discarded {
                shelves.remove(name);
            }
            return ended.map(|()| true);
        }
        let Some(layout) = self.layout(name) else {
            return Ok(false);
        };
        let _gate = stop.commit(Operation::DropCollection)?;
        let removed = layout.remove_snapshot().and_then(|there| {
            layout.remove_all_but(None)?;
            Ok(there)
        });
        removed.map_err(|e| e.during(Operation::DropCollection).on(name))
    }

    fn check_in_place(&self) -> FileResult<()> {
        self.folder.as_ref().map_or(Ok(()), Folder::check_in_place)
    }

    pub(crate) fn check_health(&self) -> Result<()> {
        match &self.folder {
            Some(folder) => folder.check().map_err(|e| e.during(Operation::Health)),
            None => Ok(()),
        }
    }

    /// Waits until nothing is left to do in the background.
    pub(crate) fn settle(&self) {
        let shelves: Vec<_> = self.shelves().values().cloned().collect();
        for shelf in shelves {
            shelf.settle();
        }
    }

    /// Saves every collection. The first that cannot be saved is told of, after the others were; what
    /// was written to it is in its log.
    fn shut(&self) -> FileResult<()> {
        let mut ended = Ok(());
        let mut shelves = self.shelves();
        self.is_shut.store(true, Ordering::SeqCst);
        for shelf in std::mem::take(&mut *shelves).into_values() {
            let shut = shelf.shut();
            if ended.is_ok() {
                ended = shut;
            }
        }
        // Handles that were closed may be there for longer than the store is open.
        if let Some(folder) = &self.folder {
            folder.unlock();
        }
        ended
    }
}
