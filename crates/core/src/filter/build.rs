//! Filters made in code. The first thing wrong is kept and answered by [`FilterBuilder::build`], so
//! a filter reads as one expression with one `?`.

use super::limits::MAX_DEPTH;
use super::{Filter, FilterError, FilterLimits, FilterProblem, Op};
use crate::metadata::{Kind, MetadataKey, MetadataProblem, Scalar};

/// A filter under construction.
///
/// ```
/// use shelfward_core::filter::{any_of, key};
/// let filter = key("tenantId").eq("org1")
///     .and(key("aclGroups").is_in(["acct:ann", "org:org1"]))
///     .and(any_of([key("year").gte(2020), key("pinned").eq(true)]))
///     .build()?;
/// assert_eq!(
///     filter.to_string(),
///     r#"{"tenantId":"org1","aclGroups":{"$in":["acct:ann","org:org1"]},"$or":[{"year":{"$gte":2020}},{"pinned":true}]}"#,
/// );
/// # Ok::<(), shelfward_core::FilterError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct FilterBuilder(Result<Filter, FilterError>);

/// A field by name, waiting for what is asked of it.
#[derive(Clone, Debug)]
#[must_use = "a key alone asks nothing"]
pub struct KeyBuilder(Result<MetadataKey, FilterError>);

/// Names the field to test.
pub fn key(name: &str) -> KeyBuilder {
    KeyBuilder(
        MetadataKey::new(name).map_err(|e| FilterError::new(name, e.problem().clone().into())),
    )
}

/// Matches where every one of `filters` does; everything when there are none.
pub fn all_of(filters: impl IntoIterator<Item = FilterBuilder>) -> FilterBuilder {
    FilterBuilder(collect(filters).map(Filter::and)).checked()
}

/// Matches where at least one of `filters` does; nothing when there are none.
pub fn any_of(filters: impl IntoIterator<Item = FilterBuilder>) -> FilterBuilder {
    FilterBuilder(collect(filters).map(Filter::or)).checked()
}

/// Matches exactly where `filter` does not.
pub fn not(filter: FilterBuilder) -> FilterBuilder {
    FilterBuilder(filter.0.map(Filter::negate)).checked()
}

fn collect(filters: impl IntoIterator<Item = FilterBuilder>) -> Result<Vec<Filter>, FilterError> {
    filters.into_iter().map(|f| f.0).collect()
}

impl KeyBuilder {
    /// `$eq`: some element equals `value`.
    pub fn eq<V: Operand>(self, value: V) -> FilterBuilder {
        self.scalar("$eq", value, Op::Eq)
    }

    /// `$ne`: no element equals `value`.
    pub fn ne<V: Operand>(self, value: V) -> FilterBuilder {
        self.scalar("$ne", value, Op::Ne)
    }

    /// `$in`: some element equals one of `values`.
    pub fn is_in<V: Operand>(self, values: impl IntoIterator<Item = V>) -> FilterBuilder {
        self.list("$in", values, Op::In)
    }

    /// `$nin`: no element equals any of `values`.
    pub fn not_in<V: Operand>(self, values: impl IntoIterator<Item = V>) -> FilterBuilder {
        self.list("$nin", values, Op::Nin)
    }

    /// `$all`: for each of `values`, some element equals it.
    pub fn all<V: Operand>(self, values: impl IntoIterator<Item = V>) -> FilterBuilder {
        self.list("$all", values, Op::All)
    }

    /// `$gt`: some element of the same kind is greater.
    pub fn gt<V: Operand>(self, value: V) -> FilterBuilder {
        self.range("$gt", value, Op::Gt)
    }

    /// `$gte`: some element of the same kind is greater or equal.
    pub fn gte<V: Operand>(self, value: V) -> FilterBuilder {
        self.range("$gte", value, Op::Gte)
    }

    /// `$lt`: some element of the same kind is less.
    pub fn lt<V: Operand>(self, value: V) -> FilterBuilder {
        self.range("$lt", value, Op::Lt)
    }

    /// `$lte`: some element of the same kind is less or equal.
    pub fn lte<V: Operand>(self, value: V) -> FilterBuilder {
        self.range("$lte", value, Op::Lte)
    }

    /// `$exists`: whether the field has at least one element.
    pub fn exists(self, exists: bool) -> FilterBuilder {
        FilterBuilder(self.0.map(|key| Filter::test(key, Op::Exists(exists))))
    }

    fn scalar<V: Operand>(self, op: &str, value: V, make: fn(Scalar) -> Op) -> FilterBuilder {
        FilterBuilder(self.0.and_then(|key| match value.operand() {
            Ok(value) => Ok(Filter::test(key, make(value))),
            Err(problem) => Err(FilterError::new(format_args!("{key}.{op}"), problem.into())),
        }))
    }

    fn range<V: Operand>(self, op: &str, value: V, make: fn(Scalar) -> Op) -> FilterBuilder {
        FilterBuilder(self.scalar(op, value, make).0.and_then(
            |filter| match filter.tests().first() {
                Some(test) if test.op().operands().iter().any(|v| v.kind() == Kind::Bool) => {
                    let path = format!("{}.{op}", test.key());
                    Err(FilterError::new(path, FilterProblem::BooleanRange))
                }
                _ => Ok(filter),
            },
        ))
    }

    fn list<V: Operand>(
        self,
        op: &str,
        values: impl IntoIterator<Item = V>,
        make: fn(Vec<Scalar>) -> Op,
    ) -> FilterBuilder {
        FilterBuilder(self.0.and_then(|key| {
            let values = values.into_iter().enumerate().map(|(at, value)| {
                value.operand().map_err(|problem| {
                    FilterError::new(format_args!("{key}.{op}[{at}]"), problem.into())
                })
            });
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(Filter::test(key, make(values)))
        }))
    }
}

impl FilterBuilder {
    /// Both hold. A chain of `and` is one flat `$and`.
    pub fn and(self, other: FilterBuilder) -> FilterBuilder {
        FilterBuilder(self.0.and_then(|left| {
            let right = other.0?;
            Ok(left.also(right))
        }))
        .checked()
    }

    /// At least one holds. A chain of `or` is one flat `$or`.
    pub fn or(self, other: FilterBuilder) -> FilterBuilder {
        FilterBuilder(self.0.and_then(|left| {
            let right = other.0?;
            Ok(left.or_else(right))
        }))
        .checked()
    }

    /// The filter.
    ///
    /// # Errors
    /// The first thing that was wrong, or the limit of [`FilterLimits`] that the whole is over.
    pub fn build(self) -> Result<Filter, FilterError> {
        self.build_within(&FilterLimits::default())
    }

    /// The filter, within limits of one's own.
    ///
    /// # Errors
    /// As [`FilterBuilder::build`].
    pub fn build_within(self, limits: &FilterLimits) -> Result<Filter, FilterError> {
        let filter = self.0?;
        limits.check(&filter)?;
        Ok(filter)
    }

    /// Refuses at once what is too deep, so that nothing deeper is ever made, walked or dropped.
    fn checked(self) -> Self {
        Self(self.0.and_then(|filter| {
            if filter.size().depth > MAX_DEPTH {
                Err(FilterError::new(
                    "",
                    FilterProblem::TooDeep { max: MAX_DEPTH },
                ))
            } else {
                Ok(filter)
            }
        }))
    }
}

impl From<Filter> for FilterBuilder {
    fn from(filter: Filter) -> Self {
        Self(Ok(filter))
    }
}

/// What can stand as an operand: booleans, integers, floats and texts.
pub trait Operand {
    /// The value, or why it is refused.
    ///
    /// # Errors
    /// [`MetadataProblem`] for NaN, an integer outside 64 bits or a text with U+0000.
    fn operand(self) -> Result<Scalar, MetadataProblem>;
}

impl<T> Operand for T
where
    T: TryInto<Scalar>,
    T::Error: Into<MetadataProblem>,
{
    fn operand(self) -> Result<Scalar, MetadataProblem> {
        self.try_into().map_err(Into::into)
    }
}
