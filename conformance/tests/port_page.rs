//! The adapter that the page for authors of adapters shows, through the whole suite.

use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{StoreUnderTest, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{Result, async_trait};

#[path = "port_page/map_store.rs"]
#[expect(
    clippy::as_conversions,
    unreachable_pub,
    reason = "it reads as an author would begin"
)]
mod map_store;

struct Map(map_store::MapStore);

#[async_trait]
impl StoreUnderTest for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        Ok(Arc::new(self.0.clone()))
    }
}

#[expect(clippy::print_stderr, reason = "a failure says what to do")]
fn main() -> ExitCode {
    let page = include_str!("../../docs/port.md");
    let shown = include_str!("port_page/map_store.rs");
    if !page.contains(shown) {
        eprintln!(
            "docs/port.md does not show tests/port_page/map_store.rs as it is; copy it there"
        );
        return ExitCode::FAILURE;
    }
    // No gap: what it cannot do, it declares.
    run_tests(Map(map_store::MapStore::default()), "")
}
