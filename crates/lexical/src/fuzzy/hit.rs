//! What a search answers.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use shelfward_text::Highlight;

/// A document that a search found.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FuzzyHit {
    /// The document's id.
    pub id: Arc<str>,
    /// How well it answers: for each query word its best match's count times the weight of the
    /// match's field, summed.
    pub score: f64,
    /// The document's fields, in the order of the index's settings, with the matched words marked.
    pub fields: Vec<FieldHit>,
    /// Sentences and lines of the passage fields that hold matched words, in the order of the text.
    pub passages: Vec<Highlight>,
}

/// A field of a found document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FieldHit {
    /// The field's name.
    pub name: Arc<str>,
    /// Its text, or the members of its list.
    pub value: MarkedField,
}

/// A field's text or texts, with marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MarkedField {
    /// The field is one text.
    Text(Highlight),
    /// The field is a list; each member has its own marks.
    List(Vec<Highlight>),
}

impl MarkedField {
    /// The texts: one, or the members of the list.
    pub fn texts(&self) -> &[Highlight] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(texts) => texts,
        }
    }
}

/// Shows the id, the score and sizes, never a text.
impl fmt::Debug for FuzzyHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuzzyHit")
            .field("id", &self.id)
            .field("score", &self.score)
            .field("fields", &self.fields)
            .field("passages", &self.passages)
            .finish()
    }
}

/// A found document's id and score alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FuzzyRanked {
    /// The document's id.
    pub id: Arc<str>,
    /// As in [`FuzzyHit`].
    pub score: f64,
}
