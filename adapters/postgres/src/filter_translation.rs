//! The filter algebra as SQL, over one row of a collection's table under the alias `r`.
//!
//! Every value is bound. What is formatted are the columns' own names, never a key or a value. What the
//! server has for any type of array is named with its schema: by its bare name, one for arrays of text
//! that somebody made on the search path would be taken for it.
//!
//! SQL knows three truth values. Within "and" and "or" an unknown part counts as false at the root,
//! as it should; so it is only a "not" that must turn unknown into false first. No other part of a
//! filter is negated: `$ne`, `$nin` and `$exists: false` are a "not" around their positive form.

use shelfward_core::filter::{Node, Op, Test};
use shelfward_core::{CollectionSpec, ErrorKind, FieldKind, Filter, Scalar};

use crate::binds::{Bind, Binds};
use crate::error::Job;
use crate::metadata_json;
use crate::schema::column;

/// The condition that holds of exactly the rows that the filter matches.
pub(crate) fn condition(filter: &Filter, spec: &CollectionSpec, binds: &mut Binds) -> Job<String> {
    let mut translator = Translator { spec, binds };
    Ok(match translator.filter(filter)? {
        Expr::Always => ALWAYS.to_owned(),
        Expr::Never => "false".to_owned(),
        Expr::Sql(sql) => sql,
    })
}

/// The condition that holds of every row.
pub(crate) const ALWAYS: &str = "true";

enum Expr {
    Always,
    Never,
    Sql(String),
}

impl Expr {
    fn not(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Sql(inner) => Self::Sql(format!("(({inner}) IS NOT TRUE)")),
        }
    }

    fn any(parts: Vec<String>) -> Self {
        match parts.len() {
            0 => Self::Never,
            _ => Self::Sql(format!("({})", parts.join(" OR "))),
        }
    }
}

struct Translator<'a> {
    spec: &'a CollectionSpec,
    binds: &'a mut Binds,
}

/// Where the elements of a tested key are.
enum Place {
    /// A column of its own, of a declared kind.
    Column(String, FieldKind),
    /// The metadata, under the key, which is bound.
    Open(String),
}

impl Translator<'_> {
    fn filter(&mut self, filter: &Filter) -> Job<Expr> {
        match filter.node() {
            Node::And(children) => {
                let begun = self.binds.len();
                let mut parts = Vec::with_capacity(children.len());
                for child in children {
                    match self.filter(child)? {
                        Expr::Always => {}
                        Expr::Never => {
                            // A value that no part names has no type for the server.
                            self.binds.truncate(begun);
                            return Ok(Expr::Never);
                        }
                        Expr::Sql(part) => parts.push(part),
                    }
                }
                Ok(match parts.len() {
                    0 => Expr::Always,
                    _ => Expr::Sql(format!("({})", parts.join(" AND "))),
                })
            }
            Node::Or(children) => {
                let begun = self.binds.len();
                let mut parts = Vec::with_capacity(children.len());
                for child in children {
                    match self.filter(child)? {
                        Expr::Always => {
                            self.binds.truncate(begun);
                            return Ok(Expr::Always);
                        }
                        Expr::Never => {}
                        Expr::Sql(part) => parts.push(part),
                    }
                }
                Ok(Expr::any(parts))
            }
            Node::Not(child) => Ok(self.filter(child)?.not()),
            Node::Test(test) => self.test(test),
        }
    }

    fn test(&mut self, test: &Test) -> Job<Expr> {
        let place = self.place(test)?;
        Ok(match test.op() {
            Op::Eq(value) => self.among(&place, std::slice::from_ref(value)),
            Op::In(values) => self.among(&place, values),
            Op::Ne(value) => self.among(&place, std::slice::from_ref(value)).not(),
            Op::Nin(values) => self.among(&place, values).not(),
            Op::All(values) => self.all(&place, values),
            Op::Gt(x) => self.range(&place, Side::Gt, x),
            Op::Gte(x) => self.range(&place, Side::Gte, x),
            Op::Lt(x) => self.range(&place, Side::Lt, x),
            Op::Lte(x) => self.range(&place, Side::Lte, x),
            Op::Exists(true) => self.exists(&place),
            Op::Exists(false) => self.exists(&place).not(),
        })
    }

    fn place(&mut self, test: &Test) -> Job<Place> {
        let key = test.key().as_str();
        let declared = (self.spec.fields.iter().enumerate()).find(|(_, f)| f.key.as_str() == key);
        match declared {
            Some((at, field)) => Ok(Place::Column(
                format!("r.{}", column(at, field)),
                field.kind,
            )),
            None if self.spec.open_fields => Ok(Place::Open(key.to_owned())),
            None => {
                let invalid = format!("a filter on {key}, which the collection does not declare");
                Err(ErrorKind::Invalid(invalid).into())
            }
        }
    }

    /// Some element equals one of the values.
    fn among(&mut self, place: &Place, values: &[Scalar]) -> Expr {
        match place {
            Place::Column(column, FieldKind::TextList) => {
                let texts = texts(values);
                if texts.is_empty() {
                    return Expr::Never;
                }
                let many = texts.len() > MANY;
                let texts = self.binds.add(Bind::Texts(texts));
                Expr::Sql(if many {
                    format!(
                        "EXISTS (SELECT FROM pg_catalog.unnest({column}) AS e(v) WHERE e.v = ANY({texts}))"
                    )
                } else {
                    format!("{column} OPERATOR(pg_catalog.&&) {texts}")
                })
            }
            Place::Column(column, kind) => match list(*kind, values) {
                None => Expr::Never,
                Some(bind) if bind.is_list() => {
                    Expr::Sql(format!("{column} = ANY({})", self.binds.add(bind)))
                }
                Some(bind) => Expr::Sql(format!("{column} = {}", self.binds.add(bind))),
            },
            Place::Open(key) if values.len() <= FEW => Expr::any(
                (values.iter())
                    .map(|value| self.holds(key, std::slice::from_ref(value)))
                    .collect(),
            ),
            Place::Open(key) => {
                let values = values.iter().map(metadata_json::scalar).collect();
                let values = self.binds.add(Bind::Jsons(values));
                self.some_element(key, &format!("e.v = ANY({values})"))
            }
        }
    }

    /// Every value equals some element.
    fn all(&mut self, place: &Place, values: &[Scalar]) -> Expr {
        let Some(first) = values.first() else {
            return Expr::Always;
        };
        // One element may equal several operands: 5 and 5.0.
        let one = values.iter().all(|value| value == first);
        match place {
            _ if one => self.among(place, std::slice::from_ref(first)),
            Place::Column(column, FieldKind::TextList) => {
                let texts = texts(values);
                if texts.len() < values.len() {
                    return Expr::Never;
                }
                Expr::Sql(format!(
                    "{column} OPERATOR(pg_catalog.@>) {}",
                    self.binds.add(Bind::Texts(texts))
                ))
            }
            // One value is not two.
            Place::Column(..) => Expr::Never,
            Place::Open(key) => {
                let list = metadata_json::object(key, values, true);
                let list = self.binds.add(Bind::Json(list));
                Expr::Sql(format!("r.meta @> {list}"))
            }
        }
    }

    /// The metadata holds the value under the key, alone or in a list: served by the index.
    fn holds(&mut self, key: &str, value: &[Scalar]) -> String {
        let alone = metadata_json::object(key, value, false);
        let listed = metadata_json::object(key, value, true);
        let (alone, listed) = (
            self.binds.add(Bind::Json(alone)),
            self.binds.add(Bind::Json(listed)),
        );
        format!("(r.meta @> {alone} OR r.meta @> {listed})")
    }

    fn range(&mut self, place: &Place, side: Side, x: &Scalar) -> Expr {
        match (place, x) {
            (Place::Column(column, FieldKind::Text), Scalar::Text(text)) => {
                let text = self.binds.add(Bind::Text(text.as_str().to_owned()));
                Expr::Sql(format!("{column} {} {text}", side.sql()))
            }
            (Place::Column(column, FieldKind::TextList), Scalar::Text(text)) => {
                let text = self.binds.add(Bind::Text(text.as_str().to_owned()));
                Expr::Sql(format!(
                    "EXISTS (SELECT FROM pg_catalog.unnest({column}) AS e(v) WHERE e.v COLLATE \"C\" {} {text})",
                    side.sql()
                ))
            }
            (Place::Column(column, FieldKind::Integer), x) => {
                let bind = match x {
                    Scalar::Integer(integer) => Bind::Integer(*integer),
                    // Compared as decimals, which hold both exactly.
                    Scalar::Float(_) => Bind::Decimal(metadata_json::scalar(x)),
                    _ => return Expr::Never,
                };
                Expr::Sql(format!("{column} {} {}", side.sql(), self.binds.add(bind)))
            }
            (Place::Column(column, FieldKind::Float), x) => {
                let Some((side, x)) = side.of_float(x) else {
                    return Expr::Never;
                };
                let x = self.binds.add(Bind::Float(x));
                Expr::Sql(format!("{column} {} {x}", side.sql()))
            }
            (Place::Column(..), _) => Expr::Never,
            (Place::Open(key), Scalar::Text(text)) => {
                let text = self.binds.add(Bind::Text(text.as_str().to_owned()));
                let such = format!(
                    "CASE WHEN jsonb_typeof(e.v) = 'string' \
                     THEN (e.v OPERATOR(pg_catalog.#>>) '{{}}'::text[]) COLLATE \"C\" {} {text} END",
                    side.sql()
                );
                self.some_element(key, &such)
            }
            (Place::Open(key), Scalar::Integer(_) | Scalar::Float(_)) => {
                let x = self.binds.add(Bind::Decimal(metadata_json::scalar(x)));
                let such = format!(
                    "CASE WHEN jsonb_typeof(e.v) = 'number' THEN e.v::numeric {} {x} END",
                    side.sql()
                );
                self.some_element(key, &such)
            }
            (Place::Open(_), _) => Expr::Never,
        }
    }

    fn exists(&mut self, place: &Place) -> Expr {
        Expr::Sql(match place {
            Place::Column(column, FieldKind::TextList) => {
                format!("pg_catalog.cardinality({column}) > 0")
            }
            Place::Column(column, _) => format!("{column} IS NOT NULL"),
            Place::Open(key) => {
                let key = self.binds.add(Bind::Text(key.clone()));
                // Missing is unknown, which is false; an empty list holds nothing.
                format!("r.meta -> {key} <> '[]'::jsonb")
            }
        })
    }

    /// An element under an open key, `e.v`, is such.
    fn some_element(&mut self, key: &str, such: &str) -> Expr {
        let key = self.binds.add(Bind::Text(key.to_owned()));
        Expr::Sql(format!(
            "EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(r.meta -> {key}) \
             WHEN 'array' THEN r.meta -> {key} ELSE pg_catalog.jsonb_build_array(r.meta -> {key}) END) \
             AS e(v) WHERE {such})"
        ))
    }
}

/// Up to so many values of a declared list are compared with each of its members, or looked up in
/// its index. Of more the server makes a table of hashes, and looks each member up in that: comparing
/// 9,000 groups with those of 100,000 rows one by one takes the better part of a minute.
const MANY: usize = 128;

/// Up to so many values of an open key are looked up in the index one by one.
const FEW: usize = 16;

fn texts(values: &[Scalar]) -> Vec<String> {
    (values.iter())
        .filter_map(|value| value.as_text().map(str::to_owned))
        .collect()
}

/// The values that a column of the kind can hold, one alone or as a list; `None` where there are
/// none.
fn list(kind: FieldKind, values: &[Scalar]) -> Option<Bind> {
    fn one_or_more<T: Clone>(
        values: Vec<T>,
        one: impl Fn(T) -> Bind,
        more: impl Fn(Vec<T>) -> Bind,
    ) -> Option<Bind> {
        match values.as_slice() {
            [] => None,
            [value] => Some(one(value.clone())),
            _ => Some(more(values)),
        }
    }
    match kind {
        FieldKind::Text | FieldKind::TextList => {
            one_or_more(texts(values), Bind::Text, Bind::Texts)
        }
        FieldKind::Integer => {
            let integers = values.iter().filter_map(|value| match value {
                Scalar::Integer(integer) => Some(*integer),
                Scalar::Float(float) => float.to_integer(),
                _ => None,
            });
            one_or_more(integers.collect(), Bind::Integer, Bind::Integers)
        }
        FieldKind::Float => {
            let floats = values.iter().filter_map(|value| match value {
                Scalar::Float(float) => Some(float.get()),
                Scalar::Integer(integer) => {
                    let (float, exact) = nearest(*integer);
                    exact.is_eq().then_some(float)
                }
                _ => None,
            });
            one_or_more(floats.collect(), Bind::Float, Bind::Floats)
        }
        FieldKind::Bool => {
            let truths = values.iter().filter_map(|value| match value {
                Scalar::Bool(truth) => Some(*truth),
                _ => None,
            });
            one_or_more(truths.collect(), Bind::Bool, Bind::Bools)
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Side {
    Gt,
    Gte,
    Lt,
    Lte,
}

impl Side {
    fn sql(self) -> &'static str {
        match self {
            Self::Gt => "OPERATOR(pg_catalog.>)",
            Self::Gte => "OPERATOR(pg_catalog.>=)",
            Self::Lt => "OPERATOR(pg_catalog.<)",
            Self::Lte => "OPERATOR(pg_catalog.<=)",
        }
    }

    /// The comparison of floats that is the same as this one with a number, which may be none that
    /// a float holds.
    fn of_float(self, x: &Scalar) -> Option<(Self, f64)> {
        let integer = match x {
            Scalar::Float(float) => return Some((self, float.get())),
            Scalar::Integer(integer) => *integer,
            _ => return None,
        };
        let (float, order) = nearest(integer);
        let side = match (self, order) {
            (side, std::cmp::Ordering::Equal) => side,
            // No float lies between the integer and the nearest one.
            (Self::Gt | Self::Gte, std::cmp::Ordering::Greater) => Self::Gte,
            (Self::Lt | Self::Lte, std::cmp::Ordering::Greater) => Self::Lt,
            (Self::Gt | Self::Gte, std::cmp::Ordering::Less) => Self::Gt,
            (Self::Lt | Self::Lte, std::cmp::Ordering::Less) => Self::Lte,
        };
        Some((side, float))
    }
}

/// The float nearest to an integer, and how it stands to it.
fn nearest(integer: i64) -> (f64, std::cmp::Ordering) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "what is lost is what is answered"
    )]
    let float = integer as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole and at most 2^63, which 128 bits hold"
    )]
    let order = (float as i128).cmp(&i128::from(integer));
    (float, order)
}
