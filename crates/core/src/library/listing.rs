//! Which sources there are: for a reader inside its scope, for a writer in its tenant.
//!
//! What is said of a source is read from its first passage, which all of its passages agree with.

use std::fmt;
use std::num::NonZeroUsize;

use serde::Serialize;

use super::answer::{FoundPassage, Legs};
use super::own::{COUNT, INDEX, OWN_KEYS, REVISION, SOURCE_ID, own};
use super::plan::{Plan, plan_reading, plan_tenant};
use super::recheck::{OwnValues, text, texts, whole};
use super::{LibraryError, LibraryIndex, PassageId, Reading, Refusal, TenantLibrary};
use crate::error::Operation;
use crate::filter::{Filter, Op};
use crate::metadata::{Metadata, Scalar};
use crate::names::{SourceId, SourceKind, TenantId};
use crate::observer::{Event, Fetched, Listed};
use crate::record::Include;
use crate::scope::Scope;
use crate::search::Cursor;

/// A source as its readers may see it.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedSource {
    /// The id.
    pub id: SourceId,
    /// The kind.
    pub kind: SourceKind,
    /// The title, when it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The folder, when it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// How many passages it was filed with.
    pub passages: u64,
    /// The caller's own metadata, as its first passage has it.
    pub metadata: Metadata,
}

/// A source as those see it who may write it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FiledSource {
    /// What its readers see.
    #[serde(flatten)]
    pub source: ListedSource,
    /// The groups that may read it.
    pub access_groups: Vec<String>,
    /// Names its content: texts, metadata and their number. Two filings of equal content have equal
    /// revisions; groups, folder, tags and title are no part of it. Empty where the store holds none.
    pub revision: String,
}

/// Some of the sources, and where to go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SourcePage<S> {
    /// At most as many as asked for, in the store's own stable order.
    pub sources: Vec<S>,
    /// Where to go on; `None` at the end.
    ///
    /// It tells the store where the last source stands that was looked at, and opens nothing: a page
    /// behind it is checked like the first.
    pub next: Option<Cursor>,
}

/// Shows the id and how much there is, never a title or metadata.
impl fmt::Debug for ListedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedSource")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("passages", &self.passages)
            .finish_non_exhaustive()
    }
}

impl ListedSource {
    fn of(metadata: &Metadata) -> Option<Self> {
        Self::with(&OwnValues::of(metadata), metadata)
    }

    fn with(own: &OwnValues<'_>, metadata: &Metadata) -> Option<Self> {
        let others = metadata
            .iter()
            .filter(|(key, _)| !key.is_reserved() && !OWN_KEYS.contains(&key.as_str()));
        Some(Self {
            id: own.source_id()?,
            kind: own.source_kind()?,
            title: text(own.title).map(str::to_owned),
            folder_id: text(own.folder).map(str::to_owned),
            tags: texts(own.tags).map(str::to_owned).collect(),
            passages: whole(metadata.get(COUNT)).unwrap_or_default(),
            metadata: others
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        })
    }
}

impl FiledSource {
    fn of(metadata: &Metadata) -> Option<Self> {
        let own = OwnValues::of(metadata);
        Some(Self {
            source: ListedSource::with(&own, metadata)?,
            access_groups: texts(own.groups).map(str::to_owned).collect(),
            revision: metadata.text(REVISION).unwrap_or_default().to_owned(),
        })
    }
}

impl LibraryIndex {
    /// The sources that this scope and reading leave, a page at a time. Nothing is embedded, and
    /// nothing is said or counted of what the scope may not read.
    ///
    /// # Errors
    /// [`Refusal::PageSize`]; [`LibraryError::Filter`] for a filter on an own or undeclared field;
    /// those of the store, among them `Unsupported` on one that cannot scan.
    pub async fn sources(
        &self,
        scope: &Scope,
        reading: &Reading,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<SourcePage<ListedSource>, LibraryError> {
        let plan = plan_reading(scope, reading)?;
        let told = (scope.tenant(), self.digest(scope));
        self.list(told, plan, after, limit, ListedSource::of).await
    }

    /// A source that this scope may read; `None` where there is none: absent or out of scope, which
    /// are not told apart.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn source(
        &self,
        scope: &Scope,
        id: &SourceId,
    ) -> Result<Option<ListedSource>, LibraryError> {
        let plan = plan_reading(scope, &Reading::new())?;
        let told = (scope.tenant(), self.digest(scope));
        self.find(told, plan, id, ListedSource::of).await
    }

    /// Every first passage that the plan leaves.
    async fn list<S>(
        &self,
        (tenant, groups): (&TenantId, Option<String>),
        plan: Option<Plan>,
        after: Option<&Cursor>,
        limit: usize,
        shown: impl Fn(&Metadata) -> Option<S>,
    ) -> Result<SourcePage<S>, LibraryError> {
        let max = self.collection.limits().page_sources;
        let Some(limit) = NonZeroUsize::new(limit).filter(|limit| limit.get() <= max) else {
            return Err(Refusal::PageSize { given: limit, max }.into());
        };
        let mut page = SourcePage {
            sources: Vec::new(),
            next: None,
        };
        let (mut answered, mut dropped) = (Vec::new(), Vec::new());
        if let Some(plan) = plan {
            let first = Filter::test(own(INDEX), Op::Eq(Scalar::Integer(0)));
            let filter = Filter::and(vec![plan.filter.clone(), first]);
            page.next = after.cloned();
            loop {
                let missing = limit.get() - page.sources.len();
                let found = self
                    .collection
                    .scan(&filter, page.next.as_ref(), missing, Include::METADATA)
                    .await?;
                page.next =
                    self.collection
                        .goes_on(Operation::Scan, page.next.as_ref(), found.next)?;
                for record in found.records {
                    let is_first = |own: &OwnValues<'_>| own.index() == Some(0);
                    let Some(hit) = plan.release(record, is_first, &mut dropped) else {
                        continue;
                    };
                    answered.extend(OwnValues::of(&hit.metadata).source_id());
                    page.sources.extend(shown(&hit.metadata));
                }
                if page.next.is_none() || page.sources.len() >= limit.get() {
                    break;
                }
            }
        }
        self.observe(|| {
            Event::Listed(Listed {
                tenant: tenant.clone(),
                groups,
                answered,
                dropped,
            })
        });
        Ok(page)
    }

    /// One source, by its first passage.
    async fn find<S>(
        &self,
        (tenant, groups): (&TenantId, Option<String>),
        plan: Option<Plan>,
        id: &SourceId,
        shown: impl Fn(&Metadata) -> Option<S>,
    ) -> Result<Option<S>, LibraryError> {
        let Some(plan) = plan else {
            return Ok(None);
        };
        let first = [PassageId::new(id.clone(), 0)];
        let (hits, dropped) = self.read(&plan, tenant, &first, Include::METADATA).await?;
        let found = hits.iter().flatten().next();
        let found = found.and_then(|hit| shown(&hit.metadata));
        self.observe(|| {
            Event::Listed(Listed {
                tenant: tenant.clone(),
                groups,
                answered: found.iter().map(|_| id.clone()).collect(),
                dropped,
            })
        });
        Ok(found)
    }
}

impl TenantLibrary {
    /// The tenant's sources that this reading leaves, a page at a time, whoever may read them: for
    /// programs that write them, as to compare a folder with what is filed. Nothing is embedded.
    ///
    /// # Errors
    /// As [`LibraryIndex::sources`].
    pub async fn sources(
        &self,
        reading: &Reading,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<SourcePage<FiledSource>, LibraryError> {
        let plan = plan_tenant(self.tenant(), reading)?;
        let index = self.index();
        index
            .list((self.tenant(), None), plan, after, limit, FiledSource::of)
            .await
    }

    /// A source of the tenant; `None` where it is not filed.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn source(&self, id: &SourceId) -> Result<Option<FiledSource>, LibraryError> {
        let plan = plan_tenant(self.tenant(), &Reading::new())?;
        let index = self.index();
        index
            .find((self.tenant(), None), plan, id, FiledSource::of)
            .await
    }

    /// Whether a source of this id is filed.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn has_source(&self, id: &SourceId) -> Result<bool, LibraryError> {
        Ok(self.source(id).await?.is_some())
    }

    /// All passages of a source in their order, whoever may read them: to file them elsewhere, or to
    /// build an index of words beside the library. Scores are 0. Empty where it is not filed.
    ///
    /// # Errors
    /// Those of the store, among them `Unsupported` on one that cannot scan.
    pub async fn passages(&self, id: &SourceId) -> Result<Vec<FoundPassage>, LibraryError> {
        let Some(plan) = plan_tenant(self.tenant(), &Reading::new())? else {
            return Ok(Vec::new());
        };
        let of_source = Filter::test(own(SOURCE_ID), Op::Eq(Scalar::from(id)));
        let filter = Filter::and(vec![plan.filter.clone(), of_source]);
        let (mut passages, mut dropped) = (Vec::new(), Vec::new());
        let collection = &self.index().collection;
        let each = |record| {
            let hit = plan.release(record, |own| own.is_of(id), &mut dropped);
            passages.extend(hit.and_then(|hit| FoundPassage::new(&hit, 0.0, Legs::default())));
        };
        collection
            .scan_matching(&filter, Include::TEXT, each)
            .await?;
        passages.sort_by_key(|passage: &FoundPassage| passage.index);
        self.index().observe(|| {
            Event::Fetched(Fetched {
                tenant: self.tenant().clone(),
                groups: None,
                asked: passages.len(),
                answered: passages.iter().map(|found| found.id.clone()).collect(),
                dropped,
            })
        });
        Ok(passages)
    }
}
