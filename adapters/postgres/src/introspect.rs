//! What the database has of a collection, beside what it should have.

use std::collections::HashSet;

use shelfward_adapter::error::invalid;
use shelfward_core::CollectionSpec;
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::catalog::Settings;
use crate::commits::not_as_made;
use crate::context::CollectionContext;
use crate::error::{Error, Result};
use crate::extension::Extension;
use crate::names::TableNames;
use crate::params::{Param, Statement};
use crate::schema::{column, column_type, holds_text, indexes};

impl CollectionContext {
    /// Refuses a collection whose table lacks something, and says what. `indexes_too` where nobody
    /// but a person makes indexes; elsewhere they are made when the collection is next created.
    pub(crate) async fn check_table(&self, indexes_too: bool) -> Result<()> {
        let (row, extension) = (&self.row, &self.extension);
        let commits = self.server.read(&introspect(&self.names.commits())).await?;
        Parts::of(&commits, extension)?.check_commits(&self.names)?;
        let rows = self.server.read(&introspect(&self.table)).await?;
        let indexed = indexes_too.then_some(&row.settings);
        let analysed = row.settings.text_search.is_some();
        Parts::of(&rows, extension)?.check(&self.names, &row.spec, analysed, indexed, extension)
    }
}

/// Asks for the columns of a table and for its valid indexes, each in the words of an error. A column
/// that is ordered by code points is told without its order, too: where that does not matter, any will do.
pub(crate) fn introspect(table: &str) -> Statement {
    Statement::new(
        "SELECT format('the column %s (%s%s%s)', a.attname, format_type(a.atttypid, a.atttypmod), o.collated, \
         CASE a.attgenerated WHEN 's' THEN ', generated' END) FROM pg_attribute a, \
         LATERAL (VALUES (''), (' COLLATE C')) AS o(collated) \
         WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped \
         AND (o.collated = '' OR a.attcollation = 'pg_catalog.\"C\"'::regcollation) UNION ALL \
         SELECT 'the index ' || split_part(split_part(pg_get_indexdef(i.indexrelid), ' USING ', 2), ' WITH ', 1) \
         FROM pg_index i WHERE i.indrelid = to_regclass(?) AND i.indisvalid AND i.indpred IS NULL",
        [Param::text(table), Param::text(table)],
    )
}

/// What a table has.
pub(crate) struct Parts(HashSet<String>);

impl Parts {
    /// What was answered.
    pub(crate) fn of(rows: &[PgRow], extension: &Extension) -> Result<Self> {
        let part = |row: &PgRow| Ok(plain(row.try_get(0)?, extension));
        rows.iter().map(part).collect::<Result<_>>().map(Self)
    }

    /// Whether there is no such table.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a table of commits that would not serve.
    pub(crate) fn check_commits(&self, names: &TableNames) -> Result<()> {
        let expected = [
            "the column slot (uuid)",
            "the column mark (uuid)",
            "the column committed_at (timestamp with time zone)",
            "the index btree (slot)",
        ];
        if expected.into_iter().all(|part| self.0.contains(part)) {
            return Ok(());
        }
        Err(invalid(not_as_made(&names.commits())).into())
    }

    /// Refuses a table that lacks something, and says what. `indexed` are the settings by which its
    /// indexes are made, where they have to be there.
    pub(crate) fn check(
        &self,
        names: &TableNames,
        spec: &CollectionSpec,
        analysed: bool,
        indexed: Option<&Settings>,
        extension: &Extension,
    ) -> Result<()> {
        let table = names.bare_table(&spec.name);
        if self.is_empty() {
            return Err(missing_table(&table));
        }
        let mut expected = vec![
            "the column part (text COLLATE C)".to_owned(),
            "the column id (text COLLATE C)".to_owned(),
            "the column meta (jsonb)".to_owned(),
            "the column body (text)".to_owned(),
            "the column words (tsvector)".to_owned(),
            format!("the column embedding (vector({}))", spec.width),
            "the index btree (part, id)".to_owned(),
        ];
        if analysed {
            expected.push("the column analysed (tsvector, generated)".to_owned());
        }
        // One that is filled by hand need not be what the metadata says.
        for (at, field) in spec.fields.iter().enumerate() {
            let (column, kind) = (column(at, field), column_type(field.kind));
            let collated = if holds_text(field.kind) {
                " COLLATE C"
            } else {
                ""
            };
            expected.push(format!("the column {column} ({kind}{collated}, generated)"));
        }
        if let Some(settings) = indexed {
            let indexes = indexes(names, spec, settings, extension).into_iter();
            expected.extend(indexes.map(|i| format!("the index {}", plain(&i.on, extension))));
        }
        expected.retain(|part| !self.0.contains(part));
        if expected.is_empty() {
            return Ok(());
        }
        Err(invalid(format!(
            "the table {table} lacks {}; add them as schema_sql writes them, a column by ALTER TABLE … ADD COLUMN",
            expected.join(", ")
        ))
        .into())
    }
}

/// A collection is recorded, and somebody dropped its table.
pub(crate) fn missing_table(table: &str) -> Error {
    let right = "restore it, or drop the collection and make it anew";
    invalid(format!("the collection's table {table} is gone; {right}")).into()
}

/// Without the extension's schema, which the server names or leaves out by the search path, and
/// without the quotes that it sets as it likes.
fn plain(text: &str, extension: &Extension) -> String {
    let bare = text.replace('"', "");
    bare.replace(&format!("{}.", extension.schema().as_str()), "")
}
