//! Sources that take longer than one statement may.

use shelfward_core::Filter;

use crate::ground::{Ground, of_source, of_tenant, source, spec, tests, to_version, versions};

tests!(a_large_source_is_not_ended_by_the_time_of_a_statement);

const PASSAGES: usize = 10_000;

async fn a_large_source_is_not_ended_by_the_time_of_a_statement(ground: Ground) {
    let passages = std::env::var("SHELFWARD_PASSAGES").ok();
    let passages = passages.map_or(PASSAGES, |passages| passages.parse().unwrap());
    let store = ground.store_with("statement_timeout_ms=1000").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let selector = of_source("t", "a");
    collection.upsert(&source("t", "b", 3, 7)).await.unwrap();
    let of = |there: usize| Some(u64::try_from(there).unwrap());
    for (version, before) in [(1, 0), (2, passages)] {
        let records = source("t", "a", passages, version);
        let replaced = collection.replace(&selector, &records).await.unwrap();
        assert_eq!(replaced.removed.exact(), of(before));
    }
    let narrowed = collection.update_metadata(&selector, &to_version(9)).await;
    assert_eq!(narrowed.unwrap().exact(), of(passages));
    assert_eq!(
        collection.count(&of_tenant("t")).await.unwrap().exact(),
        of(passages + 3)
    );
    let (there, _) = versions(&collection, selector.filter()).await;
    assert_eq!(there, [9]);
    let removed = collection.delete_matching(&selector).await.unwrap();
    assert_eq!(removed.exact(), of(passages));
    assert_eq!(
        versions(&collection, &Filter::everything()).await,
        (vec![7], 3)
    );
    assert_eq!(collection.delete_all().await.unwrap().exact(), Some(3));
}
