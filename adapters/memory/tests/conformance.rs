//! The conformance suite on the memory store.

use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{StoreUnderTest, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};
use shelfward_memory::MemoryStore;

struct Memory(MemoryStore);

#[async_trait]
impl StoreUnderTest for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn versions(&self) -> Vec<(String, String)> {
        vec![(
            "shelfward-memory".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        )]
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.0.clone()))
    }
}

fn main() -> ExitCode {
    run_tests(
        Memory(MemoryStore::new()),
        include_str!("../known_gaps.toml"),
    )
}
