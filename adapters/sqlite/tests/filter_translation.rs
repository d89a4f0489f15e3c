//! The rows that the engine selects are exactly those that the algebra's reference meaning selects:
//! over declared and open fields, by a scan and by key, at random and by a table.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../crates/core/tests/common/mod.rs"]
mod common;
#[path = "../../../crates/core/tests/common/selecting.rs"]
mod selecting;

use std::sync::Arc;

use common::config;
use proptest::prelude::*;
use selecting::{Kinds, cases, check, largest, spec, table_of_truth};
use shelfward_core::CollectionName;
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter};
use shelfward_sqlite::SqliteStore;

async fn collection(kinds: &Kinds) -> Arc<dyn CollectionAdapter> {
    let store = SqliteStore::in_memory().unwrap();
    let spec = spec(CollectionName::new("c").unwrap(), kinds);
    store.create(&spec).await.unwrap();
    store.open(&spec.name).await.unwrap().unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

proptest! {
    #![proptest_config(config(192))]

    #[test]
    fn the_engine_selects_what_the_algebra_selects((kinds, documents, filters) in cases()) {
        block_on(async {
            check(&*collection(&kinds).await, &documents, &filters).await;
        });
    }
}

#[test]
fn the_table_of_truth() {
    block_on(async { table_of_truth(&*collection(&[None; 4]).await).await });
}

#[test]
fn as_large_as_filters_may_be() {
    let (kinds, documents, filters) = largest();
    block_on(async { check(&*collection(&kinds).await, &documents, &filters).await });
}
