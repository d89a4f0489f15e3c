//! What users hold: a store whose every handle is checked.

use std::fmt;
use std::sync::Arc;

use crate::adapter::{CollectionAdapter, StoreAdapter};
use crate::capabilities::{Capabilities, CapabilityError};
use crate::collection::Collection;
use crate::error::{ErrorKind, Operation, Result, StoreError};
use crate::library::is_library;
use crate::limits::Limits;
use crate::names::CollectionName;
use crate::spec::{CollectionSpec, SpecError};

/// A vector store, by whatever adapter. A clone is the same store.
///
/// Every [`Collection`] that it hands out checks names, widths, vectors, limits and filters, evaluates
/// the part of a filter that the engine does not, and orders writers.
#[derive(Clone)]
pub struct Store {
    adapter: Arc<dyn StoreAdapter>,
    limits: Limits,
}

impl Store {
    /// Takes an adapter.
    pub fn new(adapter: impl StoreAdapter + 'static) -> Self {
        Self::from_arc(Arc::new(adapter))
    }

    /// Takes a shared adapter.
    pub fn from_arc(adapter: Arc<dyn StoreAdapter>) -> Self {
        Self {
            adapter,
            limits: Limits::default(),
        }
    }

    /// Sets the limits of the handles opened from here on.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the store is, as `memory`.
    pub fn kind(&self) -> &'static str {
        self.adapter.kind()
    }

    /// Opens a collection. Creates and changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::NoCollection`] where there is none; [`ErrorKind::IsLibrary`] for the collection of
    /// a library, which is read inside a scope; [`ErrorKind::Contract`] for an adapter whose
    /// capabilities contradict each other; or those of the engine.
    pub async fn open(&self, name: &CollectionName) -> Result<Collection> {
        let opened = self.open_unscoped(name).await?;
        refuse_library(opened.spec(), Operation::Open)?;
        Ok(opened)
    }

    /// Opens a collection, be it a library's: everything in it can then be read and changed outside
    /// every scope. For tools that copy or repair; a program that answers people opens a
    /// [`LibraryIndex`](crate::LibraryIndex).
    ///
    /// # Errors
    /// As [`open`](Self::open), but for [`ErrorKind::IsLibrary`].
    pub async fn open_unscoped(&self, name: &CollectionName) -> Result<Collection> {
        let missing = || StoreError::new(Operation::Open, ErrorKind::NoCollection).on(name);
        let opened = self.adapter.open(name).await?.ok_or_else(missing)?;
        self.checked(opened, Operation::Open)
    }

    fn checked(
        &self,
        opened: Arc<dyn CollectionAdapter>,
        operation: Operation,
    ) -> Result<Collection> {
        let name = &opened.spec().name;
        check_capabilities(opened.capabilities(), operation).map_err(|e| e.on(name))?;
        let lock = self.adapter.write_locks().of(name);
        Ok(Collection::new(opened, lock, self.limits))
    }

    /// Creates a collection, or adds the fields that an existing one of an equal spec lacks, and
    /// opens it.
    ///
    /// # Errors
    /// [`ErrorKind::Spec`] when the spec contradicts itself or an existing collection differs;
    /// [`ErrorKind::Unsupported`] when the store cannot hold such a collection;
    /// [`ErrorKind::IsLibrary`] when it is a library's. Nothing is changed then.
    pub async fn ensure(&self, spec: &CollectionSpec) -> Result<Collection> {
        refuse_library(spec, Operation::Create)?;
        self.ensure_unscoped(spec).await
    }

    /// As [`ensure`](Self::ensure), be it a library's: see [`open_unscoped`](Self::open_unscoped).
    ///
    /// # Errors
    /// As [`ensure`](Self::ensure), but for [`ErrorKind::IsLibrary`].
    pub async fn ensure_unscoped(&self, spec: &CollectionSpec) -> Result<Collection> {
        self.check_spec(spec).map_err(|e| e.on(&spec.name))?;
        self.adapter.create(spec).await?;
        let opened = self.open_unscoped(&spec.name).await?;
        let contract = |e: SpecError| {
            StoreError::new(Operation::Create, ErrorKind::Contract(e.to_string())).on(&spec.name)
        };
        opened.spec().check_compatible(spec).map_err(contract)?;
        Ok(opened)
    }

    fn check_spec(&self, spec: &CollectionSpec) -> Result<()> {
        let refuse = |kind: ErrorKind| Err(StoreError::new(Operation::Create, kind));
        spec.check()
            .map_err(|e| StoreError::new(Operation::Create, e))?;
        let can = self.adapter.capabilities(spec);
        check_capabilities(&can, Operation::Create)?;
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

    /// Flushes pending writes and releases the store. Later calls through this handle fail with
    /// [`ErrorKind::Invalid`].
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn close(&self) -> Result<()> {
        self.adapter.close().await
    }
}

fn check_capabilities(can: &Capabilities, operation: Operation) -> Result<()> {
    let contract = |e: CapabilityError| ErrorKind::Contract(e.to_string());
    can.check()
        .map_err(|e| StoreError::new(operation, contract(e)))
}

/// Two failures for a leak: whoever reads a library without its scope has to say so.
fn refuse_library(spec: &CollectionSpec, operation: Operation) -> Result<()> {
    if is_library(spec) {
        return Err(StoreError::new(operation, ErrorKind::IsLibrary).on(&spec.name));
    }
    Ok(())
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}
