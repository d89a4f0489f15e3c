//! The values that a statement binds.

use shelfward_adapter::sql::Sql;
use shelfward_core::ErrorKind;
use sqlx_core::arguments::Arguments;
use sqlx_postgres::PgArguments;

use crate::error::{Error, Result};

/// One bound value with the type that the statement casts it to. Its form is the server's own text of it,
/// but for vectors, which are large.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Param {
    value: Value,
    cast: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    One(String),
    Many(Vec<String>),
    Maybe(Vec<Option<String>>),
    Reals(Vec<f32>),
}

impl Param {
    /// A value by its text.
    pub(crate) fn one(cast: &'static str, value: impl Into<String>) -> Self {
        let value = Value::One(value.into());
        Self { value, cast }
    }

    /// A list of values by their texts.
    pub(crate) fn many(cast: &'static str, values: Vec<String>) -> Self {
        let value = Value::Many(values);
        Self { value, cast }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::one("text", text)
    }

    pub(crate) fn texts(texts: Vec<String>) -> Self {
        Self::many("text", texts)
    }

    /// A list of texts, some of which are null.
    pub(crate) fn maybe(texts: Vec<Option<String>>) -> Self {
        let value = Value::Maybe(texts);
        Self {
            value,
            cast: "text",
        }
    }

    pub(crate) fn count(count: usize) -> Self {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Self::one("bigint", count.to_string())
    }

    pub(crate) fn reals(reals: &[f32]) -> Self {
        Self {
            value: Value::Reals(reals.to_vec()),
            cast: "real",
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.value, Value::Many(_))
    }
}

/// The values of one statement, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<Param>);

impl Params {
    /// Adds a value; answers how the statement names it.
    pub(crate) fn add(&mut self, param: Param) -> String {
        let (at, cast) = (self.0.len() + 1, param.cast);
        let named = match &param.value {
            Value::One(_) if cast == "text" => format!("${at}::text"),
            Value::One(_) => format!("${at}::text::{cast}"),
            Value::Maybe(_) => format!("${at}::text[]"),
            Value::Many(_) if cast == "text" => format!("${at}::text[]"),
            Value::Many(_) => format!("${at}::text[]::{cast}[]"),
            Value::Reals(_) => format!("${at}::real[]"),
        };
        self.0.push(param);
        named
    }

    /// The values as the driver takes them. Made anew for each attempt.
    pub(crate) fn arguments(&self) -> Result<PgArguments> {
        let mut arguments = PgArguments::default();
        for param in &self.0 {
            let added = match &param.value {
                Value::One(text) => arguments.add(text),
                Value::Many(texts) => arguments.add(texts),
                Value::Maybe(texts) => arguments.add(texts),
                Value::Reals(reals) => arguments.add(reals),
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

impl Statement {
    /// A text in which each `?` stands for the next value.
    pub(crate) fn new<const N: usize>(sql: &str, values: [Param; N]) -> Self {
        let mut params = Params::default();
        let sql = Sql::new(sql, values).with_placeholders(|value| params.add(value));
        Self { sql, params }
    }
}
