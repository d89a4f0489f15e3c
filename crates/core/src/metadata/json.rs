//! Metadata from JSON, by a visitor of our own: through `serde_json::Value` a repeated member would
//! be lost without a word.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{List, Metadata, MetadataError, MetadataKey, MetadataProblem, Scalar, Value};

impl Metadata {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// [`MetadataError`] with the key's path for whatever cannot be held: a nested object, a mixed
    /// list, a repeated key, an integer outside 64 bits, U+0000, a refused key.
    pub fn from_json(json: &str) -> Result<Self, MetadataError> {
        if let Some(literal) = first_integer_out_of_range(json) {
            return Err(MetadataError::new(literal, MetadataProblem::IntegerRange));
        }
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let mut refusal = None;
        let read = MetadataSeed {
            refusal: &mut refusal,
        }
        .deserialize(&mut deserializer);
        match (read, refusal) {
            (_, Some(refusal)) => Err(refusal),
            (Err(e), None) => Err(not_an_object(&e)),
            (Ok(metadata), None) => deserializer
                .end()
                .map(|()| metadata)
                .map_err(|e| not_an_object(&e)),
        }
    }
}

fn not_an_object(error: &serde_json::Error) -> MetadataError {
    MetadataError::new(
        "the document",
        MetadataProblem::NotAnObject {
            reason: error.to_string(),
        },
    )
}

/// For metadata inside larger documents. serde's JSON parser rounds an integer outside 64 bits before
/// it hands it over; [`Metadata::from_json`] sees the text itself.
impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut refusal = None;
        let read = MetadataSeed {
            refusal: &mut refusal,
        }
        .deserialize(deserializer);
        match refusal {
            Some(refusal) => Err(de::Error::custom(refusal)),
            None => read,
        }
    }
}

/// A JSON number that is written as an integer but lies outside 64 bits, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NumberLiteral {
    pub(crate) offset: usize,
}

impl fmt::Display for NumberLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the number at byte {}", self.offset)
    }
}

/// Finds a whole-number literal outside the range of i64.
///
/// The parser would hand such a literal over as a rounded float, and nobody could tell it from
/// one that was written as a float. Literals with a point or an exponent are floats and pass.
pub(crate) fn first_integer_out_of_range(json: &str) -> Option<NumberLiteral> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let number = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.iter().take_while(|b| number(b)).count();
                let literal = json.get(at..at + length).unwrap_or_default();
                let whole = !literal.contains(['.', 'e', 'E']);
                if whole
                    && literal.trim_start_matches('-').len() >= 19
                    && literal.parse::<i64>().is_err()
                {
                    return Some(NumberLiteral { offset: at });
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// The position behind the string that opens at `open`.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Carries the first typed refusal past serde's text-only errors.
struct MetadataSeed<'a> {
    refusal: &'a mut Option<MetadataError>,
}

impl<'de> DeserializeSeed<'de> for MetadataSeed<'_> {
    type Value = Metadata;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Metadata, D::Error> {
        // Not `deserialize_map`: its refusal of a text would quote the whole of it.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MetadataSeed<'_> {
    type Value = Metadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of metadata keys and values")
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Metadata, E> {
        Err(E::custom("an object is due here, not a text"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
        let mut metadata = Metadata::new();
        // Nulls remove, but a key that was null and comes again is still given twice.
        let mut seen = std::collections::BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let mut refuse = |error: MetadataError| {
                let message = error.to_string();
                self.refusal.get_or_insert(error);
                de::Error::custom(message)
            };
            let key = MetadataKey::new(&name).map_err(&mut refuse)?;
            if !seen.insert(key.clone()) {
                return Err(refuse(MetadataError::new(
                    &name,
                    MetadataProblem::RepeatedKey,
                )));
            }
            let mut problem = None;
            match map.next_value_seed(ValueSeed {
                in_list: false,
                problem: &mut problem,
            }) {
                Ok(Some(value)) => {
                    metadata.insert(key, value);
                }
                Ok(None) => {}
                Err(error) => {
                    return Err(match problem {
                        Some((at, problem)) => {
                            let path =
                                at.map_or_else(|| name.clone(), |i: usize| format!("{name}[{i}]"));
                            refuse(MetadataError::new(path, problem))
                        }
                        None => error,
                    });
                }
            }
        }
        Ok(metadata)
    }
}

struct ValueSeed<'a> {
    /// Whether this stands in a list, where no other list may.
    in_list: bool,
    problem: &'a mut Option<(Option<usize>, MetadataProblem)>,
}

impl ValueSeed<'_> {
    fn refuse<E: de::Error>(self, at: Option<usize>, problem: MetadataProblem) -> E {
        let message = problem.to_string();
        *self.problem = Some((at, problem));
        E::custom(message)
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Option<Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number, a text, a list of them, or null")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Value::from(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        scalar_or(self, Scalar::try_from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        scalar_or(self, Scalar::try_from(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        scalar_or(self, Scalar::try_from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let nested = MetadataProblem::Nested {
            what: "a list in a list",
        };
        // Refused before it is read, so that no input nests deeper than this.
        if self.in_list {
            return Err(self.refuse(None, nested));
        }
        let mut members = Vec::new();
        loop {
            let mut problem = None;
            match seq.next_element_seed(ValueSeed {
                in_list: true,
                problem: &mut problem,
            }) {
                Ok(Some(Some(Value::Scalar(member)))) => members.push(member),
                Ok(Some(Some(Value::List(_)))) => {
                    return Err(self.refuse(Some(members.len()), nested));
                }
                Ok(Some(None)) => {
                    return Err(self.refuse(Some(members.len()), MetadataProblem::NullMember));
                }
                Ok(None) => break,
                Err(error) => {
                    return Err(match problem {
                        Some((_, problem)) => self.refuse(Some(members.len()), problem),
                        None => error,
                    });
                }
            }
        }
        match List::new(members) {
            Ok(list) => Ok(Some(Value::List(list))),
            Err(problem) => Err(self.refuse(None, problem)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.refuse(None, MetadataProblem::Nested { what: "an object" }))
    }
}

fn scalar_or<E: de::Error>(
    seed: ValueSeed<'_>,
    scalar: Result<Scalar, MetadataProblem>,
) -> Result<Option<Value>, E> {
    match scalar {
        Ok(scalar) => Ok(Some(Value::Scalar(scalar))),
        Err(problem) => Err(seed.refuse(None, problem)),
    }
}
