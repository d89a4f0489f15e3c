//! The filter algebra as SQL, over one row of a collection's table under the alias `r`.
//!
//! Every value is bound. What is formatted are the numbers of tables and fields, never a name.
//!
//! SQL knows three truth values. Within "and" and "or" an unknown part counts as false at the root,
//! as it should; so it is only a "not" that must turn unknown into false first. No other part of a
//! filter is negated: `$ne`, `$nin` and `$exists: false` are a "not" around their positive form.

use std::collections::HashSet;
use std::rc::Rc;

use rusqlite::types::{Value, ValueRef};
use shelfward_core::filter::{Node, Op, Test};
use shelfward_core::{CollectionSpec, ErrorKind, FieldKind, Filter, Scalar};

use crate::binds::Bind;
use crate::error::Job;

/// A condition and the values that it binds, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) sql: String,
    pub(crate) binds: Vec<Bind>,
}

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
) -> Job<Condition> {
    let translator = Translator {
        spec,
        number,
        access,
    };
    let condition = match translator.filter(filter)? {
        Expr::Always => Condition {
            sql: "1".to_owned(),
            binds: Vec::new(),
        },
        Expr::Never => Condition {
            sql: "0".to_owned(),
            binds: Vec::new(),
        },
        Expr::Sql(condition) => condition,
    };
    if condition.binds.len() > MAX_BINDS {
        let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
        return Err(ErrorKind::Limit {
            what: "single values of a filter",
            given: as_u64(condition.binds.len()),
            max: as_u64(MAX_BINDS),
        }
        .into());
    }
    Ok(condition)
}

enum Expr {
    Always,
    Never,
    Sql(Condition),
}

impl Expr {
    fn sql(sql: impl Into<String>, binds: Vec<Bind>) -> Self {
        Self::Sql(Condition {
            sql: sql.into(),
            binds,
        })
    }

    fn not(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Sql(inner) => Self::sql(format!("NOT ifnull({}, 0)", inner.sql), inner.binds),
        }
    }
}

struct Translator<'a> {
    spec: &'a CollectionSpec,
    number: i64,
    access: Access,
}

/// Where the elements of a tested key are.
enum Place {
    /// A column of its own, of a declared kind.
    Column(usize, FieldKind),
    /// The table of elements, under the number of a declared list.
    DeclaredList(i64),
    /// The table of elements, under the key itself.
    Open,
}

impl Translator<'_> {
    fn filter(&self, filter: &Filter) -> Job<Expr> {
        match filter.node() {
            Node::And(children) => {
                let mut parts = Vec::with_capacity(children.len());
                for child in children {
                    match self.filter(child)? {
                        Expr::Always => {}
                        Expr::Never => return Ok(Expr::Never),
                        Expr::Sql(part) => parts.push(part),
                    }
                }
                Ok(joined(parts, " AND ").unwrap_or(Expr::Always))
            }
            Node::Or(children) => {
                let mut parts = Vec::with_capacity(children.len());
                for child in children {
                    match self.filter(child)? {
                        Expr::Always => return Ok(Expr::Always),
                        Expr::Never => {}
                        Expr::Sql(part) => parts.push(part),
                    }
                }
                Ok(joined(parts, " OR ").unwrap_or(Expr::Never))
            }
            Node::Not(child) => Ok(self.filter(child)?.not()),
            Node::Test(test) => self.test(test),
        }
    }

    fn test(&self, test: &Test) -> Job<Expr> {
        let place = self.place(test)?;
        Ok(match test.op() {
            Op::Eq(value) => self.among(test, &place, std::slice::from_ref(value)),
            Op::In(values) => self.among(test, &place, values),
            Op::Ne(value) => self.among(test, &place, std::slice::from_ref(value)).not(),
            Op::Nin(values) => self.among(test, &place, values).not(),
            Op::All(values) => self.all(test, &place, values),
            Op::Gt(x) => self.range(test, &place, ">", x),
            Op::Gte(x) => self.range(test, &place, ">=", x),
            Op::Lt(x) => self.range(test, &place, "<", x),
            Op::Lte(x) => self.range(test, &place, "<=", x),
            Op::Exists(true) => self.exists(test, &place),
            Op::Exists(false) => self.exists(test, &place).not(),
        })
    }

    fn place(&self, test: &Test) -> Job<Place> {
        let key = test.key().as_str();
        let declared = (self.spec.fields.iter().enumerate()).find(|(_, f)| f.key.as_str() == key);
        match declared {
            Some((at, field)) if field.kind == FieldKind::TextList => {
                Ok(Place::DeclaredList(list_number(at)))
            }
            Some((at, field)) => Ok(Place::Column(at, field.kind)),
            None if self.spec.open_fields => Ok(Place::Open),
            None => {
                let invalid = format!("a filter on {key}, which the collection does not declare");
                Err(ErrorKind::Invalid(invalid).into())
            }
        }
    }

    /// Some element equals one of the values.
    fn among(&self, test: &Test, place: &Place, values: &[Scalar]) -> Expr {
        match place {
            Place::Column(at, kind) => {
                let values = values.iter().filter_map(|v| in_column(*kind, v)).collect();
                match list(&format!("r.f{at}"), values) {
                    Some(condition) => Expr::Sql(condition),
                    None => Expr::Never,
                }
            }
            Place::DeclaredList(_) | Place::Open => {
                let values = values.iter().filter(|v| self.may_hold(place, v));
                match list(
                    self.element(),
                    values.map(|v| owned(as_element(v))).collect(),
                ) {
                    Some(condition) => self.some_element(test, place, Some(condition)),
                    None => Expr::Never,
                }
            }
        }
    }

    /// For each of the values, some element equals it.
    fn all(&self, test: &Test, place: &Place, values: &[Scalar]) -> Expr {
        let mut seen = HashSet::new();
        let distinct: Vec<&Scalar> = values.iter().filter(|v| seen.insert(*v)).collect();
        if distinct.len() > FEW && !matches!(place, Place::Column(..)) {
            return self.all_of_many(test, place, &distinct);
        }
        let mut parts = Vec::with_capacity(distinct.len());
        for value in distinct {
            match self.among(test, place, std::slice::from_ref(value)) {
                Expr::Always => {}
                Expr::Never => return Expr::Never,
                Expr::Sql(part) => parts.push(part),
            }
        }
        joined(parts, " AND ").unwrap_or(Expr::Always)
    }

    /// As many elements are among the values as there are values; both are without repeats.
    fn all_of_many(&self, test: &Test, place: &Place, values: &[&Scalar]) -> Expr {
        if values.iter().any(|value| !self.may_hold(place, value)) {
            return Expr::Never;
        }
        let elements = values
            .iter()
            .map(|value| owned(as_element(value)))
            .collect();
        let Some(among) = list("+e.v", elements) else {
            return Expr::Always;
        };
        let number = self.number;
        let sql = format!(
            "(SELECT count(*) FROM elements_{number} e INDEXED BY elements_{number}_row \
             WHERE e.n = r.n AND e.k = ? AND {}) = ?",
            among.sql
        );
        let mut binds = vec![self.key(test, place)];
        binds.extend(among.binds);
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        binds.push(Bind::One(Value::Integer(count)));
        Expr::sql(sql, binds)
    }

    /// Some element of the operand's own kind stands so to it.
    fn range(&self, test: &Test, place: &Place, operator: &str, x: &Scalar) -> Expr {
        if let Place::Column(at, kind) = place {
            let comparable = match (kind, x) {
                (FieldKind::Text, Scalar::Text(_)) | (FieldKind::Bool, Scalar::Bool(_)) => true,
                (FieldKind::Integer | FieldKind::Float, x) => is_number(x),
                _ => false,
            };
            if !comparable {
                return Expr::Never;
            }
            return Expr::sql(
                format!("r.f{at} {operator} ?"),
                vec![Bind::One(owned(as_column(x)))],
            );
        }
        if !self.may_hold(place, x) {
            return Expr::Never;
        }
        // Numbers stand before texts, and texts before the two blobs that booleans are.
        let element = self.element();
        let within = match (x, operator) {
            (Scalar::Integer(_) | Scalar::Float(_), ">" | ">=") => format!(" AND {element} < ''"),
            (Scalar::Text(_), ">" | ">=") => format!(" AND {element} < x''"),
            (Scalar::Text(_), _) => format!(" AND {element} >= ''"),
            (Scalar::Bool(_), "<" | "<=") => format!(" AND {element} >= x''"),
            _ => String::new(),
        };
        let condition = Condition {
            sql: format!("{element} {operator} ?{within}"),
            binds: vec![Bind::One(owned(as_element(x)))],
        };
        self.some_element(test, place, Some(condition))
    }

    fn exists(&self, test: &Test, place: &Place) -> Expr {
        match place {
            Place::Column(at, _) => Expr::sql(format!("r.f{at} IS NOT NULL"), Vec::new()),
            Place::DeclaredList(_) | Place::Open => self.some_element(test, place, None),
        }
    }

    /// Whether a list declared to hold texts, or an open field, can hold the value.
    fn may_hold(&self, place: &Place, value: &Scalar) -> bool {
        matches!(place, Place::Open) || matches!(value, Scalar::Text(_))
    }

    /// An element's value. By key, the plus keeps the engine from going through a long list of
    /// values once more for every row.
    fn element(&self) -> &'static str {
        match self.access {
            Access::ByFilter => "e.v",
            Access::ByKey => "+e.v",
        }
    }

    fn key(&self, test: &Test, place: &Place) -> Bind {
        Bind::One(match place {
            Place::DeclaredList(number) => Value::Integer(*number),
            _ => Value::Text(test.key().as_str().to_owned()),
        })
    }

    fn some_element(&self, test: &Test, place: &Place, such: Option<Condition>) -> Expr {
        let number = self.number;
        let mut binds = vec![self.key(test, place)];
        let such = such.map(|such| {
            binds.extend(such.binds);
            format!(" AND {}", such.sql)
        });
        let such = such.unwrap_or_default();
        let sql = match self.access {
            Access::ByFilter => {
                format!("r.n IN (SELECT e.n FROM elements_{number} e WHERE e.k = ?{such})")
            }
            Access::ByKey => format!(
                "EXISTS (SELECT 1 FROM elements_{number} e INDEXED BY elements_{number}_row \
                 WHERE e.n = r.n AND e.k = ?{such})"
            ),
        };
        Expr::sql(sql, binds)
    }
}

/// What a declared list is called in the table of elements.
pub(crate) fn list_number(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// `place` is one of the values; `None` where there are none.
fn list(place: &str, mut values: Vec<Value>) -> Option<Condition> {
    let (sql, binds) = match values.len() {
        0 => return None,
        1 => (
            format!("{place} = ?"),
            values.pop().map(Bind::One).into_iter().collect(),
        ),
        n if n <= FEW => (
            format!("{place} IN (?{})", ", ?".repeat(n - 1)),
            values.into_iter().map(Bind::One).collect(),
        ),
        _ => (
            format!("{place} IN (SELECT value FROM rarray(?))"),
            vec![Bind::Many(Rc::new(values))],
        ),
    };
    Some(Condition { sql, binds })
}

/// All parts in one expression whose depth is the logarithm of their number: the engine takes no
/// deep ones.
fn joined(mut parts: Vec<Condition>, operator: &str) -> Option<Expr> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut left = parts.into_iter();
        while let Some(mut one) = left.next() {
            if let Some(other) = left.next() {
                one.sql = format!("({}{operator}{})", one.sql, other.sql);
                one.binds.extend(other.binds);
            }
            pairs.push(one);
        }
        parts = pairs;
    }
    parts.pop().map(Expr::Sql)
}

fn is_number(value: &Scalar) -> bool {
    matches!(value, Scalar::Integer(_) | Scalar::Float(_))
}

/// The operand as a value of a column's kind, when the column can hold one that equals it.
fn in_column(kind: FieldKind, value: &Scalar) -> Option<Value> {
    let held = match (kind, value) {
        (FieldKind::Text | FieldKind::TextList, Scalar::Text(_))
        | (FieldKind::Bool, Scalar::Bool(_)) => true,
        // The engine compares numbers by exact value, whole ones and others.
        (FieldKind::Integer | FieldKind::Float, value) => is_number(value),
        _ => false,
    };
    held.then(|| owned(as_column(value)))
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
