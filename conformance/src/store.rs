use std::sync::Arc;

use shelfward_core::{Result, VectorStore, async_trait};

/// A store that the suite is run on.
///
/// The suite makes collections of its own, all named `sfwt_…`, and touches nothing else.
///
/// Two members are required. A store whose data outlives the process gives two more, [`place`] and
/// [`open_at`], so that the suite can close it and open it again, and open it from a second process
/// that it may kill. The second process is the same program, begun anew by the suite: its `main`
/// makes the same `StoreUnderTest`, and [`run_tests`](crate::run_tests) does the rest.
///
/// [`place`]: Self::place
/// [`open_at`]: Self::open_at
#[async_trait]
pub trait StoreUnderTest: Send + Sync {
    /// The store's name, as in `shelfward-NAME`.
    fn name(&self) -> &'static str;

    /// A handle on the store, opened by itself: two of them are two writers of one store.
    ///
    /// # Errors
    /// Those of the store.
    async fn open(&self) -> Result<Arc<dyn VectorStore>>;

    /// Where a store of this name lies, as [`open_at`](Self::open_at) takes it here and in another
    /// process: a path, an address. A store in files has a place for each name, so that a case can
    /// let go of all that it opened there; a server may have one place for all.
    ///
    /// `None`, which is provided, says that there is no such place; what needs one is not run then.
    fn place(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// A handle on the store at a place, opened by itself. Makes the store where there is none. In
    /// another process the place is one that [`place`](Self::place) answered there, not here.
    ///
    /// The provided one opens the one store there is.
    ///
    /// # Errors
    /// Those of the store.
    async fn open_at(&self, place: &str) -> Result<Arc<dyn VectorStore>> {
        let _ = place;
        self.open().await
    }

    /// Versions worth knowing beside the answers, as `("server", "18.1")`.
    fn versions(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
