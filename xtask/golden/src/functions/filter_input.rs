//! What the rules on filters ask of an input. Written from the JSON alone, without ours, so that a
//! rule cannot repeat a mistake of what it judges.

use serde_json::Value;

/// What a filter says of one key.
pub(super) struct Condition<'a> {
    pub(super) key: &'a str,
    pub(super) condition: &'a Value,
}

/// The conditions of an input's filter.
pub(super) fn conditions(input: &Value) -> Vec<Condition<'_>> {
    let filter = input.get("filter").and_then(Value::as_object);
    filter
        .into_iter()
        .flatten()
        .map(|(key, condition)| Condition { key, condition })
        .collect()
}

/// The operators of a condition; a plain value has none.
pub(super) fn operators<'a>(
    condition: &Condition<'a>,
) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    let operators = condition.condition.as_object();
    operators
        .into_iter()
        .flatten()
        .map(|(name, operand)| (name.as_str(), operand))
}

pub(super) fn is_empty_condition(condition: &Condition<'_>) -> bool {
    let operators = condition.condition.as_object();
    operators.is_some_and(serde_json::Map::is_empty)
}

/// The value under a key of an input's metadata.
pub(super) fn field<'a>(input: &'a Value, key: &str) -> Option<&'a Value> {
    input.get("metadata")?.get(key)
}

/// Whether a field has at least one element, a missing one and a null having none.
pub(super) fn has_elements(field: Option<&Value>) -> bool {
    match field {
        None | Some(Value::Null) => false,
        Some(Value::Array(members)) => !members.is_empty(),
        Some(_) => true,
    }
}

/// The kind of a plain value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// The kinds that a field holds, each once.
pub(super) fn kinds_of(field: Option<&Value>) -> Vec<&'static str> {
    let mut kinds: Vec<_> = match field {
        None => Vec::new(),
        Some(Value::Array(members)) => members.iter().map(kind).collect(),
        Some(value) => vec![kind(value)],
    };
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Whether metadata holds a value that is refused at the door.
pub(super) fn holds_refused_value(metadata: Option<&Value>) -> bool {
    let Some(fields) = metadata.and_then(Value::as_object) else {
        return false;
    };
    fields.iter().any(|(key, value)| {
        let kinds = kinds_of(Some(value));
        let members_refused = value.is_array()
            && (kinds.len() > 1
                || kinds
                    .iter()
                    .any(|kind| matches!(*kind, "null" | "list" | "object")));
        value.is_object() || members_refused || holds_nul(value) || is_refused_key(key)
    })
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(members) => members.iter().any(holds_nul),
        _ => false,
    }
}

/// Whether a key is refused: empty, over 128 bytes, begun by `$` or our prefix, or with a character
/// that quotes, brackets or controls.
pub(super) fn is_refused_key(key: &str) -> bool {
    let refused = |c: char| {
        c.is_control() || matches!(c, '\'' | '"' | '`' | '[' | ']' | '(' | ')' | '{' | '}')
    };
    let refused_start = key.starts_with('$') || key.starts_with("_shelfward_");
    key.is_empty() || key.len() > 128 || refused_start || key.contains(refused)
}

/// Whether an operand has another shape than its operator takes.
pub(super) fn misshapen(operator: &str, operand: &Value) -> bool {
    match operator {
        "$in" | "$nin" | "$all" => match operand {
            Value::Array(list) => list.iter().any(|v| v.is_array() || v.is_object()),
            _ => true,
        },
        "$gt" | "$gte" | "$lt" | "$lte" => !(operand.is_number() || operand.is_string()),
        "$exists" => !operand.is_boolean(),
        "$eq" | "$ne" => operand.is_array() || operand.is_object(),
        _ => false,
    }
}
