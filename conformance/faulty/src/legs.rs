//! Legs, asked of a collection one by one.

use std::future::Future;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::filter::key;
use shelfward_core::{
    CollectionSpec, ErrorKind, Filter, Leg, LegResult, Operation, Result, StoreError,
};

/// One leg of a collection.
///
/// # Errors
/// Those of the collection.
pub async fn search_one(collection: &dyn CollectionAdapter, leg: &Leg) -> Result<LegResult> {
    let results = collection.search(std::slice::from_ref(leg)).await?;
    results.into_iter().next().ok_or_else(|| {
        let contract = "no answer to the one leg that was asked".to_owned();
        StoreError::new(Operation::Search, ErrorKind::Contract(contract))
            .on(&collection.spec().name)
    })
}

/// Legs of one state, for a store behind that can be asked for one alone: they are asked again while
/// a write came between them.
///
/// # Errors
/// Those of the searches.
pub async fn in_one_state<'a, F>(
    legs: &'a [Leg],
    search: impl Fn(&'a Leg) -> F,
) -> Result<Vec<LegResult>>
where
    F: Future<Output = Result<LegResult>>,
{
    let Some((first, others)) = legs.split_first() else {
        return Ok(Vec::new());
    };
    let mut results = vec![search(first).await?];
    while !others.is_empty() {
        for leg in others {
            results.push(search(leg).await?);
        }
        let after = search(first).await?;
        if results.first() == Some(&after) {
            break;
        }
        results = vec![after];
    }
    Ok(results)
}

/// The filter with nothing of it but the partition, without which no lexical leg runs.
pub fn partition_only(spec: &CollectionSpec, filter: &Filter) -> Filter {
    let pinned = spec.partition_key().and_then(|partition| {
        let value = filter.pinned(partition.as_str())?.into_iter().next()?;
        key(partition.as_str()).eq(value).build().ok()
    });
    pinned.unwrap_or_else(Filter::everything)
}
