use std::sync::Arc;

use crate::catalog::CatalogRow;
use crate::extension::Extension;
use crate::names::TableNames;
use crate::server::Server;

/// A collection as it was opened.
pub(crate) struct CollectionContext {
    pub(crate) server: Arc<Server>,
    pub(crate) names: TableNames,
    /// The table, as SQL names it.
    pub(crate) table: String,
    pub(crate) row: CatalogRow,
    pub(crate) extension: Extension,
}
