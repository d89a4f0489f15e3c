//! Filters as JSON. Reading back what was printed gives the same filter.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Filter, Node, Op};

impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.members();
        let mut map = serializer.serialize_map(Some(members.len()))?;
        for (name, member) in &members {
            match member {
                Member::List(children) => map.serialize_entry(name, children)?,
                Member::Not(child) => map.serialize_entry(name, child)?,
                Member::Ops(ops) => map.serialize_entry(name, &Condition(ops))?,
            }
        }
        map.end()
    }
}

/// One member of a filter's JSON object.
enum Member<'a> {
    List(&'a [Filter]),
    Not(&'a Filter),
    Ops(Vec<&'a Op>),
}

impl Filter {
    fn members(&self) -> Vec<(&str, Member<'_>)> {
        match self.node() {
            Node::And(children) => match as_one_object(children) {
                Some(members) => members,
                None => vec![("$and", Member::List(children))],
            },
            _ => vec![self.member()],
        }
    }

    fn member(&self) -> (&str, Member<'_>) {
        match self.node() {
            Node::And(children) => ("$and", Member::List(children)),
            Node::Or(children) => ("$or", Member::List(children)),
            Node::Not(child) => ("$not", Member::Not(child)),
            Node::Test(test) => (test.key().as_str(), Member::Ops(vec![test.op()])),
        }
    }
}

/// The members of an "and" as members of one object, where that reads back as the same "and": names
/// do not repeat, except neighbouring tests of one key by different operators.
fn as_one_object(children: &[Filter]) -> Option<Vec<(&str, Member<'_>)>> {
    if children.len() == 1 {
        return None;
    }
    let mut members: Vec<(&str, Member<'_>)> = Vec::new();
    for child in children {
        let (name, member) = child.member();
        match (members.last_mut(), member) {
            (Some((last, Member::Ops(ops))), Member::Ops(more)) if *last == name => {
                if ops
                    .iter()
                    .any(|op| more.iter().any(|m| m.name() == op.name()))
                {
                    return None;
                }
                ops.extend(more);
            }
            (_, member) => {
                if members.iter().any(|(taken, _)| *taken == name) {
                    return None;
                }
                members.push((name, member));
            }
        }
    }
    Some(members)
}

struct Condition<'a>(&'a [&'a Op]);

impl Serialize for Condition<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [Op::Eq(value)] = self.0 {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for op in self.0 {
            match op {
                Op::Eq(v) | Op::Ne(v) | Op::Gt(v) | Op::Gte(v) | Op::Lt(v) | Op::Lte(v) => {
                    map.serialize_entry(op.name(), v)?;
                }
                Op::In(vs) | Op::Nin(vs) | Op::All(vs) => map.serialize_entry(op.name(), vs)?,
                Op::Exists(exists) => map.serialize_entry(op.name(), exists)?,
            }
        }
        map.end()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&json)
    }
}
