//! Handles, and the one home that all handles of a folder share in a process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfward_core::{ErrorKind, Operation, Result, StoreError};

use super::Home;
use super::folder::Folder;
use crate::config::HnswOptions;
use crate::error::FileResult;

/// Where a store is, be it open or not. Held while it is opened and while it is shut, so that who
/// opens it meanwhile waits.
#[derive(Default)]
pub(crate) struct Place {
    /// The folder; `None` where nothing is kept.
    path: Option<PathBuf>,
    open: Mutex<Option<Open>>,
}

struct Open {
    home: Arc<Home>,
    handles: usize,
}

/// The folders that this process has open.
static PLACES: Mutex<BTreeMap<PathBuf, Arc<Place>>> = Mutex::new(BTreeMap::new());

fn places() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<Place>>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One handle less. The last one shuts the store.
    fn let_go(&self) -> FileResult<()> {
        let mut open = self.open();
        if let Some(there) = &mut *open {
            there.handles -= 1;
            if there.handles > 0 {
                return Ok(());
            }
        }
        let ended = match open.take() {
            Some(there) => there.home.shut(),
            None => Ok(()),
        };
        drop(open);
        if let Some(path) = &self.path {
            let mut places = places();
            // The map's own and that of the handle that is going.
            if places
                .get(path)
                .is_some_and(|place| Arc::strong_count(place) <= 2)
            {
                places.remove(path);
            }
        }
        ended
    }
}

/// A handle on a store. Collections that were opened through it keep it.
pub(crate) struct Handle {
    place: Arc<Place>,
    pub(crate) home: Arc<Home>,
    closed: AtomicBool,
}

impl Handle {
    pub(crate) fn in_memory(options: HnswOptions) -> Result<Self> {
        check(&options)?;
        Ok(Self::kept_nowhere(options))
    }

    pub(crate) fn in_memory_by_default() -> Self {
        Self::kept_nowhere(HnswOptions::default())
    }

    fn kept_nowhere(options: HnswOptions) -> Self {
        let home = Arc::new(Home::new(options, None));
        let place = Arc::new(Place::default());
        *place.open() = Some(Open {
            home: home.clone(),
            handles: 1,
        });
        Self::on(place, home)
    }

    fn on(place: Arc<Place>, home: Arc<Home>) -> Self {
        Self {
            place,
            home,
            closed: AtomicBool::new(false),
        }
    }

    pub(crate) fn open(folder: &Path, options: HnswOptions) -> Result<Self> {
        check(&options)?;
        // One folder has many names. One that is not there yet has none of them, and is made first.
        let path = match fs::canonicalize(folder) {
            Ok(path) => path,
            Err(_) => {
                Folder::open(folder).map_err(|e| e.during(Operation::Connect))?;
                let found = fs::canonicalize(folder);
                found.map_err(|e| crate::error::FileError::from(e).during(Operation::Connect))?
            }
        };
        let place = places()
            .entry(path.clone())
            .or_insert_with(|| {
                Arc::new(Place {
                    path: Some(path.clone()),
                    open: Mutex::default(),
                })
            })
            .clone();
        let mut open = place.open();
        let home = match &mut *open {
            Some(there) if *there.home.options() != options => {
                let invalid = "the folder is open in this process with other options";
                let kind = ErrorKind::Invalid(invalid.to_owned());
                return Err(StoreError::new(Operation::Connect, kind));
            }
            Some(there) => {
                there.handles += 1;
                there.home.clone()
            }
            None => {
                let folder = Folder::open(&path).map_err(|e| e.during(Operation::Connect))?;
                let home = Arc::new(Home::new(options, Some(folder)));
                *open = Some(Open {
                    home: home.clone(),
                    handles: 1,
                });
                home
            }
        };
        drop(open);
        Ok(Self::on(place, home))
    }

    /// Another handle on the same store; closed from the first where the store is shut.
    pub(crate) fn another(&self) -> Self {
        let another = Self::on(self.place.clone(), self.home.clone());
        match &mut *self.place.open() {
            Some(there) if Arc::ptr_eq(&there.home, &self.home) => there.handles += 1,
            _ => another.closed.store(true, Ordering::SeqCst),
        }
        another
    }

    pub(crate) fn check_open(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(closed(operation));
        }
        let in_place = self.home.check_in_place();
        in_place.map_err(|e| e.during(operation))
    }

    /// Closes this handle, once.
    pub(crate) fn close(&self) -> FileResult<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        self.place.let_go()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Whoever wants to know whether it was saved closes it. What was written is in the log.
        let _ended = self.close();
    }
}

/// The error of a call on a handle that was closed.
pub(crate) fn closed(operation: Operation) -> StoreError {
    let invalid = "this handle of the store was closed".to_owned();
    StoreError::new(operation, ErrorKind::Invalid(invalid))
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
