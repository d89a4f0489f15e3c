//! Writes that take long to prepare, and what overtakes them.
//!
//! A source that is not there yet leaves no trace in the store while it is embedded, so nothing there
//! tells its writer that the source, or its whole tenant, was removed meanwhile. Each such write is
//! registered here until it ends, and a removal marks those that it is about under its own lock: a
//! write that comes after it finds the mark. What is kept is as much as is under way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::write_locks::LockScope;

/// The writes that this process prepares on one collection. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<Writes>>);

#[derive(Default)]
struct Writes {
    next: u64,
    all: HashMap<u64, (LockScope, Arc<AtomicBool>)>,
}

/// A write under way, until this is dropped.
pub(crate) struct Prepared {
    all: InFlight,
    number: u64,
    overtaken: Arc<AtomicBool>,
}

impl InFlight {
    /// Registers a write of what is named.
    pub(crate) fn begin(&self, scope: LockScope) -> Prepared {
        let overtaken = Arc::new(AtomicBool::new(false));
        let mut writes = self.lock();
        let number = writes.next;
        writes.next += 1;
        writes.all.insert(number, (scope, overtaken.clone()));
        Prepared {
            all: self.clone(),
            number,
            overtaken,
        }
    }

    /// Marks each write that shares something with a removal. Called under the removal's lock.
    pub(crate) fn overtake(&self, removed: &LockScope) {
        for (scope, overtaken) in self.lock().all.values() {
            if scope.excludes(removed) {
                overtaken.store(true, Ordering::SeqCst);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Writes> {
        // Nothing in here can panic half way, so a poisoned map is a whole one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prepared {
    /// Whether something of it was removed since it began.
    pub(crate) fn is_overtaken(&self) -> bool {
        self.overtaken.load(Ordering::SeqCst)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.all.lock().all.remove(&self.number);
    }
}
