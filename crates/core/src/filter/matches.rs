use std::cmp::Ordering;

use super::{Filter, Node, Op, Test};
use crate::metadata::{Metadata, Scalar, Value};

impl Filter {
    /// Whether a record with this metadata matches: the reference meaning that every adapter must
    /// agree with.
    ///
    /// ```
    /// use shelfward_core::{Filter, Metadata};
    /// let filter = Filter::from_json(r#"{"aclGroups":{"$in":["acct:ann"]}}"#)?;
    /// let metadata = Metadata::from_json(r#"{"aclGroups":["acct:ann","acct:bob"]}"#).unwrap();
    /// assert!(filter.matches(&metadata));
    /// assert!(!filter.matches(&Metadata::new()));
    /// # Ok::<(), shelfward_core::FilterError>(())
    /// ```
    pub fn matches(&self, metadata: &Metadata) -> bool {
        match self.node() {
            Node::And(children) => children.iter().all(|child| child.matches(metadata)),
            Node::Or(children) => children.iter().any(|child| child.matches(metadata)),
            Node::Not(child) => !child.matches(metadata),
            Node::Test(test) => test.matches(metadata),
        }
    }
}

impl Test {
    fn matches(&self, metadata: &Metadata) -> bool {
        let elements = metadata
            .get(self.key.as_str())
            .map_or(&[][..], Value::elements);
        self.op.holds(elements)
    }
}

impl Op {
    /// Whether the operator holds of a field with these elements.
    pub fn holds(&self, elements: &[Scalar]) -> bool {
        let some = |wanted: &Scalar| elements.contains(wanted);
        let stands = |x: &Scalar, orders: &[Ordering]| {
            elements
                .iter()
                .filter_map(|element| element.compare(x))
                .any(|o| orders.contains(&o))
        };
        match self {
            Self::Eq(v) => some(v),
            Self::Ne(v) => !some(v),
            Self::In(vs) => vs.iter().any(some),
            Self::Nin(vs) => !vs.iter().any(some),
            Self::All(vs) => vs.iter().all(some),
            Self::Gt(x) => stands(x, &[Ordering::Greater]),
            Self::Gte(x) => stands(x, &[Ordering::Greater, Ordering::Equal]),
            Self::Lt(x) => stands(x, &[Ordering::Less]),
            Self::Lte(x) => stands(x, &[Ordering::Less, Ordering::Equal]),
            Self::Exists(wanted) => *wanted != elements.is_empty(),
        }
    }
}
