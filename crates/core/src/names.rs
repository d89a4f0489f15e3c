//! Names that are checked once and then only carried: tenants, groups, sources, collections.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::metadata::{Scalar, Text, shown};

/// Why a name was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {name:?}: {problem}")]
pub struct NameError {
    what: &'static str,
    name: String,
    problem: NameProblem,
}

crate::debug_as_chain!(NameError);

impl NameError {
    fn new(what: &'static str, name: &str, problem: NameProblem) -> Self {
        Self {
            what,
            name: shown(name),
            problem,
        }
    }

    /// What is wrong with the name.
    pub fn problem(&self) -> &NameProblem {
        &self.problem
    }

    /// What was named: `tenant`, `access group`, `source id`, `collection name` and so on.
    pub fn what(&self) -> &'static str {
        self.what
    }
}

/// What is wrong with a name. Each message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameProblem {
    /// The name is empty.
    #[error("must have at least 1 byte")]
    Empty,
    /// The name is too long.
    #[error("must have at most {max} bytes, this one has {bytes}")]
    TooLong {
        /// The length that was given.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The name holds U+0000.
    #[error("must hold no U+0000")]
    Nul,
    /// A collection name with a character or a first character that is refused.
    #[error("must begin with a to z and go on with a to z, 0 to 9 or _")]
    Pattern,
}

fn checked(what: &'static str, name: &str, max: usize) -> Result<Text, NameError> {
    if name.is_empty() {
        return Err(NameError::new(what, name, NameProblem::Empty));
    }
    if name.len() > max {
        return Err(NameError::new(
            what,
            name,
            NameProblem::TooLong {
                bytes: name.len(),
                max,
            },
        ));
    }
    Text::new(name).map_err(|_| NameError::new(what, name, NameProblem::Nul))
}

/// What makes a checked name as easy to use as the text that it was.
macro_rules! used_as_text {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self.as_str(), f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl PartialEq<String> for $name {
            fn eq(&self, other: &String) -> bool {
                self.as_str() == other
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl From<&$name> for String {
            fn from(name: &$name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NameError;
            fn try_from(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;
            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }
    };
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $max:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Text);

        impl $name {
            /// Checks the length, in bytes, and that there is no U+0000.
            ///
            /// # Errors
            /// [`NameError`] that names what is wrong.
            pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
                checked($what, name.as_ref(), $max).map(Self)
            }

            /// The name.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// A stored text as a name, where it can be one.
            #[allow(dead_code, reason = "for the names that are read back")]
            pub(crate) fn of_text(text: &Text) -> Option<Self> {
                (1..=$max).contains(&text.as_str().len()).then(|| Self(text.clone()))
            }

            /// The name as a shared text.
            pub fn to_text(&self) -> Text {
                self.0.clone()
            }
        }

        used_as_text!($name);

        impl From<&$name> for Scalar {
            fn from(name: &$name) -> Self {
                Self::Text(name.0.clone())
            }
        }
    };
}

macro_rules! deserialized_by_new {
    ($($name:ident),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::new(&name).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

name! {
    /// The organisation that a source belongs to: 1 to 128 bytes.
    ///
    /// It cannot be read from data (there is no `Deserialize`): who asks is decided by the program
    /// that authenticated them, never by what they sent.
    ///
    /// ```compile_fail
    /// let tenant: shelfward_core::TenantId = serde_json::from_str("\"org1\"").unwrap();
    /// ```
    /// ```compile_fail
    /// let tenant = shelfward_core::TenantId::default();
    /// ```
    TenantId, "tenant", 128
}

name! {
    /// A group of readers that may see a source: 1 to 128 bytes.
    AccessGroup, "access group", 128
}

name! {
    /// What a source is called within its tenant, as `session:s1`: 1 to 512 bytes.
    ///
    /// Two tenants may use the same id for different sources.
    SourceId, "source id", 512
}

name! {
    /// What kind of source it is, as `session` or `document`: 1 to 128 bytes.
    SourceKind, "kind", 128
}

deserialized_by_new!(AccessGroup, SourceId, SourceKind, CollectionName);

impl std::borrow::Borrow<str> for AccessGroup {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

/// The name of a collection: `[a-z][a-z0-9_]{0,39}`.
///
/// Short and lower case, because engines fold case and cut names at 63 bytes.
///
/// ```
/// use shelfward_core::CollectionName;
/// assert!(CollectionName::new("library").is_ok());
/// assert!(CollectionName::new("Library").is_err());
/// assert!(CollectionName::new("x; drop table y").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct CollectionName(Arc<str>);

impl CollectionName {
    /// Checks the name against the pattern.
    ///
    /// # Errors
    /// [`NameError`] that names what is wrong.
    pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
        let name = name.as_ref();
        let what = "collection name";
        let text = checked(what, name, 40)?;
        let first_is_letter = name.starts_with(|c: char| c.is_ascii_lowercase());
        let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !first_is_letter || !name.chars().all(rest) {
            return Err(NameError::new(what, text.as_str(), NameProblem::Pattern));
        }
        Ok(Self(Arc::from(name)))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

used_as_text!(CollectionName);
