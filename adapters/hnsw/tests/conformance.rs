//! The conformance suite on a store in a folder, with a graph wherever there are a few records.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{Damage, StoreUnderTest, damage_files, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionName, ErrorKind, Operation, Result, StoreError, async_trait};
use shelfward_hnsw::{HnswOptions, HnswStore, PlannerCosts};

struct Hnsw {
    folder: tempfile::TempDir,
    options: HnswOptions,
    /// Keeps the collections open between the cases.
    _store: HnswStore,
}

#[async_trait]
impl StoreUnderTest for Hnsw {
    fn name(&self) -> &'static str {
        "hnsw"
    }

    fn versions(&self) -> Vec<(String, String)> {
        vec![(
            "shelfward-hnsw".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        )]
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(HnswStore::open(self.folder.path(), self.options)?))
    }

    fn place(&self, name: &str) -> Option<String> {
        let folder = self.folder.path().join(name);
        Some(folder.to_string_lossy().into_owned())
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(HnswStore::open(place, self.options)?))
    }

    fn damage(&self) -> std::result::Result<&dyn Damage, &'static str> {
        Ok(self)
    }
}

#[async_trait]
impl Damage for Hnsw {
    async fn damage_record(&self, place: &str, _: &CollectionName, text: &str) -> Result<()> {
        damage_files(Path::new(place), text)
            .map_err(|e| StoreError::new(Operation::Connect, ErrorKind::Engine).with_source(e))
    }
}

fn main() -> ExitCode {
    let options = HnswOptions::default()
        .with_graph_from(4)
        .with_rebuild_from(8)
        // Looking at every record is dear, so that the graph is used.
        .with_costs(PlannerCosts::default().with_scan(1e6));
    let made = tempfile::tempdir()
        .map_err(|_| StoreError::new(Operation::Connect, ErrorKind::Engine))
        .and_then(|folder| Ok((HnswStore::open(folder.path(), options)?, folder)));
    match made {
        Ok((_store, folder)) => run_tests(
            Hnsw {
                folder,
                options,
                _store,
            },
            include_str!("../known_gaps.toml"),
        ),
        Err(_) => ExitCode::FAILURE,
    }
}
