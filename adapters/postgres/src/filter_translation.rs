//! Filters as SQL over one row of a collection's table under the alias `r`.
//!
//! Every value is bound. What is formatted are the columns' own names, never a key or a value. What the
//! server has for any type of array is named with its schema: by its bare name, one for arrays of text
//! that somebody made on the search path would be taken for it.

use shelfward_adapter::filter::Comparison;
use shelfward_adapter::sql::{self, Dialect, FieldRef, Sql};
use shelfward_core::{CollectionSpec, FieldKind, Filter, Scalar};

use crate::error::Result;
use crate::metadata_json;
use crate::params::{Param, Params};
use crate::schema::{column, column_type};

/// The condition that holds of exactly the rows that the filter matches.
pub(crate) fn condition(
    filter: &Filter,
    spec: &CollectionSpec,
    params: &mut Params,
) -> Result<String> {
    let sql = sql::condition(filter, spec, &Columns)?;
    Ok(sql.with_placeholders(|bind| params.add(bind)))
}

/// A column for each declared field, and the metadata for what is not declared.
pub(crate) struct Columns;

impl Dialect for Columns {
    type Param = Param;

    fn any_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Param>> {
        Some(match field {
            FieldRef::Column(at, field) => {
                let column = column(at, field);
                let bind = list(field.kind, values)?;
                let any = if bind.is_list() { "ANY(?)" } else { "?" };
                Sql::new(format!("r.{column} = {any}"), [bind])
            }
            FieldRef::List(at, field) => {
                let column = column(at, field);
                let text = if values.len() > MANY {
                    format!(
                        "EXISTS (SELECT FROM pg_catalog.unnest(r.{column}) AS e(v) WHERE e.v = ANY(?))"
                    )
                } else {
                    format!("r.{column} OPERATOR(pg_catalog.&&) ?")
                };
                Sql::new(text, [Param::texts(texts(values))])
            }
            FieldRef::Open(key) if values.len() <= FEW => {
                // The metadata holds the value under the key, alone or in a list: served by the index.
                let holds = |value: &&Scalar| {
                    let holds = [false, true].map(|listed| {
                        let json = metadata_json::object(key.as_str(), &[*value], listed);
                        Param::one("jsonb", json)
                    });
                    Sql::new("(r.meta @> ? OR r.meta @> ?)", holds)
                };
                sql::joined(values.iter().map(holds).collect(), " OR ")
            }
            FieldRef::Open(key) => {
                let values = values.iter().map(|value| metadata_json::json(*value));
                let values = Param::many("jsonb", values.collect());
                some_element(key.as_str(), "e.v = ANY(?)", values)
            }
        })
    }

    fn all_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Param>> {
        Some(match field {
            FieldRef::Column(at, field) | FieldRef::List(at, field) => Sql::new(
                format!("r.{} OPERATOR(pg_catalog.@>) ?", column(at, field)),
                [Param::texts(texts(values))],
            ),
            FieldRef::Open(key) => {
                let list = metadata_json::object(key.as_str(), values, true);
                Sql::new("r.meta @> ?", [Param::one("jsonb", list)])
            }
        })
    }

    fn compare(
        &self,
        field: FieldRef<'_>,
        comparison: Comparison,
        x: &Scalar,
    ) -> Option<Sql<Param>> {
        let operator = format!("OPERATOR(pg_catalog.{})", comparison.sql());
        Some(match (field, x) {
            (FieldRef::Column(at, field), x) => {
                let bind = list(field.kind, &[x])?;
                Sql::new(format!("r.{} {operator} ?", column(at, field)), [bind])
            }
            (FieldRef::List(at, field), Scalar::Text(x)) => Sql::new(
                format!(
                    "EXISTS (SELECT FROM pg_catalog.unnest(r.{}) AS e(v) WHERE e.v COLLATE \"C\" {operator} ?)",
                    column(at, field)
                ),
                [Param::text(x.as_str())],
            ),
            (FieldRef::Open(key), Scalar::Text(x)) => {
                let predicate = format!(
                    "CASE WHEN jsonb_typeof(e.v) = 'string' \
                     THEN (e.v OPERATOR(pg_catalog.#>>) '{{}}'::text[]) COLLATE \"C\" {operator} ? END"
                );
                some_element(key.as_str(), &predicate, Param::text(x.as_str()))
            }
            (FieldRef::Open(key), Scalar::Integer(_) | Scalar::Float(_)) => {
                let predicate = format!(
                    "CASE WHEN jsonb_typeof(e.v) = 'number' THEN e.v::numeric {operator} ? END"
                );
                some_element(
                    key.as_str(),
                    &predicate,
                    Param::one("numeric", metadata_json::json(x)),
                )
            }
            _ => return None,
        })
    }

    fn exists(&self, field: FieldRef<'_>) -> Sql<Param> {
        match field {
            FieldRef::Column(at, field) => {
                Sql::new(format!("r.{} IS NOT NULL", column(at, field)), [])
            }
            FieldRef::List(at, field) => Sql::new(
                format!("pg_catalog.cardinality(r.{}) > 0", column(at, field)),
                [],
            ),
            // Missing is unknown, which is false; an empty list holds nothing.
            FieldRef::Open(key) => {
                Sql::new("r.meta -> ? <> '[]'::jsonb", [Param::text(key.as_str())])
            }
        }
    }
}

/// An element under an open key, `e.v`, is as a predicate with one value says.
fn some_element(key: &str, predicate: &str, value: Param) -> Sql<Param> {
    let key = || Param::text(key);
    let text = format!(
        "EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(r.meta -> ?) \
         WHEN 'array' THEN r.meta -> ? ELSE pg_catalog.jsonb_build_array(r.meta -> ?) END) \
         AS e(v) WHERE {predicate})"
    );
    Sql::new(text, [key(), key(), key(), value])
}

/// Up to so many values of a declared list are compared with each of its members, or looked up in
/// its index. Of more the server makes a table of hashes, and looks each member up in that: comparing
/// 9,000 groups with those of 100,000 rows one by one takes the better part of a minute.
const MANY: usize = 128;

/// Up to so many values of an open key are looked up in the index one by one.
const FEW: usize = 16;

fn texts(values: &[&Scalar]) -> Vec<String> {
    (values.iter())
        .filter_map(|value| value.as_text().map(str::to_owned))
        .collect()
}

/// Values of a column's own type, one alone or as a list; `None` where one is of another.
fn list(kind: FieldKind, values: &[&Scalar]) -> Option<Param> {
    let of_kind = |value: &&Scalar| match (kind, *value) {
        (FieldKind::Integer, Scalar::Integer(integer)) => Some(integer.to_string()),
        (FieldKind::Float, Scalar::Float(float)) => Some(float.get().to_string()),
        (FieldKind::Bool, Scalar::Bool(truth)) => Some(truth.to_string()),
        (FieldKind::Text, Scalar::Text(text)) => Some(text.as_str().to_owned()),
        _ => None,
    };
    let mut values = values.iter().map(of_kind).collect::<Option<Vec<_>>>()?;
    let cast = column_type(kind);
    match values.len() {
        1 => values.pop().map(|value| Param::one(cast, value)),
        _ => Some(Param::many(cast, values)),
    }
}
