//! The stores that are soaked, and where they lie.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use shelfward::hnsw::{HnswOptions, HnswStore, PlannerCosts};
use shelfward::{LibraryIndex, Store};
use tempfile::TempDir;

use crate::Failure;
use crate::server::Server;
use crate::source::{embedder, library_spec};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Hnsw,
    Postgres,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            Self::Hnsw => "hnsw",
            Self::Postgres => "postgres",
        }
    }
}

/// The collection's name, on a store that nobody else uses.
pub(crate) const COLLECTION: &str = "soak";

/// Where a store of a kind lies; what is here goes with it.
pub(crate) enum Place {
    Memory(Store),
    Folder(Kind, TempDir),
    Server(Server),
}

impl Place {
    /// A place for a new store. `Err` says why there is none.
    pub(crate) fn new(kind: Kind) -> Result<Self, Failure> {
        Ok(match kind {
            Kind::Memory => Self::Memory(Store::new(shelfward::memory::MemoryStore::new())),
            Kind::Sqlite | Kind::Hnsw => Self::Folder(kind, tempfile::tempdir()?),
            Kind::Postgres => Self::Server(Server::find()?),
        })
    }

    /// Opens the store that is there.
    pub(crate) async fn open(&self) -> Result<Store, Failure> {
        match self {
            Self::Memory(store) => Ok(store.clone()),
            Self::Folder(kind, folder) => open_at(*kind, &text(folder)).await,
            Self::Server(server) => Ok(shelfward::connect(server.url()).await?),
        }
    }

    /// The collection's name here.
    pub(crate) fn collection(&self) -> String {
        match self {
            Self::Server(_) => format!("{COLLECTION}_{}", std::process::id()),
            _ => COLLECTION.to_owned(),
        }
    }

    /// What a writer in another process needs, where the store outlives that one's death.
    pub(crate) fn for_writers(&self) -> Option<(Kind, String)> {
        match self {
            Self::Folder(kind, folder) => Some((*kind, text(folder))),
            _ => None,
        }
    }

    /// The server of our own, whose processes may be killed.
    pub(crate) fn own_server(&self) -> Option<&Server> {
        match self {
            Self::Server(server) if server.is_own() => Some(server),
            _ => None,
        }
    }
}

fn text(folder: &TempDir) -> String {
    folder.path().to_string_lossy().into_owned()
}

/// Opens the store in a folder.
pub(crate) async fn open_at(kind: Kind, folder: &str) -> Result<Store, Failure> {
    if kind == Kind::Hnsw {
        // A graph from the first records on, built anew and folded into snapshots often.
        let options = HnswOptions::default()
            .with_graph_from(100)
            .with_rebuild_share(0.1)
            .with_rebuild_from(50)
            .with_save_from(200_000)
            .with_costs(PlannerCosts::default().with_scan(1e9));
        let folder = format!("{folder}/library.hnsw");
        let opened = tokio::task::spawn_blocking(move || HnswStore::open(folder, options));
        return Ok(Store::new(opened.await??));
    }
    Ok(shelfward::connect(&format!("sqlite:{folder}/library.db")).await?)
}

/// The library of a store.
pub(crate) async fn library(store: &Store, name: &str) -> Result<LibraryIndex, Failure> {
    Ok(LibraryIndex::ensure(store, library_spec(name)?, embedder()).await?)
}
