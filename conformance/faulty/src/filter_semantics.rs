//! Filters, wrongly understood.

use shelfward_core::filter::{Node, Op, Test};
use shelfward_core::{Filter, Metadata, Scalar, Value};

use super::Fault;

/// Whether a fault is one of understanding filters.
pub(super) fn misunderstands(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::IgnoresFilter
            | Fault::DropsAll
            | Fault::InComparesListAsOne
            | Fault::EqMatchesPrefix
            | Fault::FoldsCase
            | Fault::WidensOnOr
            | Fault::ThreeValuedLogic
            | Fault::IntegerIsNoFloat
            | Fault::MatchesSubstrings
    )
}

/// Whether the filter matches, as the fault has it.
pub(super) fn matches(fault: Fault, filter: &Filter, metadata: &Metadata) -> bool {
    match fault {
        Fault::IgnoresFilter => return true,
        Fault::ThreeValuedLogic => return three_valued(filter, metadata) == Some(true),
        _ => {}
    }
    match filter.node() {
        Node::And(children) => children.iter().all(|child| matches(fault, child, metadata)),
        Node::Or(_) if fault == Fault::WidensOnOr => true,
        Node::Or(children) => children.iter().any(|child| matches(fault, child, metadata)),
        Node::Not(child) => !matches(fault, child, metadata),
        Node::Test(test) => test_matches(fault, test, metadata),
    }
}

fn test_matches(fault: Fault, test: &Test, metadata: &Metadata) -> bool {
    let value = metadata.get(test.key().as_str());
    let elements = value.map_or(&[][..], Value::elements);
    match (fault, test.op()) {
        (Fault::DropsAll, Op::All(_)) => true,
        (Fault::InComparesListAsOne, Op::In(_)) if matches!(value, Some(Value::List(_))) => false,
        (Fault::EqMatchesPrefix, Op::Eq(wanted)) => {
            elements
                .iter()
                .any(|element| match (element.as_text(), wanted.as_text()) {
                    (Some(held), Some(wanted)) => held.starts_with(wanted),
                    _ => element == wanted,
                })
        }
        (Fault::IntegerIsNoFloat, Op::Eq(wanted)) => elements.iter().any(|e| same_shape(e, wanted)),
        (Fault::IntegerIsNoFloat, Op::Ne(wanted)) => {
            !elements.iter().any(|e| same_shape(e, wanted))
        }
        (Fault::IntegerIsNoFloat, Op::In(wanted)) => elements
            .iter()
            .any(|element| wanted.iter().any(|wanted| same_shape(element, wanted))),
        (Fault::IntegerIsNoFloat, Op::All(wanted)) => wanted
            .iter()
            .all(|wanted| elements.iter().any(|element| same_shape(element, wanted))),
        (Fault::MatchesSubstrings, Op::Eq(wanted)) => {
            elements.iter().any(|element| contains(element, wanted))
        }
        (Fault::MatchesSubstrings, Op::In(wanted)) => elements
            .iter()
            .any(|element| wanted.iter().any(|wanted| contains(element, wanted))),
        (Fault::MatchesSubstrings, Op::All(wanted)) => wanted
            .iter()
            .all(|wanted| elements.iter().any(|element| contains(element, wanted))),
        (Fault::FoldsCase, op) => {
            let folded: Vec<Scalar> = elements.iter().map(fold).collect();
            fold_op(op).holds(&folded)
        }
        (_, op) => op.holds(elements),
    }
}

fn fold(value: &Scalar) -> Scalar {
    let folded = value
        .as_text()
        .map(str::to_lowercase)
        .and_then(|text| Scalar::text(text).ok());
    folded.unwrap_or_else(|| value.clone())
}

fn fold_op(op: &Op) -> Op {
    let all = |values: &[Scalar]| values.iter().map(fold).collect();
    match op {
        Op::Eq(v) => Op::Eq(fold(v)),
        Op::Ne(v) => Op::Ne(fold(v)),
        Op::In(vs) => Op::In(all(vs)),
        Op::Nin(vs) => Op::Nin(all(vs)),
        Op::All(vs) => Op::All(all(vs)),
        Op::Gt(v) => Op::Gt(fold(v)),
        Op::Gte(v) => Op::Gte(fold(v)),
        Op::Lt(v) => Op::Lt(fold(v)),
        Op::Lte(v) => Op::Lte(fold(v)),
        Op::Exists(exists) => Op::Exists(*exists),
    }
}

/// Equal, and written in the same way: a typed column of JSON text compares so.
fn same_shape(held: &Scalar, wanted: &Scalar) -> bool {
    held == wanted && matches!(held, Scalar::Float(_)) == matches!(wanted, Scalar::Float(_))
}

fn contains(held: &Scalar, wanted: &Scalar) -> bool {
    match (held.as_text(), wanted.as_text()) {
        (Some(held), Some(wanted)) => held.contains(wanted),
        _ => held == wanted,
    }
}

/// The logic of SQL: a condition on a missing field is neither true nor false, and neither is its
/// negation.
fn three_valued(filter: &Filter, metadata: &Metadata) -> Option<bool> {
    let known = |children: &[Filter], decisive: bool| {
        let mut all_known = true;
        for child in children {
            match three_valued(child, metadata) {
                Some(value) if value == decisive => return Some(decisive),
                Some(_) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(!decisive)
    };
    match filter.node() {
        Node::And(children) => known(children, false),
        Node::Or(children) => known(children, true),
        Node::Not(child) => three_valued(child, metadata).map(|value| !value),
        Node::Test(test) => match (metadata.get(test.key().as_str()), test.op()) {
            (value, op @ Op::Exists(_)) => Some(op.holds(value.map_or(&[][..], Value::elements))),
            (Some(value), op) => Some(op.holds(value.elements())),
            (None, _) => None,
        },
    }
}
