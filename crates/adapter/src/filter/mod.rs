//! Filters in the language of an engine.
//!
//! A filter is walked once, by [`render`]. What the engine can say is said by a [`FilterSink`]: "and",
//! "or", "not" and a leaf for each test. Whatever a sink does not serve is left for the caller, who
//! gets both: the native condition, never narrower than the filter, and the residual, so that native
//! and residual together are the filter.

mod support;

use std::collections::HashSet;

use shelfward_core::filter::{Node, Op, Test, all_of};
use shelfward_core::{Filter, MetadataKey, Scalar};

pub use support::filter_support;

/// A condition in an engine's language, or one that needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Native<T> {
    /// Holds of every record.
    Always,
    /// Holds of no record.
    Never,
    /// Holds where this does.
    Test(T),
}

/// What a sink makes of a test; `None` where the engine does not serve it.
pub type Served<T> = Option<Native<T>>;

/// A filter as an engine takes it, and what is left of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered<T> {
    /// What the engine is asked for; never narrower than the filter.
    pub native: Native<T>,
    /// What has to hold of each hit as well; `None` where the engine serves the whole filter.
    pub residual: Option<Filter>,
}

/// How the elements of a field are compared with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the operator of the same name")]
pub enum Comparison {
    Gt,
    Gte,
    Lt,
    Lte,
}

/// An engine's language: what a filter is rendered into.
///
/// Each leaf is about the set of a field's elements, as [`shelfward_core::filter`] says, and has to
/// mean exactly that; a leaf that cannot answers `None` and becomes part of the residual. Values are
/// never empty and hold no two that are equal.
pub trait FilterSink {
    /// A condition in the engine's language.
    type Out;

    /// All of two or more conditions hold.
    fn and(&mut self, parts: Vec<Self::Out>) -> Self::Out;

    /// Some of two or more conditions hold; `None` where the engine has no "or".
    fn or(&mut self, parts: Vec<Self::Out>) -> Option<Self::Out>;

    /// Holds of exactly the records that the condition does not hold of, those that lack a field
    /// included; `None` where the engine has no such "not".
    fn not(&mut self, part: Self::Out) -> Option<Self::Out>;

    /// Some element equals one of the values: `$eq` and `$in`.
    fn any_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Self::Out>;

    /// Each of two or more values equals some element: `$all`.
    fn all_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Self::Out> {
        let parts = values.iter().map(|value| self.any_of(key, &[value]));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        Some(every(self, parts))
    }

    /// No element equals one of the values: `$ne` and `$nin`. Override it where the engine has this
    /// and no "not".
    fn none_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Self::Out> {
        let any = self.any_of(key, values)?;
        negated(self, any)
    }

    /// Some element of the operand's own kind compares so to it: `$gt`, `$gte`, `$lt`, `$lte`.
    fn compare(
        &mut self,
        key: &MetadataKey,
        comparison: Comparison,
        operand: &Scalar,
    ) -> Served<Self::Out>;

    /// There is an element: `$exists: true`.
    fn exists(&mut self, key: &MetadataKey) -> Served<Self::Out>;

    /// There is no element: `$exists: false`. Override it where the engine has this and no "not".
    fn is_missing(&mut self, key: &MetadataKey) -> Served<Self::Out> {
        let exists = self.exists(key)?;
        negated(self, exists)
    }
}

/// Renders a filter.
pub fn render<S: FilterSink + ?Sized>(filter: &Filter, sink: &mut S) -> Rendered<S::Out> {
    let whole = |native| Rendered {
        native,
        residual: None,
    };
    // Not served whole. What is native of it is at least as wide.
    let left = |native| Rendered {
        native,
        residual: Some(filter.clone()),
    };
    match filter.node() {
        Node::And(children) => {
            let (mut natives, mut residuals) = (Vec::with_capacity(children.len()), Vec::new());
            for child in children {
                let part = render(child, sink);
                if matches!(part.native, Native::Never) {
                    return whole(Native::Never);
                }
                natives.push(part.native);
                residuals.extend(part.residual);
            }
            let native = every(sink, natives);
            match residuals.len() {
                0 => whole(native),
                1 => Rendered {
                    native,
                    residual: residuals.pop(),
                },
                _ => match all_of(residuals.into_iter().map(Into::into)).build() {
                    Ok(residual) => Rendered {
                        native,
                        residual: Some(residual),
                    },
                    // A part of a filter is no larger than the filter; if it were, nothing is lost.
                    Err(_) => left(native),
                },
            }
        }
        Node::Or(children) => {
            let mut is_whole = true;
            let mut natives = Vec::with_capacity(children.len());
            for child in children {
                let part = render(child, sink);
                is_whole &= part.residual.is_none();
                match part.native {
                    Native::Always if part.residual.is_none() => return whole(Native::Always),
                    Native::Always => return left(Native::Always),
                    native => natives.push(native),
                }
            }
            match some(sink, natives) {
                Some(native) if is_whole => whole(native),
                Some(native) => left(native),
                None => left(Native::Always),
            }
        }
        Node::Not(child) => {
            let part = render(child, sink);
            // Nothing is widened under a "not": that would narrow.
            let not = match part.residual {
                None => negated(sink, part.native),
                Some(_) => None,
            };
            not.map_or_else(|| left(Native::Always), whole)
        }
        Node::Test(test) => leaf(test, sink).map_or_else(|| left(Native::Always), whole),
    }
}

fn leaf<S: FilterSink + ?Sized>(test: &Test, sink: &mut S) -> Served<S::Out> {
    let key = test.key();
    let mut seen = HashSet::new();
    let operands = test.op().operands().iter();
    let values: Vec<&Scalar> = operands.filter(|value| seen.insert(*value)).collect();
    match test.op() {
        Op::In(_) if values.is_empty() => Some(Native::Never),
        Op::Nin(_) | Op::All(_) if values.is_empty() => Some(Native::Always),
        Op::Eq(_) | Op::In(_) => sink.any_of(key, &values),
        Op::Ne(_) | Op::Nin(_) => sink.none_of(key, &values),
        Op::All(_) if values.len() == 1 => sink.any_of(key, &values),
        Op::All(_) => sink.all_of(key, &values),
        Op::Gt(x) => sink.compare(key, Comparison::Gt, x),
        Op::Gte(x) => sink.compare(key, Comparison::Gte, x),
        Op::Lt(x) => sink.compare(key, Comparison::Lt, x),
        Op::Lte(x) => sink.compare(key, Comparison::Lte, x),
        Op::Exists(true) => sink.exists(key),
        Op::Exists(false) => sink.is_missing(key),
    }
}

fn every<S: FilterSink + ?Sized>(sink: &mut S, parts: Vec<Native<S::Out>>) -> Native<S::Out> {
    let mut tests = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Native::Always => {}
            Native::Never => return Native::Never,
            Native::Test(test) => tests.push(test),
        }
    }
    match tests.len() {
        0 => Native::Always,
        1 => tests.pop().map_or(Native::Always, Native::Test),
        _ => Native::Test(sink.and(tests)),
    }
}

fn some<S: FilterSink + ?Sized>(sink: &mut S, parts: Vec<Native<S::Out>>) -> Served<S::Out> {
    let mut tests = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Native::Always => return Some(Native::Always),
            Native::Never => {}
            Native::Test(test) => tests.push(test),
        }
    }
    match tests.len() {
        0 => Some(Native::Never),
        1 => tests.pop().map(Native::Test),
        _ => sink.or(tests).map(Native::Test),
    }
}

fn negated<S: FilterSink + ?Sized>(sink: &mut S, part: Native<S::Out>) -> Served<S::Out> {
    match part {
        Native::Always => Some(Native::Never),
        Native::Never => Some(Native::Always),
        Native::Test(test) => sink.not(test).map(Native::Test),
    }
}
