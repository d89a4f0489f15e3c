use std::fmt;

use serde::{Deserialize, Serialize};

use super::narrowing::Narrowing;
use crate::filter::Filter;
use crate::names::SourceId;
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
#[serde(from = "Wire", into = "Wire")]
pub struct SearchRequest {
    pub(super) text: String,
    pub(super) mode: Mode,
    pub(super) top_k: usize,
    pub(super) matching: Match,
    pub(super) prefix: bool,
    pub(super) narrowing: Narrowing,
    pub(super) any_of: Option<Vec<Narrowing>>,
    pub(super) filter: Option<Filter>,
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
            narrowing: Narrowing::new(),
            any_of: None,
            filter: None,
        }
    }

    /// What is looked for.
    pub fn text(&self) -> &str {
        &self.text
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

    /// Any of these kinds; none narrows nothing.
    #[must_use]
    pub fn kinds<T: Into<String>>(mut self, kinds: impl IntoIterator<Item = T>) -> Self {
        self.narrowing = self.narrowing.kinds(kinds);
        self
    }

    /// This folder; an empty text narrows nothing.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.narrowing = self.narrowing.folder(folder);
        self
    }

    /// Any of these folders; none finds nothing.
    #[must_use]
    pub fn folder_ids<T: Into<String>>(mut self, folders: impl IntoIterator<Item = T>) -> Self {
        self.narrowing = self.narrowing.folder_ids(folders);
        self
    }

    /// Every one of these tags; none narrows nothing.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.narrowing = self.narrowing.tags(tags);
        self
    }

    /// Any of these sources; none finds nothing, and the store is not asked.
    #[must_use]
    pub fn source_ids(mut self, sources: impl IntoIterator<Item = SourceId>) -> Self {
        self.narrowing = self.narrowing.source_ids(sources);
        self
    }

    /// At least one of these branches, each beside the scope. What a branch gives replaces what the
    /// search gives; what it does not give is the search's. No branches find nothing.
    #[must_use]
    pub fn any_of(mut self, branches: impl IntoIterator<Item = Narrowing>) -> Self {
        self.any_of = Some(branches.into_iter().collect());
        self
    }

    /// A condition on the caller's own declared fields. One on a field of the library is refused.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
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
    #[serde(skip_serializing_if = "Option::is_none")]
    source_ids: Option<Vec<SourceId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Narrowing>>,
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

impl From<Wire> for SearchRequest {
    fn from(wire: Wire) -> Self {
        let Wire {
            text,
            mode,
            top_k,
            matching,
            prefix,
            any_of,
            filter,
            ..
        } = wire;
        let narrowing = Narrowing {
            kinds: wire.kinds,
            folder_id: wire.folder_id,
            folder_ids: wire.folder_ids,
            tags: wire.tags,
            source_ids: wire.source_ids,
        };
        Self {
            text,
            mode,
            top_k,
            matching,
            prefix,
            narrowing,
            any_of,
            filter,
        }
    }
}

impl From<SearchRequest> for Wire {
    fn from(request: SearchRequest) -> Self {
        let SearchRequest {
            text,
            mode,
            top_k,
            matching,
            prefix,
            narrowing,
            any_of,
            filter,
        } = request;
        let Narrowing {
            kinds,
            folder_id,
            folder_ids,
            tags,
            source_ids,
        } = narrowing;
        Self {
            text,
            mode,
            top_k,
            matching,
            prefix,
            kinds,
            folder_id,
            folder_ids,
            tags,
            source_ids,
            any_of,
            filter,
        }
    }
}
