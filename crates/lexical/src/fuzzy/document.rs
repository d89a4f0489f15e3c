//! Documents, as they are given and as they are kept.

use std::fmt;
use std::sync::Arc;

/// A document to add: an id and the texts of its fields.
///
/// A field is a text, or a list of short texts such as keywords. A field that the index was not made
/// with is left out.
///
/// ```
/// use shelfward_lexical::fuzzy::FuzzyDocument;
///
/// let note = FuzzyDocument::new("note-1")
///     .field("title", "Refunds")
///     .field("tags", ["card", "payment"]);
/// assert_eq!(note.id(), "note-1");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct FuzzyDocument {
    pub(super) id: String,
    pub(super) fields: Vec<(String, FieldText)>,
}

impl FuzzyDocument {
    /// A document without fields. The id must not be empty.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            fields: Vec::new(),
        }
    }

    /// The document with one more field.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, text: impl Into<FieldText>) -> Self {
        self.fields.push((name.into(), text.into()));
        self
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// Shows the id and sizes, never the texts.
impl fmt::Debug for FuzzyDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.fields.iter().map(|(name, text)| (name, text.bytes()));
        f.debug_struct("FuzzyDocument")
            .field("id", &self.id)
            .field("field_bytes", &sizes.collect::<Vec<_>>())
            .finish()
    }
}

/// What a field holds.
#[derive(Clone, PartialEq, Eq)]
pub enum FieldText {
    /// One text.
    Text(Arc<str>),
    /// Short texts, such as keywords. They are searched as one text, a line each, and marked one by
    /// one.
    List(Vec<Arc<str>>),
}

impl FieldText {
    /// The texts: one, or the members of the list.
    pub fn texts(&self) -> &[Arc<str>] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(texts) => texts,
        }
    }

    fn bytes(&self) -> usize {
        self.texts().iter().map(|text| text.len()).sum()
    }
}

/// Shows how many texts there are and how long they are, never the texts.
impl fmt::Debug for FieldText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldText")
            .field("texts", &self.texts().len())
            .field("bytes", &self.bytes())
            .finish()
    }
}

impl From<&str> for FieldText {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for FieldText {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Arc<str>> for FieldText {
    fn from(text: Arc<str>) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Arc<str>>> From<Vec<T>> for FieldText {
    fn from(texts: Vec<T>) -> Self {
        texts.into_iter().collect()
    }
}

impl<T: Into<Arc<str>>, const N: usize> From<[T; N]> for FieldText {
    fn from(texts: [T; N]) -> Self {
        texts.into_iter().collect()
    }
}

impl<T: Into<Arc<str>>> FromIterator<T> for FieldText {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        Self::List(texts.into_iter().map(Into::into).collect())
    }
}

/// Why a document was refused. Nothing of the index was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FuzzyDocumentError {
    /// The id is the empty text.
    #[error("a document has an empty id; an id has at least one character")]
    EmptyId,
    /// A document gives two texts to one field.
    #[error("document {id:?} gives field {field:?} twice; give a list of texts instead")]
    RepeatedField {
        /// The document.
        id: String,
        /// The field.
        field: String,
    },
    /// The index would hold more than 2^32 words or documents.
    #[error("document {id:?} does not fit; an index holds at most 4294967295 words and documents")]
    Full {
        /// The document.
        id: String,
    },
}

shelfward_core::debug_as_chain!(FuzzyDocumentError);

/// A document as the index keeps it.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) id: Arc<str>,
    /// By the place of the field among the settings; only those that were given.
    pub(super) fields: Vec<(u16, FieldText)>,
    /// How many postings it has.
    pub(super) postings: usize,
}
