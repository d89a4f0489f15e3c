//! The values that a statement binds.

use shelfward_core::ErrorKind;
use sqlx_core::arguments::Arguments;
use sqlx_postgres::PgArguments;

use crate::error::{Error, Result};

/// One bound value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Param {
    Text(String),
    Texts(Vec<String>),
    Integer(i64),
    Integers(Vec<i64>),
    Float(f64),
    Floats(Vec<f64>),
    Bool(bool),
    Bools(Vec<bool>),
    /// JSON, as text.
    Json(String),
    Jsons(Vec<String>),
    /// A number of any size or fraction, as text.
    Decimal(String),
    /// A vector.
    Reals(Vec<f32>),
    /// A query of words, as text.
    Query(String),
}

impl Param {
    pub(crate) fn is_list(&self) -> bool {
        matches!(
            self,
            Self::Texts(_) | Self::Integers(_) | Self::Floats(_) | Self::Bools(_) | Self::Jsons(_)
        )
    }
}

/// The values of one statement, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<Param>);

impl Params {
    /// Adds a value; answers how the statement names it.
    pub(crate) fn add(&mut self, bind: Param) -> String {
        let cast = match &bind {
            Param::Text(_) => "text",
            Param::Texts(_) => "text[]",
            Param::Integer(_) => "bigint",
            Param::Integers(_) => "bigint[]",
            Param::Float(_) => "double precision",
            Param::Floats(_) => "double precision[]",
            Param::Bool(_) => "boolean",
            Param::Bools(_) => "boolean[]",
            Param::Json(_) => "text::jsonb",
            Param::Jsons(_) => "text[]::jsonb[]",
            Param::Decimal(_) => "text::numeric",
            Param::Reals(_) => "real[]",
            Param::Query(_) => "text::tsquery",
        };
        self.0.push(bind);
        format!("${}::{cast}", self.0.len())
    }

    /// The values as the driver takes them. Made anew for each attempt.
    pub(crate) fn arguments(&self) -> Result<PgArguments> {
        let mut arguments = PgArguments::default();
        for bind in &self.0 {
            let added = match bind {
                Param::Text(text)
                | Param::Json(text)
                | Param::Decimal(text)
                | Param::Query(text) => arguments.add(text),
                Param::Texts(texts) | Param::Jsons(texts) => arguments.add(texts),
                Param::Integer(integer) => arguments.add(integer),
                Param::Integers(integers) => arguments.add(integers),
                Param::Float(float) => arguments.add(float),
                Param::Floats(floats) => arguments.add(floats),
                Param::Bool(truth) => arguments.add(truth),
                Param::Bools(truths) => arguments.add(truths),
                Param::Reals(reals) => arguments.add(reals),
            };
            added.map_err(|_| Error::Kind(ErrorKind::Engine))?;
        }
        Ok(arguments)
    }
}

/// A statement with what it binds.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Params,
}
