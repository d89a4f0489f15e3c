//! The conformance suite on a file, which every handle opens by itself.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{Damage, StoreUnderTest, damage_files, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionName, ErrorKind, Operation, Result, StoreError, async_trait};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

struct Sqlite(TempDir);

#[async_trait]
impl StoreUnderTest for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn versions(&self) -> Vec<(String, String)> {
        let versions = [
            ("shelfward-sqlite", env!("CARGO_PKG_VERSION")),
            ("SQLite", rusqlite::version()),
        ];
        let owned = versions.map(|(name, version)| (name.to_owned(), version.to_owned()));
        owned.into()
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        self.open_at(&self.file("suite")).await
    }

    fn place(&self, name: &str) -> Option<String> {
        Some(self.file(name))
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
        let file = place.to_owned();
        let opened =
            tokio::task::spawn_blocking(|| SqliteStore::open(file, SqliteOptions::default()));
        let opened = opened
            .await
            .map_err(|e| StoreError::new(Operation::Connect, ErrorKind::Engine).with_source(e))?;
        Ok(Arc::new(opened?))
    }

    fn damage(&self) -> std::result::Result<&dyn Damage, &'static str> {
        Ok(self)
    }
}

#[async_trait]
impl Damage for Sqlite {
    async fn damage_record(&self, place: &str, _: &CollectionName, text: &str) -> Result<()> {
        damage_files(Path::new(place), text)
            .map_err(|e| StoreError::new(Operation::Connect, ErrorKind::Engine).with_source(e))
    }
}

impl Sqlite {
    fn file(&self, name: &str) -> String {
        let file = self.0.path().join(format!("{name}.db"));
        file.to_string_lossy().into_owned()
    }
}

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else {
        return ExitCode::from(2);
    };
    run_tests(Sqlite(folder), include_str!("../known_gaps.toml"))
}
