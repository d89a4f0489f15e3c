//! Splitting a filter between a store's engine and us.

use serde::{Deserialize, Serialize};

use super::{Filter, Node, Op};
use crate::metadata::Kind;

/// What a store's engine evaluates by itself, as data.
///
/// `$eq`, `$in`, `$all` and "and" are the kernel that every store serves; each flag adds to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FilterSupport {
    /// `$ne`.
    pub ne: bool,
    /// `$nin`.
    pub nin: bool,
    /// `$gt $gte $lt $lte` with a number.
    pub number_ranges: bool,
    /// `$gt $gte $lt $lte` with a text, ordered by Unicode scalar value.
    pub text_ranges: bool,
    /// `$exists`.
    pub exists: bool,
    /// `$or`.
    pub or: bool,
    /// `$not`.
    pub not: bool,
}

impl FilterSupport {
    /// The whole algebra.
    pub fn full() -> Self {
        Self {
            ne: true,
            nin: true,
            number_ranges: true,
            text_ranges: true,
            exists: true,
            or: true,
            not: true,
        }
    }

    /// `$eq`, `$in`, `$all` and "and" alone.
    pub fn kernel() -> Self {
        Self::default()
    }

    fn serves(&self, op: &Op) -> bool {
        match op {
            Op::Eq(_) | Op::In(_) | Op::All(_) => true,
            Op::Ne(_) => self.ne,
            Op::Nin(_) => self.nin,
            Op::Gt(x) | Op::Gte(x) | Op::Lt(x) | Op::Lte(x) => match x.kind() {
                Kind::Text => self.text_ranges,
                Kind::Number | Kind::Bool => self.number_ranges,
            },
            Op::Exists(_) => self.exists,
        }
    }

    /// Splits a filter into the part that the engine serves and the part that is left.
    ///
    /// The whole is `native` and `residual`, and `native` is never narrower than the whole. It may
    /// be wider. Under a `$not` nothing is widened, since that would narrow: a `$not` that the
    /// engine does not serve whole goes whole to the residual.
    ///
    /// ```
    /// use shelfward_core::filter::{Filter, FilterSupport};
    /// let filter = Filter::from_json(r#"{"tenantId":"org1","year":{"$gte":2020}}"#)?;
    /// let split = FilterSupport::kernel().split(&filter);
    /// assert_eq!(split.native.to_string(), r#"{"tenantId":"org1"}"#);
    /// assert_eq!(split.residual.unwrap().to_string(), r#"{"year":{"$gte":2020}}"#);
    /// # Ok::<(), shelfward_core::FilterError>(())
    /// ```
    pub fn split(&self, filter: &Filter) -> Pushdown {
        match filter.node() {
            Node::And(children) => {
                let mut native = Vec::new();
                let mut residual = Vec::new();
                for part in children.iter().map(|child| self.split(child)) {
                    if !part.native.is_everything() {
                        native.push(part.native);
                    }
                    residual.extend(part.residual);
                }
                if residual.is_empty() {
                    return Pushdown::whole(filter.clone());
                }
                Pushdown {
                    native: Filter::and_or_only(native),
                    residual: Some(Filter::and_or_only(residual)),
                }
            }
            Node::Or(children) if self.or => {
                let parts: Vec<_> = children.iter().map(|child| self.split(child)).collect();
                if parts.iter().all(|part| part.residual.is_none()) {
                    return Pushdown::whole(filter.clone());
                }
                if parts.iter().any(|part| part.native.is_everything()) {
                    return Pushdown::left(filter.clone());
                }
                let native = Filter::or(parts.into_iter().map(|part| part.native).collect());
                Pushdown {
                    native,
                    residual: Some(filter.clone()),
                }
            }
            Node::Not(child) if self.not && self.split(child).residual.is_none() => {
                Pushdown::whole(filter.clone())
            }
            Node::Test(test) if self.serves(test.op()) => Pushdown::whole(filter.clone()),
            Node::Or(_) | Node::Not(_) | Node::Test(_) => Pushdown::left(filter.clone()),
        }
    }
}

/// A filter split between a store's engine and `Collection`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushdown {
    /// What the engine is asked for; never narrower than the whole.
    pub native: Filter,
    /// What is evaluated on every hit afterwards; `None` when the engine serves the whole.
    pub residual: Option<Filter>,
}

impl Pushdown {
    /// The engine serves the whole filter.
    pub fn whole(filter: Filter) -> Self {
        Self {
            native: filter,
            residual: None,
        }
    }

    /// The engine serves none of it.
    pub fn left(filter: Filter) -> Self {
        Self {
            native: Filter::everything(),
            residual: Some(filter),
        }
    }
}
