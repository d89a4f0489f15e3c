//! Metadata from the JSON that a store holds.
//!
//! Unlike [`Metadata::from_json`], which reads what callers send, this takes the library's own keys,
//! and shares the keys that the spec declares among all rows.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{List, Metadata, MetadataKey, Scalar, Value};
use crate::spec::CollectionSpec;

impl Metadata {
    /// The metadata that a store of this spec wrote as JSON; `None` where the text is none that a
    /// store wrote.
    pub fn from_stored_json(json: &str, spec: &CollectionSpec) -> Option<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let metadata = Object(spec).deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        Some(metadata)
    }
}

struct Object<'s>(&'s CollectionSpec);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Metadata;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Metadata, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Metadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
        let mut metadata = Metadata::new();
        while let Some(key) = map.next_key_seed(Key(self.0))? {
            let value = map.next_value_seed(Plain { in_list: false })?;
            if metadata.insert(key, value).is_some() {
                return Err(A::Error::custom("a key twice"));
            }
        }
        Ok(metadata)
    }
}

struct Key<'s>(&'s CollectionSpec);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = MetadataKey;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<MetadataKey, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = MetadataKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<MetadataKey, E> {
        match self.0.field(key) {
            Some(field) => Ok(field.key.clone()),
            None => MetadataKey::stored(key).map_err(E::custom),
        }
    }
}

struct Plain {
    in_list: bool,
}

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number, a text or a list of them")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        scalar(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        scalar(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        if self.in_list {
            return Err(A::Error::custom("a list in a list"));
        }
        let mut members = Vec::new();
        while let Some(member) = list.next_element_seed(Plain { in_list: true })? {
            match member {
                Value::Scalar(member) => members.push(member),
                Value::List(_) => return Err(A::Error::custom("a list in a list")),
            }
        }
        List::new(members)
            .map(Value::List)
            .map_err(A::Error::custom)
    }
}

fn scalar<T: TryInto<Scalar>, E: Error>(value: T) -> Result<Value, E>
where
    T::Error: fmt::Display,
{
    value.try_into().map(Value::Scalar).map_err(E::custom)
}
