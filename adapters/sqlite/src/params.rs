//! What statements bind, whose lists the engine reads by a pointer.

use std::rc::Rc;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, Rows, ToSql, params_from_iter};

use crate::error::Result;

/// A value, or a list that the engine reads as a table.
#[derive(Clone, Debug)]
pub(crate) enum Param {
    One(Value),
    Many(Rc<Vec<Value>>),
}

/// Reads the rows of a statement. The statement ends in here, so the lists that it binds outlive it.
pub(crate) fn query<T>(
    connection: &Connection,
    sql: &str,
    params: &[Param],
    read: impl FnOnce(Rows<'_>) -> Result<T>,
) -> Result<T> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query(params_from_iter(params.iter().map(Bound)))?;
    read(rows)
}

/// Private, so that no other statement binds a list.
struct Bound<'a>(&'a Param);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.0 {
            Param::One(value) => value.to_sql(),
            Param::Many(values) => values.to_sql(),
        }
    }
}
