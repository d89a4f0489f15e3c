//! A collection before another, written once: what a layer does not change goes to the one behind.

use std::future::Future;
use std::sync::Arc;

use shelfward_core::adapter::CollectionAdapter;
use shelfward_core::{
    Capabilities, CollectionSpec, Count, Cursor, ErrorKind, Filter, Include, Key, Leg, LegResult,
    MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector, StoreError,
    StoredRecord, async_trait,
};

/// The members of a [`CollectionAdapter`], each answered by the collection behind until it is overridden.
/// [`Layered`] makes a collection of it.
#[async_trait]
pub(crate) trait Layer: Send + Sync {
    /// The collection behind.
    fn behind(&self) -> &Arc<dyn CollectionAdapter>;

    fn spec(&self) -> &CollectionSpec {
        self.behind().spec()
    }

    fn capabilities(&self) -> &Capabilities {
        self.behind().capabilities()
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.behind().upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.behind().delete(keys).await
    }

    /// One leg of a search of this layer: what a layer overrides that changes what is found.
    async fn search_leg(&self, leg: &Leg) -> Result<LegResult> {
        search_one(&**self.behind(), leg).await
    }

    /// The legs of this layer, not of the one behind, in one state of it.
    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        in_one_state(legs, |leg| self.search_leg(leg)).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.behind().fetch(keys, within, include).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.behind().replace(selector, with, precondition).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.behind().delete_matching(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.behind().delete_all().await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        self.behind().update_metadata(selector, patch).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.behind().scan(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.behind().count(filter).await
    }
}

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

/// A collection made of a [`Layer`].
pub(crate) struct Layered<L>(pub(crate) L);

#[async_trait]
impl<L: Layer> CollectionAdapter for Layered<L> {
    fn spec(&self) -> &CollectionSpec {
        self.0.spec()
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.0.upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.0.delete(keys).await
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        self.0.search(legs).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.0.fetch(keys, within, include).await
    }

    async fn replace(
        &self,
        selector: &Selector,
        with: &[Record],
        precondition: Option<&Precondition>,
    ) -> Result<Option<Replaced>> {
        self.0.replace(selector, with, precondition).await
    }

    async fn delete_matching(&self, selector: &Selector) -> Result<Count> {
        self.0.delete_matching(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.0.delete_all().await
    }

    async fn update_metadata(&self, selector: &Selector, patch: &MetadataPatch) -> Result<Count> {
        self.0.update_metadata(selector, patch).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.0.scan(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.0.count(filter).await
    }
}
