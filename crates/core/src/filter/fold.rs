//! What a collection's declared kinds leave of a filter.
//!
//! A declared field holds values of one kind only, so an operand of another kind can equal none of
//! them. Such tests are folded here, once, and an adapter with a typed column never meets an operand
//! that its column could not be compared with.

use super::{Filter, FilterError, FilterProblem, Node, Op, Test};
use crate::metadata::{Float, Scalar, compare_numbers};
use crate::spec::{CollectionSpec, FieldKind};

impl Filter {
    /// Refuses a test of a field that the collection does not declare, unless it is open to any.
    pub(crate) fn check_fields(&self, spec: &CollectionSpec) -> Result<(), FilterError> {
        if spec.open_fields {
            return Ok(());
        }
        match self
            .tests()
            .iter()
            .find(|test| spec.field(test.key().as_str()).is_none())
        {
            Some(test) => Err(FilterError::new(test.key(), FilterProblem::UndeclaredField)),
            None => Ok(()),
        }
    }

    /// The same filter for records that keep to the declared kinds, with operands of those kinds.
    pub(crate) fn fold(&self, spec: &CollectionSpec) -> Filter {
        match self.node() {
            Node::And(children) => Filter::and(children.iter().map(|c| c.fold(spec)).collect()),
            Node::Or(children) => Filter::or(children.iter().map(|c| c.fold(spec)).collect()),
            Node::Not(child) => Filter::negate(child.fold(spec)),
            Node::Test(test) => match spec.field(test.key().as_str()) {
                Some(field) => fold_test(test, field.kind),
                None => self.clone(),
            },
        }
    }
}

fn fold_test(test: &Test, kind: FieldKind) -> Filter {
    let remade = |op: Op| Filter::test(test.key().clone(), op);
    let held = |values: &[Scalar]| {
        values
            .iter()
            .filter_map(|v| held_by(kind, v))
            .collect::<Vec<_>>()
    };
    match test.op() {
        Op::Eq(v) => held_by(kind, v).map_or_else(Filter::nothing, |v| remade(Op::Eq(v))),
        Op::Ne(v) => held_by(kind, v).map_or_else(Filter::everything, |v| remade(Op::Ne(v))),
        Op::In(vs) => remade(Op::In(held(vs))),
        Op::Nin(vs) => remade(Op::Nin(held(vs))),
        Op::All(vs) => match vs
            .iter()
            .map(|v| held_by(kind, v))
            .collect::<Option<Vec<_>>>()
        {
            Some(vs) => remade(Op::All(vs)),
            None => Filter::nothing(),
        },
        Op::Exists(exists) => remade(Op::Exists(*exists)),
        Op::Gt(x) => fold_range(kind, x, Bound::Gt).into_filter(remade),
        Op::Gte(x) => fold_range(kind, x, Bound::Gte).into_filter(remade),
        Op::Lt(x) => fold_range(kind, x, Bound::Lt).into_filter(remade),
        Op::Lte(x) => fold_range(kind, x, Bound::Lte).into_filter(remade),
    }
}

/// The operand as a value of the kind, when the kind has one that equals it.
fn held_by(kind: FieldKind, value: &Scalar) -> Option<Scalar> {
    match (kind, value) {
        (FieldKind::Text | FieldKind::TextList, Scalar::Text(_))
        | (FieldKind::Bool, Scalar::Bool(_))
        | (FieldKind::Integer, Scalar::Integer(_))
        | (FieldKind::Float, Scalar::Float(_)) => Some(value.clone()),
        (FieldKind::Integer, Scalar::Float(float)) => float.to_integer().map(Scalar::Integer),
        (FieldKind::Float, Scalar::Integer(integer)) => exact_float(*integer).map(Scalar::Float),
        _ => None,
    }
}

/// The float of exactly this value, if there is one.
pub(crate) fn exact_float(integer: i64) -> Option<Float> {
    let float = nearest_float(integer);
    compare_numbers(integer, float).is_eq().then_some(float)
}

fn nearest_float(integer: i64) -> Float {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the callers compare the result with the integer"
    )]
    let nearest = integer as f64;
    // An i64 is far from the infinities, so this never falls back.
    Float::new(nearest).unwrap_or(Float::ZERO)
}

#[derive(Clone, Copy)]
enum Bound {
    Gt,
    Gte,
    Lt,
    Lte,
}

enum Folded {
    Nothing,
    /// Every element stands so: the field only has to have one.
    AnyElement,
    Range(Bound, Scalar),
}

impl Folded {
    fn into_filter(self, remade: impl Fn(Op) -> Filter) -> Filter {
        match self {
            Self::Nothing => Filter::nothing(),
            Self::AnyElement => remade(Op::Exists(true)),
            Self::Range(Bound::Gt, x) => remade(Op::Gt(x)),
            Self::Range(Bound::Gte, x) => remade(Op::Gte(x)),
            Self::Range(Bound::Lt, x) => remade(Op::Lt(x)),
            Self::Range(Bound::Lte, x) => remade(Op::Lte(x)),
        }
    }
}

fn fold_range(kind: FieldKind, x: &Scalar, bound: Bound) -> Folded {
    if let Some(x) = held_by(kind, x) {
        return match kind {
            FieldKind::Bool => Folded::Nothing,
            _ => Folded::Range(bound, x),
        };
    }
    match (kind, x) {
        (FieldKind::Integer, Scalar::Float(float)) => between_integers(*float, bound),
        (FieldKind::Float, Scalar::Integer(integer)) => between_floats(*integer, bound),
        _ => Folded::Nothing,
    }
}

/// A bound that lies between two integers, or outside all of them, as a bound on integers.
fn between_integers(float: Float, bound: Bound) -> Folded {
    let above = matches!(bound, Bound::Gt | Bound::Gte);
    // No integer equals the bound, so "greater" is "at least the next one up".
    let next = Float::new(if above {
        float.get().ceil()
    } else {
        float.get().floor()
    });
    match (next.ok().and_then(Float::to_integer), above) {
        (Some(next), true) => Folded::Range(Bound::Gte, Scalar::Integer(next)),
        (Some(next), false) => Folded::Range(Bound::Lte, Scalar::Integer(next)),
        (None, above) if above == (float.get() > 0.0) => Folded::Nothing,
        (None, _) => Folded::AnyElement,
    }
}

/// A bound that lies between two floats, as a bound on floats.
fn between_floats(integer: i64, bound: Bound) -> Folded {
    let near = nearest_float(integer);
    let near_is_above = compare_numbers(integer, near).is_lt();
    // No float equals the bound: the nearest one lies on one side, and is in or out with its side.
    let bound = match (bound, near_is_above) {
        (Bound::Gt | Bound::Gte, true) => Bound::Gte,
        (Bound::Gt | Bound::Gte, false) => Bound::Gt,
        (Bound::Lt | Bound::Lte, true) => Bound::Lt,
        (Bound::Lt | Bound::Lte, false) => Bound::Lte,
    };
    Folded::Range(bound, Scalar::Float(near))
}
