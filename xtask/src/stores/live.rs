//! Where the tests of an adapter find a live server.

use std::fmt;

use super::guard::Guarded;
use super::{Failure, Store};

/// A server for tests.
pub(crate) enum Live {
    /// The one that the caller's environment names.
    Given(Store),
    /// One that was started for these tests.
    Own(Guarded),
    /// None can be had here, and why.
    Missing(Store, String),
}

impl Live {
    /// The given server, or one of our own where there is what it takes. Fails where that does
    /// not start.
    pub(crate) fn find(store: Store) -> Result<Self, String> {
        if std::env::var_os(store.variable()).is_some_and(|url| !url.is_empty()) {
            return Ok(Self::Given(store));
        }
        let name = format!("ci-{}", std::process::id()).parse()?;
        match Guarded::start(store, &name) {
            Ok(guarded) => Ok(Self::Own(guarded)),
            Err(Failure::Missing(why)) => Ok(Self::Missing(store, why)),
            Err(Failure::Failed(why)) => Err(why),
        }
    }

    /// What to set for tests. What the environment has, they inherit. Where a server can be
    /// started, the tests of starting them run, too.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Own(own) => {
                let mut variables = vec![
                    (own.server.store.variable(), own.server.running.url.clone()),
                    ("SHELFWARD_TEST_STORES", "1".to_owned()),
                ];
                // Tests that kill a server start one of their own by this program.
                let this = std::env::current_exe().ok();
                let this = this.and_then(|path| path.into_os_string().into_string().ok());
                variables.extend(this.map(|path| ("SHELFWARD_XTASK", path)));
                variables
            }
            Self::Given(_) | Self::Missing(..) => Vec::new(),
        }
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(store) => write!(f, "{} ({})", store.name(), store.variable()),
            Self::Own(own) => {
                let (store, version) = (own.server.store.name(), &own.server.running.version);
                write!(f, "{store} {version} (own server)")
            }
            Self::Missing(store, why) => write!(f, "{} not run: {why}", store.name()),
        }
    }
}
