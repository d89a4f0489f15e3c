use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};

/// The server of a store under test, for the cases of what goes wrong between it and its clients.
///
/// The suite never stops or restarts this server. It puts a proxy of its own before it, which it tells
/// to refuse, to cut, to fall silent or to be slow, and it asks a store that was opened through
/// that. Nobody else is touched. What it crashes is the server of [`crashable`](Self::crashable) alone.
#[async_trait]
pub trait Server: Send + Sync {
    /// Where the server listens, as `host:port`. The proxy connects to it over plain TCP.
    fn address(&self) -> String;

    /// A handle on the store of [`StoreUnderTest::open`](crate::StoreUnderTest::open), opened by
    /// itself, whose every connection goes to this address in the place of the server's own. No
    /// call of it waits longer than `timeout` for the server; one that has to give up fails with
    /// [`Timeout`](shelfward_core::ErrorKind::Timeout).
    ///
    /// # Errors
    /// Those of the store.
    async fn open_through(
        &self,
        address: SocketAddr,
        timeout: Duration,
    ) -> Result<Arc<dyn StoreAdapter>>;

    /// A handle opened with this for a password or key, which the server has never heard of.
    ///
    /// # Errors
    /// Those of the store. A store that asks the server only when it is used may answer a handle,
    /// whose calls fail then.
    async fn open_with_secret(&self, secret: &str) -> Result<Arc<dyn StoreAdapter>>;

    /// Whether the server denies what it does not know. One that does not is not asked to.
    fn denies(&self) -> bool {
        true
    }

    /// The password or key that the store is opened with: no error may show it.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Another server, of the harness's own, which may be crashed: never one that others use. Or why
    /// there is none, which the report says of the cases that need one.
    ///
    /// # Errors
    /// The reason.
    fn crashable(&self) -> std::result::Result<&dyn CrashableServer, &'static str> {
        Err("its Server has none that may be crashed")
    }
}

/// A server that the suite may crash. The harness starts it when it is first asked for, and ends it in
/// [`tear_down`](crate::StoreUnderTest::tear_down).
#[async_trait]
pub trait CrashableServer: Send + Sync {
    /// A handle on the store of this server, opened by itself.
    ///
    /// # Errors
    /// Those of the store, and of starting the server.
    async fn open(&self) -> Result<Arc<dyn StoreAdapter>>;

    /// Crashes it, as by `kill -9` of it or of one of its processes, so that it has to recover, and
    /// returns when it serves again. `nth` counts from 0: a server that can crash in several ways takes
    /// them by turns.
    ///
    /// # Errors
    /// Where it could not be crashed, or does not come back.
    async fn crash(&self, nth: u32) -> Result<()>;
}
