use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize};

use super::{MetadataError, MetadataProblem};
use crate::library_keys::LIBRARY_KEYS;

/// Keys that begin so are the library's own; callers can neither write nor filter them.
pub const RESERVED_PREFIX: &str = "_shelfward_";

/// The name of a metadata field: 1 to 128 bytes, without control characters, quotes, brackets or
/// back-quotes, and beginning neither with `$` nor with [`RESERVED_PREFIX`].
///
/// The rule keeps a key from being read as anything but a name by any store. Adapters bind or
/// quote it all the same.
///
/// ```
/// use shelfward_core::MetadataKey;
/// assert_eq!(MetadataKey::new("folderId")?.as_str(), "folderId");
/// assert!(MetadataKey::new("a'b").is_err());
/// assert!(MetadataKey::new("$eq").is_err());
/// # Ok::<(), shelfward_core::MetadataError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct MetadataKey(Arc<str>);

impl MetadataKey {
    /// Checks a name against the rule above.
    ///
    /// # Errors
    /// [`MetadataError`] with the (shortened) key and the part of the rule that it breaks.
    pub fn new(name: &str) -> Result<Self, MetadataError> {
        if name.starts_with(RESERVED_PREFIX) {
            return Err(MetadataError::new(name, MetadataProblem::ReservedKey));
        }
        Self::check_shape(name)?;
        Ok(Self::shared(name))
    }

    /// A key of the library's own. Only this crate can make one.
    pub(crate) fn own(name: &'static str) -> Self {
        debug_assert!(Self::check_shape(name).is_ok());
        Self::shared(name)
    }

    /// Reads a key that an adapter stored earlier, the library's own included.
    ///
    /// For adapters that rebuild [`Metadata`](super::Metadata) from what they hold; a caller's
    /// metadata goes through [`MetadataKey::new`], which refuses reserved names.
    ///
    /// # Errors
    /// [`MetadataError`] when the shape of the name is wrong.
    pub fn stored(name: &str) -> Result<Self, MetadataError> {
        Self::check_shape(name)?;
        Ok(Self::shared(name))
    }

    /// One name for all records that carry it, where it is a library's: looking a key up compares
    /// names, which are in the cache only if they are not another copy for each record.
    fn shared(name: &str) -> Self {
        static LIBRARY: LazyLock<[MetadataKey; LIBRARY_KEYS.len()]> =
            LazyLock::new(|| LIBRARY_KEYS.map(|name| MetadataKey(Arc::from(name))));
        let known = LIBRARY_KEYS.iter().position(|known| *known == name);
        known
            .and_then(|at| LIBRARY.get(at).cloned())
            .unwrap_or_else(|| Self(Arc::from(name)))
    }

    fn check_shape(name: &str) -> Result<(), MetadataError> {
        let problem = if name.is_empty() {
            MetadataProblem::EmptyKey
        } else if name.len() > 128 {
            MetadataProblem::LongKey { bytes: name.len() }
        } else if name.starts_with('$') {
            MetadataProblem::OperatorKey
        } else if let Some(character) = name.chars().find(|c| refused(*c)) {
            MetadataProblem::KeyCharacter { character }
        } else {
            return Ok(());
        };
        Err(MetadataError::new(name, problem))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the key is the library's own.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with(RESERVED_PREFIX)
    }
}

fn refused(c: char) -> bool {
    c.is_control() || matches!(c, '\'' | '"' | '`' | '[' | ']' | '(' | ')' | '{' | '}')
}

impl fmt::Debug for MetadataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for MetadataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for MetadataKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for MetadataKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::new(&name).map_err(serde::de::Error::custom)
    }
}
