use super::{Filter, FilterError, FilterProblem};

/// How large a filter may be. The defaults are the limits of the library; the depth of 64 holds
/// for every filter and cannot be raised, since it also bounds every recursion over one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterLimits {
    /// Nodes in all: tests and `$and`, `$or`, `$not`. Default 1,024.
    pub max_nodes: usize,
    /// Operands in all. Default 10,000.
    pub max_values: usize,
}

/// The deepest nesting of any filter.
pub(super) const MAX_DEPTH: usize = 64;

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            max_nodes: 1024,
            max_values: 10_000,
        }
    }
}

impl FilterLimits {
    /// At most so many nodes and values.
    pub fn new(max_nodes: usize, max_values: usize) -> Self {
        Self {
            max_nodes,
            max_values,
        }
    }

    /// Refuses a filter that is over a limit.
    ///
    /// # Errors
    /// [`FilterProblem::TooManyNodes`], [`FilterProblem::TooManyValues`] or
    /// [`FilterProblem::TooDeep`], each with what was given and what is allowed.
    pub fn check(&self, filter: &Filter) -> Result<(), FilterError> {
        self.check_size(filter.size())
            .map_err(|problem| FilterError::new("", problem))
    }

    pub(super) fn check_size(&self, size: Size) -> Result<(), FilterProblem> {
        if size.depth > MAX_DEPTH {
            return Err(FilterProblem::TooDeep { max: MAX_DEPTH });
        }
        if size.nodes > self.max_nodes {
            return Err(FilterProblem::TooManyNodes {
                nodes: size.nodes,
                max: self.max_nodes,
            });
        }
        if size.values > self.max_values {
            return Err(FilterProblem::TooManyValues {
                values: size.values,
                max: self.max_values,
            });
        }
        Ok(())
    }
}

/// What the limits are about, for one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) depth: usize,
    pub(super) nodes: usize,
    pub(super) values: usize,
}

impl Size {
    pub(super) fn test(operands: usize) -> Self {
        Self {
            depth: 1,
            nodes: 1,
            values: operands,
        }
    }

    /// The size of one node above these children.
    pub(super) fn over(children: impl IntoIterator<Item = Size>) -> Self {
        children.into_iter().fold(
            Self {
                depth: 1,
                nodes: 1,
                values: 0,
            },
            Self::with_child,
        )
    }

    /// The size of the same node with one child more.
    pub(super) fn with_child(self, child: Size) -> Self {
        Self {
            depth: self.depth.max(child.depth + 1),
            nodes: self.nodes + child.nodes,
            values: self.values + child.values,
        }
    }
}
