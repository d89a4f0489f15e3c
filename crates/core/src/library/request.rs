use std::fmt;

use serde::{Deserialize, Serialize};

use super::passage_filter::{PassageFilter, checked_ids};
use super::reading::{Branches, Reading};
use crate::filter::Filter;
use crate::search::Match;

/// What runs for a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Mode {
    /// The lexical index alone; nothing is embedded.
    Lexical,
    /// Both legs, each checked and ranked, then fused by their ranks. Where the store has no
    /// lexical leg, or the query no word, this is the dense search.
    #[default]
    Hybrid,
    /// The nearest passages.
    Dense,
}

/// What a reader asks. Who the reader is stands in the [`Scope`](crate::Scope), never here, so a
/// request can be read from data.
///
/// ```
/// use shelfward_core::library::{Mode, SearchRequest};
/// let request = SearchRequest::new("budget").top_k(3).tags(["q3"]).mode(Mode::Dense);
/// let json = serde_json::to_string(&request).unwrap();
/// assert_eq!(json, r#"{"text":"budget","mode":"dense","topK":3,"tags":["q3"]}"#);
/// assert_eq!(serde_json::from_str::<SearchRequest>(&json).unwrap(), request);
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct SearchRequest {
    pub(super) text: String,
    pub(super) mode: Mode,
    pub(super) top_k: usize,
    pub(super) matching: Match,
    pub(super) prefix: bool,
    pub(super) reading: Reading,
}

impl SearchRequest {
    /// A hybrid search for the 10 best passages, by any of the words.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            mode: Mode::default(),
            top_k: 10,
            matching: Match::default(),
            prefix: false,
            reading: Reading::new(),
        }
    }

    /// What is looked for.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What runs.
    pub fn asked_mode(&self) -> Mode {
        self.mode
    }

    /// How many passages at most.
    pub fn asked_top_k(&self) -> usize {
        self.top_k
    }

    /// Whether a passage must hold one of the words or all of them.
    pub fn asked_matching(&self) -> Match {
        self.matching
    }

    /// Whether a query word stands for every word that begins with it.
    pub fn asks_prefix(&self) -> bool {
        self.prefix
    }

    /// What of the scope is searched, which a [`fetch`](super::LibraryIndex::fetch) takes as well.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// What runs.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How many passages at most; 0 answers nothing and asks nobody.
    #[must_use]
    pub fn top_k(mut self, top_k: usize) -> Self {
        self.top_k = top_k;
        self
    }

    /// Any word of the query, or every one, in the lexical leg.
    #[must_use]
    pub fn matching(mut self, matching: Match) -> Self {
        self.matching = matching;
        self
    }

    /// Lets a stored word match that begins with a query word, in the lexical leg.
    #[must_use]
    pub fn prefix(mut self, prefix: bool) -> Self {
        self.prefix = prefix;
        self
    }

    /// Any of these kinds; none finds nothing.
    #[must_use]
    pub fn kinds<T: Into<String>>(self, kinds: impl IntoIterator<Item = T>) -> Self {
        self.narrow(|narrowing| narrowing.kinds(kinds))
    }

    /// This folder; an empty text finds nothing.
    #[must_use]
    pub fn folder(self, folder: impl Into<String>) -> Self {
        self.narrow(|narrowing| narrowing.folder(folder))
    }

    /// Any of these folders; none finds nothing.
    #[must_use]
    pub fn folder_ids<T: Into<String>>(self, folders: impl IntoIterator<Item = T>) -> Self {
        self.narrow(|narrowing| narrowing.folder_ids(folders))
    }

    /// Every one of these tags; none finds nothing.
    #[must_use]
    pub fn tags<T: Into<String>>(self, tags: impl IntoIterator<Item = T>) -> Self {
        self.narrow(|narrowing| narrowing.tags(tags))
    }

    /// Any of these sources; none finds nothing, and the store is not asked. A text that can be no
    /// source's id is refused by the search.
    #[must_use]
    pub fn source_ids<T: Into<String>>(self, sources: impl IntoIterator<Item = T>) -> Self {
        self.narrow(|narrowing| narrowing.source_ids(sources))
    }

    fn narrow(mut self, by: impl FnOnce(PassageFilter) -> PassageFilter) -> Self {
        self.reading.narrowing = by(self.reading.narrowing);
        self
    }

    /// As [`Reading::any_of`]: at least one of these branches, each within what the search is
    /// narrowed to. No branches find nothing.
    #[must_use]
    pub fn any_of(mut self, branches: impl IntoIterator<Item = PassageFilter>) -> Self {
        self.reading = self.reading.any_of(branches);
        self
    }

    /// As [`Reading::any_of_with_defaults`]: at least one of these branches, each of which may
    /// replace what the search is narrowed to. No branches find nothing.
    #[must_use]
    pub fn any_of_with_defaults(
        mut self,
        branches: impl IntoIterator<Item = PassageFilter>,
    ) -> Self {
        self.reading = self.reading.any_of_with_defaults(branches);
        self
    }

    /// A condition on the caller's own declared fields. One on a field of the library is refused.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.reading = self.reading.filter(filter);
        self
    }
}

/// Shows sizes and settings, never the query.
impl fmt::Debug for SearchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchRequest")
            .field("text_bytes", &self.text.len())
            .field("mode", &self.mode)
            .field("top_k", &self.top_k)
            .finish_non_exhaustive()
    }
}

/// The request as it is written: flat, and with nothing unknown in it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    text: String,
    #[serde(default, skip_serializing_if = "is_default")]
    mode: Mode,
    #[serde(default = "ten", skip_serializing_if = "is_ten")]
    top_k: usize,
    #[serde(default, rename = "match", skip_serializing_if = "is_default")]
    matching: Match,
    #[serde(default, skip_serializing_if = "is_default")]
    prefix: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    #[serde(
        default,
        deserialize_with = "checked_ids",
        skip_serializing_if = "Option::is_none"
    )]
    source_ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<PassageFilter>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of_with_defaults: Option<Vec<PassageFilter>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<Filter>,
}

fn ten() -> usize {
    10
}

fn is_ten(top_k: &usize) -> bool {
    *top_k == ten()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl TryFrom<Wire> for SearchRequest {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        let branches = match (wire.any_of, wire.any_of_with_defaults) {
            (Some(_), Some(_)) => return Err("anyOf and anyOfWithDefaults exclude each other"),
            (Some(branches), None) => Some(Branches::Within(branches)),
            (None, branches) => branches.map(Branches::WithDefaults),
        };
        let narrowing = PassageFilter {
            kinds: wire.kinds,
            folder_id: wire.folder_id,
            folder_ids: wire.folder_ids,
            tags: wire.tags,
            source_ids: wire.source_ids,
        };
        Ok(Self {
            text: wire.text,
            mode: wire.mode,
            top_k: wire.top_k,
            matching: wire.matching,
            prefix: wire.prefix,
            reading: Reading {
                narrowing,
                branches,
                filter: wire.filter,
            },
        })
    }
}

impl From<SearchRequest> for Wire {
    fn from(request: SearchRequest) -> Self {
        let Reading {
            narrowing,
            branches,
            filter,
        } = request.reading;
        let (any_of, any_of_with_defaults) = match branches {
            None => (None, None),
            Some(Branches::Within(branches)) => (Some(branches), None),
            Some(Branches::WithDefaults(branches)) => (None, Some(branches)),
        };
        Self {
            text: request.text,
            mode: request.mode,
            top_k: request.top_k,
            matching: request.matching,
            prefix: request.prefix,
            kinds: narrowing.kinds,
            folder_id: narrowing.folder_id,
            folder_ids: narrowing.folder_ids,
            tags: narrowing.tags,
            source_ids: narrowing.source_ids,
            any_of,
            any_of_with_defaults,
            filter,
        }
    }
}
