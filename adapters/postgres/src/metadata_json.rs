//! Metadata as the JSON that the server is given.
//!
//! `jsonb` holds numbers as decimals, so a float is written with all its digits: as a decimal it
//! then compares with integers by exact value, and its point tells it from one when it is read.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use shelfward_core::Scalar;

/// A value as JSON, with floats by their exact value.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    let mut json = Vec::new();
    // Texts, numbers and lists of them are written to a buffer, which does not fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut json, ExactFloats));
    String::from_utf8(json).unwrap_or_default()
}

/// An object that holds the one value, or a list of the values, under one key.
pub(crate) fn object(key: &str, values: &[&Scalar], listed: bool) -> String {
    match values {
        [value] if !listed => json(&BTreeMap::from([(key, value)])),
        values => json(&BTreeMap::from([(key, values)])),
    }
}

struct ExactFloats;

/// Below this every whole float is written exactly by its shortest digits.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Formatter for ExactFloats {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        if value.abs() >= EXACT || value.fract() == 0.0 {
            // All digits, where the shortest ones stand for another whole number.
            write!(writer, "{value:.1}")
        } else {
            write!(writer, "{value}")
        }
    }
}

#[cfg(test)]
mod tests {
    use shelfward_core::{CollectionName, CollectionSpec, Metadata, Metric};

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
        let json = json(&written);
        assert_eq!(Metadata::from_stored_json(&json, &spec), Some(written));
    }

    #[test]
    fn a_float_is_written_by_its_exact_value() {
        let shown = |value: f64| json(&Scalar::float(value).unwrap());
        assert_eq!(shown(2f64.powi(60)), "1152921504606846976.0");
        assert_eq!(shown(1e16), "10000000000000000.0");
        assert_eq!(shown(5.0), "5.0");
        assert_eq!(shown(0.1), "0.1");
    }
}
