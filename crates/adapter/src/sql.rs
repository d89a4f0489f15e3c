//! Filters as SQL: one sink for every engine, with a dialect for each.
//!
//! SQL knows three truth values. Within "and" and "or" an unknown part counts as false at the root,
//! as it should; so it is only a "not" that must turn unknown into false first. No other part of a
//! filter is negated: `$ne`, `$nin` and `$exists: false` are a "not" around their positive form.

use shelfward_core::filter::FilterSupport;
use shelfward_core::{
    CollectionSpec, ErrorKind, Field, FieldKind, Filter, Kind, MetadataKey, Scalar,
};

use crate::filter::{Comparison, FilterSink, Native, Served, filter_support, render};

/// SQL with the values that it binds: one for each `?`, in their order. A `?` stands for nothing
/// else; an operator that is written with one has a name that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql<P> {
    /// The text.
    pub text: String,
    /// What it binds.
    pub params: Vec<P>,
}

/// The condition that holds of every row.
pub const ALWAYS: &str = "true";

impl<P> Sql<P> {
    /// A text with what it binds.
    pub fn new(text: impl Into<String>, params: impl IntoIterator<Item = P>) -> Self {
        Self {
            text: text.into(),
            params: params.into_iter().collect(),
        }
    }

    /// The condition that holds of every row.
    pub fn always() -> Self {
        Self::new(ALWAYS, [])
    }

    /// The text for an engine whose placeholders are numbered or typed: `bind` takes each value and
    /// answers how the statement names it.
    pub fn with_placeholders(self, mut bind: impl FnMut(P) -> String) -> String {
        let mut texts = self.text.split('?');
        let mut sql = texts.next().unwrap_or_default().to_owned();
        for (text, param) in texts.zip(self.params) {
            sql.push_str(&bind(param));
            sql.push_str(text);
        }
        sql
    }
}

/// Where the elements of a tested key are.
#[derive(Clone, Copy, Debug)]
pub enum FieldRef<'a> {
    /// A declared field of one value, by its position among the fields.
    Column(usize, &'a Field),
    /// A declared list of texts, by its position among the fields.
    List(usize, &'a Field),
    /// A key that is not declared, of an open collection: any kind, one value or a list.
    Open(&'a MetadataKey),
}

/// How an engine says each test of a field.
///
/// A declared field is asked only for operands that its kind can hold, but that a number need not be
/// of the column's own type: `Collection` folds that, and a dialect that cannot compare the two
/// answers `None`.
pub trait Dialect {
    /// A bound value.
    type Param;

    /// Some element equals one of the values.
    fn any_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Self::Param>>;

    /// Each of two or more values equals some element of a list or an open key.
    fn all_of(&self, field: FieldRef<'_>, values: &[&Scalar]) -> Option<Sql<Self::Param>>;

    /// Some element of the operand's own kind, a number or a text, compares so to it.
    fn compare(
        &self,
        field: FieldRef<'_>,
        comparison: Comparison,
        operand: &Scalar,
    ) -> Option<Sql<Self::Param>>;

    /// There is an element.
    fn exists(&self, field: FieldRef<'_>) -> Sql<Self::Param>;
}

/// The condition that holds of exactly the rows that a filter matches, among rows that keep to the
/// spec's kinds.
///
/// # Errors
/// [`ErrorKind::Invalid`] for a field that the spec does not declare, [`ErrorKind::Unsupported`]
/// where the dialect does not serve the whole filter.
pub fn condition<D: Dialect>(
    filter: &Filter,
    spec: &CollectionSpec,
    dialect: &D,
) -> Result<Sql<D::Param>, ErrorKind> {
    let rendered = render(filter, &mut SqlSink { spec, dialect });
    if let Some(left) = rendered.residual {
        let tests = left.tests();
        let undeclared = |key: &MetadataKey| spec.field(key.as_str()).is_none();
        let undeclared = tests
            .iter()
            .map(|test| test.key())
            .find(|key| undeclared(key));
        return Err(match undeclared.filter(|_| !spec.open_fields) {
            Some(key) => ErrorKind::Invalid(format!(
                "a filter on {key}, which the collection does not declare"
            )),
            None => ErrorKind::Unsupported("a filter by values of another kind than their field's"),
        });
    }
    Ok(match rendered.native {
        Native::Always => Sql::always(),
        Native::Never => Sql::new("false", []),
        Native::Test(sql) => sql,
    })
}

/// What a dialect serves of filters on a collection.
pub fn support<D: Dialect>(spec: &CollectionSpec, dialect: &D) -> FilterSupport {
    filter_support(&mut SqlSink { spec, dialect }, spec)
}

struct SqlSink<'a, D> {
    spec: &'a CollectionSpec,
    dialect: &'a D,
}

impl<D: Dialect> SqlSink<'_, D> {
    fn field<'k>(&'k self, key: &'k MetadataKey) -> Option<FieldRef<'k>> {
        let mut declared = self.spec.fields.iter().enumerate();
        match declared.find(|(_, field)| field.key == *key) {
            Some((at, field)) if field.kind == FieldKind::TextList => {
                Some(FieldRef::List(at, field))
            }
            Some((at, field)) => Some(FieldRef::Column(at, field)),
            None => self.spec.open_fields.then_some(FieldRef::Open(key)),
        }
    }
}

impl FieldRef<'_> {
    /// Whether an element can be of the operand's kind.
    fn can_hold(&self, operand: &Scalar) -> bool {
        let kind = match self {
            Self::Open(_) => return true,
            Self::Column(_, field) | Self::List(_, field) => field.kind,
        };
        operand.kind()
            == match kind {
                FieldKind::Integer | FieldKind::Float => Kind::Number,
                FieldKind::Bool => Kind::Bool,
                _ => Kind::Text,
            }
    }
}

impl<D: Dialect> FilterSink for SqlSink<'_, D> {
    type Out = Sql<D::Param>;

    fn and(&mut self, parts: Vec<Self::Out>) -> Self::Out {
        joined(parts, " AND ")
    }

    fn or(&mut self, parts: Vec<Self::Out>) -> Option<Self::Out> {
        Some(joined(parts, " OR "))
    }

    fn not(&mut self, part: Self::Out) -> Option<Self::Out> {
        Some(Sql {
            text: format!("(({}) IS NOT TRUE)", part.text),
            params: part.params,
        })
    }

    fn any_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Self::Out> {
        let field = self.field(key)?;
        let values: Vec<_> = (values.iter().copied())
            .filter(|value| field.can_hold(value))
            .collect();
        if values.is_empty() {
            return Some(Native::Never);
        }
        self.dialect.any_of(field, &values).map(Native::Test)
    }

    fn all_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Self::Out> {
        let field = self.field(key)?;
        // One value is not two.
        let never = matches!(field, FieldRef::Column(..));
        if never || values.iter().any(|value| !field.can_hold(value)) {
            return Some(Native::Never);
        }
        self.dialect.all_of(field, values).map(Native::Test)
    }

    fn compare(
        &mut self,
        key: &MetadataKey,
        comparison: Comparison,
        operand: &Scalar,
    ) -> Served<Self::Out> {
        let field = self.field(key)?;
        if !field.can_hold(operand) {
            return Some(Native::Never);
        }
        let sql = self.dialect.compare(field, comparison, operand);
        sql.map(Native::Test)
    }

    fn exists(&mut self, key: &MetadataKey) -> Served<Self::Out> {
        let field = self.field(key)?;
        Some(Native::Test(self.dialect.exists(field)))
    }
}

impl Comparison {
    /// The operator, as every dialect writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

/// All parts in one expression whose depth is the logarithm of their number: engines take no deep
/// ones.
pub fn joined<P>(mut parts: Vec<Sql<P>>, operator: &str) -> Sql<P> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut left = parts.into_iter();
        while let Some(mut one) = left.next() {
            if let Some(other) = left.next() {
                one.text = format!("({}{operator}{})", one.text, other.text);
                one.params.extend(other.params);
            }
            pairs.push(one);
        }
        parts = pairs;
    }
    parts.pop().unwrap_or_else(Sql::always)
}
