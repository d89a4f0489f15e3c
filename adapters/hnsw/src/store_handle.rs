//! Handles on stores, and the registry of the directories that this process has open.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use shelfward_adapter::sync::lock;
use shelfward_core::{ErrorKind, Operation, Result, StoreError};

use crate::config::HnswOptions;
use crate::error::{FileError, FileResult, closed};
use crate::open_store::OpenStore;
use crate::store_dir::StoreDir;

/// The store of one directory, open or not. Locked while it is opened and while it is closed, so that
/// whoever opens it meanwhile waits.
#[derive(Default)]
struct RegistryEntry {
    /// `None` in memory.
    path: Option<PathBuf>,
    open: Mutex<Option<Counted>>,
}

struct Counted {
    store: Arc<OpenStore>,
    handles: usize,
}

/// The directories that this process has open.
static REGISTRY: Mutex<BTreeMap<PathBuf, Arc<RegistryEntry>>> = Mutex::new(BTreeMap::new());

fn registry() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<RegistryEntry>>> {
    lock(&REGISTRY)
}

impl RegistryEntry {
    fn open(&self) -> MutexGuard<'_, Option<Counted>> {
        lock(&self.open)
    }

    /// Counts one handle less. The last one closes the store.
    fn release(&self) -> FileResult<()> {
        let mut open = self.open();
        if let Some(counted) = &mut *open {
            counted.handles -= 1;
            if counted.handles > 0 {
                return Ok(());
            }
        }
        let ended = match open.take() {
            Some(counted) => counted.store.close(),
            None => Ok(()),
        };
        drop(open);
        if let Some(path) = &self.path {
            let mut registry = registry();
            // The registry's own and that of the handle that is going.
            if registry
                .get(path)
                .is_some_and(|entry| Arc::strong_count(entry) <= 2)
            {
                registry.remove(path);
            }
        }
        ended
    }
}

/// A handle on a store. Collections that were opened through it keep it.
pub(crate) struct StoreHandle {
    entry: Arc<RegistryEntry>,
    pub(crate) store: Arc<OpenStore>,
    closed: AtomicBool,
}

impl StoreHandle {
    pub(crate) fn in_memory(options: HnswOptions) -> Result<Self> {
        check(&options)?;
        Ok(Self::on_memory(options))
    }

    pub(crate) fn in_memory_by_default() -> Self {
        Self::on_memory(HnswOptions::default())
    }

    fn on_memory(options: HnswOptions) -> Self {
        let store = Arc::new(OpenStore::new(options, None));
        let entry = Arc::new(RegistryEntry::default());
        *entry.open() = Some(Counted {
            store: store.clone(),
            handles: 1,
        });
        Self::on(entry, store)
    }

    fn on(entry: Arc<RegistryEntry>, store: Arc<OpenStore>) -> Self {
        Self {
            entry,
            store,
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn open(path: &Path, options: HnswOptions) -> Result<Self> {
        let failed = |e: FileError| e.during(Operation::Connect);
        check(&options)?;
        // One directory has many names. One that does not exist yet has none of them, and is made first.
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            Err(_) => {
                StoreDir::open(path).map_err(failed)?;
                fs::canonicalize(path).map_err(|e| failed(e.into()))?
            }
        };
        let entry = registry()
            .entry(path.clone())
            .or_insert_with(|| {
                Arc::new(RegistryEntry {
                    path: Some(path.clone()),
                    open: Mutex::default(),
                })
            })
            .clone();
        let mut open = entry.open();
        let store = match &mut *open {
            Some(counted) if *counted.store.options() != options => {
                let invalid = "the folder is open in this process with other options";
                let kind = ErrorKind::Invalid(invalid.to_owned());
                return Err(StoreError::new(Operation::Connect, kind));
            }
            Some(counted) => {
                counted.handles += 1;
                counted.store.clone()
            }
            None => {
                let dir = StoreDir::open(&path).map_err(failed)?;
                let store = Arc::new(OpenStore::new(options, Some(dir)));
                *open = Some(Counted {
                    store: store.clone(),
                    handles: 1,
                });
                store
            }
        };
        drop(open);
        Ok(Self::on(entry, store))
    }

    /// Another handle on the same store; closed from the first where the store is.
    pub(crate) fn another(&self) -> Self {
        let another = Self::on(self.entry.clone(), self.store.clone());
        match &mut *self.entry.open() {
            Some(counted) if Arc::ptr_eq(&counted.store, &self.store) => counted.handles += 1,
            _ => another.closed.store(true, Ordering::SeqCst),
        }
        another
    }

    pub(crate) fn check_open(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(closed(operation));
        }
        let in_place = self.store.check_in_place();
        in_place.map_err(|e| e.during(operation))
    }

    /// Closes this handle, once.
    pub(crate) fn close(&self) -> FileResult<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        self.entry.release()
    }
}

impl Drop for StoreHandle {
    fn drop(&mut self) {
        // Whoever wants to know whether it was saved closes it. What was written is in the log.
        let _ended = self.close();
    }
}

fn check(options: &HnswOptions) -> Result<()> {
    match options.problem() {
        Some(problem) => {
            let kind = ErrorKind::Invalid(problem.to_owned());
            Err(StoreError::new(Operation::Connect, kind))
        }
        None => Ok(()),
    }
}
