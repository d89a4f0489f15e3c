//! Comparing what was got with what a case says.

use serde_json::Value;

/// A difference in words.
pub(crate) type Compared = Result<(), String>;

/// The same JSON, with numbers compared by a relative tolerance.
pub(crate) fn same(got: &Value, expected: &Value, tolerance: f64) -> bool {
    match (got, expected) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => near(a, b, tolerance),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, tolerance))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, tolerance)))
        }
        _ => got == expected,
    }
}

pub(crate) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

/// What the case expects against what was got, where either may be a failure.
pub(crate) fn answers(case: &Value, got: Result<Value, String>, tolerance: f64) -> Compared {
    match (case.get("output"), got) {
        (Some(expected), Ok(got)) if same(&got, expected, tolerance) => Ok(()),
        (Some(expected), Ok(got)) => Err(format!("expected {expected}, got {got}")),
        (Some(expected), Err(error)) => Err(format!("expected {expected}, failed: {error}")),
        (None, Err(_)) => Ok(()),
        (None, Ok(got)) => Err(format!("expected a failure, got {got}")),
    }
}

/// How many UTF-16 units the first `bytes` bytes of a text are.
pub(crate) fn utf16(text: &str, bytes: usize) -> usize {
    text.get(..bytes).unwrap_or(text).encode_utf16().count()
}

/// Whether a value holds a text with a character that UTF-16 writes as two units.
pub(crate) fn beyond_ffff(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().any(|c| c > '\u{ffff}'),
        Value::Array(members) => members.iter().any(beyond_ffff),
        Value::Object(members) => members.values().any(beyond_ffff),
        _ => false,
    }
}
