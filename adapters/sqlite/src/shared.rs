//! What all handles of a collection share within a store.

use std::sync::{Arc, PoisonError, RwLock};

use shelfward_core::CollectionSpec;

use crate::cache::Cache;
use crate::error::Job;
use crate::schema::Entry;

/// One collection, as long as it is not dropped.
pub(crate) struct Shared {
    pub(crate) name: String,
    /// The spec as it was last read, and its JSON, which tells whether it is still that.
    spec: RwLock<(String, Arc<CollectionSpec>)>,
    pub(crate) cache: Arc<Cache>,
}

impl Shared {
    pub(crate) fn new(entry: &Entry) -> Job<Self> {
        let spec = (entry.spec.clone(), Arc::new(entry.read_spec()?));
        Ok(Self {
            name: entry.name.clone(),
            spec: RwLock::new(spec),
            cache: Arc::default(),
        })
    }

    /// The spec that an entry records.
    pub(crate) fn spec(&self, entry: &Entry) -> Job<Arc<CollectionSpec>> {
        {
            let known = self.spec.read().unwrap_or_else(PoisonError::into_inner);
            if known.0 == entry.spec {
                return Ok(known.1.clone());
            }
        }
        let spec = Arc::new(entry.read_spec()?);
        let mut known = self.spec.write().unwrap_or_else(PoisonError::into_inner);
        *known = (entry.spec.clone(), spec.clone());
        Ok(spec)
    }
}
