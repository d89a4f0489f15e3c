use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::{IntoValue, MetadataError, MetadataKey, Value};

/// The metadata of one record: keys and values, in the order of the keys.
///
/// There is no null: setting a key to null removes it, in JSON as in
/// [`MetadataPatch`](crate::MetadataPatch). An empty list is kept for reading, though filters see
/// it as they see a missing key.
///
/// ```
/// use shelfward_core::Metadata;
/// let metadata = Metadata::from_json(r#"{"kind":"session","tags":["q3"],"gone":null}"#)?;
/// assert_eq!(metadata.text("kind"), Some("session"));
/// assert!(metadata.get("gone").is_none());
/// # Ok::<(), shelfward_core::MetadataError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<MetadataKey, Value>);

impl Metadata {
    /// No metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The plain text under a key; `None` when there is none or the value is not a plain text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_text)
    }

    /// Sets a key, and answers what it held.
    pub fn insert(&mut self, key: MetadataKey, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(key, value.into())
    }

    /// Removes a key, and answers what it held.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    /// Sets a key by name, for building by hand.
    ///
    /// ```
    /// use shelfward_core::Metadata;
    /// let metadata = Metadata::new().with("year", 2026)?.with("authors", ["Ann", "Bo"])?;
    /// # Ok::<(), shelfward_core::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// [`MetadataError`] when the name or the value is refused.
    pub fn with(mut self, key: &str, value: impl IntoValue) -> Result<Self, MetadataError> {
        let name = MetadataKey::new(key)?;
        let value = value
            .into_value()
            .map_err(|problem| MetadataError::new(key, problem))?;
        self.0.insert(name, value);
        Ok(self)
    }

    /// Keys and values in the order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&MetadataKey, &Value)> {
        self.0.iter()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A lower bound of the bytes that a store spends on this, for its declared limit: the keys,
    /// the bytes of texts, and 8 for each number.
    pub fn byte_len(&self) -> usize {
        let scalar = |s: &super::Scalar| s.as_text().map_or(8, str::len);
        self.iter()
            .map(|(k, v)| k.as_str().len() + v.elements().iter().map(scalar).sum::<usize>())
            .sum()
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromIterator<(MetadataKey, Value)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (MetadataKey, Value)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
