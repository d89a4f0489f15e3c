//! How many calls a run sends, found out on a store where they cost nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use shelfward_core::{
    Capabilities, Collection, CollectionName, CollectionSpec, Count, Cursor, Expected, Filter,
    Found, Include, Key, Leg, MetadataPatch, NarrowFilter, Page, Record, Replaced, Result,
    StoredRecord, VectorStore, async_trait,
};

use crate::faulty::Kept;
use crate::gaps::KnownGaps;
use crate::layer::{Layer, Layered};
use crate::store::StoreUnderTest;
use crate::suite::{DEFAULT_SEED, Selection, Suite};

/// About what a run asks of a store that declares everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// How many cases are selected.
    pub cases: usize,
    /// How many calls of an adapter they make. Each is one round trip, or a few.
    pub calls: u64,
}

/// Runs the selected cases on a store that holds nothing dear, which is treated as one on a server:
/// its data outlives its handles, and what a second process does is counted too.
pub(crate) async fn estimate(
    store: Arc<dyn StoreUnderTest>,
    selection: &Selection,
) -> Result<Estimate> {
    let calls = Arc::new(AtomicU64::new(0));
    let counting = Counting {
        store,
        calls: calls.clone(),
        places: Mutex::default(),
    };
    let gaps = KnownGaps::default();
    let suite = Suite::with_simulated_processes(Arc::new(counting), gaps, selection, DEFAULT_SEED);
    let suite = suite.await?;
    let cases = suite.run_all().await.cases.len();
    Ok(Estimate {
        cases,
        calls: calls.load(Ordering::Relaxed),
    })
}

struct Counting {
    store: Arc<dyn StoreUnderTest>,
    calls: Arc<AtomicU64>,
    places: Mutex<HashMap<String, Arc<Kept>>>,
}

#[async_trait]
impl StoreUnderTest for Counting {
    fn name(&self) -> &'static str {
        self.store.name()
    }

    async fn open(&self) -> Result<Arc<dyn VectorStore>> {
        self.open_at("").await
    }

    fn place(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn VectorStore>> {
        let behind = self.store.open().await?;
        let kept = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = places.entry(place.to_owned());
            kept.or_insert_with(|| Kept::new(behind, None)).clone()
        };
        Ok(Arc::new(Counted {
            behind: kept.open().await?,
            calls: self.calls.clone(),
        }))
    }

    async fn tear_down(&self) -> Result<()> {
        self.store.tear_down().await
    }
}

/// A store or a collection whose calls are counted.
struct Counted<B> {
    behind: B,
    calls: Arc<AtomicU64>,
}

impl<B> Counted<B> {
    fn called(&self) -> &B {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &self.behind
    }
}

#[async_trait]
impl VectorStore for Counted<Arc<dyn VectorStore>> {
    fn kind(&self) -> &'static str {
        self.behind.kind()
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.behind.capabilities(spec)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.called().create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn Collection>>> {
        let opened = self.called().open(name).await?;
        Ok(opened.map(|behind| -> Arc<dyn Collection> {
            let calls = self.calls.clone();
            Arc::new(Layered(Counted { behind, calls }))
        }))
    }

    async fn list(&self) -> Result<Vec<CollectionName>> {
        self.called().list().await
    }

    async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.called().drop_collection(name).await
    }

    async fn health(&self) -> Result<()> {
        self.called().health().await
    }

    async fn close(&self) -> Result<()> {
        self.called().close().await
    }
}

#[async_trait]
impl Layer for Counted<Arc<dyn Collection>> {
    fn behind(&self) -> &Arc<dyn Collection> {
        &self.behind
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
}
