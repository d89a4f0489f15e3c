use std::collections::HashSet;

use super::{Filter, Node, Op};
use crate::metadata::Scalar;

impl Filter {
    /// The values of which every matching record has at least one under `key`, or `None` where the
    /// filter does not pin the key down.
    ///
    /// `{"tenantId":"a"}` pins `tenantId` to `a`; `$in` pins to its values; `$or` pins only where
    /// each alternative does; a negation never pins. Stores route and lock by it.
    pub fn pinned(&self, key: &str) -> Option<Vec<Scalar>> {
        match self.node() {
            Node::And(children) => {
                // Each of them holds, so the shortest says the most.
                children
                    .iter()
                    .filter_map(|child| child.pinned(key))
                    .min_by_key(Vec::len)
            }
            Node::Or(children) => {
                let mut all = Vec::new();
                let mut seen = HashSet::new();
                for child in children {
                    for value in child.pinned(key)? {
                        if seen.insert(value.clone()) {
                            all.push(value);
                        }
                    }
                }
                Some(all)
            }
            Node::Not(_) => None,
            Node::Test(test) if test.key().as_str() == key => match test.op() {
                Op::Eq(value) => Some(vec![value.clone()]),
                Op::In(values) => Some(values.clone()),
                Op::All(values) => values.first().map(|value| vec![value.clone()]),
                _ => None,
            },
            Node::Test(_) => None,
        }
    }
}
