//! The saved form as JSON, version 1.
//!
//! `{ "v": 1, "rule", "k1", "b", "documents", "terms" }`: each document is `[id, length]` or `[id,
//! length, metadata]`, each term `[word, postings]`, and a posting `[position of the document,
//! count]`. The rule is that of the words, such as `unicode/3`; it is left out for the seed's, and where
//! the tokenizer names none.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::{Map, Number, Value, json};

use crate::bm25::Bm25;
use crate::inverted::{Dictionary, InvertedIndex, Parts, Posting};
use crate::tokenizer::Tokenizer;

use super::rule::{self, OtherWordRule};
use super::{LexicalIndex, is_too_deep};

/// The version that is written, and the only one that is read.
const VERSION: u64 = 1;

/// Why a saved index was not restored.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// It is no JSON.
    #[error("a saved index must be JSON: {0}")]
    NotJson(String),
    /// It is of another version.
    #[error("a saved index must be of version 1: this one says {0}")]
    Version(String),
    /// Its words are not those that it would be searched by.
    #[error(transparent)]
    Rule(#[from] OtherWordRule),
    /// A part of it is missing or of another shape.
    #[error("a saved index must hold at {part} {must_be}")]
    Shape {
        /// Which part.
        part: Part,
        /// What must stand there.
        must_be: &'static str,
    },
    /// A part of it is there twice.
    #[error("a saved index holds at {part} {what} that an earlier one has")]
    Twice {
        /// Which part.
        part: Part,
        /// What both have.
        what: &'static str,
    },
    /// It holds more than an index numbers.
    #[error(transparent)]
    Full(#[from] crate::inverted::Full),
}

shelfward_core::debug_as_chain!(SavedError);

/// A part of a saved index, as `terms[3].postings[0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The whole.
    Whole,
    /// The word rule.
    Rule,
    /// The constant `k1`.
    K1,
    /// The constant `b`.
    B,
    /// The list of documents.
    Documents,
    /// A document, by position.
    Document(usize),
    /// The list of terms.
    Terms,
    /// A term, by position.
    Term(usize),
    /// A posting, by its term's position and its own.
    Posting(usize, usize),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("its root"),
            Self::Rule => f.write_str("rule"),
            Self::K1 => f.write_str("k1"),
            Self::B => f.write_str("b"),
            Self::Documents => f.write_str("documents"),
            Self::Document(at) => write!(f, "documents[{at}]"),
            Self::Terms => f.write_str("terms"),
            Self::Term(at) => write!(f, "terms[{at}]"),
            Self::Posting(term, at) => write!(f, "terms[{term}].postings[{at}]"),
        }
    }
}

impl<T: Tokenizer> LexicalIndex<T> {
    /// The index as JSON: words, not texts. Documents stand in the order in which they were added,
    /// terms in the order in which they were first met.
    pub fn to_json(&self) -> Value {
        let mut positions = HashMap::new();
        let mut documents = Vec::new();
        for number in (0..self.inverted.end()).filter(|number| self.inverted.is_live(*number)) {
            positions.insert(number, documents.len());
            let length = self.inverted.length(number);
            let mut document = vec![json!(self.ids.word(number)), json!(length)];
            document.extend(self.metadata.get(&number).cloned());
            documents.push(Value::Array(document));
        }
        let mut terms = Vec::new();
        self.inverted.for_each_word(|word, postings| {
            let posting = |posting: &Posting| {
                let position = positions.get(&posting.document)?;
                Some(json!([position, posting.count]))
            };
            let postings: Vec<Value> = postings.iter().filter_map(posting).collect();
            terms.push(json!([word, postings]));
        });
        let bm25 = self.bm25();
        let mut saved = json!({
            "v": VERSION,
            "k1": number(bm25.k1()),
            "b": number(bm25.b()),
            "documents": documents,
            "terms": terms,
        });
        if let Some(rule) = rule::named(&self.tokenizer) {
            saved["rule"] = Value::from(rule);
        }
        saved
    }

    /// Restores an index that [`to_json`](Self::to_json) saved. `tokenizer` must read text as the
    /// one that the index was made with; where it is a word rule, that is checked.
    ///
    /// # Errors
    /// [`SavedError`] names the first fault: another version, another word rule or version of it, a constant that is not a finite
    /// number, a part out of shape, an id or a term that is there twice, two postings of one
    /// document in one term, a position that is no document's, a length that is not a whole number
    /// of 0 or more, or a count that is not one of 1 or more.
    pub fn from_json(saved: &Value, tokenizer: T) -> Result<Self, SavedError> {
        let Value::Object(saved) = saved else {
            return Err(shape(Part::Whole, "an object"));
        };
        check_version(saved)?;
        check_rule(saved, &tokenizer)?;
        let k1 = finite(saved, "k1", Part::K1)?;
        let b = finite(saved, "b", Part::B)?;
        let bm25 = Bm25::new(k1, b).map_err(|_| shape(Part::K1, "a finite number"))?;
        let documents = array(saved, "documents", Part::Documents)?;
        let mut ids = Dictionary::default();
        let mut metadata = HashMap::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (at, document) in documents.iter().enumerate() {
            let part = Part::Document(at);
            let Some([Value::String(id), length, rest @ ..]) = slice(document) else {
                return Err(shape(part, "[id, length] or [id, length, metadata]"));
            };
            let length = whole(length)
                .ok_or_else(|| shape(part, "a length that is a whole number of 0 or more"))?;
            if ids.find(id).is_some() {
                let what = "an id";
                return Err(SavedError::Twice { part, what });
            }
            let number = ids.number(id).ok_or(crate::inverted::Full)?;
            lengths.push(length);
            if let Some(value) = rest.first() {
                if is_too_deep(value) {
                    return Err(shape(part, "metadata that nests at most 64 deep"));
                }
                metadata.insert(number, value.clone());
            }
        }
        let inverted = terms(bm25, lengths, array(saved, "terms", Part::Terms)?)?;
        Ok(Self {
            tokenizer,
            inverted,
            ids,
            metadata,
        })
    }

    /// Restores an index from JSON text.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and [`SavedError::NotJson`].
    pub fn from_json_text(saved: &str, tokenizer: T) -> Result<Self, SavedError> {
        // Values nest as deep as the text says, so depth is bounded here: metadata needs little,
        // and a reader that follows any depth can be made to run out of stack.
        let saved: Value =
            serde_json::from_str(saved).map_err(|e| SavedError::NotJson(e.to_string()))?;
        Self::from_json(&saved, tokenizer)
    }
}

fn terms(bm25: Bm25, lengths: Vec<u32>, terms: &[Value]) -> Result<InvertedIndex, SavedError> {
    let documents = lengths.len();
    let mut parts = Parts::new(bm25, lengths);
    let mut seen = HashSet::new();
    for (at, term) in terms.iter().enumerate() {
        let part = Part::Term(at);
        let Some([Value::String(word), Value::Array(saved), ..]) = slice(term) else {
            return Err(shape(part, "[word, postings]"));
        };
        if !seen.insert(word) {
            let what = "a word";
            return Err(SavedError::Twice { part, what });
        }
        let mut postings = Vec::with_capacity(saved.len());
        let mut held = HashSet::with_capacity(saved.len());
        for (place, posting) in saved.iter().enumerate() {
            let part = Part::Posting(at, place);
            let read = |posting: &Value| match slice(posting)? {
                [document, count, ..] => Some((whole(document)?, whole(count)?)),
                _ => None,
            };
            let (document, count) = read(posting)
                .filter(|(document, count)| (*document as usize) < documents && *count > 0)
                .ok_or_else(|| shape(part, "[position of a document, count of 1 or more]"))?;
            if !held.insert(document) {
                let what = "a document";
                return Err(SavedError::Twice { part, what });
            }
            postings.push(Posting { document, count });
        }
        postings.sort_unstable_by_key(|posting| posting.document);
        parts.word(word, &postings)?;
    }
    Ok(parts.finish())
}

fn check_version(saved: &Map<String, Value>) -> Result<(), SavedError> {
    match saved.get("v") {
        Some(version) if version.as_f64() == Some(1.0) => Ok(()),
        Some(version) => Err(SavedError::Version(version.to_string())),
        None => Err(SavedError::Version("nothing".to_owned())),
    }
}

fn check_rule(saved: &Map<String, Value>, tokenizer: &impl Tokenizer) -> Result<(), SavedError> {
    let rule = match saved.get("rule") {
        Some(rule) => Some(rule.as_str().ok_or_else(|| shape(Part::Rule, "a text"))?),
        None => None,
    };
    Ok(rule::check(rule, tokenizer)?)
}

fn finite(saved: &Map<String, Value>, name: &str, part: Part) -> Result<f64, SavedError> {
    let number = saved.get(name).and_then(Value::as_f64);
    (number.filter(|number| number.is_finite())).ok_or_else(|| shape(part, "a finite number"))
}

fn array<'a>(
    saved: &'a Map<String, Value>,
    name: &str,
    part: Part,
) -> Result<&'a [Value], SavedError> {
    (saved.get(name).and_then(slice)).ok_or_else(|| shape(part, "a list"))
}

fn slice(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice)
}

/// A whole number; 2.0 is one.
fn whole(value: &Value) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let number = value.as_f64()?;
    let fits = number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked right here"
    )]
    let whole = number as u32;
    fits.then_some(whole)
}

/// A number as JSON; whole ones without a fraction, as other readers write them.
fn number(x: f64) -> Value {
    let whole = x.fract() == 0.0 && x.abs() < 1e15;
    if whole {
        #[expect(clippy::cast_possible_truncation, reason = "checked right here")]
        return Value::from(x as i64);
    }
    Number::from_f64(x).map_or(Value::Null, Value::Number)
}

fn shape(part: Part, must_be: &'static str) -> SavedError {
    SavedError::Shape { part, must_be }
}
