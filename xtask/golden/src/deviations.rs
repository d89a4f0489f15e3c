//! The rules by which ours part from the originals. A rule is a predicate on a case's input and the
//! decision behind it; it excuses a case only where the answers differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::compare::beyond_ffff;

/// Why an answer may be another.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) function: &'static str,
    /// The decision, in a sentence.
    pub(crate) why: &'static str,
    applies: fn(&Value) -> bool,
}

/// The rule that excuses a case of a function.
pub(crate) fn rule(function: &str, input: &Value) -> Option<&'static Rule> {
    RULES
        .iter()
        .find(|rule| rule.function == function && (rule.applies)(input))
}

pub(crate) const RULES: [Rule; 18] = [
    Rule {
        name: "sizes are characters",
        function: "chunkTurns",
        why: "decisions, Names and units: a size counts Unicode scalar values, the original UTF-16 units",
        applies: beyond_ffff,
    },
    Rule {
        name: "values refused at the door",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: nested objects and lists of mixed kinds are not held",
        applies: |input| metadata(input).values().any(|value| unholdable(value)),
    },
    Rule {
        name: "keys refused at the door",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: a key with quotes, brackets or a leading $ is refused",
        applies: |input| {
            filter(input)
                .keys()
                .any(|key| key.starts_with('$') || key.contains(['\'', '"', '`', '[', ']']))
        },
    },
    Rule {
        name: "unknown operators are errors",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: $contains, $textSearch and $regex are unknown, and an unknown operator is an error",
        applies: |input| {
            tests(input)
                .iter()
                .any(|test| !KNOWN_OPERATORS.contains(&test.op))
        },
    },
    Rule {
        name: "null equals nothing",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: a null operand is refused, $exists asks for it",
        applies: |input| tests(input).iter().any(|test| holds_null(test.operand)),
    },
    Rule {
        name: "a condition has an operator",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: an empty condition is refused",
        applies: |input| {
            filter(input)
                .values()
                .any(|c| c.as_object().is_some_and(serde_json::Map::is_empty))
        },
    },
    Rule {
        name: "operands have their shape",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: a list where a scalar is due, or the other way round, and a boolean in a range are refused",
        applies: |input| tests(input).iter().any(|test| misshapen(test)),
    },
    Rule {
        name: "negations are complements",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: $ne and $nin match wherever $eq and $in do not, missing fields and lists included",
        applies: |input| {
            tests(input)
                .iter()
                .any(|t| matches!(t.op, "$ne" | "$nin") && !is_scalar(t.value))
        },
    },
    Rule {
        name: "$eq on a list is membership",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: every operator is a function of the field's elements",
        applies: |input| {
            tests(input)
                .iter()
                .any(|t| t.op == "$eq" && is_list(t.value))
        },
    },
    Rule {
        name: "ranges compare one kind",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: a range holds of an element of the operand's own kind, and of no other",
        applies: |input| {
            tests(input)
                .iter()
                .any(|t| is_range(t.op) && !same_kind(t.operand, t.value))
        },
    },
    Rule {
        name: "$all looks at elements",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: a plain value is one element, and a missing field has none; $all [] matches everything",
        applies: |input| {
            tests(input)
                .iter()
                .any(|t| t.op == "$all" && !is_list(t.value))
        },
    },
    Rule {
        name: "$exists is of elements",
        function: "inMemoryFilter",
        why: "decisions, Filter algebra: null and [] are like a missing field, and $exists is one operator beside the others",
        applies: |input| {
            tests(input).iter().any(|t| {
                t.op == "$exists"
                    && (t.beside || matches!(t.value, Some(Value::Null)) || empty(t.value))
            })
        },
    },
    Rule {
        name: "texts are ordered by scalar value",
        function: "reciprocalRankFusion",
        why: "decisions, Names and units: equal scores are ordered by id by Unicode scalar value, the original orders UTF-16 units",
        applies: |input| beyond_ffff(input),
    },
    Rule {
        name: "top_k 0 asks nobody",
        function: "libraryIndex",
        why: "decisions, Library index: top_k 0 answers nothing and calls nobody, where the original embeds",
        applies: |input| {
            steps(input)
                .any(|step| path(step, &["query", "topK"]).and_then(Value::as_u64) == Some(0))
        },
    },
    Rule {
        name: "a refused vector leaves the old source",
        function: "libraryIndex",
        why: "decisions, Library index: everything is embedded and checked before anything is deleted or written",
        applies: |input| {
            let width = input.get("dimension").and_then(Value::as_u64);
            let vectors = input
                .get("vectors")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            vectors
                .map(|(_, vector)| vector.as_array().map(Vec::len))
                .any(|n| n.and_then(|n| u64::try_from(n).ok()) != width)
        },
    },
    Rule {
        name: "a failed embedding leaves the old source",
        function: "libraryIndex",
        why: "decisions, Library index: embedding happens before anything is deleted",
        applies: |input| {
            let known = |text: &str| {
                input
                    .get("vectors")
                    .and_then(|vectors| vectors.get(text))
                    .is_some()
            };
            let sources = steps(input)
                .filter_map(|step| path(step, &["source", "passages"]))
                .filter_map(Value::as_array);
            let mut texts = sources
                .flatten()
                .filter_map(|p| p.get("text").and_then(Value::as_str));
            input.get("embedder").is_some() || texts.any(|text| !known(text))
        },
    },
    Rule {
        name: "what is no passage is never returned",
        function: "libraryIndex",
        why: "decisions, Library index: a record without source id, kind or index, or with a list for tenant or status, is dropped",
        applies: |input| {
            steps(input).any(|step| step.get("op").and_then(Value::as_str) == Some("upsertRaw"))
        },
    },
    Rule {
        name: "a source belongs to a tenant",
        function: "libraryIndex",
        why: "decisions, Library index: a source is identified by tenant and id, where the original's tenants overwrite each other",
        applies: |input| {
            let mut tenants: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for step in steps(input) {
                let text = |name| path(step, &["source", name]).and_then(Value::as_str);
                if let (Some(source), Some(tenant)) = (text("sourceId"), text("tenantId")) {
                    tenants.entry(source).or_default().insert(tenant);
                }
            }
            tenants.values().any(|tenants| tenants.len() > 1)
        },
    },
];

const KNOWN_OPERATORS: [&str; 10] = [
    "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all", "$exists",
];

/// One operator on one field, with what the record holds there.
struct Test<'a> {
    op: &'a str,
    operand: &'a Value,
    value: Option<&'a Value>,
    /// Whether the key has other operators too.
    beside: bool,
}

fn object<'a>(input: &'a Value, name: &str) -> BTreeMap<&'a str, &'a Value> {
    let members = input
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    members.map(|(key, value)| (key.as_str(), value)).collect()
}

fn metadata(input: &Value) -> BTreeMap<&str, &Value> {
    object(input, "metadata")
}

fn filter(input: &Value) -> BTreeMap<&str, &Value> {
    object(input, "filter")
}

fn tests(input: &Value) -> Vec<Test<'_>> {
    let metadata = metadata(input);
    let mut tests = Vec::new();
    for (key, condition) in filter(input) {
        let value = metadata.get(key).copied();
        match condition.as_object() {
            Some(ops) => tests.extend(ops.iter().map(|(op, operand)| Test {
                op,
                operand,
                value,
                beside: ops.len() > 1,
            })),
            None => tests.push(Test {
                op: "$eq",
                operand: condition,
                value,
                beside: false,
            }),
        }
    }
    tests
}

fn steps(input: &Value) -> impl Iterator<Item = &Value> {
    input
        .get("steps")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn path<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().try_fold(value, |value, name| value.get(name))
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn unholdable(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(members) => {
            let kinds: BTreeSet<u8> = members.iter().map(kind).collect();
            kinds.len() > 1 || kinds.iter().any(|kind| matches!(kind, 0 | 4 | 5))
        }
        _ => false,
    }
}

fn holds_null(operand: &Value) -> bool {
    operand.is_null()
        || operand
            .as_array()
            .is_some_and(|members| members.iter().any(Value::is_null))
}

fn misshapen(test: &Test<'_>) -> bool {
    match test.op {
        "$in" | "$nin" | "$all" => !test.operand.is_array(),
        "$exists" => !test.operand.is_boolean(),
        op if is_range(op) => !(test.operand.is_number() || test.operand.is_string()),
        _ => test.operand.is_array() || test.operand.is_object(),
    }
}

fn is_range(op: &str) -> bool {
    matches!(op, "$gt" | "$gte" | "$lt" | "$lte")
}

fn is_list(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_array)
}

fn is_scalar(value: Option<&Value>) -> bool {
    value.is_some_and(|value| matches!(kind(value), 1..=3))
}

fn empty(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn same_kind(operand: &Value, value: Option<&Value>) -> bool {
    value.is_some_and(|value| kind(value) == kind(operand))
}
