//! A collection before another, written once: what a layer does not change goes to the one behind.

use std::future::Future;
use std::sync::Arc;

use shelfward_core::filter::Pushdown;
use shelfward_core::{
    Capabilities, Collection, CollectionSpec, Count, Cursor, Expected, Filter, Found, Include, Key,
    Leg, MetadataPatch, NarrowFilter, Page, Record, Replaced, Result, StoredRecord, WriteOrder,
    async_trait,
};

/// The members of a [`Collection`], each answered by the collection behind until it is overridden.
/// [`Layered`] makes a collection of it.
///
/// A layer that changes `replace` decides about `replace_if` too.
#[async_trait]
#[expect(missing_docs, reason = "each is the port's member of the same name")]
pub trait Layer: Send + Sync {
    /// The collection behind.
    fn behind(&self) -> &Arc<dyn Collection>;

    /// The collection behind, for a call of it: what a layer overrides that looks at every call.
    fn called(&self) -> &Arc<dyn Collection> {
        self.behind()
    }

    fn spec(&self) -> &CollectionSpec {
        self.behind().spec()
    }

    fn capabilities(&self) -> &Capabilities {
        self.behind().capabilities()
    }

    async fn upsert(&self, records: &[Record]) -> Result<()> {
        self.called().upsert(records).await
    }

    async fn delete(&self, keys: &[Key]) -> Result<Count> {
        self.called().delete(keys).await
    }

    async fn search(&self, leg: &Leg) -> Result<Found> {
        self.called().search(leg).await
    }

    /// Two searches of this layer, not of the one behind, in one state of it.
    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        in_one_state(dense, lexical, |leg| self.search(leg)).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.called().fetch(keys, within, include).await
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        self.called().replace(selector, with).await
    }

    async fn replace_if(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        expected: &Expected,
    ) -> Result<Option<Replaced>> {
        self.called().replace_if(selector, with, expected).await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        self.called().delete_matching(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.called().delete_all().await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
        self.called().update_metadata(selector, patch).await
    }

    async fn scan(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
        include: Include,
    ) -> Result<Page> {
        self.called().scan(filter, after, limit, include).await
    }

    async fn count(&self, filter: &Filter) -> Result<Count> {
        self.called().count(filter).await
    }

    fn write_order(&self) -> Option<WriteOrder> {
        self.behind().write_order()
    }
}

/// Both legs of one state, for a store behind that can be asked for one alone: they are asked again
/// while a write came between them.
///
/// # Errors
/// Those of the searches.
pub async fn in_one_state<'a, F>(
    dense: &'a Leg,
    lexical: &'a Leg,
    search: impl Fn(&'a Leg) -> F,
) -> Result<(Found, Found)>
where
    F: Future<Output = Result<Found>>,
{
    let mut before = search(dense).await?;
    loop {
        let found = search(lexical).await?;
        let after = search(dense).await?;
        if before == after {
            return Ok((before, found));
        }
        before = after;
    }
}

/// A collection made of a [`Layer`].
pub struct Layered<L>(pub L);

#[async_trait]
impl<L: Layer> Collection for Layered<L> {
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

    async fn search(&self, leg: &Leg) -> Result<Found> {
        self.0.search(leg).await
    }

    async fn fetch(
        &self,
        keys: &[Key],
        within: &Filter,
        include: Include,
    ) -> Result<Vec<Option<StoredRecord>>> {
        self.0.fetch(keys, within, include).await
    }

    fn pushdown(&self, filter: &Filter) -> Pushdown {
        self.capabilities().filter.split(filter)
    }

    async fn search_both(&self, dense: &Leg, lexical: &Leg) -> Result<(Found, Found)> {
        self.0.search_both(dense, lexical).await
    }

    async fn replace(&self, selector: &NarrowFilter, with: &[Record]) -> Result<Replaced> {
        self.0.replace(selector, with).await
    }

    async fn replace_if(
        &self,
        selector: &NarrowFilter,
        with: &[Record],
        expected: &Expected,
    ) -> Result<Option<Replaced>> {
        self.0.replace_if(selector, with, expected).await
    }

    async fn delete_matching(&self, selector: &NarrowFilter) -> Result<Count> {
        self.0.delete_matching(selector).await
    }

    async fn delete_all(&self) -> Result<Count> {
        self.0.delete_all().await
    }

    async fn update_metadata(
        &self,
        selector: &NarrowFilter,
        patch: &MetadataPatch,
    ) -> Result<Count> {
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

    fn write_order(&self) -> Option<WriteOrder> {
        self.0.write_order()
    }
}
