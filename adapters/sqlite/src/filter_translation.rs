//! Filters as SQL over one row of a collection's table under the alias `r`.
//!
//! Every value is bound. What is formatted are the numbers of tables and fields, never a name.

use std::rc::Rc;

use rusqlite::types::{Value, ValueRef};
use shelfward_adapter::error::limit;
use shelfward_adapter::filter::Comparison;
use shelfward_adapter::sql::{self, Dialect, FieldRef, Sql};
use shelfward_core::{CollectionSpec, Filter, Scalar};

use crate::error::Result;
use crate::params::Param;

/// How a statement comes to its rows, which decides how elements of lists are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// By the filter: the rows of an element are read from the index of values.
    ByFilter,
    /// By key: the elements of each row are read, however many other rows share them.
    ByKey,
}

/// Up to so many values of a list are written out, so that equal shapes share one statement.
const FEW: usize = 16;

/// What SQLite binds in one statement at most, less than what the statement itself binds.
const MAX_BINDS: usize = 32_000;

/// The condition that holds of exactly the rows that the filter matches, among rows that keep to
/// the spec's kinds.
pub(crate) fn condition(
    filter: &Filter,
    spec: &CollectionSpec,
    number: i64,
    access: Access,
) -> Result<Sql<Param>> {
    let condition = sql::condition(filter, spec, &Tables { number, access })?;
    if condition.params.len() > MAX_BINDS {
        let what = "single values of a filter";
        return Err(limit(what, condition.params.len(), MAX_BINDS).into());
    }
    Ok(condition)
}

/// The tables of a collection: a column for each declared value, and a table of the elements of
/// lists and open keys.
pub(crate) struct Tables {
    pub(crate) number: i64,
    pub(crate) access: Access,
}

impl Dialect for Tables {
    type Param = Param;

    fn any_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Param>> {
        Some(match field {
            FieldRef::Column(at, _) => {
                list(&format!("r.f{at}"), values.iter().map(|v| as_column(v)))
            }
            _ => {
                let among = list(self.element(), values.iter().map(|v| as_element(v)));
                self.some_element(field, Some(among))
            }
        })
    }

    fn all_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Param>> {
        if values.len() <= FEW {
            let parts = values.iter().map(|value| self.any_of(field, &[value]));
            return Some(sql::joined(parts.collect::<Option<_>>()?, " AND "));
        }
        // As many elements are among the values as there are values; both are without repeats.
        let among = list("+e.v", values.iter().map(|value| as_element(value)));
        let number = self.number;
        let mut params = vec![self.key(field)];
        params.extend(among.params);
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        params.push(Param::One(Value::Integer(count)));
        let text = format!(
            "(SELECT count(*) FROM elements_{number} e INDEXED BY elements_{number}_row \
             WHERE e.n = r.n AND e.k = ? AND {}) = ?",
            among.text
        );
        Some(Sql { text, params })
    }

    fn compare(
        &self,
        field: FieldRef<'_>,
        comparison: Comparison,
        x: &Scalar,
    ) -> Option<Sql<Param>> {
        let operator = comparison.sql();
        if let FieldRef::Column(at, _) = field {
            // The engine compares numbers by exact value, whole ones and others.
            let x = Param::One(owned(as_column(x)));
            return Some(Sql::new(format!("r.f{at} {operator} ?"), [x]));
        }
        // Numbers stand before texts, and texts before the two blobs that booleans are.
        let element = self.element();
        let within = match (x, comparison) {
            (Scalar::Integer(_) | Scalar::Float(_), Comparison::Gt | Comparison::Gte) => {
                format!(" AND {element} < ''")
            }
            (Scalar::Text(_), Comparison::Gt | Comparison::Gte) => format!(" AND {element} < x''"),
            (Scalar::Text(_), _) => format!(" AND {element} >= ''"),
            _ => String::new(),
        };
        let x = Param::One(owned(as_element(x)));
        let compared = Sql::new(format!("{element} {operator} ?{within}"), [x]);
        Some(self.some_element(field, Some(compared)))
    }

    fn exists(&self, field: FieldRef<'_>) -> Sql<Param> {
        match field {
            FieldRef::Column(at, _) => Sql::new(format!("r.f{at} IS NOT NULL"), []),
            _ => self.some_element(field, None),
        }
    }
}

impl Tables {
    /// An element's value. By key, the plus keeps the engine from going through a long list of
    /// values once more for every row.
    fn element(&self) -> &'static str {
        match self.access {
            Access::ByFilter => "e.v",
            Access::ByKey => "+e.v",
        }
    }

    /// What the table of elements calls a field.
    fn key(&self, field: FieldRef<'_>) -> Param {
        Param::One(match field {
            FieldRef::Open(key) => Value::Text(key.as_str().to_owned()),
            FieldRef::Column(at, _) | FieldRef::List(at, _) => Value::Integer(list_number(at)),
        })
    }

    fn some_element(&self, field: FieldRef<'_>, predicate: Option<Sql<Param>>) -> Sql<Param> {
        let number = self.number;
        let mut params = vec![self.key(field)];
        let mut and = String::new();
        if let Some(predicate) = predicate {
            and = format!(" AND {}", predicate.text);
            params.extend(predicate.params);
        }
        let text = match self.access {
            Access::ByFilter => {
                format!("r.n IN (SELECT e.n FROM elements_{number} e WHERE e.k = ?{and})")
            }
            Access::ByKey => format!(
                "EXISTS (SELECT 1 FROM elements_{number} e INDEXED BY elements_{number}_row \
                 WHERE e.n = r.n AND e.k = ?{and})"
            ),
        };
        Sql { text, params }
    }
}

/// What a declared list is called in the table of elements.
pub(crate) fn list_number(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// `place` is one of the values.
fn list<'v>(place: &str, values: impl Iterator<Item = ValueRef<'v>>) -> Sql<Param> {
    let values: Vec<Value> = values.map(owned).collect();
    match values.len() {
        1 => Sql::new(format!("{place} = ?"), values.into_iter().map(Param::One)),
        n if n <= FEW => Sql::new(
            format!("{place} IN (?{})", ", ?".repeat(n.saturating_sub(1))),
            values.into_iter().map(Param::One),
        ),
        _ => Sql::new(
            format!("{place} IN (SELECT value FROM rarray(?))"),
            [Param::Many(Rc::new(values))],
        ),
    }
}

pub(crate) fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => Value::Blob(blob.to_owned()),
    }
}

pub(crate) fn text(text: &str) -> ValueRef<'_> {
    ValueRef::Text(text.as_bytes())
}

/// A value in a column of its own.
pub(crate) fn as_column(value: &Scalar) -> ValueRef<'_> {
    match value {
        Scalar::Bool(truth) => ValueRef::Integer(i64::from(*truth)),
        Scalar::Integer(integer) => ValueRef::Integer(*integer),
        Scalar::Float(float) => ValueRef::Real(float.get()),
        Scalar::Text(value) => text(value.as_str()),
    }
}

/// A value in the table of elements, where booleans are blobs, so that they equal no number.
pub(crate) fn as_element(value: &Scalar) -> ValueRef<'_> {
    match value {
        Scalar::Bool(false) => ValueRef::Blob(&[0]),
        Scalar::Bool(true) => ValueRef::Blob(&[1]),
        other => as_column(other),
    }
}
