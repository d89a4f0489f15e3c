use std::fmt;

use super::passage_filter::PassageFilter;
use crate::filter::Filter;

/// What of the scope is to be read: narrowed, by branches of which one must hold, and by a condition
/// on the caller's own fields. The default leaves all of the scope.
///
/// ```
/// use shelfward_core::library::{PassageFilter, Reading};
/// let reading = Reading::new().narrowed(PassageFilter::new().tags(["q3"]));
/// assert_eq!(reading, PassageFilter::new().tags(["q3"]).into());
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Reading {
    pub(super) narrowing: PassageFilter,
    pub(super) branches: Option<Branches>,
    pub(super) filter: Option<Filter>,
}

/// Narrowings of which one must hold.
#[derive(Clone, PartialEq)]
pub(super) enum Branches {
    /// Each beside the narrowing of the whole.
    Within(Vec<PassageFilter>),
    /// Each in its place, which fills in what the branch does not give.
    WithDefaults(Vec<PassageFilter>),
}

impl Reading {
    /// All of the scope.
    pub fn new() -> Self {
        Self::default()
    }

    /// What this narrowing leaves.
    #[must_use]
    pub fn narrowed(mut self, to: PassageFilter) -> Self {
        self.narrowing = to;
        self
    }

    /// What at least one of these branches leaves, of what the narrowing leaves. No branches find
    /// nothing.
    #[must_use]
    pub fn any_of(mut self, branches: impl IntoIterator<Item = PassageFilter>) -> Self {
        self.branches = Some(Branches::Within(branches.into_iter().collect()));
        self
    }

    /// What at least one of these branches leaves. **What a branch gives takes the place of what the
    /// narrowing gives**, so a branch can find what the narrowing alone would not; what it does not
    /// give is the narrowing's. For branches of the caller's own alone: where a narrowing is to bound
    /// what somebody else asks for, use [`any_of`](Self::any_of). No branches find nothing.
    #[must_use]
    pub fn any_of_with_defaults(
        mut self,
        branches: impl IntoIterator<Item = PassageFilter>,
    ) -> Self {
        self.branches = Some(Branches::WithDefaults(branches.into_iter().collect()));
        self
    }

    /// What a condition on the caller's own declared fields leaves. One on a field of the library is
    /// refused.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// A narrowing that must hold, and those of which one must hold besides: none where nothing can
    /// be found.
    pub(super) fn narrowings(&self) -> (PassageFilter, Vec<PassageFilter>) {
        let (every, any) = match &self.branches {
            None => (PassageFilter::new(), vec![self.narrowing.clone()]),
            Some(Branches::Within(branches)) => (self.narrowing.clone(), branches.clone()),
            Some(Branches::WithDefaults(branches)) => {
                let filled = branches.iter().map(|branch| branch.or(&self.narrowing));
                (PassageFilter::new(), filled.collect())
            }
        };
        let found = |branch: &PassageFilter| !every.finds_nothing() && !branch.finds_nothing();
        let any = any.into_iter().filter(found).collect();
        (every, any)
    }
}

impl From<PassageFilter> for Reading {
    fn from(narrowing: PassageFilter) -> Self {
        Self::new().narrowed(narrowing)
    }
}

/// Shows how much is given, never the values.
impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branches = self.branches.as_ref().map(|branches| match branches {
            Branches::Within(all) | Branches::WithDefaults(all) => all,
        });
        f.debug_struct("Reading")
            .field("narrowing", &self.narrowing)
            .field("branches", &branches)
            .field("filter", &self.filter.is_some())
            .finish()
    }
}
