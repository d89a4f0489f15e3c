//! One collection, shared by all its handles: its contents, how they are written, and the maintenance
//! that is done in the background.

pub(crate) mod contents;
mod save;
mod tasks;
#[cfg(test)]
mod tests;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_adapter::cancel::{BlockingJobs, CancelToken};
use shelfward_core::{CollectionSpec, ErrorKind, Operation, Result, StoreError};

use crate::config::HnswOptions;
use crate::error::{FileError, FileResult, closed};
use crate::files::generation::Generation;
use crate::files::layout::Layout;
use crate::files::log::Log;
use crate::files::log_entry::LogEntry;
use crate::jobs::{begin_commit, check};
use contents::{Contents, Retired, WriterView};
use worker::MaintenanceWorker;

pub(crate) struct CollectionState {
    pub(crate) options: HnswOptions,
    /// One write has a thread; the lock below would have all others wait for it on theirs.
    pub(crate) writes: BlockingJobs,
    /// Locked by a writer from the moment it decides what to change until it has.
    files: Mutex<Option<DurableFiles>>,
    /// Locked while everything is saved, which writers do not wait for. Taken before the writer's lock.
    saving: Mutex<()>,
    contents: RwLock<Contents>,
    worker: MaintenanceWorker,
    /// Searches that the graph answered.
    pub(crate) graph_searches: AtomicU64,
}

/// The files of a collection that is not in memory alone.
pub(crate) struct DurableFiles {
    layout: Layout,
    generation: Generation,
    log: Log,
    /// How long the log must be before the next save in the background.
    save_at: u64,
    /// How many nodes the saved graph has.
    saved_nodes: usize,
    /// What was written since a save began, which the log of the next generation must contain too.
    since_save: Option<Vec<Vec<u8>>>,
}

impl CollectionState {
    /// An empty collection in memory.
    pub(crate) fn in_memory(spec: CollectionSpec, options: HnswOptions) -> Self {
        let contents = Contents::new(Arc::new(spec), &options, false);
        Self::with(contents, options, None)
    }

    fn with(contents: Contents, options: HnswOptions, files: Option<DurableFiles>) -> Self {
        Self {
            options,
            writes: BlockingJobs::new(1),
            files: Mutex::new(files),
            saving: Mutex::default(),
            contents: RwLock::new(contents),
            worker: MaintenanceWorker::default(),
            graph_searches: AtomicU64::new(0),
        }
    }

    // Whether this lock is poisoned is asked by `check_whole`; nothing is half done under the others.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        let contents = self.contents.write();
        contents.unwrap_or_else(PoisonError::into_inner)
    }

    fn files(&self) -> MutexGuard<'_, Option<DurableFiles>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saving(&self) -> MutexGuard<'_, ()> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses contents that a panic left in the middle of a change. The log has all of the change, or
    /// nothing.
    pub(crate) fn check_whole(&self) -> FileResult<()> {
        if self.contents.is_poisoned() {
            return Err(FileError::HalfApplied);
        }
        Ok(())
    }

    /// One write. `plan` looks at the contents and answers what is to change, or refuses; that is
    /// appended to the log, and then applied. What changes many rows is applied to a clone of them before
    /// it is appended, and readers go on with those there were.
    pub(crate) fn change<T>(
        self: &Arc<Self>,
        operation: Operation,
        token: &CancelToken,
        plan: impl FnOnce(&WriterView) -> Result<(LogEntry, T)>,
    ) -> Result<T> {
        self.change_by(operation, token, plan, Contents::apply)
    }

    fn change_by<T>(
        self: &Arc<Self>,
        operation: Operation,
        token: &CancelToken,
        plan: impl FnOnce(&WriterView) -> Result<(LogEntry, T)>,
        apply: impl FnOnce(&mut Contents, &LogEntry) -> Retired,
    ) -> Result<T> {
        let mut files = self.files();
        check(token, operation)?;
        self.check_whole().map_err(|e| e.during(operation))?;
        let view = {
            let contents = self.read();
            if contents.closed {
                return Err(closed(operation));
            }
            contents.writer_view()
        };
        let (entry, answer) = plan(&view)?;
        if entry.is_nothing() {
            return Ok(answer);
        }
        let payload = files.is_some().then(|| payload(&entry)).transpose();
        let payload = payload.map_err(|e| e.during(operation))?;
        let prepared = view.prepare(&entry);
        // Or its rows would be cloned.
        drop(view);
        // Checked once more: planning may have taken long. From here on it happens.
        let gate = begin_commit(token, operation)?;
        if let (Some(files), Some(payload)) = (&mut *files, payload) {
            let appended = files.log.append(&payload);
            appended.map_err(|e| e.during(operation))?;
            if let Some(since) = &mut files.since_save {
                since.push(payload);
            }
        }
        // It is in the log, so a panic must not look as if it were not. The poisoned lock remembers it.
        let applied = catch_unwind(AssertUnwindSafe(|| {
            let mut contents = self.write();
            match prepared {
                Some(prepared) => contents.install(prepared),
                None => apply(&mut contents, &entry),
            }
        }));
        let retired = applied.map_err(|_| {
            StoreError::new(operation, ErrorKind::Engine).with_source(FileError::HalfApplied)
        })?;
        drop(gate);
        drop(files);
        drop(retired);
        self.start_maintenance();
        Ok(answer)
    }

    /// Adds the fields that an equal spec declares and this one lacks, if the rows conform to them.
    pub(crate) fn add_fields(
        self: &Arc<Self>,
        asked: &CollectionSpec,
        token: &CancelToken,
    ) -> Result<()> {
        if self.read().rows.spec().covers(asked) {
            return Ok(());
        }
        self.change(Operation::Create, token, |view| {
            let spec = view.rows.plan_fields(asked);
            let spec = spec.map_err(|e| StoreError::new(Operation::Create, e).on(&asked.name))?;
            let entry = LogEntry {
                spec,
                ..LogEntry::default()
            };
            Ok((entry, ()))
        })
    }

    /// Removes the collection's files, empties it and marks it as dropped for the handles that are still
    /// there.
    ///
    /// Once the snapshot is a tombstone the collection is deleted, even if a later step fails: what would
    /// be written from then on would be lost.
    pub(crate) fn discard(&self, token: &CancelToken) -> Result<()> {
        // A save under way would make files of it again.
        let _saving = self.saving();
        let mut files = self.files();
        let _gate = begin_commit(token, Operation::DropCollection)?;
        let failed = |e: FileError| e.during(Operation::DropCollection);
        let mut removed = Ok(());
        if let Some(files) = &*files {
            files.layout.bury().map_err(failed)?;
            removed = files.layout.remove_leftovers().map_err(failed);
        }
        *files = None;
        let retired = {
            let mut contents = self.write();
            contents.discarded = true;
            let prepared = contents.writer_view().prepare(&LogEntry::clear());
            prepared.map(|prepared| contents.install(prepared))
        };
        self.worker.request_stop();
        drop(retired);
        removed
    }

    /// Gives the files up, so that they can be loaded again.
    pub(crate) fn release_files(&self) {
        self.worker.request_stop();
        let _saving = self.saving();
        *self.files() = None;
    }
}

/// An entry as the log stores it.
fn payload(entry: &LogEntry) -> Result<Vec<u8>, FileError> {
    let payload = entry.to_bytes()?;
    if !Log::has_room_for(&payload) {
        return Err(FileError::Io(std::io::ErrorKind::FileTooLarge));
    }
    Ok(payload)
}
