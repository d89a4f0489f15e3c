//! Filters answered from postings, and from the rows themselves where a field has none.

use std::collections::HashMap;

use roaring::RoaringBitmap;
use shelfward_core::filter::{Filter, Matcher, Node};
use shelfward_core::{Metadata, MetadataKey};

use crate::postings::Postings;
use crate::rows::Slot;
use shelfward_dense::Stop;

/// What a filter is answered from.
pub(crate) struct Indexed<'r, M> {
    pub(crate) postings: &'r HashMap<MetadataKey, Postings>,
    /// The metadata of a row.
    pub(crate) metadata: M,
    /// What was left out once this is due is not to be answered: see [`Rows::matching`].
    pub(crate) stop: Stop<'r>,
}

impl<'r, M: Fn(Slot) -> Option<&'r Metadata>> Indexed<'r, M> {
    /// The rows among `within` that a filter matches.
    pub(crate) fn matching(&self, filter: &Filter, within: &RoaringBitmap) -> RoaringBitmap {
        match filter.node() {
            Node::And(children) => {
                let mut left = within.clone();
                // What the postings answer leaves fewer rows to be read.
                let (first, then): (Vec<_>, Vec<_>) =
                    children.iter().partition(|child| self.answers(child));
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
                Some(postings) => postings.holding(test.op(), within),
                None => self.read(filter, within),
            },
        }
    }

    /// Whether postings alone answer a filter.
    pub(crate) fn answers(&self, filter: &Filter) -> bool {
        match filter.node() {
            Node::And(children) | Node::Or(children) => children.iter().all(|c| self.answers(c)),
            Node::Not(child) => self.answers(child),
            Node::Test(test) => self.postings.contains_key(test.key()),
        }
    }

    fn read(&self, filter: &Filter, within: &RoaringBitmap) -> RoaringBitmap {
        let matcher = Matcher::new(filter);
        let matches = |slot: &Slot| (self.metadata)(*slot).is_some_and(|m| matcher.matches(m));
        let until = within.iter().take_while(|_| !self.stop.is_due());
        until.filter(matches).collect()
    }
}
