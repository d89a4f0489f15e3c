use std::fmt;

use crate::metadata::{MetadataProblem, shown};

/// Why a filter was refused, and where in it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter{}{path}: {problem}", if path.is_empty() { "" } else { " at " })]
pub struct FilterError {
    path: String,
    problem: FilterProblem,
}

crate::debug_as_chain!(FilterError);

impl FilterError {
    pub(crate) fn new(path: impl fmt::Display, problem: FilterProblem) -> Self {
        Self {
            path: shown(&path.to_string()),
            problem,
        }
    }

    /// The path to what was refused, as `$or[1].aclGroups.$in[3]`; empty for the filter as a whole.
    /// At most 64 characters of it are kept.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn problem(&self) -> &FilterProblem {
        &self.problem
    }
}

/// What is wrong with a filter. Each message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterProblem {
    /// A key or an operand that metadata could not hold either.
    #[error("{0}")]
    Metadata(#[from] MetadataProblem),
    /// An operator that does not exist.
    #[error(
        "unknown operator; there are $eq $ne $gt $gte $lt $lte $in $nin $all $exists, and $and $or $not"
    )]
    UnknownOperator,
    /// A null where a value is due.
    #[error("nothing equals null; use $exists to ask whether a field is there")]
    Null,
    /// A condition without an operator.
    #[error("a condition without an operator; give at least one, or leave the key out")]
    EmptyCondition,
    /// Something of another shape than the grammar has there.
    #[error("{expected} is due here, not {found}")]
    Shape {
        /// What the grammar has there.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A boolean compared by a range.
    #[error("a range compares numbers or texts, not booleans; use $eq")]
    BooleanRange,
    /// The same member twice in one object.
    #[error("the member is given twice; give it once, or use $and")]
    RepeatedMember,
    /// Nesting over the limit.
    #[error("nested deeper than {max}; flatten it")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// More nodes than the limit.
    #[error("{nodes} nodes or more, at most {max} are allowed; use $in in place of many $or")]
    TooManyNodes {
        /// How many were counted when the limit was passed.
        nodes: usize,
        /// The limit.
        max: usize,
    },
    /// More operands than the limit.
    #[error("{values} values or more, at most {max} are allowed")]
    TooManyValues {
        /// How many were counted when the limit was passed.
        values: usize,
        /// The limit.
        max: usize,
    },
    /// A field that the collection does not declare.
    #[error(
        "the collection declares no such field, so not every store could filter by it; declare it in the collection's spec"
    )]
    UndeclaredField,
    /// A field that belongs to the library, in a caller's own filter.
    #[error("the library sets this field itself; narrow by the request's own options instead")]
    OwnField,
    /// A selector that does not narrow.
    #[error(
        "a selector must name what it selects: every alternative needs a positive $eq, or a non-empty $in or $all; to empty a collection use delete_all"
    )]
    NotNarrow,
    /// Not JSON.
    #[error("not a JSON filter: {reason}")]
    Json {
        /// What the parser said.
        reason: String,
    },
}
