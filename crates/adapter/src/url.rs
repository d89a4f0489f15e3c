//! Options behind the question mark of a URL, read by serde.
//!
//! An options struct derives `Deserialize` with `#[serde(default)]`; its fields' names are the
//! options. One that there is not and one that is given twice are refused. No message holds a value,
//! nor a name that may be a part of a password or a path: a `?` that stands in one unescaped makes options
//! of what follows it.

use std::fmt;
use std::time::Duration;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use shelfward_core::ErrorKind;

/// The options of a URL, as they stand there: nothing is decoded.
#[derive(Clone, Debug)]
pub struct UrlOptions<'u> {
    pairs: Vec<(&'u str, &'u str)>,
    may_be_shown: bool,
}

impl<'u> UrlOptions<'u> {
    /// The options of a query, as `a=1&b=2`; none where there is no query.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] where one is given twice.
    pub fn parse(query: Option<&'u str>) -> Result<Self, ErrorKind> {
        let mut options = Self {
            pairs: Vec::new(),
            may_be_shown: query.is_some_and(|query| {
                !query.contains('@') && query.split('&').all(|pair| pair.contains('='))
            }),
        };
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if options.pairs.iter().any(|(known, _)| *known == name) {
                let name = options.shown(name).unwrap_or("an option");
                let twice = format!("{name} is given twice; give each option once");
                return Err(ErrorKind::Invalid(twice));
            }
            options.pairs.push((name, value));
        }
        Ok(options)
    }

    /// Whether any is given.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Takes out the options of these names, as they were given.
    pub fn take(&mut self, names: &[&str]) -> Vec<(&'u str, &'u str)> {
        let (taken, left) = (self.pairs.iter()).partition(|(name, _)| names.contains(name));
        self.pairs = left;
        taken
    }

    /// Reads what is there. `others` are named, too, where an option is not known.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for an option that there is not or a value that it does not take.
    pub fn read<O: Deserialize<'u>>(&self, others: &[&str]) -> Result<O, ErrorKind> {
        let read = O::deserialize(Query {
            options: self,
            others,
        });
        read.map_err(|(OptionError::Takes(what) | OptionError::Other(what))| {
            ErrorKind::Invalid(what)
        })
    }

    fn shown(&self, name: &'u str) -> Option<&'u str> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        let may = self.may_be_shown && name.len() <= 40 && name.chars().all(plain);
        (may && !name.is_empty()).then_some(name)
    }
}

/// Reads a number of milliseconds.
///
/// # Errors
/// Those of the number.
pub fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

#[derive(Debug)]
enum OptionError {
    /// What the option takes.
    Takes(String),
    /// Anything else that is wrong with it.
    Other(String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Takes(what) => write!(f, " takes {what}"),
            Self::Other(what) => write!(f, ": {what}"),
        }
    }
}

impl std::error::Error for OptionError {}

impl serde::de::Error for OptionError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Takes(listed(expected, "or"))
    }
}

/// `a, b or c`.
fn listed(names: &[&str], last: &str) -> String {
    match names {
        [first @ .., end] if !first.is_empty() => format!("{} {last} {end}", first.join(", ")),
        names => names.concat(),
    }
}

struct Query<'de, 'a> {
    options: &'a UrlOptions<'de>,
    others: &'a [&'a str],
}

impl<'de> Deserializer<'de> for Query<'de, '_> {
    type Error = OptionError;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, OptionError> {
        let mut pairs = self.options.pairs.iter();
        if let Some((name, _)) = pairs.find(|(name, _)| !fields.contains(name)) {
            let name = self.options.shown(name).map(|name| format!(" {name}"));
            let known: Vec<_> = fields.iter().chain(self.others).copied().collect();
            return Err(OptionError::Other(format!(
                "there is no option{}; there are {}",
                name.unwrap_or_default(),
                listed(&known, "and")
            )));
        }
        visitor.visit_map(Pairs {
            left: self.options.pairs.iter(),
            value: None,
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, OptionError> {
        Err(OptionError::custom("options are read into a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Pairs<'de, 'a> {
    left: std::slice::Iter<'a, (&'de str, &'de str)>,
    value: Option<(&'de str, &'de str)>,
}

impl<'de> MapAccess<'de> for Pairs<'de, '_> {
    type Error = OptionError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, OptionError> {
        self.value = self.left.next().copied();
        let name = self.value.map(|(name, _)| name);
        let name =
            name.map(|name| -> StrDeserializer<'de, OptionError> { name.into_deserializer() });
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, OptionError> {
        let (name, value) = self.value.unwrap_or_default();
        let read = seed.deserialize(OptionValue(value));
        read.map_err(|error| OptionError::Other(format!("{name}{error}")))
    }
}

struct OptionValue<'de>(&'de str);

impl OptionValue<'_> {
    /// A number too large becomes the largest there is, which whoever checks the options refuses with
    /// what would be right.
    fn number(&self, max: u64) -> Result<u64, OptionError> {
        if self.0.is_empty() || !self.0.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(OptionError::Takes("a whole number".to_owned()));
        }
        Ok(self.0.parse().unwrap_or(u64::MAX).min(max))
    }
}

impl<'de> Deserializer<'de> for OptionValue<'de> {
    type Error = OptionError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        match self.0.parse() {
            Ok(truth) => visitor.visit_bool(truth),
            Err(_) => Err(OptionError::Takes("true or false".to_owned())),
        }
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_u64(self.number(u16::MAX.into())?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_u64(self.number(u32::MAX.into())?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_u64(self.number(u64::MAX)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, OptionError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, OptionError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, OptionError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Options {
        on: bool,
        readers: u16,
        #[serde(rename = "timeout_ms", deserialize_with = "milliseconds")]
        timeout: Duration,
        prefix: Option<String>,
        mode: Mode,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        #[default]
        Full,
        HalfDone,
    }

    fn read(query: &str) -> Result<Options, ErrorKind> {
        UrlOptions::parse(Some(query))?.read(&["sslmode"])
    }

    #[test]
    fn options_are_read_by_their_names() {
        let none = UrlOptions::parse(None).unwrap();
        assert!(none.is_empty());
        assert_eq!(none.read::<Options>(&[]).unwrap(), Options::default());
        let options = read("on=true&readers=3&timeout_ms=250&prefix=p&mode=half_done").unwrap();
        let expected = Options {
            on: true,
            readers: 3,
            timeout: Duration::from_millis(250),
            prefix: Some("p".to_owned()),
            mode: Mode::HalfDone,
        };
        assert_eq!(options, expected);
        assert_eq!(read("readers=70000").unwrap().readers, u16::MAX);
        let mut some = UrlOptions::parse(Some("sslmode=a&on=true")).unwrap();
        assert_eq!(some.take(&["sslmode"]), [("sslmode", "a")]);
        assert!(some.read::<Options>(&[]).unwrap().on);
    }

    #[test]
    fn what_is_refused_is_named_and_what_is_given_is_not_shown() {
        for (query, told) in [
            ("on=canary", "on takes true or false"),
            ("readers=canary", "readers takes a whole number"),
            ("readers=", "readers takes a whole number"),
            ("", "there is no option; there are on"),
            ("canary", "there is no option; there are on"),
            ("readers=-1", "readers takes a whole number"),
            ("mode=canary", "mode takes full or half_done"),
            (
                "on=true&on=true",
                "on is given twice; give each option once",
            ),
            (
                "speed=canary",
                "there is no option speed; there are on, readers, timeout_ms, prefix, mode and sslmode",
            ),
            // A password with an unescaped question mark in it.
            ("canary@host/d?on=true", "there is no option; there are on"),
            ("canary&x@host&canary", "an option is given twice"),
            ("CANARY canary", "there is no option; there are on"),
        ] {
            let shown = read(query).unwrap_err().to_string();
            assert!(shown.contains(told), "{query}: {shown}");
            assert!(!shown.contains("canary"), "{query}: {shown}");
        }
    }
}
