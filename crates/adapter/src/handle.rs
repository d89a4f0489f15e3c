//! Handles on one store, each closed by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use shelfward_core::ErrorKind;

/// A handle on a store. A clone is another one, closed by itself; whoever closes the last one
/// releases the store. A handle that is dropped needs no closing.
pub struct StoreHandle<S>(Lease<S>);

/// A handle's hold on its store, for the collections that were opened by it: they are closed with the
/// handle, and hold the store as long as they are there, even where the handle was dropped.
pub struct Lease<S>(Arc<Held<S>>);

struct Held<S> {
    shared: Arc<Shared<S>>,
    closed: AtomicBool,
}

struct Shared<S> {
    store: S,
    /// How many handles are neither closed nor dropped.
    open: AtomicUsize,
}

/// Why a call through a handle that was closed is refused.
pub fn closed() -> ErrorKind {
    ErrorKind::Invalid("this handle of the store was closed".to_owned())
}

impl<S> StoreHandle<S> {
    /// The first handle on a store.
    pub fn new(store: S) -> Self {
        Self(Lease(Arc::new(Held {
            shared: Arc::new(Shared {
                store,
                open: AtomicUsize::new(1),
            }),
            closed: AtomicBool::new(false),
        })))
    }

    /// The store.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] where this handle was closed.
    pub fn get(&self) -> Result<&S, ErrorKind> {
        self.0.get()
    }

    /// The store, be this handle closed or not: for what asks nothing of it.
    pub fn store(&self) -> &S {
        &self.0.0.shared.store
    }

    /// This handle's hold, for a collection.
    pub fn lease(&self) -> Lease<S> {
        self.0.clone()
    }

    /// Closes this handle. Answers the store where it was the last one, to be released.
    ///
    /// The store itself lives until the last handle and lease are dropped: keep what must be released
    /// behind a `Mutex<Option<_>>` and take it here.
    pub fn close(&self) -> Option<&S> {
        let held = &*self.0.0;
        let was_closed = held.closed.swap(true, Ordering::SeqCst);
        let is_last = !was_closed && held.shared.open.fetch_sub(1, Ordering::SeqCst) == 1;
        is_last.then_some(&held.shared.store)
    }
}

impl<S> Lease<S> {
    /// The store.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] where the handle was closed.
    pub fn get(&self) -> Result<&S, ErrorKind> {
        if self.0.closed.load(Ordering::SeqCst) {
            return Err(closed());
        }
        Ok(&self.0.shared.store)
    }
}

/// Another handle; closed from the beginning, where all others are.
impl<S> Clone for StoreHandle<S> {
    fn clone(&self) -> Self {
        let shared = self.0.0.shared.clone();
        let one_more = |open| (open > 0).then_some(open + 1);
        let order = Ordering::SeqCst;
        let counted = shared.open.fetch_update(order, order, one_more);
        Self(Lease(Arc::new(Held {
            shared,
            closed: AtomicBool::new(counted.is_err()),
        })))
    }
}

/// The same hold.
impl<S> Clone for Lease<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Drop for Held<S> {
    fn drop(&mut self) {
        if !*self.closed.get_mut() {
            self.shared.open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_closes_the_last_handle_releases_the_store() {
        let first = StoreHandle::new("store");
        let second = first.clone();
        assert!(first.close().is_none());
        assert!(first.get().is_err() && first.lease().get().is_err());
        assert!(second.get().is_ok(), "closed by itself");
        assert_eq!(second.close(), Some(&"store"));
        assert!(second.close().is_none(), "once");
    }

    #[test]
    fn a_handle_that_was_dropped_needs_no_closing() {
        let first = StoreHandle::new("store");
        drop(first.clone());
        assert!(first.close().is_some());
    }

    #[test]
    fn a_collection_holds_the_store_when_its_handle_was_dropped() {
        let first = StoreHandle::new("store");
        let second = first.clone();
        let collection = second.lease();
        drop(second);
        assert!(first.close().is_none() && collection.get().is_ok());
    }

    #[test]
    fn a_handle_made_of_closed_ones_is_closed() {
        let first = StoreHandle::new("store");
        assert!(first.close().is_some());
        let second = first.clone();
        assert!(second.get().is_err() && second.close().is_none());
        let open = StoreHandle::new("store");
        let closed = open.clone();
        closed.close();
        drop(closed.clone());
        assert!(open.close().is_some());
    }
}
