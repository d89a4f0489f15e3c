//! What the database has of a collection, beside what it should have.

use std::collections::HashSet;

use shelfward_core::{CollectionSpec, ErrorKind};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::binds::{Bind, Binds, Statement};
use crate::collection::Opened;
use crate::commits::not_as_made;
use crate::error::Job;
use crate::extension::Extension;
use crate::registry::Settings;
use crate::schema::{Names, column, column_type, holds_text, indexes};

impl Opened {
    /// Refuses a collection whose table lacks something, and says what. `indexes_too` where nobody
    /// but a person makes indexes; elsewhere they are made when the collection is next created.
    pub(crate) async fn check_table(&self, indexes_too: bool) -> Job<()> {
        let (entry, extension) = (&self.entry, &self.extension);
        let commits = self.server.read(&there(&self.names.commits())).await?;
        LegResult::of(&commits, extension)?.check_commits(&self.names)?;
        let rows = self.server.read(&there(&self.table)).await?;
        let found = LegResult::of(&rows, extension)?;
        found.check(
            &self.names,
            &entry.spec,
            &entry.settings,
            extension,
            indexes_too,
        )
    }
}

/// Asks for the columns of a table with their types, and for its valid indexes.
pub(crate) fn there(table: &str) -> Statement {
    let mut binds = Binds::default();
    let table = binds.add(Bind::Text(table.to_owned()));
    let sql = format!(
        "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), NULL::text, \
         a.attgenerated = 's', a.attcollation = 'pg_catalog.\"C\"'::regcollation \
         FROM pg_attribute a WHERE a.attrelid = to_regclass({table}) AND a.attnum > 0 \
         AND NOT a.attisdropped UNION ALL \
         SELECT NULL, NULL, pg_get_indexdef(i.indexrelid), false, false FROM pg_index i \
         WHERE i.indrelid = to_regclass({table}) AND i.indisvalid AND i.indpred IS NULL"
    );
    Statement { sql, binds }
}

/// What a table has.
pub(crate) struct LegResult {
    /// Each column with its type; twice, where it is ordered by code points.
    columns: HashSet<(String, String)>,
    /// What the indexes are on.
    on: HashSet<String>,
}

impl LegResult {
    /// What was answered.
    pub(crate) fn of(rows: &[PgRow], extension: &Extension) -> Job<Self> {
        let (mut columns, mut on) = (HashSet::new(), HashSet::new());
        for row in rows {
            match row.try_get::<Option<String>, _>(2)? {
                Some(definition) => {
                    // `CREATE INDEX name ON table USING gin (words) WITH (…)`
                    let using = definition
                        .split_once(" USING ")
                        .map_or("", |(_, using)| using);
                    let using = using.split_once(" WITH ").map_or(using, |(using, _)| using);
                    on.insert(plain(using, extension));
                }
                None => {
                    let (name, kind): (String, String) = (row.try_get(0)?, row.try_get(1)?);
                    let kind = plain(&kind, extension);
                    let generated = if row.try_get(3)? { GENERATED } else { "" };
                    // Where the order does not matter, any will do.
                    if row.try_get(4)? {
                        columns.insert((name.clone(), by_code_points(&kind) + generated));
                    }
                    columns.insert((name, kind + generated));
                }
            }
        }
        Ok(Self { columns, on })
    }

    /// Refuses a table of commits that would not serve.
    pub(crate) fn check_commits(&self, names: &Names) -> Job<()> {
        let has = |(name, kind): (&str, &str)| {
            (self.columns).contains(&(name.to_owned(), kind.to_owned()))
        };
        let columns = [
            ("slot", "uuid"),
            ("mark", "uuid"),
            ("committed_at", "timestamp with time zone"),
        ];
        if columns.into_iter().all(has) && self.on.contains("btree (slot)") {
            return Ok(());
        }
        Err(not_as_made(&names.commits()).into())
    }

    /// Refuses a table that lacks something, and says what.
    pub(crate) fn check(
        &self,
        names: &Names,
        spec: &CollectionSpec,
        settings: &Settings,
        extension: &Extension,
        indexes_too: bool,
    ) -> Job<()> {
        if self.columns.is_empty() {
            return Err(gone(&names.bare_table(&spec.name)).into());
        }
        let mut lacking = Vec::new();
        let mut expected = vec![
            ("part".to_owned(), by_code_points("text")),
            ("id".to_owned(), by_code_points("text")),
            ("meta".to_owned(), "jsonb".to_owned()),
            ("body".to_owned(), "text".to_owned()),
            ("words".to_owned(), "tsvector".to_owned()),
            ("embedding".to_owned(), format!("vector({})", spec.width)),
        ];
        if settings.text_search.is_some() {
            expected.push(("analysed".to_owned(), "tsvector".to_owned() + GENERATED));
        }
        let fields = spec.fields.iter().enumerate();
        // One that is filled by hand need not be what the metadata says.
        let generated = |kind| {
            let of_kind = column_type(kind);
            if holds_text(kind) {
                by_code_points(of_kind) + GENERATED
            } else {
                of_kind.to_owned() + GENERATED
            }
        };
        expected.extend(fields.map(|(at, f)| (column(at, f), generated(f.kind))));
        for expected in expected {
            if !self.columns.contains(&expected) {
                lacking.push(format!("the column {} ({})", expected.0, expected.1));
            }
        }
        if !self.on.contains("btree (part, id)") {
            lacking.push("the primary key (part, id)".to_owned());
        }
        if indexes_too {
            for index in indexes(names, spec, settings, extension) {
                let on = plain(&index.on, extension);
                if !self.on.contains(&on) {
                    lacking.push(format!("the index {on}"));
                }
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        Err(ErrorKind::Invalid(format!(
            "the table {} lacks {}; add them as schema_sql writes them, a column by ALTER TABLE … ADD COLUMN",
            names.bare_table(&spec.name),
            lacking.join(", ")
        ))
        .into())
    }
}

/// Filled by the server from the metadata.
const GENERATED: &str = ", generated";

/// A type that is ordered by code points.
fn by_code_points(kind: &str) -> String {
    format!("{kind} COLLATE C")
}

/// A collection is recorded, and somebody dropped its table.
pub(crate) fn gone(table: &str) -> ErrorKind {
    ErrorKind::Invalid(format!(
        "the collection's table {table} is gone; restore it, or drop the collection and make it anew"
    ))
}

/// Without the extension's schema, which the server names or leaves out by the search path, and
/// without the quotes that it sets as it likes.
fn plain(text: &str, extension: &Extension) -> String {
    let bare = text.replace('"', "");
    bare.replace(&format!("{}.", extension.schema().as_str()), "")
}
