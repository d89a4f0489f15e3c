//! Locks that a panic does not take away.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, be it poisoned or not: for what a panic cannot leave half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
