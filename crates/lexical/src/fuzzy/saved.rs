//! Version 1 of the saved form: settings and texts.

use serde_json::Value;

use super::document::{FieldText, FuzzyDocument, FuzzyDocumentError};
use super::index::FuzzyIndex;
use super::json::Json;
use super::settings::{FuzzySettings, FuzzySettingsError};
use super::words::{FuzzyWords, Tokenize};

/// Why a saved index was not restored. No message holds a document's text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FuzzyRestoreError {
    /// It is no JSON.
    #[error("the saved index is no JSON: {reason}")]
    Syntax {
        /// What is wrong, and where.
        reason: String,
    },
    /// It is of a version that this release does not read.
    #[error("v is {given}; it must be 1, the version that this release reads")]
    Version {
        /// The version, as far as it is a number, or what stands in its place.
        given: String,
    },
    /// A part is missing, out of shape, or not of the format.
    #[error("{part} is out of shape; it must be {right}")]
    Shape {
        /// The part, such as `documents[3].fields.title`.
        part: String,
        /// What would be right.
        right: &'static str,
    },
    /// A setting is refused.
    #[error("{0}")]
    Settings(#[from] FuzzySettingsError),
    /// A document is refused.
    #[error("documents[{at}]: {reason}")]
    Document {
        /// Its place among the documents, from 0.
        at: usize,
        /// Why.
        reason: FuzzyDocumentError,
    },
    /// Two documents have the same id.
    #[error("documents[{at}].id is {id:?}, which an earlier document has; each id is given once")]
    RepeatedId {
        /// The place of the second among the documents, from 0.
        at: usize,
        /// The id.
        id: String,
    },
}

shelfward_core::debug_as_chain!(FuzzyRestoreError);

impl FuzzyIndex {
    /// The index as JSON, version 1: the settings, and each document's texts in the order they were
    /// added. The words are not saved; a restore reads the texts again.
    ///
    /// ```text
    /// {"v":1,"fields":{"title":10,"body":1},"passageFields":["body"],"editMinLength":4,
    ///  "passages":3,"passageWidth":160,
    ///  "documents":[{"id":"note-1","fields":{"title":"Refunds","tags":["card","payment"]}}]}
    /// ```
    ///
    /// `passageFields` is left out where the settings do not name them.
    #[must_use]
    pub fn to_json(&self) -> String {
        let given = &self.settings.given;
        let weights = given.fields.iter();
        let weights =
            weights.map(|(name, weight)| (name.as_str(), Value::from(*weight).to_string()));
        let mut members = vec![("v", "1".to_owned()), ("fields", object(weights))];
        if let Some(names) = &given.passage_fields {
            members.push(("passageFields", list(names.iter().map(|name| text(name)))));
        }
        members.extend([
            ("editMinLength", given.edit_min_length.to_string()),
            ("passages", given.passages.to_string()),
            ("passageWidth", given.passage_width.to_string()),
        ]);
        let documents = self.documents().map(|kept| {
            let fields = kept.fields.iter().filter_map(|(field, value)| {
                let value = match value {
                    FieldText::Text(one) => text(one),
                    FieldText::List(texts) => list(texts.iter().map(|one| text(one))),
                };
                Some((&**self.settings.name(*field)?, value))
            });
            object([("id", text(&kept.id)), ("fields", object(fields))])
        });
        members.push(("documents", list(documents)));
        object(members)
    }

    /// Restores a saved index that reads words with [`FuzzyWords`].
    ///
    /// # Errors
    /// [`FuzzyRestoreError`] names what is wrong.
    pub fn from_json(json: &str) -> Result<Self, FuzzyRestoreError> {
        Self::from_json_with(json, FuzzyWords)
    }

    /// Restores a saved index that reads words with a function of yours: the one that it was made
    /// with, for the same answers.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_json_with(
        json: &str,
        tokenizer: impl Tokenize + 'static,
    ) -> Result<Self, FuzzyRestoreError> {
        let read = serde_json::from_str(json).map_err(|e| FuzzyRestoreError::Syntax {
            reason: e.to_string(),
        })?;
        let Json::Object(members) = read else {
            return Err(shape("the saved index", "an object"));
        };
        check_version(&members)?;
        let mut parts = Parts::default();
        for (name, value) in members {
            parts.take(&name, value)?;
        }
        let (settings, documents) = parts.settled()?;
        let mut index = Self::with_tokenizer(settings, tokenizer)?;
        for (document, at) in documents.into_iter().zip(0..) {
            let document = document_of(document, &format!("documents[{at}]"))?;
            if index.contains(document.id()) {
                let id = document.id;
                return Err(FuzzyRestoreError::RepeatedId { at, id });
            }
            let added = index.add_document(document);
            added.map_err(|reason| FuzzyRestoreError::Document { at, reason })?;
        }
        Ok(index)
    }
}

fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(members: impl Iterator<Item = String>) -> String {
    let members: Vec<String> = members.collect();
    format!("[{}]", members.join(","))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let member = |(name, value): (&str, String)| format!("{}:{value}", text(name));
    let members: Vec<String> = members.into_iter().map(member).collect();
    format!("{{{}}}", members.join(","))
}

fn shape(part: impl Into<String>, right: &'static str) -> FuzzyRestoreError {
    FuzzyRestoreError::Shape {
        part: part.into(),
        right,
    }
}

/// The version is looked at first: a later one may have any shape.
fn check_version(members: &[(String, Json)]) -> Result<(), FuzzyRestoreError> {
    let version = members.iter().find(|(name, _)| name == "v");
    let given = match version {
        Some((_, Json::Count(1))) => return Ok(()),
        Some((_, Json::Count(version))) => version.to_string(),
        Some((_, Json::Number(version))) => version.to_string(),
        Some(_) => "no number".to_owned(),
        None => "missing".to_owned(),
    };
    Err(FuzzyRestoreError::Version { given })
}

/// The members that were read so far.
#[derive(Default)]
struct Parts {
    fields: Option<Vec<(String, f64)>>,
    passage_fields: Option<Vec<String>>,
    edit_min_length: Option<usize>,
    passages: Option<usize>,
    passage_width: Option<usize>,
    documents: Option<Vec<Json>>,
}

impl Parts {
    fn take(&mut self, name: &str, value: Json) -> Result<(), FuzzyRestoreError> {
        match name {
            "v" => {}
            "fields" => self.fields = Some(weights(value)?),
            "passageFields" => self.passage_fields = Some(names(value)?),
            "editMinLength" => self.edit_min_length = Some(count(name, &value)?),
            "passages" => self.passages = Some(count(name, &value)?),
            "passageWidth" => self.passage_width = Some(count(name, &value)?),
            "documents" => match value {
                Json::List(documents) => self.documents = Some(documents),
                _ => return Err(shape(name, "a list of documents")),
            },
            _ => return Err(shape(name, "left out, for version 1 has no such member")),
        }
        Ok(())
    }

    fn settled(self) -> Result<(FuzzySettings, Vec<Json>), FuzzyRestoreError> {
        let settings = FuzzySettings {
            fields: self.fields.ok_or_else(|| missing("fields"))?,
            passage_fields: self.passage_fields,
            edit_min_length: self
                .edit_min_length
                .ok_or_else(|| missing("editMinLength"))?,
            passages: self.passages.ok_or_else(|| missing("passages"))?,
            passage_width: self.passage_width.ok_or_else(|| missing("passageWidth"))?,
        };
        Ok((
            settings,
            self.documents.ok_or_else(|| missing("documents"))?,
        ))
    }
}

fn missing(name: &str) -> FuzzyRestoreError {
    shape(name, "there")
}

fn weights(value: Json) -> Result<Vec<(String, f64)>, FuzzyRestoreError> {
    let Json::Object(fields) = value else {
        return Err(shape("fields", "an object of weights"));
    };
    let weight = |(name, weight): (String, Json)| match weight {
        Json::Number(weight) => Ok((name, weight)),
        // The nearest float, as a weight of so many digits would be read anyway.
        #[expect(clippy::cast_precision_loss, reason = "a weight is a float")]
        Json::Count(weight) => Ok((name, weight as f64)),
        _ => Err(shape(format!("fields.{name}"), "a number")),
    };
    fields.into_iter().map(weight).collect()
}

fn names(value: Json) -> Result<Vec<String>, FuzzyRestoreError> {
    texts(value).ok_or_else(|| shape("passageFields", "a list of names"))
}

fn count(name: &str, value: &Json) -> Result<usize, FuzzyRestoreError> {
    let count = match value {
        Json::Count(count) => usize::try_from(*count).ok(),
        _ => None,
    };
    count.ok_or_else(|| shape(name, "a whole number of 0 or more"))
}

fn texts(value: Json) -> Option<Vec<String>> {
    let Json::List(members) = value else {
        return None;
    };
    let text = |member| match member {
        Json::Text(text) => Some(text),
        _ => None,
    };
    members.into_iter().map(text).collect()
}

fn document_of(value: Json, part: &str) -> Result<FuzzyDocument, FuzzyRestoreError> {
    let Json::Object(members) = value else {
        return Err(shape(part, "an object with id and fields"));
    };
    let (mut id, mut fields) = (None, None);
    for (name, value) in members {
        match (name.as_str(), value) {
            ("id", Json::Text(text)) => id = Some(text),
            ("id", _) => return Err(shape(format!("{part}.id"), "a text")),
            ("fields", Json::Object(texts)) => fields = Some(texts),
            ("fields", _) => return Err(shape(format!("{part}.fields"), "an object of texts")),
            (other, _) => {
                let right = "left out, for a document has id and fields alone";
                return Err(shape(format!("{part}.{other}"), right));
            }
        }
    }
    let id = id.ok_or_else(|| missing(&format!("{part}.id")))?;
    let fields = fields.ok_or_else(|| missing(&format!("{part}.fields")))?;
    let mut document = FuzzyDocument::new(id);
    for (name, value) in fields {
        let text: Option<FieldText> = match value {
            Json::Text(text) => Some(text.into()),
            value => texts(value).map(FieldText::from),
        };
        let Some(text) = text else {
            let part = format!("{part}.fields.{name}");
            return Err(shape(part, "a text or a list of texts"));
        };
        document = document.field(name, text);
    }
    Ok(document)
}
