//! What all handles on a store share: the connections, and what is looked up by them.

use std::sync::Arc;

use shelfward_adapter::catalog::merge_fields;
use shelfward_adapter::error::invalid;
use shelfward_core::adapter::WriteLocks;
use shelfward_core::{CollectionName, CollectionSpec, ErrorKind};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::catalog::{self, CatalogRow};
use crate::context::CollectionContext;
use crate::error::{Error, Result, corrupt};
use crate::extension::{Extension, ServerInfo};
use crate::names::TableNames;
use crate::server::Server;

/// An open store.
pub(crate) struct OpenStore {
    pub(crate) server: Arc<Server>,
    pub(crate) names: TableNames,
    pub(crate) locks: WriteLocks,
}

impl OpenStore {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            names: TableNames::of(&server.options),
            server: Arc::new(server),
            locks: WriteLocks::new(),
        }
    }

    /// Refuses to make or drop tables where a person does.
    pub(crate) fn check_manages_schema(&self) -> Result<()> {
        if self.server.options.manage_schema {
            return Ok(());
        }
        Err(ErrorKind::Unsupported(
            "making, changing and dropping tables: manage_schema is false; run what schema_sql prints by hand, \
             and to drop a collection, drop its table and delete its row in the table of collections",
        )
        .into())
    }

    /// What the server says of itself, and the extension, if it is installed; refuses a server that
    /// cannot serve.
    pub(crate) async fn server_info(&self) -> Result<(ServerInfo, Option<Extension>)> {
        let rows = self.server.read(&ServerInfo::ask()).await?;
        let info = ServerInfo::answered(&rows)?;
        let extension = info.extension()?;
        Ok((info, extension))
    }

    async fn extension(&self) -> Result<Extension> {
        let (info, extension) = self.server_info().await?;
        Ok(extension.ok_or_else(|| invalid(info.missing()))?)
    }

    /// The catalog's row of a name; nothing where nothing was ever made.
    pub(crate) async fn row(&self, name: &CollectionName) -> Result<Option<CatalogRow>> {
        let select = catalog::select(&self.names, name);
        match self.server.read(&select).await {
            Err(error) if has_no_catalog(&error) => Ok(None),
            rows => catalog::selected(&rows?),
        }
    }

    /// The names in the catalog, sorted.
    pub(crate) async fn list(&self) -> Result<Vec<CollectionName>> {
        let rows = match self.server.read(&catalog::select_names(&self.names)).await {
            Err(error) if has_no_catalog(&error) => return Ok(Vec::new()),
            rows => rows?,
        };
        let name = |row: &PgRow| -> Result<CollectionName> {
            CollectionName::new(row.try_get::<&str, _>(0)?)
                .map_err(|_| corrupt("a collection has a name that is none"))
        };
        let mut names = rows.iter().map(name).collect::<Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    /// Opens what is recorded under a name. Looked at again where it was dropped while it was looked
    /// at.
    pub(crate) async fn open(&self, name: &CollectionName) -> Result<Option<CollectionContext>> {
        let mut tried = 0;
        loop {
            let Some(row) = self.row(name).await? else {
                return Ok(None);
            };
            let generation = row.generation;
            tried += 1;
            match self.checked(row, !self.server.options.manage_schema).await {
                Ok(context) => return Ok(Some(context)),
                Err(error) => {
                    let now = self.row(name).await?.map(|row| row.generation);
                    if now == Some(generation) || tried == 3 {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// A collection whose table has what it should.
    async fn checked(&self, row: CatalogRow, indexes_too: bool) -> Result<CollectionContext> {
        row.settings.check_words(&row.spec)?;
        let context = CollectionContext {
            server: self.server.clone(),
            names: self.names.clone(),
            table: self.names.table(&row.spec.name),
            extension: self.extension().await?,
            row,
        };
        context.check_table(indexes_too).await?;
        Ok(context)
    }

    /// Whether a collection is there with all that this spec asks for, so that nothing is to be made
    /// and nobody to be waited for.
    pub(crate) async fn is_made(&self, spec: &CollectionSpec) -> Result<bool> {
        let Some(row) = self.row(&spec.name).await? else {
            return Ok(false);
        };
        let lacks_fields = merge_fields(&row.spec, spec)?.is_some();
        Ok(!lacks_fields && self.checked(row, true).await.is_ok())
    }

    /// Refuses what a person would have to make.
    pub(crate) async fn check_made_by_hand(&self, spec: &CollectionSpec) -> Result<()> {
        let Some(row) = self.row(&spec.name).await? else {
            return self.check_manages_schema();
        };
        let Some(merged) = merge_fields(&row.spec, spec)? else {
            return Ok(());
        };
        let lacking = merged.fields.iter().skip(row.spec.fields.len());
        let keys: Vec<_> = lacking.map(|field| field.key.as_str()).collect();
        Err(invalid(format!(
            "the collection does not declare {}; with manage_schema false, add the columns and indexes \
             that schema_sql prints, and its new spec to the table of collections",
            keys.join(", ")
        ))
        .into())
    }
}

/// The schema or the table of collections is not there, so there are none.
fn has_no_catalog(error: &Error) -> bool {
    error.is_code("42P01") || error.is_code("3F000")
}
