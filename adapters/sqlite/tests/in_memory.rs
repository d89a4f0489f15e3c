//! The conformance suite on a store in memory.

use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{StoreUnderTest, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};
use shelfward_sqlite::SqliteStore;

struct InMemory(SqliteStore);

#[async_trait]
impl StoreUnderTest for InMemory {
    fn name(&self) -> &'static str {
        "sqlite in memory"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.0.clone()))
    }
}

fn main() -> ExitCode {
    match SqliteStore::in_memory() {
        Ok(store) => run_tests(InMemory(store), ""),
        Err(_) => ExitCode::from(2),
    }
}
