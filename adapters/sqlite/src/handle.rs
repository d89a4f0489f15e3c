//! One collection, as a handle was opened on it.

use std::sync::Arc;

use rusqlite::Connection;
use shelfward_core::{CollectionSpec, ErrorKind};

use crate::cache::Cache;
use crate::error::Result;
use crate::reads::View;
use crate::schema::CatalogRow;

/// What a handle knows of its collection.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) spec: Arc<CollectionSpec>,
    /// The spec's JSON, which tells whether it is still that.
    json: Arc<str>,
    generation: i64,
    /// Shared by all handles of the store.
    pub(crate) cache: Arc<Cache>,
}

impl Handle {
    pub(crate) fn new(entry: &CatalogRow, cache: Arc<Cache>) -> Result<Self> {
        Ok(Self {
            spec: Arc::new(entry.read_spec()?),
            json: entry.spec.as_str().into(),
            generation: entry.generation,
            cache,
        })
    }

    /// The collection as the connection's transaction sees it. Refuses one that was dropped, or dropped
    /// and made anew.
    pub(crate) fn view<'c>(&self, connection: &'c Connection) -> Result<View<'c>> {
        let entry = CatalogRow::read(connection, &self.spec.name)?;
        let entry = entry.filter(|entry| entry.generation == self.generation);
        let entry = entry.ok_or(ErrorKind::StaleHandle)?;
        let spec = match *entry.spec == *self.json {
            true => self.spec.clone(),
            false => Arc::new(entry.read_spec()?),
        };
        Ok(View {
            connection,
            entry,
            spec,
        })
    }
}
