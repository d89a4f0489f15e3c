//! Passages read by their ids, inside a scope.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::answer::{FoundPassage, Legs};
use super::own::passage_key;
use super::plan::{Plan, plan_reading};
use super::recheck::OwnValues;
use super::{LibraryError, LibraryIndex, Reading, Refusal};
use crate::names::{NameError, SourceId, TenantId};
use crate::observer::{DroppedHit, Event, Fetched};
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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PassageId {
    source: SourceId,
    index: u32,
}

/// Why a text is no passage's id.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassageIdError {
    /// It does not end in `#` and a whole number.
    #[error("a passage's id is its source's id, #, and its number from 0")]
    Shape,
    /// What stands before it cannot name a source.
    #[error(transparent)]
    Source(#[from] NameError),
}

crate::debug_as_chain!(PassageIdError);

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

impl fmt::Debug for PassageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl TryFrom<String> for PassageId {
    type Error = PassageIdError;

    fn try_from(id: String) -> Result<Self, PassageIdError> {
        id.parse()
    }
}

impl From<PassageId> for String {
    fn from(id: PassageId) -> Self {
        id.to_string()
    }
}

impl PartialEq<str> for PassageId {
    fn eq(&self, other: &str) -> bool {
        let index = other.strip_prefix(self.source.as_str());
        let index = index.and_then(|rest| rest.strip_prefix('#'));
        index.is_some_and(|index| index == self.index.to_string())
    }
}

impl PartialEq<&str> for PassageId {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialEq<String> for PassageId {
    fn eq(&self, other: &String) -> bool {
        self == other.as_str()
    }
}

impl fmt::Display for PassageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (f.width(), f.precision()) {
            (None, None) => write!(f, "{}#{}", self.source.as_str(), self.index),
            _ => f.pad(&format!("{}#{}", self.source.as_str(), self.index)),
        }
    }
}

impl LibraryIndex {
    /// The passages under these ids that this scope and reading leave, in the order of the ids, each
    /// `None` where there is none: absent, out of scope or outside the reading, which are not told
    /// apart.
    ///
    /// Scores are 0 and no leg is named. Nothing is embedded.
    ///
    /// # Errors
    /// [`Refusal::TooManyIds`]; [`LibraryError::Filter`] for a filter on an own or undeclared field;
    /// those of the store.
    pub async fn fetch(
        &self,
        scope: &Scope,
        reading: &Reading,
        ids: &[PassageId],
    ) -> Result<Vec<Option<FoundPassage>>, LibraryError> {
        let max = self.collection.limits().fetch_ids;
        if ids.len() > max {
            let given = ids.len();
            return Err(Refusal::TooManyIds { given, max }.into());
        }
        let (passages, dropped) = match plan_reading(scope, reading)? {
            None => (vec![None; ids.len()], Vec::new()),
            Some(plan) => {
                let (hits, dropped) = self.read(&plan, scope.tenant(), ids, Include::TEXT).await?;
                let shown = |hit: Hit| FoundPassage::new(&hit, 0.0, Legs::default());
                let passages = hits.into_iter().map(|hit| hit.and_then(shown));
                (passages.collect(), dropped)
            }
        };
        self.observe(|| {
            let answered = passages.iter().flatten().map(|found| found.id.clone());
            Event::Fetched(Fetched {
                tenant: scope.tenant().clone(),
                groups: self.digest(scope),
                asked: ids.len(),
                answered: answered.collect(),
                dropped,
            })
        });
        Ok(passages)
    }

    /// What the store has under these ids, and what of it the check drops.
    pub(super) async fn read(
        &self,
        plan: &Plan,
        tenant: &TenantId,
        ids: &[PassageId],
        include: Include,
    ) -> Result<(Vec<Option<Hit>>, Vec<DroppedHit>), LibraryError> {
        let key = |id: &PassageId| passage_key(tenant, &id.source, id.index as usize);
        let keys: Vec<_> = ids.iter().map(key).collect();
        let filter = self.collection.plan_filter(&plan.filter)?;
        let records = self
            .collection
            .fetch_planned(&keys, &filter, include)
            .await?;
        let mut dropped = Vec::new();
        let released = records.into_iter().zip(ids).map(|(record, id)| {
            let is_it = |own: &OwnValues<'_>| {
                own.is_of(&id.source) && own.index() == Some(u64::from(id.index))
            };
            plan.release(record?, is_it, &mut dropped)
        });
        Ok((released.collect(), dropped))
    }
}
