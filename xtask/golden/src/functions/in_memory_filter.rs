//! Filters on metadata, as the original's memory store evaluates them.

use serde_json::{Value, json};
use shelfward_core::{Filter, Metadata};

use super::filter_input::{
    Condition, conditions, field, has_elements, holds_refused_value, is_empty_condition,
    is_refused_key, kind, kinds_of, misshapen, operators,
};
use crate::compare::whole;
use crate::rule::{Answer, Deviation, Function, Ours};

pub(super) const IN_MEMORY_FILTER: Function = Function {
    name: "inMemoryFilter",
    run,
    differences: whole,
    deviations: &DEVIATIONS,
};

fn run(input: &Value) -> Answer {
    let filter = input.get("filter").ok_or("no filter")?;
    let filter = Filter::from_json(&filter.to_string()).map_err(|e| e.to_string())?;
    let metadata = match input.get("metadata") {
        None | Some(Value::Null) => Metadata::new(),
        Some(metadata) => Metadata::from_json(&metadata.to_string()).map_err(|e| e.to_string())?,
    };
    Ok(json!({ "matches": filter.matches(&metadata) }))
}

const DEVIATIONS: [Deviation; 12] = [
    Deviation {
        name: "metadata-refused",
        why: "nested objects, mixed lists, lists with null and U+0000 are refused at the door, \
              because no store holds them alike",
        ours: Ours::Refuses,
        applies: |input, _| holds_refused_value(input.get("metadata")),
    },
    Deviation {
        name: "unknown-operator",
        why: "an unknown operator is an error that names its path; $contains, $textSearch and \
              $regex are unknown",
        ours: Ours::Refuses,
        applies: |input, _| some_operator(input, |name, _, _| !OPERATORS.contains(&name)),
    },
    Deviation {
        name: "null-operand",
        why: "$eq null, and null wherever a value is due, is refused: $exists asks whether a field \
              is there",
        ours: Ours::Refuses,
        applies: |input, _| {
            conditions(input).iter().any(|c| c.condition.is_null())
                || some_operator(input, |_, operand, _| match operand {
                    Value::Array(list) => list.iter().any(Value::is_null),
                    operand => operand.is_null(),
                })
        },
    },
    Deviation {
        name: "empty-condition",
        why: "a condition without an operator, {\"f\":{}}, is refused with its path",
        ours: Ours::Refuses,
        applies: |input, _| conditions(input).iter().any(is_empty_condition),
    },
    Deviation {
        name: "operand-shape",
        why: "a list where a scalar is due, a scalar where a list is due, and a boolean operand of \
              a range are refused with their path",
        ours: Ours::Refuses,
        applies: |input, _| {
            conditions(input).iter().any(|c| c.condition.is_array())
                || some_operator(input, |name, operand, _| misshapen(name, operand))
        },
    },
    Deviation {
        name: "refused-key",
        why: "a key that some store's query language could misread is refused at the door",
        ours: Ours::Refuses,
        applies: |input, _| conditions(input).iter().any(|c| is_refused_key(c.key)),
    },
    Deviation {
        name: "exact-complement",
        why: "$ne, $nin and $exists false hold exactly where the positive form does not: for a \
              missing field, a null and an empty list too",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let negative = matches!(name, "$ne" | "$nin")
                    || (name == "$exists" && operand == &Value::Bool(false));
                negative && !has_elements(field)
            })
        },
    },
    Deviation {
        name: "list-membership",
        why: "a list is the set of its members for every operator: $eq, $ne, $in and $nin ask for \
              membership",
        ours: Ours::Answers,
        applies: |input, _| {
            conditions(input).iter().any(|c| {
                let list = field(input, c.key).is_some_and(Value::is_array);
                let plain = !c.condition.is_object();
                let asks =
                    |(name, _): (&str, &Value)| matches!(name, "$eq" | "$ne" | "$in" | "$nin");
                list && (plain || operators(c).any(asks))
            })
        },
    },
    Deviation {
        name: "range-within-one-kind",
        why: "a range compares number with number and text with text, member by member; a boolean, \
              a null and another kind are never converted",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let range = matches!(name, "$gt" | "$gte" | "$lt" | "$lte");
                let list = field.is_some_and(Value::is_array);
                range && field.is_some() && (list || kinds_of(field) != [kind(operand)])
            })
        },
    },
    Deviation {
        name: "all-on-any-field",
        why: "$all is the and of $eq, on a plain field as on a list; $all [] matches everything, \
              a missing field included",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, operand, field| {
                let none = operand.as_array().is_some_and(Vec::is_empty);
                name == "$all" && (none || !field.is_some_and(Value::is_array))
            })
        },
    },
    Deviation {
        name: "exists-asks-for-elements",
        why: "$exists true asks for at least one element: a null removes its key on the way in, and \
              [] is like a missing field, because not every store can tell them apart",
        ours: Ours::Answers,
        applies: |input, _| {
            some_operator(input, |name, _, field| {
                name == "$exists" && field.is_some() && !has_elements(field)
            })
        },
    },
    Deviation {
        name: "exists-beside-others",
        why: "operators under one key are all to hold, $exists among them; there $exists decides \
              alone",
        ours: Ours::Answers,
        applies: |input, _| {
            conditions(input).iter().any(|c| {
                let names: Vec<_> = operators(c).map(|(name, _)| name).collect();
                names.len() > 1 && names.contains(&"$exists")
            })
        },
    },
];

const OPERATORS: [&str; 11] = [
    "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all", "$exists", "$not",
];

/// Whether some operator, with its operand and the value of its field, is such a one.
fn some_operator(input: &Value, such: impl Fn(&str, &Value, Option<&Value>) -> bool) -> bool {
    conditions(input).iter().any(|condition: &Condition<'_>| {
        let field = field(input, condition.key);
        operators(condition).any(|(name, operand)| such(name, operand, field))
    })
}
