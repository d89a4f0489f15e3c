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
    )
}

/// Whether the filter matches, as the fault has it.
pub(super) fn matches(fault: Fault, filter: &Filter, metadata: &Metadata) -> bool {
    if fault == Fault::IgnoresFilter {
        return true;
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
