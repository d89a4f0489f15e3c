//! The catalog: what is recorded of each collection.

use serde::{Deserialize, Serialize};
use shelfward_adapter::catalog::{encode_settings, encode_spec};
use shelfward_core::{CollectionName, CollectionSpec, ErrorKind};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::PostgresOptions;
use crate::config::VectorIndex;
use crate::error::Result;
use crate::identifier::{Identifier, literal};
use crate::names::TableNames;
use crate::params::{Param, Statement};

/// How a collection was made, beside its spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The form of the tables. One that is not known was made by a newer version.
    format: u32,
    pub(crate) index: VectorIndex,
    pub(crate) m: u16,
    pub(crate) ef_construction: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_search: Option<Identifier>,
    /// The version of the word rule by which the stored words were made.
    #[serde(default = "first_version")]
    words: u32,
}

const FORMAT: u32 = 1;

fn first_version() -> u32 {
    1
}

impl Settings {
    /// The settings of a new collection.
    pub(crate) fn of(options: &PostgresOptions, spec: &CollectionSpec) -> Self {
        Self {
            format: FORMAT,
            index: options.index.for_width(spec.width),
            m: options.m,
            ef_construction: options.ef_construction,
            text_search: options.text_search.clone(),
            words: spec.word_rule.version(),
        }
    }

    /// Refuses words of another version of the rule, of which a search would find a part.
    pub(crate) fn check_words(&self, spec: &CollectionSpec) -> Result<()> {
        if self.text_search.is_some() || self.words == spec.word_rule.version() {
            return Ok(());
        }
        Err(ErrorKind::Unsupported(
            "collections whose words another version of the word rule made; drop this one and index its sources again",
        )
        .into())
    }
}

/// What is recorded of a collection.
pub(crate) type CatalogRow = shelfward_adapter::catalog::CatalogRow<Settings>;

/// Selects the row of a name.
pub(crate) fn select(names: &TableNames, name: &CollectionName) -> Statement {
    let registry = names.registry();
    Statement::new(
        &format!("SELECT generation, spec, settings, name FROM {registry} WHERE name = ?"),
        [Param::text(name.as_str())],
    )
}

/// The row that was selected, if there is one.
pub(crate) fn selected(rows: &[PgRow]) -> Result<Option<CatalogRow>> {
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (generation, spec) = (row.try_get(0)?, row.try_get(1)?);
    let (settings, name) = (row.try_get(2)?, row.try_get(3)?);
    Ok(Some(CatalogRow::decode(
        name, spec, settings, FORMAT, generation,
    )?))
}

/// The statement that records a new collection; a person may run it, too.
pub(crate) fn insert(
    names: &TableNames,
    spec: &CollectionSpec,
    settings: &Settings,
) -> Result<String> {
    Ok(format!(
        "INSERT INTO {} (name, generation, spec, settings) \
         VALUES ({}, hashtextextended(gen_random_uuid()::text, 0), {}, {})",
        names.registry(),
        literal(spec.name.as_str()),
        literal(&encode_spec(spec)?),
        literal(&encode_settings(settings)?)
    ))
}

/// The statement that records more fields.
pub(crate) fn update_spec(names: &TableNames, spec: &CollectionSpec) -> Result<Statement> {
    Ok(Statement::new(
        &format!("UPDATE {} SET spec = ? WHERE name = ?", names.registry()),
        [
            Param::text(encode_spec(spec)?),
            Param::text(spec.name.as_str()),
        ],
    ))
}

/// The statement that forgets a collection.
pub(crate) fn remove(names: &TableNames, name: &CollectionName) -> Statement {
    Statement::new(
        &format!("DELETE FROM {} WHERE name = ?", names.registry()),
        [Param::text(name.as_str())],
    )
}

/// Selects the names of all.
pub(crate) fn select_names(names: &TableNames) -> Statement {
    let sql = format!("SELECT name FROM {} ORDER BY name", names.registry());
    Statement::new(&sql, [])
}
