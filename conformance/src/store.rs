use std::sync::Arc;

use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};

use crate::damage::Damage;
use crate::server::Server;

/// What every name begins with that the suite gives to something on a store.
pub(crate) const PREFIX: &str = "sfwt_";

/// A store that the suite is run on.
///
/// The suite makes collections of its own, all named `sfwt_<run>_…`, drops them when it is done, and
/// touches nothing else.
///
/// Two members are required. A store whose data outlives the process gives two more, [`place`] and
/// [`open_at`], so that the suite can close it and open it again, and open it from a second process
/// that it may kill. The second process is the same program, begun anew by the suite: its `main`
/// makes the same `StoreUnderTest`, and [`run_tests`](crate::run_tests) does the rest.
///
/// A store on a server gives [`server`] too. One that puts its collections into something of its
/// own, as a schema or a database, names that `sfwt_…` and gives [`tear_down`], [`leftovers`] and
/// [`remove`].
///
/// [`place`]: Self::place
/// [`open_at`]: Self::open_at
/// [`server`]: Self::server
/// [`tear_down`]: Self::tear_down
/// [`leftovers`]: Self::leftovers
/// [`remove`]: Self::remove
#[async_trait]
pub trait StoreUnderTest: Send + Sync {
    /// The store's name, as in `shelfward-NAME`.
    fn name(&self) -> &'static str;

    /// A handle on the store, opened by itself: two of them are two writers of one store.
    ///
    /// # Errors
    /// Those of the store.
    async fn open(&self) -> Result<Arc<dyn StoreAdapter>>;

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
    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
        let _ = place;
        self.open().await
    }

    /// The server that the store is a client of, for the cases of what goes wrong between the two.
    ///
    /// `None`, which is provided, says that there is none; those cases are not run then.
    fn server(&self) -> Option<&dyn Server> {
        None
    }

    /// What damages what the store keeps at its places, or why nothing can, which the report says of the
    /// case of a damaged record.
    ///
    /// # Errors
    /// The reason.
    fn damage(&self) -> std::result::Result<&dyn Damage, &'static str> {
        Err("its StoreUnderTest damages nothing")
    }

    /// Versions worth knowing beside the answers, as `("server", "18.1")`.
    fn versions(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Removes what this run made beside collections, as its own schema. Called once, after the
    /// collections were dropped, also where the run was stopped. Not called in a second process.
    ///
    /// # Errors
    /// Those of the store: the run then names its store among what is left behind.
    async fn tear_down(&self) -> Result<()> {
        Ok(())
    }

    /// What runs made beside collections and did not come to remove, by names that begin with
    /// `sfwt_`: the schemas or databases on the server. Of collections the suite knows by itself.
    ///
    /// # Errors
    /// Those of the store.
    async fn leftovers(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Removes one of the [`leftovers`](Self::leftovers), with all it holds.
    ///
    /// # Errors
    /// Those of the store.
    async fn remove(&self, leftover: &str) -> Result<()> {
        let _ = leftover;
        Ok(())
    }
}
