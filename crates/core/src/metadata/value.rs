use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Float, MetadataProblem, compare_numbers};

/// A text without U+0000, cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Text(Arc<str>);

impl Text {
    /// Checks that the text holds no U+0000, which Postgres cannot store.
    ///
    /// # Errors
    /// [`MetadataProblem::Nul`].
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, MetadataProblem> {
        let text = text.into();
        if text.contains('\0') {
            Err(MetadataProblem::Nul)
        } else {
            Ok(Self(text))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// One plain value, or one member of a list.
///
/// Equality is by exact value: integer 5 and float 5.0 are equal, `"1"` and 1 are not, `true` and
/// `"true"` are not, and 2^53 + 1 is not 9007199254740992.0.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// A finite float.
    Float(Float),
    /// A text.
    Text(Text),
}

/// The kinds that are compared with one another: integers and floats are one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Booleans.
    Bool,
    /// Integers and floats.
    Number,
    /// Texts.
    Text,
}

impl Kind {
    /// The kind's name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::Text => "a text",
        }
    }
}

impl Scalar {
    /// A text value.
    ///
    /// # Errors
    /// [`MetadataProblem::Nul`] for a text with U+0000.
    pub fn text(text: impl Into<Arc<str>>) -> Result<Self, MetadataProblem> {
        Text::new(text).map(Self::Text)
    }

    /// A float value.
    ///
    /// # Errors
    /// [`MetadataProblem::NotFinite`] for NaN and the infinities.
    pub fn float(value: f64) -> Result<Self, MetadataProblem> {
        Float::new(value).map(Self::Float)
    }

    /// The kind that the value is compared within.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Integer(_) | Self::Float(_) => Kind::Number,
            Self::Text(_) => Kind::Text,
        }
    }

    /// The text, when the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// How the value stands to another of its own kind; `None` across kinds.
    ///
    /// Texts are ordered by Unicode scalar value, numbers by exact value, and `false` before `true`.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.get().total_cmp(&b.get()),
            (Self::Integer(a), Self::Float(b)) => compare_numbers(*a, *b),
            (Self::Float(a), Self::Integer(b)) => compare_numbers(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            _ => return None,
        })
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Bool(b) => (0_u8, b).hash(state),
            Self::Integer(i) => (1_u8, i).hash(state),
            // A float that equals an integer must hash like it.
            Self::Float(f) => match f.to_integer() {
                Some(i) => (1_u8, i).hash(state),
                None => (2_u8, f.get().to_bits()).hash(state),
            },
            Self::Text(t) => (3_u8, t).hash(state),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => fmt::Debug::fmt(b, f),
            Self::Integer(i) => fmt::Debug::fmt(i, f),
            Self::Float(x) => fmt::Debug::fmt(x, f),
            Self::Text(t) => fmt::Debug::fmt(t, f),
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Text> for Scalar {
    fn from(value: Text) -> Self {
        Self::Text(value)
    }
}

macro_rules! fallible_scalar {
    ($($from:ty => $make:expr),+ $(,)?) => {$(
        impl TryFrom<$from> for Scalar {
            type Error = MetadataProblem;
            fn try_from(value: $from) -> Result<Self, MetadataProblem> {
                ($make)(value)
            }
        }
    )+};
}

macro_rules! integer_scalar {
    ($($from:ty),+) => {$(
        impl From<$from> for Scalar {
            fn from(value: $from) -> Self {
                Self::Integer(i64::from(value))
            }
        }
    )+};
}

integer_scalar!(i64, i32, i16, u32, u16, u8);
fallible_scalar! {
    &str => |v: &str| Scalar::text(v),
    &String => |v: &String| Scalar::text(v.as_str()),
    String => |v: String| Scalar::text(v),
    f64 => Scalar::float,
    u64 => |v: u64| i64::try_from(v).map(Scalar::Integer).map_err(|_| MetadataProblem::IntegerRange),
}

/// A list of one kind: all text, all numbers (integers and floats may mix) or all booleans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List(Arc<[Scalar]>);

impl List {
    /// Checks that the members are of one kind.
    ///
    /// # Errors
    /// [`MetadataProblem::MixedList`] with the two kinds met.
    pub fn new(members: Vec<Scalar>) -> Result<Self, MetadataProblem> {
        if let Some(first) = members.first().map(Scalar::kind)
            && let Some(other) = members.iter().map(Scalar::kind).find(|kind| *kind != first)
        {
            return Err(MetadataProblem::MixedList {
                first: first.name(),
                second: other.name(),
            });
        }
        Ok(Self(members.into()))
    }

    /// The members, in the order given.
    pub fn members(&self) -> &[Scalar] {
        &self.0
    }
}

/// A metadata value: one scalar or a list.
///
/// Equality keeps the two apart (`"a"` is not `["a"]`); filters do not, they see elements only.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A plain value.
    Scalar(Scalar),
    /// A list of one kind.
    List(List),
}

impl Value {
    /// What filters see: a plain value has one element, a list has its members.
    pub fn elements(&self) -> &[Scalar] {
        match self {
            Self::Scalar(scalar) => std::slice::from_ref(scalar),
            Self::List(list) => list.members(),
        }
    }

    /// The text, when the value is a plain text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) => scalar.as_text(),
            Self::List(_) => None,
        }
    }

    /// The integer, when the value is a plain number of exactly an integer's value.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Scalar(Scalar::Integer(integer)) => Some(*integer),
            Self::Scalar(Scalar::Float(float)) => float.to_integer(),
            _ => None,
        }
    }

    /// A list of texts.
    ///
    /// # Errors
    /// [`MetadataProblem::Nul`] for a text with U+0000.
    pub fn texts<I>(texts: I) -> Result<Self, MetadataProblem>
    where
        I: IntoIterator,
        I::Item: Into<Arc<str>>,
    {
        let members = texts
            .into_iter()
            .map(Scalar::text)
            .collect::<Result<Vec<_>, _>>()?;
        List::new(members).map(Self::List)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => fmt::Debug::fmt(scalar, f),
            Self::List(list) => fmt::Debug::fmt(list.members(), f),
        }
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl<S: Into<Scalar>> From<S> for Value {
    fn from(value: S) -> Self {
        Self::Scalar(value.into())
    }
}
