use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use shelfward_core::{Result, VectorStore, async_trait};

/// The server of a store under test, for the cases of what goes wrong between it and its clients.
///
/// The suite never stops or restarts a server. It puts a proxy of its own before it, which it tells
/// to refuse, to cut, to fall silent or to be slow, and it asks a store that was opened through
/// that. Nobody else is touched.
#[async_trait]
pub trait Server: Send + Sync {
    /// Where the server listens, as `host:port`. The proxy connects to it over plain TCP.
    fn address(&self) -> String;

    /// A handle on the store of [`StoreUnderTest::open`](crate::StoreUnderTest::open), opened by
    /// itself, whose every connection goes to this address in the place of the server's own. No
    /// call of it waits longer than `patience` for the server; one that has to give up fails with
    /// [`Timeout`](shelfward_core::ErrorKind::Timeout).
    ///
    /// # Errors
    /// Those of the store.
    async fn open_through(
        &self,
        address: SocketAddr,
        patience: Duration,
    ) -> Result<Arc<dyn VectorStore>>;

    /// A handle opened with this for a password or key, which the server has never heard of.
    ///
    /// # Errors
    /// Those of the store. A store that asks the server only when it is used may answer a handle,
    /// whose calls fail then.
    async fn open_with_secret(&self, secret: &str) -> Result<Arc<dyn VectorStore>>;

    /// Whether the server denies what it does not know. One that does not is not asked to.
    fn denies(&self) -> bool {
        true
    }

    /// The password or key that the store is opened with: no error may show it.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }
}
