//! The filter algebra: what a condition on metadata means, once, for every store.
//!
//! # Meaning
//! A field is its set of *elements*: a plain value has one, a list has its members, a missing field
//! has none. Every operator is a function of that set, so a missing field and an empty list are
//! alike.
//!
//! | operator | matches when |
//! |---|---|
//! | `$eq v`, or the plain value `v` | some element equals `v` |
//! | `$in vs` | some element equals one of `vs`; `$in []` matches nothing |
//! | `$all vs` | for each of `vs`, some element equals it; `$all []` matches everything |
//! | `$gt $gte $lt $lte x` | some element of `x`'s own kind stands so to `x` |
//! | `$exists true` | there is at least one element |
//! | `$ne $nin $exists false` | exactly where the positive form does not |
//! | `$and $or $not` | as in logic, nested at most 64 deep |
//!
//! Numbers compare by exact value (`5` equals `5.0`), kinds never mix (`"1"` is not `1`), and texts
//! are ordered by Unicode scalar value. [`Filter::matches`] is the reference meaning.
//!
//! # Grammar of the JSON form
//! ```text
//! filter    := { member, … }                        all members hold; {} matches everything
//! member    := key : condition | "$and" : [filter, …] | "$or" : [filter, …] | "$not" : filter
//! condition := scalar | { operator, … }             all operators hold; {} is refused
//! operator  := "$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte" : scalar
//!            | "$in" | "$nin" | "$all" : [scalar, …]
//!            | "$exists" : boolean | "$not" : condition
//! ```
//! Whatever is not in the grammar is refused with the path to it: an unknown operator, a list where
//! a scalar is due, a null, a repeated member.

mod ast;
mod build;
mod error;
mod fold;
#[cfg(test)]
mod fold_tests;
mod limits;
mod matcher;
mod matches;
mod parse;
mod pinned;
mod print;
mod pushdown;
mod selector;

pub use ast::{Filter, Node, Op, Test};
pub use build::{FilterBuilder, KeyBuilder, Operand, all_of, any_of, key, not};
pub use error::{FilterError, FilterProblem};
pub(crate) use fold::exact_float;
pub use limits::FilterLimits;
pub use matcher::Matcher;
pub use pushdown::{FilterSupport, Pushdown};
pub use selector::Selector;
