use std::fmt;

use super::limits::Size;
use crate::metadata::{MetadataKey, Scalar};

/// A condition on metadata. Read one with [`Filter::from_json`] or make one with
/// [`key`](super::key); both check it, so every `Filter` is well formed and at most 64 deep.
///
/// Adapters read it through [`Filter::node`], exhaustively: a new operator does not compile until
/// every translation has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Filter {
    node: Node,
    // Known from the children at construction, so that limits cost nothing to check.
    size: Size,
}

/// One node of a filter.
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// Every child matches; without children everything does.
    And(Vec<Filter>),
    /// Some child matches; without children nothing does.
    Or(Vec<Filter>),
    /// The child does not match.
    Not(Box<Filter>),
    /// A test of one field.
    Test(Test),
}

/// A test of one field's elements.
#[derive(Clone, PartialEq, Eq)]
pub struct Test {
    pub(super) key: MetadataKey,
    pub(super) op: Op,
}

/// What is asked of a field's elements. The module page says what each means.
#[derive(Clone, PartialEq, Eq)]
pub enum Op {
    /// `$eq`
    Eq(Scalar),
    /// `$ne`
    Ne(Scalar),
    /// `$in`
    In(Vec<Scalar>),
    /// `$nin`
    Nin(Vec<Scalar>),
    /// `$all`
    All(Vec<Scalar>),
    /// `$gt`; the operand is a number or a text
    Gt(Scalar),
    /// `$gte`; the operand is a number or a text
    Gte(Scalar),
    /// `$lt`; the operand is a number or a text
    Lt(Scalar),
    /// `$lte`; the operand is a number or a text
    Lte(Scalar),
    /// `$exists`
    Exists(bool),
}

impl Test {
    /// The field.
    pub fn key(&self) -> &MetadataKey {
        &self.key
    }

    /// What is asked of it.
    pub fn op(&self) -> &Op {
        &self.op
    }
}

impl Op {
    /// The operator's name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Eq(_) => "$eq",
            Self::Ne(_) => "$ne",
            Self::In(_) => "$in",
            Self::Nin(_) => "$nin",
            Self::All(_) => "$all",
            Self::Gt(_) => "$gt",
            Self::Gte(_) => "$gte",
            Self::Lt(_) => "$lt",
            Self::Lte(_) => "$lte",
            Self::Exists(_) => "$exists",
        }
    }

    /// The operands: one for a scalar operator, the members of a list, none for `$exists`.
    pub fn operands(&self) -> &[Scalar] {
        match self {
            Self::Eq(v) | Self::Ne(v) | Self::Gt(v) | Self::Gte(v) | Self::Lt(v) | Self::Lte(v) => {
                std::slice::from_ref(v)
            }
            Self::In(vs) | Self::Nin(vs) | Self::All(vs) => vs,
            Self::Exists(_) => &[],
        }
    }
}

impl Filter {
    /// The filter that matches everything, `{}`.
    pub fn everything() -> Self {
        Self::and(Vec::new())
    }

    /// The filter that matches nothing, `{"$or":[]}`.
    pub fn nothing() -> Self {
        Self::or(Vec::new())
    }

    /// The top node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Whether this is `{}` itself, which matches everything.
    pub fn is_everything(&self) -> bool {
        matches!(&self.node, Node::And(children) if children.is_empty())
    }

    /// Whether this is `{"$or":[]}` itself, which matches nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(&self.node, Node::Or(children) if children.is_empty())
    }

    /// Whether the filter can be seen to match nothing, as a test that its field's kind cannot hold
    /// does in an "and". `false` says nothing.
    pub fn never_matches(&self) -> bool {
        match &self.node {
            Node::And(children) => children.iter().any(Self::never_matches),
            Node::Or(children) => children.iter().all(Self::never_matches),
            Node::Test(test) => matches!(test.op(), Op::In(values) if values.is_empty()),
            Node::Not(_) => false,
        }
    }

    /// Every test in the filter, left to right.
    pub fn tests(&self) -> Vec<&Test> {
        let mut found = Vec::new();
        self.collect_tests(&mut found);
        found
    }

    fn collect_tests<'a>(&'a self, found: &mut Vec<&'a Test>) {
        match &self.node {
            Node::And(children) | Node::Or(children) => {
                children.iter().for_each(|child| child.collect_tests(found));
            }
            Node::Not(child) => child.collect_tests(found),
            Node::Test(test) => found.push(test),
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn and(children: Vec<Filter>) -> Self {
        let size = Size::over(children.iter().map(Filter::size));
        Self {
            node: Node::And(children),
            size,
        }
    }

    pub(crate) fn or(children: Vec<Filter>) -> Self {
        let size = Size::over(children.iter().map(Filter::size));
        Self {
            node: Node::Or(children),
            size,
        }
    }

    pub(crate) fn negate(child: Filter) -> Self {
        let size = Size::over([child.size()]);
        Self {
            node: Node::Not(Box::new(child)),
            size,
        }
    }

    pub(crate) fn test(key: MetadataKey, op: Op) -> Self {
        let size = Size::test(op.operands().len());
        Self {
            node: Node::Test(Test { key, op }),
            size,
        }
    }

    /// `self` and `right`. An "and" takes it as one child more, so that a long chain costs no more
    /// than its length.
    pub(super) fn also(mut self, right: Filter) -> Self {
        match &mut self.node {
            Node::And(children) if !children.is_empty() => {
                self.size = self.size.with_child(right.size());
                children.push(right);
                self
            }
            _ => Self::and(vec![self, right]),
        }
    }

    /// `self` or `right`, flat as in [`Filter::also`].
    pub(super) fn or_else(mut self, right: Filter) -> Self {
        match &mut self.node {
            Node::Or(children) if !children.is_empty() => {
                self.size = self.size.with_child(right.size());
                children.push(right);
                self
            }
            _ => Self::or(vec![self, right]),
        }
    }

    /// `And` of the children, or the one child itself.
    pub(super) fn and_or_only(mut children: Vec<Filter>) -> Self {
        match (children.len(), children.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                children.push(last);
                Self::and(children)
            }
            (_, None) => Self::everything(),
        }
    }
}

/// Shows fields and operators, never the values: a search's filter holds the groups of its reader,
/// and logs do not say who is in what. [`Display`](fmt::Display) is the JSON form, whole.
impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, children) = match &self.node {
            Node::And(children) => ("and", children),
            Node::Or(children) => ("or", children),
            Node::Not(child) => return write!(f, "not {child:?}"),
            Node::Test(test) => return fmt::Debug::fmt(test, f),
        };
        f.write_str(name)?;
        f.debug_list().entries(children).finish()
    }
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key.as_str(), self.op.name())?;
        match &self.op {
            Op::Exists(exists) => write!(f, " {exists}"),
            Op::In(values) | Op::Nin(values) | Op::All(values) => {
                write!(f, " [{} values]", values.len())
            }
            _ => f.write_str(" …"),
        }
    }
}
