use std::sync::Arc;

use shelfward_core::{Result, VectorStore, async_trait};

/// A store that the suite is run on.
///
/// The suite makes collections of its own, all named `sfwt_…`, and touches nothing else.
#[async_trait]
pub trait StoreUnderTest: Send + Sync {
    /// The store's name, as in `shelfward-NAME`.
    fn name(&self) -> &'static str;

    /// A handle on the store, opened by itself: two of them are two writers of one store.
    ///
    /// # Errors
    /// Those of the store.
    async fn open(&self) -> Result<Arc<dyn VectorStore>>;

    /// Versions worth knowing beside the answers, as `("server", "18.1")`.
    fn versions(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
