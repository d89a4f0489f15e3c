//! Filters answered from postings, and from the rows themselves where a field has none.

use std::collections::HashMap;

use roaring::RoaringBitmap;
use shelfward_core::filter::{Filter, Matcher, Node};
use shelfward_core::{Metadata, MetadataKey};

use crate::postings::Postings;
use crate::row_id::RowId;
use shelfward_dense::CancelFlag;

/// What filters are evaluated on.
pub(crate) struct FilterEvaluator<'r, M> {
    pub(crate) postings: &'r HashMap<MetadataKey, Postings>,
    /// The metadata of a row.
    pub(crate) metadata: M,
    /// Once it is set, rows are left out, and what was found must not be answered.
    pub(crate) cancel: CancelFlag<'r>,
}

impl<'r, M: Fn(RowId) -> Option<&'r Metadata>> FilterEvaluator<'r, M> {
    /// The rows among `within` that a filter matches.
    pub(crate) fn matching(&self, filter: &Filter, within: &RoaringBitmap) -> RoaringBitmap {
        match filter.node() {
            Node::And(children) => {
                let mut left = within.clone();
                // What the postings answer leaves fewer rows to be read.
                let (first, then): (Vec<_>, Vec<_>) = children
                    .iter()
                    .partition(|child| self.has_postings_for(child));
                for child in first.into_iter().chain(then) {
                    if left.is_empty() {
                        break;
                    }
                    left = self.matching(child, &left);
                }
                left
            }
            Node::Or(children) => {
                let mut found = RoaringBitmap::new();
                for child in children {
                    found |= self.matching(child, &(within - &found));
                }
                found
            }
            Node::Not(child) => within - self.matching(child, within),
            Node::Test(test) => match self.postings.get(test.key()) {
                Some(postings) => postings.matching(test.op(), within),
                None => self.read(filter, within),
            },
        }
    }

    /// Whether postings alone answer a filter.
    pub(crate) fn has_postings_for(&self, filter: &Filter) -> bool {
        match filter.node() {
            Node::And(children) | Node::Or(children) => {
                children.iter().all(|c| self.has_postings_for(c))
            }
            Node::Not(child) => self.has_postings_for(child),
            Node::Test(test) => self.postings.contains_key(test.key()),
        }
    }

    fn read(&self, filter: &Filter, within: &RoaringBitmap) -> RoaringBitmap {
        let matcher = Matcher::new(filter);
        let matches = |row_id: &RowId| (self.metadata)(*row_id).is_some_and(|m| matcher.matches(m));
        let until = within.iter().take_while(|_| !self.cancel.is_cancelled());
        until.filter(matches).collect()
    }
}
