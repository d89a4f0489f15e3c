//! The stores that the suite is run on to test it, each whole or with a fault.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shelfward_conformance::{
    CrashableServer, DEFAULT_SEED, Damage, KnownGaps, Selection, Server, StoreUnderTest, Suite,
};
use shelfward_conformance_faulty::{DurableStore, Fault, FaultyStore, RemoteServer};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionName, Result, async_trait};
use shelfward_memory::MemoryStore;

/// What a store is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The memory store.
    Plain,
    /// The same without an atomic replace.
    WithoutTransactions,
    /// One that is kept while nobody has it open.
    Durable,
    /// The same, which one process may have open at a time.
    OneProcess,
    /// The memory store behind a server.
    Remote,
}

/// Every case of the suite, on such a store.
pub(crate) async fn suite(kind: Kind, fault: Option<Fault>) -> Suite {
    let (gaps, selection) = (KnownGaps::default(), Selection::default());
    match kind {
        Kind::Plain | Kind::WithoutTransactions => {
            let store = Arc::new(Local::new(kind, fault));
            Suite::new(store, gaps, &selection, DEFAULT_SEED).await
        }
        Kind::Durable | Kind::OneProcess => {
            let store = Arc::new(Local::new(kind, fault));
            Suite::with_simulated_processes(store, gaps, &selection, DEFAULT_SEED).await
        }
        Kind::Remote => {
            let store = Arc::new(Remote::begin(fault).await);
            Suite::new(store, gaps, &selection, 1).await
        }
    }
    .unwrap()
}

/// The memory store, behind a fault if there is one; kept at places where cases open it again.
struct Local {
    kind: Kind,
    fault: Option<Fault>,
    memory: MemoryStore,
    places: Mutex<BTreeMap<String, Arc<DurableStore>>>,
}

impl Local {
    fn new(kind: Kind, fault: Option<Fault>) -> Self {
        Self {
            kind,
            fault,
            memory: MemoryStore::new(),
            places: Mutex::default(),
        }
    }

    fn is_durable(&self) -> bool {
        matches!(self.kind, Kind::Durable | Kind::OneProcess)
    }

    fn behind_the_fault(&self, store: Arc<dyn StoreAdapter>) -> Arc<dyn StoreAdapter> {
        let without = self.kind == Kind::WithoutTransactions;
        match self.fault {
            None if !without => store,
            fault => {
                let store = FaultyStore::new(store, fault.unwrap_or(Fault::NoFault));
                Arc::new(if without {
                    store.without_transactions()
                } else {
                    store
                })
            }
        }
    }
}

#[async_trait]
impl StoreUnderTest for Local {
    fn name(&self) -> &'static str {
        "under-test"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        if self.is_durable() {
            return self.open_at("the first place").await;
        }
        Ok(self.behind_the_fault(Arc::new(self.memory.clone())))
    }

    fn place(&self, name: &str) -> Option<String> {
        self.is_durable().then(|| name.to_owned())
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
        let kept = {
            let mut places = self.places.lock().unwrap();
            let new = || {
                let memory = Arc::new(MemoryStore::new());
                DurableStore::new(memory, self.fault, self.kind == Kind::OneProcess)
            };
            places.entry(place.to_owned()).or_insert_with(new).clone()
        };
        Ok(self.behind_the_fault(kept.open().await?))
    }

    fn damage(&self) -> std::result::Result<&dyn Damage, &'static str> {
        Ok(self)
    }
}

#[async_trait]
impl Damage for Local {
    async fn damage_record(
        &self,
        place: &str,
        collection: &CollectionName,
        text: &str,
    ) -> Result<()> {
        let kept = self.places.lock().unwrap().get(place).cloned();
        kept.unwrap().damage(collection, text).await
    }
}

/// The memory store behind a server, whose clients have a fault where they are opened through a
/// proxy or with a wrong secret.
struct Remote {
    server: RemoteServer,
    /// Another one, to be crashed.
    crashable: RemoteServer,
    fault: Option<Fault>,
}

impl Remote {
    async fn begin(fault: Option<Fault>) -> Self {
        let begin = || RemoteServer::begin(Arc::new(MemoryStore::new()), fault);
        Self {
            server: begin().await.unwrap(),
            crashable: begin().await.unwrap(),
            fault,
        }
    }
}

#[async_trait]
impl StoreUnderTest for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.server.client()))
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(self)
    }
}

#[async_trait]
impl Server for Remote {
    fn address(&self) -> String {
        self.server.address().to_string()
    }

    async fn open_through(
        &self,
        address: SocketAddr,
        timeout: Duration,
    ) -> Result<Arc<dyn StoreAdapter>> {
        let client = self.server.client();
        Ok(Arc::new(client.through(address, timeout, self.fault)))
    }

    async fn open_with_secret(&self, secret: &str) -> Result<Arc<dyn StoreAdapter>> {
        let client = self.server.client();
        Ok(Arc::new(client.with_secret(secret, self.fault)))
    }

    fn secrets(&self) -> Vec<String> {
        vec![self.server.secret().to_owned()]
    }

    fn crashable(&self) -> std::result::Result<&dyn CrashableServer, &'static str> {
        Ok(self)
    }
}

#[async_trait]
impl CrashableServer for Remote {
    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        let timeout = Duration::from_secs(10);
        let client = self.crashable.client();
        Ok(Arc::new(client.through(
            self.crashable.address(),
            timeout,
            self.fault,
        )))
    }

    async fn crash(&self, _: u32) -> Result<()> {
        self.crashable.crash().await;
        Ok(())
    }
}
