//! The conformance suite on a server, which every handle connects to by itself.

use std::process::ExitCode;
use std::sync::Arc;

use shelfward_conformance::{StoreUnderTest, run_tests};
use shelfward_core::{Result, VectorStore, async_trait};

struct Postgres(String);

#[async_trait]
impl StoreUnderTest for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    async fn open(&self) -> Result<Arc<dyn VectorStore>> {
        Ok(Arc::new(shelfward_postgres::connect(&self.0).await?))
    }

    fn place(&self, _: &str) -> Option<String> {
        Some(self.0.clone())
    }
}

fn main() -> ExitCode {
    let Ok(url) = std::env::var("DATABASE_URL") else {
        return ExitCode::from(2);
    };
    run_tests(Postgres(url), include_str!("../known_gaps.toml"))
}
