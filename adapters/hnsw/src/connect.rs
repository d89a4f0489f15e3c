use shelfward_core::{Operation, Result, StoreError};

use crate::config::HnswOptions;
use crate::store::HnswStore;

/// Opens what follows `hnsw:` in an address: a folder, or `:memory:` for a store that is kept nowhere.
///
/// # Errors
/// An address that names no folder, and those of [`HnswStore::open`]. None shows the folder.
pub fn connect(rest: &str) -> Result<HnswStore> {
    match rest {
        ":memory:" => Ok(HnswStore::in_memory()),
        "" => Err(invalid(
            "an address of this store names a folder, as in hnsw:library.hnsw",
        )),
        other if other.starts_with(':') => Err(invalid(
            "of names that begin with a colon, this store knows :memory: alone",
        )),
        // Others write a host there, or nothing.
        other if other.starts_with("//") => Err(invalid(
            "the folder stands right behind hnsw:, as in hnsw:library.hnsw or hnsw:/srv/library.hnsw",
        )),
        // Taken for a part of the name, options would make another, empty store.
        other if other.contains('?') => Err(invalid(
            "an address of this store has no options; they are given to HnswStore::open",
        )),
        folder => HnswStore::open(folder, HnswOptions::default()),
    }
}

fn invalid(why: &str) -> StoreError {
    StoreError::new(Operation::Connect, shelfward_adapter::error::invalid(why))
}
