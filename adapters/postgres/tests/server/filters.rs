//! The rows that the server selects are exactly those that the algebra selects. `Collection` folds
//! filters by the fields' kinds, and looks at no hit again.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use shelfward_core::Count;
use shelfward_core::filter::key;

use crate::ground::{Ground, name, tests};
use crate::selecting::{cases, check, largest, spec, table_of_truth};

tests!(
    at_random,
    as_large_as_they_may_be,
    by_a_table,
    many_groups_over_many_rows
);

/// So many collections, each with filters of its own.
const CASES: usize = 96;

async fn at_random(ground: Ground) {
    let store = ground.store().await;
    let seed = [7; 32];
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for case in 0..CASES {
        let (kinds, documents, filters) = cases().new_tree(&mut runner).unwrap().current();
        let collection = store.ensure(&spec(name("c"), &kinds)).await.unwrap();
        check(&collection, &documents, &filters).await;
        assert!(store.drop_collection(&name("c")).await.unwrap(), "{case}");
    }
}

async fn as_large_as_they_may_be(ground: Ground) {
    let store = ground.store().await;
    let (kinds, documents, filters) = largest();
    let collection = store.ensure(&spec(name("c"), &kinds)).await.unwrap();
    check(&collection, &documents, &filters).await;
}

async fn by_a_table(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec(name("c"), &[None; 4])).await.unwrap();
    table_of_truth(&collection).await;
}

/// Each member of each row compared with each of 9,000 groups would take longer than it may.
async fn many_groups_over_many_rows(ground: Ground) {
    let store = ground
        .store_with("index=none&statement_timeout_ms=3000")
        .await;
    let collection = store.ensure(&crate::ground::spec("c")).await.unwrap();
    // By the server, and so that its index of groups is of no use: most rows pass.
    let schema = ground.schema();
    let rows = format!(
        "INSERT INTO {schema}.shelfward_c (part, id, meta, embedding) SELECT 't', n::text, \
         jsonb_build_object('tenant', 't', 'source', 's', 'weight', 1.0, 'groups', \
         jsonb_build_array('all', 'team:' || n % 3)), '[1,0,0,0]' \
         FROM generate_series(1, 20000) n; ANALYZE {schema}.shelfward_c"
    );
    ground.sql(&rows).await;
    let teams = (1..=9_000).map(|n| format!("team:{n}"));
    let filter = key("tenant").eq("t").and(key("groups").is_in(teams));
    let count = collection.count(&filter.build().unwrap()).await.unwrap();
    assert_eq!(count, Count::Exact(13_334));
    let none = (3..=9_000).map(|n| format!("team:{n}"));
    let filter = key("tenant").eq("t").and(key("groups").is_in(none));
    let count = collection.count(&filter.build().unwrap()).await.unwrap();
    assert_eq!(count, Count::Exact(0));
}
