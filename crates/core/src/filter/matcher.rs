use std::collections::HashSet;

use super::{Filter, Node, Op};
use crate::metadata::{Metadata, Scalar, Value};

/// A filter made ready for many records: long lists of `$in`, `$nin` and `$all` are looked up, not walked.
///
/// It answers what [`Filter::matches`] answers. A reader in thousands of groups would otherwise cost
/// every record thousands of comparisons.
///
/// ```
/// use shelfward_core::Metadata;
/// use shelfward_core::filter::{Matcher, key};
/// let filter = key("aclGroups").is_in((0..1_000).map(|n| format!("team:{n}"))).build()?;
/// let matcher = Matcher::new(&filter);
/// assert!(matcher.matches(&Metadata::new().with("aclGroups", ["team:7"]).unwrap()));
/// # Ok::<(), shelfward_core::FilterError>(())
/// ```
pub struct Matcher<'f>(Step<'f>);

enum Step<'f> {
    And(Vec<Step<'f>>),
    Or(Vec<Step<'f>>),
    Not(Box<Step<'f>>),
    Test {
        key: &'f str,
        op: &'f Op,
    },
    /// `$in` of many values; with `negated`, `$nin`.
    Among {
        key: &'f str,
        values: HashSet<&'f Scalar>,
        negated: bool,
    },
}

/// Up to here a walk is as fast as a look-up.
const FEW: usize = 8;

impl<'f> Matcher<'f> {
    /// Makes a filter ready.
    pub fn new(filter: &'f Filter) -> Self {
        Self(step(filter))
    }

    /// Whether a record with this metadata matches.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        self.0.matches(metadata)
    }
}

fn step(filter: &Filter) -> Step<'_> {
    match filter.node() {
        Node::And(children) => Step::And(children.iter().map(step).collect()),
        Node::Or(children) => Step::Or(children.iter().map(step).collect()),
        Node::Not(child) => Step::Not(Box::new(step(child))),
        Node::Test(test) => {
            let key = test.key().as_str();
            match test.op() {
                Op::In(values) | Op::Nin(values) if values.len() > FEW => Step::Among {
                    key,
                    values: values.iter().collect(),
                    negated: matches!(test.op(), Op::Nin(_)),
                },
                op => Step::Test { key, op },
            }
        }
    }
}

impl Step<'_> {
    fn matches(&self, metadata: &Metadata) -> bool {
        let elements = |key: &str| metadata.get(key).map_or(&[][..], Value::elements);
        match self {
            Self::And(steps) => steps.iter().all(|step| step.matches(metadata)),
            Self::Or(steps) => steps.iter().any(|step| step.matches(metadata)),
            Self::Not(step) => !step.matches(metadata),
            Self::Test {
                key,
                op: Op::All(values),
            } if values.len() > FEW => {
                let held: HashSet<&Scalar> = elements(key).iter().collect();
                values.iter().all(|value| held.contains(value))
            }
            Self::Test { key, op } => op.holds(elements(key)),
            Self::Among {
                key,
                values,
                negated,
            } => elements(key).iter().any(|element| values.contains(element)) != *negated,
        }
    }
}
