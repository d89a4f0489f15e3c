//! What users hold: a store whose every handle is checked.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ceilings::Ceilings;
use crate::checked::CheckedCollection;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::names::CollectionName;
use crate::port::{Collection, VectorStore};
use crate::spec::{CollectionSpec, SpecError};
use crate::write_order::WriteOrder;

/// A vector store, by whatever adapter. A clone is the same store.
///
/// Every handle that it hands out checks names, widths, vectors, limits and filters, evaluates the
/// part of a filter that the engine does not, and orders writers.
#[derive(Clone)]
pub struct Store {
    adapter: Arc<dyn VectorStore>,
    ceilings: Ceilings,
    // For adapters that keep no order themselves; shared by all handles of this store.
    orders: Arc<Mutex<HashMap<CollectionName, WriteOrder>>>,
}

impl Store {
    /// Takes an adapter.
    pub fn new(adapter: impl VectorStore + 'static) -> Self {
        Self::from_arc(Arc::new(adapter))
    }

    /// Takes a shared adapter.
    pub fn from_arc(adapter: Arc<dyn VectorStore>) -> Self {
        Self {
            adapter,
            ceilings: Ceilings::default(),
            orders: Arc::default(),
        }
    }

    /// Sets the ceilings of the handles opened from here on.
    #[must_use]
    pub fn with_ceilings(mut self, ceilings: Ceilings) -> Self {
        self.ceilings = ceilings;
        self
    }

    /// The ceilings.
    pub fn ceilings(&self) -> &Ceilings {
        &self.ceilings
    }

    /// What the store is, as `memory`.
    pub fn kind(&self) -> &'static str {
        self.adapter.kind()
    }

    /// Opens a collection. Creates and changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::NoCollection`] where there is none, or those of the engine.
    pub async fn open(&self, name: &CollectionName) -> Result<Arc<dyn Collection>> {
        let missing = || StoreError::new(Operation::Open, ErrorKind::NoCollection).on(name);
        let collection = self.adapter.open(name).await?.ok_or_else(missing)?;
        let order = collection.write_order().unwrap_or_else(|| self.order(name));
        Ok(Arc::new(CheckedCollection::over(
            collection,
            order,
            self.ceilings,
        )))
    }

    /// Creates a collection, or adds the fields that an existing one of an equal spec lacks, and
    /// opens it.
    ///
    /// # Errors
    /// [`ErrorKind::Spec`] when the spec contradicts itself or an existing collection differs;
    /// [`ErrorKind::Unsupported`] when the store cannot hold such a collection. Nothing is changed
    /// then.
    pub async fn ensure(&self, spec: &CollectionSpec) -> Result<Arc<dyn Collection>> {
        self.check_spec(spec).map_err(|e| e.on(&spec.name))?;
        self.adapter.create(spec).await?;
        let opened = self.open(&spec.name).await?;
        let contract = |e: SpecError| {
            StoreError::new(Operation::Create, ErrorKind::Contract(e.to_string())).on(&spec.name)
        };
        opened.spec().check_serves(spec).map_err(contract)?;
        Ok(opened)
    }

    fn check_spec(&self, spec: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| Err(StoreError::new(Operation::Create, kind));
        spec.check()
            .map_err(|e| StoreError::new(Operation::Create, e))?;
        let can = self.adapter.capabilities(spec);
        if let Some(max) = can.max_width.filter(|max| spec.width > *max) {
            let (given, max) = (u64::from(spec.width), u64::from(max));
            return refuse(ErrorKind::Limit {
                what: "the width of vectors",
                given,
                max,
            });
        }
        if !can.metrics.contains(&spec.metric) {
            return refuse(ErrorKind::Unsupported("this metric"));
        }
        if spec.open_fields && !can.open_fields {
            return refuse(ErrorKind::Unsupported("filters by undeclared fields"));
        }
        Ok(())
    }

    /// The names of the collections, sorted.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn list(&self) -> Result<Vec<CollectionName>> {
        self.adapter.list().await
    }

    /// Drops a collection with all it holds; answers whether there was one.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn drop_collection(&self, name: &CollectionName) -> Result<bool> {
        self.adapter.drop_collection(name).await
    }

    /// Asks the engine whether it serves.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn health(&self) -> Result<()> {
        self.adapter.health().await
    }

    /// Writes what is buffered and lets go. Calls after it fail.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn close(&self) -> Result<()> {
        self.adapter.close().await
    }

    fn order(&self, name: &CollectionName) -> WriteOrder {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.entry(name.clone()).or_default().clone()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}
