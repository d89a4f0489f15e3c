//! How many calls a run sends, found out on a store where they cost nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Leg, LegResult, Result, async_trait,
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

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        self.open_at("").await
    }

    fn place(&self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    async fn open_at(&self, place: &str) -> Result<Arc<dyn StoreAdapter>> {
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
impl StoreAdapter for Counted<Arc<dyn StoreAdapter>> {
    fn kind(&self) -> &'static str {
        self.behind.kind()
    }

    fn capabilities(&self, spec: &CollectionSpec) -> Capabilities {
        self.behind.capabilities(spec)
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        self.called().create(spec).await
    }

    async fn open(&self, name: &CollectionName) -> Result<Option<Arc<dyn CollectionAdapter>>> {
        let opened = self.called().open(name).await?;
        Ok(opened.map(|behind| -> Arc<dyn CollectionAdapter> {
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

    fn write_locks(&self) -> WriteLocks {
        self.behind.write_locks()
    }

    async fn health(&self) -> Result<()> {
        self.called().health().await
    }

    async fn close(&self) -> Result<()> {
        self.called().close().await
    }
}

#[async_trait]
impl Layer for Counted<Arc<dyn CollectionAdapter>> {
    fn behind(&self) -> &Arc<dyn CollectionAdapter> {
        &self.behind
    }

    fn called(&self) -> &Arc<dyn CollectionAdapter> {
        Counted::called(self)
    }

    async fn search(&self, legs: &[Leg]) -> Result<Vec<LegResult>> {
        Counted::called(self).search(legs).await
    }
}
