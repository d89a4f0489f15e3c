use super::{Filter, FilterError, FilterProblem, Node, Op};

/// A filter that is known to name what it selects. Deletes, replaces and updates take nothing else,
/// so "an empty filter deletes everything" cannot be written.
///
/// Made only by [`Filter::narrow`]. A narrowed filter never matches the record without metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(Filter);

impl Selector {
    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.0
    }

    /// What the declared kinds leave of the filter. Folding replaces tests that cannot hold by one
    /// that never does, which selects no more than before.
    pub(crate) fn folded(&self, fold: impl FnOnce(&Filter) -> Filter) -> Self {
        Self(fold(&self.0))
    }
}

impl Filter {
    /// Takes the filter as a selector.
    ///
    /// With every `$not` pushed inward, each alternative of every `$or` must hold a positive
    /// `$eq`, or a non-empty `$in` or `$all`. So `{}`, `$all []`, `$not {"$in":[]}` and `k or not k`
    /// are refused.
    ///
    /// # Errors
    /// [`FilterProblem::NotNarrow`].
    pub fn narrow(self) -> Result<Selector, FilterError> {
        if narrows(&self, true) {
            Ok(Selector(self))
        } else {
            Err(FilterError::new("", FilterProblem::NotNarrow))
        }
    }
}

/// Whether the filter narrows; with `positive` false, whether its complement does.
fn narrows(filter: &Filter, positive: bool) -> bool {
    match (filter.node(), positive) {
        (Node::And(children), true) | (Node::Or(children), false) => {
            children.iter().any(|child| narrows(child, positive))
        }
        (Node::Or(children), true) | (Node::And(children), false) => {
            !children.is_empty() && children.iter().all(|child| narrows(child, positive))
        }
        (Node::Not(child), _) => narrows(child, !positive),
        (Node::Test(test), true) => match test.op() {
            Op::Eq(_) => true,
            Op::In(values) | Op::All(values) => !values.is_empty(),
            _ => false,
        },
        (Node::Test(test), false) => match test.op() {
            Op::Ne(_) => true,
            Op::Nin(values) => !values.is_empty(),
            _ => false,
        },
    }
}
