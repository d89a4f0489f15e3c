//! Metadata as the JSON that the server is given.
//!
//! `jsonb` holds numbers as decimals, so a float is written with all its digits: as a decimal it
//! then compares with integers by exact value, and its point tells it from one when it is read.

use std::fmt::Write as _;

use shelfward_core::{Metadata, Scalar, Value};

/// The metadata as one object.
pub(crate) fn metadata(metadata: &Metadata) -> String {
    object_of(metadata.iter().map(|(key, value)| (key.as_str(), value)))
}

/// An object of these members.
pub(crate) fn object_of<'a>(members: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let mut json = String::from("{");
    for (at, (key, value)) in members.enumerate() {
        if at > 0 {
            json.push(',');
        }
        text(&mut json, key);
        json.push(':');
        match value {
            Value::Scalar(scalar) => push(&mut json, scalar),
            Value::List(list) => push_list(&mut json, list.members().iter()),
        }
    }
    json.push('}');
    json
}

/// An object that holds the one value, or a list of the values, under one key.
pub(crate) fn object(key: &str, values: &[&Scalar], listed: bool) -> String {
    let mut json = String::from("{");
    text(&mut json, key);
    json.push(':');
    match values {
        [value] if !listed => push(&mut json, value),
        values => push_list(&mut json, values.iter().copied()),
    }
    json.push('}');
    json
}

/// One value.
pub(crate) fn scalar(value: &Scalar) -> String {
    let mut json = String::new();
    push(&mut json, value);
    json
}

fn push_list<'a>(json: &mut String, members: impl Iterator<Item = &'a Scalar>) {
    json.push('[');
    for (at, member) in members.enumerate() {
        if at > 0 {
            json.push(',');
        }
        push(json, member);
    }
    json.push(']');
}

fn push(json: &mut String, value: &Scalar) {
    // Writing to a text cannot fail.
    let _ = match value {
        Scalar::Bool(truth) => write!(json, "{truth}"),
        Scalar::Integer(integer) => write!(json, "{integer}"),
        Scalar::Float(value) => {
            float(json, value.get());
            Ok(())
        }
        Scalar::Text(value) => {
            text(json, value.as_str());
            Ok(())
        }
    };
}

/// Below this every whole float is written exactly by its shortest digits.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn float(json: &mut String, value: f64) {
    let begun = json.len();
    if value.abs() < EXACT {
        let _ = write!(json, "{value}");
        if !json.get(begun..).unwrap_or("").contains('.') {
            json.push_str(".0");
        }
    } else {
        // All digits, where the shortest ones stand for another whole number.
        let _ = write!(json, "{value:.1}");
    }
}

fn text(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if c.is_control() => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(json, "\\u{unit:04x}");
                }
            }
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use shelfward_core::{CollectionName, CollectionSpec, Metric};

    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let name = CollectionName::new("c").unwrap();
        let spec = CollectionSpec::new(name, 1, Metric::Dot, "none");
        let floats = [
            0.0,
            0.1,
            -2.5,
            5.0,
            1e15,
            1e16,
            1e17,
            9_007_199_254_740_993.0,
            2f64.powi(60),
            1e300,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
        ];
        let written = Metadata::new()
            .with("text", "a \"b\" \\ \n \u{85} \u{1f600} é")
            .unwrap()
            .with("integers", [i64::MIN, -1, 0, i64::MAX])
            .unwrap()
            .with("truth", true)
            .unwrap()
            .with("none", Vec::<String>::new())
            .unwrap();
        let mut written = written;
        for (at, float) in floats.iter().enumerate() {
            written = written.with(&format!("f{at}"), *float).unwrap();
        }
        let json = metadata(&written);
        assert_eq!(Metadata::from_stored_json(&json, &spec), Some(written));
    }

    #[test]
    fn a_float_is_written_by_its_exact_value() {
        let shown = |value: f64| scalar(&Scalar::float(value).unwrap());
        assert_eq!(shown(2f64.powi(60)), "1152921504606846976.0");
        assert_eq!(shown(1e16), "10000000000000000.0");
        assert_eq!(shown(5.0), "5.0");
        assert_eq!(shown(0.1), "0.1");
    }
}
