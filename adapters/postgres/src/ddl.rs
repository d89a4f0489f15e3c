//! What is made, changed and dropped in the database, each one transaction.

use shelfward_adapter::catalog::merge_fields;
use shelfward_adapter::error::{invalid, limit};
use shelfward_core::{CollectionName, CollectionSpec, ErrorKind, async_trait};
use sqlx_core::row::Row as _;

use crate::VectorIndex;
use crate::catalog::{self, Settings};
use crate::error::{Error, LOCK_TIMEOUT, Result};
use crate::extension::{Extension, ServerInfo};
use crate::introspect::{Parts, introspect, missing_table};
use crate::locks::{self, Lock, of_collection, of_tables};
use crate::names::TableNames;
use crate::params::{Param, Statement};
use crate::schema;
use crate::transaction::{Transaction, TransactionBody};

/// Waits for a lock on a table no longer than this: whoever waits for one stands before all that come later.
async fn limit_locks(transaction: &mut Transaction<'_>) -> Result<()> {
    let millis = LOCK_TIMEOUT.as_millis();
    let set = format!("SET LOCAL lock_timeout = {millis}");
    transaction.raw(&set).await.map(drop)
}

/// What a table holds in columns at most, less those that every table has.
const MAX_FIELDS: usize = 1_500;

/// Refuses a spec that no table can serve.
pub(crate) fn check(spec: &CollectionSpec) -> Result<()> {
    if spec.fields.len() > MAX_FIELDS {
        return Err(limit("declared fields", spec.fields.len(), MAX_FIELDS).into());
    }
    let (row, max) = (schema::least_row(spec), schema::MAX_ROW);
    if row > max {
        let what = "bytes of a row in which every declared field has a value";
        return Err(limit(what, row, max).into());
    }
    Ok(())
}

/// Makes a collection, or adds what an existing one lacks.
pub(crate) struct Create {
    pub(crate) names: TableNames,
    pub(crate) settings: Settings,
    pub(crate) spec: CollectionSpec,
}

#[async_trait]
impl TransactionBody for Create {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        vec![of_tables(&self.names.registry())]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        // Making an index of many rows takes as long as it takes; but nobody waits behind one who
        // waits for a table.
        limit_locks(transaction).await?;
        transaction.raw("SET LOCAL statement_timeout = 0").await?;
        let extension = installed(transaction).await?;
        let mut settings = self.settings.clone();
        if settings.index == VectorIndex::HnswHalf && !extension.has_half() {
            settings.index = VectorIndex::None;
        }
        let (has_schema, is_prepared) = self.prepared(transaction).await?;
        if !has_schema {
            let own = schema::own_schema(&self.names);
            transaction.raw(&own).await?;
        }
        if !is_prepared {
            let shared = schema::shared(&self.names).join(";");
            transaction.raw(&shared).await?;
        }
        let rows = transaction
            .rows(&catalog::select(&self.names, &self.spec.name))
            .await?;
        let (spec, settings) = match catalog::selected(&rows)? {
            None => {
                let mut table = schema::table(&self.names, &self.spec, &settings, &extension);
                table.push(catalog::insert(&self.names, &self.spec, &settings)?);
                let made = transaction.raw(&table.join(";")).await;
                made.map_err(|error| self.why_not_made(error))?;
                (self.spec.clone(), settings)
            }
            Some(row) => {
                let merged = merge_fields(&row.spec, &self.spec)?;
                let there = transaction.parts(&self.table(), &extension).await?;
                if there.is_empty() {
                    let table = self.names.bare_table(&self.spec.name);
                    return Err(missing_table(&table));
                }
                if let Some(spec) = &merged {
                    self.add_fields(transaction, row.spec.fields.len(), spec)
                        .await?;
                }
                (merged.unwrap_or(row.spec), row.settings)
            }
        };
        for index in schema::indexes(&self.names, &spec, &settings, &extension) {
            transaction.raw_at_length(&index.sql).await?;
        }
        // What was there under the same name was left as it is: a column that somebody added, or an index
        // of another table.
        let commits = transaction.parts(&self.names.commits(), &extension).await?;
        commits.check_commits(&self.names)?;
        let made = transaction.parts(&self.table(), &extension).await?;
        let analysed = settings.text_search.is_some();
        made.check(&self.names, &spec, analysed, Some(&settings), &extension)
    }
}

impl Transaction<'_> {
    /// What a table has.
    async fn parts(&mut self, table: &str, extension: &Extension) -> Result<Parts> {
        Parts::of(&self.rows(&introspect(table)).await?, extension)
    }
}

impl Create {
    /// Adds the columns of fields from a position on.
    async fn add_fields(
        &self,
        transaction: &mut Transaction<'_>,
        first: usize,
        spec: &CollectionSpec,
    ) -> Result<()> {
        check(spec)?;
        let table = self.table();
        // No writer goes on by the old spec while the new fields are filled.
        let lock = locks::statements(&[of_collection(&table)]);
        transaction.raw(&lock).await?;
        for (at, field) in spec.fields.iter().enumerate().skip(first) {
            let wrong = schema::other_kinds(&table, field);
            if !transaction.rows(&wrong).await?.is_empty() {
                return Err(invalid(format!(
                    "records hold {} that is not {}; write them anew before the field is declared",
                    field.key,
                    field.kind.name()
                ))
                .into());
            }
            let add = schema::add_column(&self.names, spec, at, field);
            transaction.raw_at_length(&add).await?;
        }
        let update = catalog::update_spec(&self.names, spec)?;
        transaction.execute(&update).await.map(drop)
    }

    /// Whether the schema is there, and what all collections share in it: a role that may not make
    /// them goes on where they are.
    async fn prepared(&self, transaction: &mut Transaction<'_>) -> Result<(bool, bool)> {
        let asked = Statement::new(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = ?), \
             to_regclass(?) IS NOT NULL AND to_regclass(?) IS NOT NULL AND to_regprocedure(?) IS NOT NULL",
            [
                Param::text(self.names.schema().as_str()),
                Param::text(self.names.registry()),
                Param::text(self.names.commits()),
                Param::text(format!("{}(jsonb)", self.names.texts())),
            ],
        );
        let rows = transaction.rows(&asked).await?;
        let row = rows.first().ok_or(ErrorKind::Engine)?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }

    fn table(&self) -> String {
        self.names.table(&self.spec.name)
    }

    fn why_not_made(&self, error: Error) -> Error {
        let table = self.names.bare_table(&self.spec.name);
        let in_the_way = format!(
            "the database has a table {table} that this store did not make; choose another \
             table_prefix or schema"
        );
        let error = error.explained(&["42P07"], in_the_way);
        match self.settings.text_search {
            Some(_) => error.explained(
                &["42704"],
                "the server has no text search configuration of that name; \\dF lists them",
            ),
            None => error,
        }
    }
}

/// The extension, installed where it is not and the role may.
async fn installed(transaction: &mut Transaction<'_>) -> Result<Extension> {
    for install in [true, false] {
        let rows = transaction.rows(&ServerInfo::ask()).await?;
        let facts = ServerInfo::answered(&rows)?;
        if let Some(extension) = facts.extension()? {
            return Ok(extension);
        }
        if !install || !facts.can_be_installed {
            return Err(invalid(facts.missing()).into());
        }
        // Two that make it at once are one too many for the server; the second finds it made.
        let lock = locks::statements(&[locks::of_extension()]);
        transaction.raw(&lock).await?;
        let install = "CREATE EXTENSION IF NOT EXISTS vector";
        let made = transaction.raw(install).await;
        made.map_err(|error| error.explained(&["42501", "58P01", "0A000"], facts.missing()))?;
    }
    Err(ErrorKind::Engine.into())
}

/// Drops a collection.
pub(crate) struct Drop {
    pub(crate) names: TableNames,
    pub(crate) name: CollectionName,
}

#[async_trait]
impl TransactionBody for Drop {
    type Output = bool;

    fn locks(&self) -> Vec<Lock> {
        // The tables first, as all that make and drop them do.
        vec![
            of_tables(&self.names.registry()),
            of_collection(&self.names.table(&self.name)),
        ]
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Result<bool> {
        limit_locks(transaction).await?;
        let removed = transaction
            .execute(&catalog::remove(&self.names, &self.name))
            .await?;
        if removed == 0 {
            return Ok(false);
        }
        let table = self.names.table(&self.name);
        let drop = format!("DROP TABLE IF EXISTS {table}");
        let right = "something depends on the collection's table, as a view; drop that first";
        let dropped = transaction.raw(&drop).await;
        dropped.map_err(|error| error.explained(&["2BP01"], right))?;
        Ok(true)
    }
}

/// Makes the policies of a reader.
pub(crate) struct Policies {
    pub(crate) locks: Vec<Lock>,
    pub(crate) sql: String,
}

#[async_trait]
impl TransactionBody for Policies {
    type Output = ();

    fn locks(&self) -> Vec<Lock> {
        self.locks.clone()
    }

    async fn run(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        limit_locks(transaction).await?;
        let right = "the server has no role of the reader's name; CREATE ROLE first";
        let made = transaction.raw(&self.sql).await;
        made.map(drop)
            .map_err(|error| error.explained(&["42704"], right))
    }
}
