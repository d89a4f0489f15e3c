//! The values that a statement binds.

use shelfward_core::ErrorKind;
use sqlx_core::arguments::Arguments;
use sqlx_postgres::PgArguments;

use crate::error::{Error, Result};

/// One bound value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bind {
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

impl Bind {
    pub(crate) fn is_list(&self) -> bool {
        matches!(
            self,
            Self::Texts(_) | Self::Integers(_) | Self::Floats(_) | Self::Bools(_) | Self::Jsons(_)
        )
    }
}

/// The values of one statement, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binds(Vec<Bind>);

impl Binds {
    /// Adds a value; answers how the statement names it.
    pub(crate) fn add(&mut self, bind: Bind) -> String {
        let cast = match &bind {
            Bind::Text(_) => "text",
            Bind::Texts(_) => "text[]",
            Bind::Integer(_) => "bigint",
            Bind::Integers(_) => "bigint[]",
            Bind::Float(_) => "double precision",
            Bind::Floats(_) => "double precision[]",
            Bind::Bool(_) => "boolean",
            Bind::Bools(_) => "boolean[]",
            Bind::Json(_) => "text::jsonb",
            Bind::Jsons(_) => "text[]::jsonb[]",
            Bind::Decimal(_) => "text::numeric",
            Bind::Reals(_) => "real[]",
            Bind::Query(_) => "text::tsquery",
        };
        self.0.push(bind);
        format!("${}::{cast}", self.0.len())
    }

    /// The values as the driver takes them. Made anew for each attempt.
    pub(crate) fn arguments(&self) -> Result<PgArguments> {
        let mut arguments = PgArguments::default();
        for bind in &self.0 {
            let added = match bind {
                Bind::Text(text) | Bind::Json(text) | Bind::Decimal(text) | Bind::Query(text) => {
                    arguments.add(text)
                }
                Bind::Texts(texts) | Bind::Jsons(texts) => arguments.add(texts),
                Bind::Integer(integer) => arguments.add(integer),
                Bind::Integers(integers) => arguments.add(integers),
                Bind::Float(float) => arguments.add(float),
                Bind::Floats(floats) => arguments.add(floats),
                Bind::Bool(truth) => arguments.add(truth),
                Bind::Bools(truths) => arguments.add(truths),
                Bind::Reals(reals) => arguments.add(reals),
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
    pub(crate) binds: Binds,
}
