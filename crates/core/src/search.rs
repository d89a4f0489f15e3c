//! What is asked of a store and what it answers: legs, hits, counts, pages, patches.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::filter::Filter;
use crate::metadata::{Metadata, MetadataError, MetadataKey, MetadataProblem, Text, Value};
use crate::record::{Key, StoredRecord};

/// One search of one index of a collection.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Leg {
    /// What is looked for.
    pub ask: LegQuery,
    /// Which records may answer.
    pub filter: Arc<Filter>,
    /// How many hits at most.
    pub top_k: usize,
}

/// Which index a leg searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LegKind {
    /// That of the vectors.
    Dense,
    /// That of the words.
    Lexical,
}

/// What a leg looks for.
#[derive(Clone, PartialEq)]
pub enum LegQuery {
    /// The vectors nearest to this one.
    Dense(Arc<[f32]>),
    /// The records that hold these words.
    Lexical {
        /// The words, in the query's order; a repeated word counts each time.
        words: Arc<[QueryWord]>,
        /// Any of the words, or every one.
        matching: Match,
    },
}

/// A word of a lexical query.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct QueryWord {
    /// The word, under the collection's rule.
    pub text: Text,
    /// Whether a stored word that begins with it matches too.
    pub prefix: bool,
}

impl QueryWord {
    /// A word; with `prefix`, stored words that begin with it match too, unless it is one
    /// character long: see [`is_prefix`](shelfward_text::is_prefix).
    pub fn new(text: Text, prefix: bool) -> Self {
        let prefix = prefix && shelfward_text::is_prefix(text.as_str());
        Self { text, prefix }
    }
}

/// Which of a query's words a record must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Match {
    /// At least one.
    #[default]
    Any,
    /// Every one.
    All,
}

impl Leg {
    /// The `top_k` records nearest to a vector.
    pub fn dense(
        vector: impl Into<Arc<[f32]>>,
        filter: impl Into<Arc<Filter>>,
        top_k: usize,
    ) -> Self {
        Self {
            ask: LegQuery::Dense(vector.into()),
            filter: filter.into(),
            top_k,
        }
    }

    /// The `top_k` best records for words.
    pub fn lexical(
        words: impl Into<Arc<[QueryWord]>>,
        matching: Match,
        filter: impl Into<Arc<Filter>>,
        top_k: usize,
    ) -> Self {
        let ask = LegQuery::Lexical {
            words: words.into(),
            matching,
        };
        Self {
            ask,
            filter: filter.into(),
            top_k,
        }
    }

    /// Which index the leg searches.
    pub fn kind(&self) -> LegKind {
        match self.ask {
            LegQuery::Dense(_) => LegKind::Dense,
            LegQuery::Lexical { .. } => LegKind::Lexical,
        }
    }

    /// The same leg with another filter.
    #[must_use]
    pub fn with_filter(&self, filter: impl Into<Arc<Filter>>) -> Self {
        Self {
            ask: self.ask.clone(),
            filter: filter.into(),
            top_k: self.top_k,
        }
    }

    /// The same leg with another number of hits.
    #[must_use]
    pub fn with_top_k(&self, top_k: usize) -> Self {
        Self {
            ask: self.ask.clone(),
            filter: self.filter.clone(),
            top_k,
        }
    }
}

/// Shows what kind of leg it is and sizes, never the words or the filter's values.
impl fmt::Debug for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Leg");
        match &self.ask {
            LegQuery::Dense(vector) => shown.field("dense_width", &vector.len()),
            LegQuery::Lexical { words, matching } => shown
                .field("lexical_words", &words.len())
                .field("matching", matching),
        };
        shown.field("top_k", &self.top_k).finish_non_exhaustive()
    }
}

/// One record that a leg found.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Where the record lies.
    pub key: Key,
    /// How well it answers; higher is better.
    pub score: f64,
    /// Its text, if it has one.
    pub text: Option<Arc<str>>,
    /// Its metadata, of the same snapshot as the text.
    pub metadata: Arc<Metadata>,
}

impl Hit {
    /// A hit.
    pub fn new(key: Key, score: f64, text: Option<Arc<str>>, metadata: Arc<Metadata>) -> Self {
        Self {
            key,
            score,
            text,
            metadata,
        }
    }
}

/// Shows the key, the score and lengths, never the text or the metadata.
impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hit")
            .field("key", &self.key)
            .field("score", &self.score)
            .field("text_bytes", &self.text.as_deref().map(str::len))
            .field("metadata_keys", &self.metadata.len())
            .finish()
    }
}

/// What a leg found, best first, and whether that is all there was to find.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LegResult {
    /// The hits, best first, at most the leg's `top_k`.
    pub hits: Vec<Hit>,
    /// How the search ended.
    pub end: Completeness,
}

impl LegResult {
    /// Hits and how the search ended.
    pub fn new(hits: Vec<Hit>, end: Completeness) -> Self {
        Self { hits, end }
    }

    /// Nothing, and nothing was missed.
    pub fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            end: Completeness::Complete,
        }
    }
}

/// How a leg ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Completeness {
    /// The answer holds `min(top_k, matching)` hits.
    Complete,
    /// A ceiling ended the search before that; there may be more.
    Capped {
        /// Which ceiling.
        by: LimitReached,
    },
    /// The store does not say.
    Unknown,
}

/// The ceiling that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum LimitReached {
    /// The rounds of asking again for more.
    Rounds,
    /// The candidates looked at.
    Candidates,
    /// The most hits that the store answers in one search.
    StoreTopK,
    /// A limit of the store's own.
    Store,
}

/// How many records a call was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Count {
    /// Exactly so many.
    Exact(u64),
    /// So many or more.
    AtLeast(u64),
    /// The store does not say.
    Unknown,
}

impl Count {
    /// The number when it is exact.
    pub fn exact(self) -> Option<u64> {
        match self {
            Self::Exact(n) => Some(n),
            Self::AtLeast(_) | Self::Unknown => None,
        }
    }

    /// Both together; as exact as the less exact of the two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => Self::Exact(a.saturating_add(b)),
            (Self::Exact(a) | Self::AtLeast(a), Self::Exact(b) | Self::AtLeast(b)) => {
                Self::AtLeast(a.saturating_add(b))
            }
            (Self::Exact(a) | Self::AtLeast(a), Self::Unknown)
            | (Self::Unknown, Self::Exact(a) | Self::AtLeast(a)) => Self::AtLeast(a),
            (Self::Unknown, Self::Unknown) => Self::Unknown,
        }
    }
}

/// A number of things in memory, as a [`Count`]'s number.
pub(crate) fn as_count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(n) => write!(f, "{n}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// What a replace did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replaced {
    /// How many records the selector removed.
    pub removed: Count,
    /// How many records were written.
    pub written: u64,
}

impl Replaced {
    /// Numbers removed and written.
    pub fn new(removed: Count, written: usize) -> Self {
        Self {
            removed,
            written: as_count(written),
        }
    }
}

/// What a record must still be for a write to be right: see
/// [`compare_and_replace`](crate::Collection::compare_and_replace).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Precondition {
    /// The record, looked for within the write's selector.
    pub key: Key,
    /// Exactly its metadata; `None` where there is no such record.
    pub metadata: Option<Arc<Metadata>>,
}

impl Precondition {
    /// A record has exactly this metadata, or is not there.
    pub fn new(key: Key, metadata: Option<Arc<Metadata>>) -> Self {
        Self { key, metadata }
    }

    /// Whether what is there now is what is expected.
    pub fn is_met_by(&self, metadata: Option<&Metadata>) -> bool {
        self.metadata.as_deref() == metadata
    }
}

/// Shows the key and how many metadata keys are expected, never their values.
impl fmt::Debug for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Precondition")
            .field("key", &self.key)
            .field(
                "metadata_keys",
                &self.metadata.as_deref().map(Metadata::len),
            )
            .finish()
    }
}

/// Changes to metadata: keys to set, and keys to remove.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MetadataPatch(BTreeMap<MetadataKey, Option<Value>>);

impl MetadataPatch {
    /// A patch that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key.
    #[must_use]
    pub fn set(mut self, key: MetadataKey, value: impl Into<Value>) -> Self {
        self.0.insert(key, Some(value.into()));
        self
    }

    /// Removes a key, as null does in JSON.
    #[must_use]
    pub fn remove(mut self, key: MetadataKey) -> Self {
        self.0.insert(key, None);
        self
    }

    /// Keys, each with its new value or `None` for removal, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&MetadataKey, Option<&Value>)> {
        self.0.iter().map(|(key, value)| (key, value.as_ref()))
    }

    /// Whether the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the patch sets or removes a key.
    pub fn touches(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The metadata after the patch.
    pub fn apply(&self, metadata: &Metadata) -> Metadata {
        let mut patched = metadata.clone();
        for (key, value) in self.iter() {
            match value {
                Some(value) => patched.insert(key.clone(), value.clone()),
                None => patched.remove(key.as_str()),
            };
        }
        patched
    }
}

/// Shows the keys, never the values.
impl fmt::Debug for MetadataPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Where a scan goes on: opaque to everybody but the store that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(Arc<str>);

impl Cursor {
    /// A cursor from the store's own text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The store's own text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A part of a scan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The records, in the store's own stable order.
    pub records: Vec<StoredRecord>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
}

impl Page {
    /// Records and where to go on.
    pub fn new(records: Vec<StoredRecord>, next: Option<Cursor>) -> Self {
        Self { records, next }
    }
}

/// The words of a query under a rule, ready for a lexical leg.
///
/// # Errors
/// [`MetadataError`] when the query holds U+0000.
pub fn query_words(
    text: &str,
    rule: shelfward_text::WordRule,
    prefix: bool,
) -> Result<Vec<QueryWord>, MetadataError> {
    if text.contains('\0') {
        return Err(MetadataError::new("the query text", MetadataProblem::Nul));
    }
    let words = rule.query_words(text).into_iter();
    Ok(words
        .filter_map(|word| Text::new(cut_word(&word)).ok())
        .map(|w| QueryWord::new(w, prefix))
        .collect())
}

/// The words of a record's text under a rule, as [`Record::words`](crate::Record::words) has them: what
/// an adapter that keeps texts makes them of again. They are not the words of a query.
pub fn text_words(text: &str, rule: shelfward_text::WordRule) -> Arc<[Text]> {
    let words = rule.words(text).into_iter();
    words
        .filter_map(|word| Text::new(cut_word(&word)).ok())
        .collect()
}

/// The most stored words that one prefix may stand for in an index of ours. A query word that begins
/// more of them is refused, never cut: a longer one says better what is meant. An engine that walks its
/// own words may take any number.
pub const MAX_PREFIX_EXPANSIONS: usize = 1_024;

/// The most bytes of a word that an index holds.
pub const MAX_WORD_BYTES: usize = 512;

/// A word as an index holds it: at most [`MAX_WORD_BYTES`], cut at a character.
fn cut_word(word: &str) -> &str {
    word.get(..word.floor_char_boundary(MAX_WORD_BYTES))
        .unwrap_or(word)
}
