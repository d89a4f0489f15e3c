//! Passages read by their ids, inside a scope.

use std::fmt;
use std::str::FromStr;

use super::answer::{FoundPassage, Legs};
use super::own::passage_key;
use super::plan::plan;
use super::{LibraryError, LibraryIndex, SearchRequest};
use crate::collection::Verdict;
use crate::names::{NameError, SourceId};
use crate::record::Include;
use crate::scope::Scope;
use crate::search::Hit;

/// What names a passage among those of its tenant: `<sourceId>#<index>`.
///
/// ```
/// use shelfward_core::library::PassageId;
/// let id: PassageId = "session:s1#12".parse()?;
/// assert_eq!((id.source().as_str(), id.index()), ("session:s1", 12));
/// assert_eq!(id.to_string(), "session:s1#12");
/// # Ok::<(), shelfward_core::library::PassageIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassageId {
    source: SourceId,
    index: u32,
}

/// Why a text is no passage's id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassageIdError {
    /// It does not end in `#` and a whole number.
    #[error("a passage's id is its source's id, #, and its number from 0")]
    Shape,
    /// What stands before it cannot name a source.
    #[error(transparent)]
    Source(#[from] NameError),
}

impl PassageId {
    /// The passage of a source by its number, from 0.
    pub fn new(source: SourceId, index: u32) -> Self {
        Self { source, index }
    }

    /// The source.
    pub fn source(&self) -> &SourceId {
        &self.source
    }

    /// The passage's number in its source, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }
}

impl FromStr for PassageId {
    type Err = PassageIdError;

    /// A source's id may hold `#` itself: the last one counts.
    fn from_str(id: &str) -> Result<Self, PassageIdError> {
        let (source, index) = id.rsplit_once('#').ok_or(PassageIdError::Shape)?;
        let is_plain = index == "0" || !index.starts_with(['0', '+']);
        let index = index.parse().ok().filter(|_| is_plain);
        Ok(Self {
            source: SourceId::new(source)?,
            index: index.ok_or(PassageIdError::Shape)?,
        })
    }
}

impl fmt::Display for PassageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.source.as_str(), self.index)
    }
}

impl LibraryIndex {
    /// The passages under these ids that a search by `request` in this scope could find, in the
    /// order of the ids, each `None` where there is none: absent, out of scope or outside the
    /// narrowing of the request, which are not told apart.
    ///
    /// Of the request, the narrowing and the filter count; its text is not searched for. Scores are
    /// 0 and no leg is named. Nothing is embedded.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub async fn fetch(
        &self,
        scope: &Scope,
        request: &SearchRequest,
        ids: &[PassageId],
    ) -> Result<Vec<Option<FoundPassage>>, LibraryError> {
        let Some(plan) = plan(scope, request, self.collection.ceilings())? else {
            return Ok(vec![None; ids.len()]);
        };
        let key = |id: &PassageId| passage_key(scope.tenant(), &id.source, id.index as usize);
        let keys: Vec<_> = ids.iter().map(key).collect();
        let filter = self.collection.plan_filter(&plan.filter)?;
        let records = self
            .collection
            .fetch_planned(&keys, &filter, Include::TEXT)
            .await?;
        let mut passages: Vec<Option<FoundPassage>> = records
            .into_iter()
            .map(|record| {
                let record = record?;
                let hit = Hit::new(record.key, 0.0, record.text, record.metadata);
                let keeps = plan.check.verdict(&hit) == Verdict::Keep;
                keeps.then(|| FoundPassage::new(&hit, 0.0, Legs::default()))
            })
            .collect();
        // A store that answers less or other than asked cannot put a passage under another's id.
        passages.resize(ids.len(), None);
        for (passage, id) in passages.iter_mut().zip(ids) {
            let is_it = |found: &FoundPassage| {
                found.source_id == id.source.as_str() && found.index == u64::from(id.index)
            };
            *passage = passage.take().filter(is_it);
        }
        Ok(passages)
    }
}
