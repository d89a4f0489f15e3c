use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::PassageId;
use super::own::ACL_GROUPS;
use super::recheck::{OwnValues, text, texts};
use crate::metadata::{Metadata, MetadataKey, Value};
use crate::names::{SourceId, SourceKind};
use crate::search::Hit;

/// What a search answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SearchAnswer {
    /// The passages, best first, at most as many as asked for.
    pub passages: Vec<FoundPassage>,
    /// Whether that is all there is to answer: as many as asked for, or every leg came to its end.
    pub complete: bool,
    /// What ran.
    pub ran: ExecutedMode,
}

/// What ran for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ExecutedMode {
    /// Nothing: the request could find nothing.
    Nothing,
    /// The lexical leg alone.
    Lexical,
    /// The dense leg alone.
    Dense,
    /// Both legs, fused by rank.
    Hybrid,
}

/// A passage that the reader may read.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FoundPassage {
    /// `<sourceId>#<index>`.
    pub id: PassageId,
    /// The source.
    pub source_id: SourceId,
    /// The source's kind.
    pub kind: SourceKind,
    /// The passage's number in its source, from 0.
    pub index: u32,
    /// The text; empty when the passage has none.
    pub text: Arc<str>,
    /// How well it answers, by what ran: the store's dense score, BM25, or the fused score. Where a
    /// store scores words by a rule of its own, its lexical score is not shown and this is
    /// 1 / (60 + rank).
    pub score: f64,
    /// The title, when the source has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The folder, when the source is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
    /// The source's tags.
    pub tags: Vec<String>,
    /// All metadata, but what the library keeps for itself and who else may read it.
    pub metadata: Metadata,
    /// Where each leg ranked it.
    pub legs: Legs,
    #[serde(skip)]
    groups: Option<Value>,
}

/// Where each leg ranked a passage, among those that the reader may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Legs {
    /// In the dense leg.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<LegRank>,
    /// In the lexical leg.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<LegRank>,
}

/// A place in one leg.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegRank {
    /// The rank, from 1.
    pub rank: u32,
    /// The leg's score; `None` for a lexical score by a rule of the store's own, whose statistics
    /// may tell of other tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

impl FoundPassage {
    /// A passage from a hit that passed the re-check.
    pub(super) fn new(hit: &Hit, score: f64, legs: Legs) -> Option<Self> {
        let held = &*hit.metadata;
        let own = OwnValues::of(held);
        let owned = |value| text(value).map(str::to_owned);
        let id = own.passage_id()?;
        let kept = |key: &MetadataKey| key.is_reserved() || key.as_str() == ACL_GROUPS;
        let shown = held.iter().filter(|(key, _)| !kept(key));
        Some(Self {
            source_id: id.source().clone(),
            kind: own.source_kind()?,
            index: id.index(),
            id,
            text: hit.text.clone().unwrap_or_else(|| Arc::from("")),
            score,
            title: owned(own.title),
            folder_id: owned(own.folder),
            tags: texts(own.tags).map(str::to_owned).collect(),
            metadata: shown
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            legs,
            groups: own.groups.cloned(),
        })
    }
}

impl FoundPassage {
    /// The groups that may read it, for programs that decide by them. They say who else is in what,
    /// so they stand in no JSON form and no metadata of a passage, which are made to be passed on to
    /// its reader.
    pub fn access_groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.as_ref().map_or(&[][..], Value::elements);
        groups.iter().filter_map(|group| group.as_text())
    }
}

/// Shows ids and places, never the text.
impl fmt::Debug for FoundPassage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundPassage")
            .field("id", &self.id)
            .field("score", &self.score)
            .field("legs", &self.legs)
            .field("text_bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}
