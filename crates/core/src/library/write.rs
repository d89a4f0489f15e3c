//! Writing: by the handle of one tenant, so that no tenant can touch another's source.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use shelfward_text::is_blank;

use super::own::{
    ACL_GROUPS, COUNT, FOLDER_ID, INDEX, KIND, REVISION, SOURCE_ID, STATUS, TAGS, TENANT_ID, TITLE,
    hex, keys_of, own, own_key_is_set_by, passage_key, update_prefixed,
};
use super::plan::active;
use super::source::{IndexSource, Passage, ScopeChange};
use super::{LibraryError, LibraryIndex, PassageId, PassageProblem, Refusal};
use crate::embed::{EmbedError, Role, embed_checked};
use crate::error::ErrorKind;
use crate::filter::{Filter, Op, Selector};
use crate::in_flight::Prepared as InFlight;
use crate::metadata::{List, Metadata, MetadataError, MetadataKey, MetadataProblem, Scalar, Value};
use crate::names::{AccessGroup, SourceId, TenantId};
use crate::observer::{Changed, Event, Failed};
use crate::record::{Key, Record};
use crate::scope::Groups;
use crate::search::{Count, MetadataPatch, as_count};

/// One tenant's sources. A clone is the same handle.
#[derive(Clone, Debug)]
pub struct TenantLibrary {
    index: LibraryIndex,
    tenant: TenantId,
}

/// What indexing a source did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// How many passages were written.
    pub passages: u64,
    /// How many passages of the source were there before.
    pub replaced: Count,
}

/// A source that is checked, and what it takes the place of.
pub(super) struct Prepared {
    source: SourceId,
    groups: Groups,
    records: Vec<Record>,
    selector: Selector,
    in_flight: InFlight,
    before: Option<Arc<Metadata>>,
}

/// What a change met.
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// async fn narrow(org: shelfward_core::library::TenantLibrary, id: shelfward_core::SourceId) -> Result<(), shelfward_core::library::LibraryError> {
///     org.remove_source(&id).await?; // of a misspelt source, nothing was removed
///     Ok(())
/// }
/// ```
#[must_use = "where nothing was there, as under a misspelt id, nothing was changed"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Affected {
    /// So many passages; not certainly any where the store does not count.
    Passages(Count),
    /// There is no such source, or nothing of the tenant.
    Nothing,
}

impl Affected {
    fn of(count: Count) -> Self {
        match count {
            Count::Exact(0) => Self::Nothing,
            some => Self::Passages(some),
        }
    }

    /// How many passages: 0 where nothing was there.
    pub fn count(self) -> Count {
        match self {
            Self::Passages(count) => count,
            Self::Nothing => Count::Exact(0),
        }
    }

    /// Whether nothing was there.
    pub fn is_nothing(self) -> bool {
        self == Self::Nothing
    }
}

impl TenantLibrary {
    pub(super) fn new(index: LibraryIndex, tenant: TenantId) -> Self {
        Self { index, tenant }
    }

    pub(super) fn index(&self) -> &LibraryIndex {
        &self.index
    }

    /// The tenant.
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// The store's key of a passage: for those who need to find one there. Whether there is such a
    /// passage is not asked.
    pub fn key(&self, source: &SourceId, index: usize) -> Key {
        passage_key(&self.tenant, source, index)
    }

    /// Indexes a source in the place of what the tenant holds under its id.
    ///
    /// Everything is checked and embedded before anything is deleted, so a refused source or a
    /// failed embedding leaves the old one whole. Where the store has transactions the new takes the
    /// place of the old at once; elsewhere the old is deleted first, and a failure may leave part of
    /// the new, which indexing again heals. When this returned, only the new can be found.
    ///
    /// Embedding takes its time, and the source may be re-scoped or removed meanwhile. Indexing it
    /// with what was decided before would undo that, so such a call fails with
    /// [`ErrorKind::Conflict`] and writes nothing. What other processes do to a source that was there
    /// when the call began is noticed as well, on a store that several may write to. A source that was
    /// not there yet leaves nothing in the store to tell by: its removal, or that of its tenant, is
    /// noticed where it is done in this process, and a program of several processes lets its writers
    /// end before it removes a tenant for good.
    ///
    /// # Errors
    /// [`LibraryError::Passage`], which names the passage, [`LibraryError::Refused`],
    /// [`LibraryError::Metadata`], those of the embedder and the store.
    pub async fn index_source(&self, source: IndexSource) -> Result<IndexReport, LibraryError> {
        let mut prepared = self.prepare(source).await?;
        self.embed_all(&mut [&mut prepared]).await?;
        self.write_prepared(prepared).await
    }

    /// Checks a source, and looks at what it takes the place of.
    pub(super) async fn prepare(&self, source: IndexSource) -> Result<Prepared, LibraryError> {
        self.check_source(&source)?;
        let records = self.records(&source)?;
        let selector = self.select_source(&source.id)?;
        let collection = &self.index.collection;
        let in_flight = collection.begin(&selector);
        let first = self.key(&source.id, 0);
        let before = collection.metadata_of(&first, selector.filter()).await?;
        Ok(Prepared {
            source: source.id,
            groups: source.groups,
            records,
            selector,
            in_flight,
            before,
        })
    }

    /// Writes what is checked and embedded.
    pub(super) async fn write_prepared(
        &self,
        prepared: Prepared,
    ) -> Result<IndexReport, LibraryError> {
        let Prepared {
            source,
            groups,
            records,
            selector,
            in_flight,
            before,
        } = prepared;
        let collection = &self.index.collection;
        let first = self.key(&source, 0);
        let batch = self.index.batch_size;
        let written = records.first().map(|record| record.metadata.clone());
        let groups = groups.as_slice();
        let still = |now: Option<&Metadata>| match in_flight.is_overtaken() {
            true => Err("the source or its tenant was removed while it was indexed"),
            false => still_stands(before.as_deref(), now, written.as_deref(), groups),
        };
        let replaced = collection
            .replace_unit(&selector, &records, batch, &first, &still)
            .await;
        let replaced = self.or_failed(Some(&source), "indexed", replaced)?;
        let passages = as_count(records.len());
        self.changed(Some(&source), "indexed", Count::Exact(passages));
        Ok(IndexReport {
            passages,
            replaced: replaced.removed,
        })
    }

    /// Changes who may see a source, or where it is filed; what is not given stays. Answers how many
    /// passages it was about, [`Affected::Nothing`] for a source that is not there.
    ///
    /// When this returned, no search that begins later answers by what was before.
    ///
    /// # Errors
    /// [`Refusal::NothingToChange`], and those of the store, among them `Unsupported` on a store that cannot change metadata in place.
    pub async fn set_source_scope(
        &self,
        source: &SourceId,
        change: &ScopeChange,
    ) -> Result<Affected, LibraryError> {
        let patch = patch_of(change)?;
        let selector = self.select_source(source)?;
        let changed = self.index.collection.patch_units(&selector, &patch).await;
        let count = self.or_failed(Some(source), "rescoped", changed)?;
        self.changed(Some(source), "rescoped", count);
        Ok(Affected::of(count))
    }

    /// Removes a source; answers how many passages went, [`Affected::Nothing`] for one that is not
    /// there.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn remove_source(&self, source: &SourceId) -> Result<Affected, LibraryError> {
        let selector = self.select_source(source)?;
        let removed = self.index.collection.remove_units(&selector).await;
        let count = self.or_failed(Some(source), "removed", removed)?;
        self.changed(Some(source), "removed", count);
        Ok(Affected::of(count))
    }

    /// Removes all of the tenant's sources; answers how many passages went.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn remove_tenant(&self) -> Result<Affected, LibraryError> {
        let selector = Filter::test(own(TENANT_ID), self.is_tenant()).narrow()?;
        let removed = self.index.collection.remove_units(&selector).await;
        let count = self.or_failed(None, "removed", removed)?;
        self.changed(None, "removed", count);
        Ok(Affected::of(count))
    }

    fn is_tenant(&self) -> Op {
        Op::Eq(Scalar::from(&self.tenant))
    }

    /// The tenant stands in every selector, so a source of the same id elsewhere is not met.
    fn select_source(&self, source: &SourceId) -> Result<Selector, LibraryError> {
        let selector = Filter::and(vec![
            Filter::test(own(TENANT_ID), self.is_tenant()),
            Filter::test(own(SOURCE_ID), Op::Eq(Scalar::from(source))),
        ]);
        Ok(selector.narrow()?)
    }

    fn changed(&self, source: Option<&SourceId>, change: &'static str, passages: Count) {
        self.index.observe(|| {
            Event::Changed(Changed {
                tenant: self.tenant.clone(),
                source: source.cloned(),
                change,
                passages,
            })
        });
    }

    /// Tells the observer of a write that failed after it may have changed something.
    fn or_failed<T>(
        &self,
        source: Option<&SourceId>,
        change: &'static str,
        answer: crate::Result<T>,
    ) -> Result<T, LibraryError> {
        answer.map_err(|error| {
            let untouched = error.is_refusal() || matches!(error.kind(), ErrorKind::Conflict(_));
            if !untouched {
                self.index.observe(|| {
                    Event::Failed(Failed {
                        tenant: self.tenant.clone(),
                        source: source.cloned(),
                        change,
                        error: error.to_string(),
                    })
                });
            }
            error.into()
        })
    }

    fn check_source(&self, source: &IndexSource) -> Result<(), LibraryError> {
        if source.passages.is_empty() && !source.allow_empty {
            return Err(Refusal::NoPassages(source.id.clone()).into());
        }
        let max = self.index.collection.limits().source_passages;
        if source.passages.len() > max {
            let passages = source.passages.len();
            return Err(Refusal::TooManyPassages {
                source_id: source.id.clone(),
                passages,
                max,
            }
            .into());
        }
        Ok(check_keys(&source.metadata)?)
    }

    /// The records of a source without their vectors, all checked before anything is asked.
    fn records(&self, source: &IndexSource) -> Result<Vec<Record>, LibraryError> {
        let shared = self.shared_metadata(source)?;
        let key_of = keys_of(&self.tenant, &source.id);
        let mut records = Vec::with_capacity(source.passages.len());
        for (passage, index) in source.passages.iter().zip(0..) {
            let refused = |problem| refused(&source.id, index, problem);
            if is_blank(&passage.text) {
                return Err(refused(PassageProblem::Blank));
            }
            let unfit = |kind| refused(PassageProblem::Unfit(kind));
            check_keys(&passage.metadata).map_err(|e| unfit(e.into()))?;
            let record = Record::new(key_of(index as usize), Arc::from([]))
                .with_text(passage.text.clone())
                .with_metadata(passage_metadata(passage, &shared, index));
            self.index
                .collection
                .check_before_embedding(&record)
                .map_err(unfit)?;
            records.push(record);
        }
        Ok(records)
    }

    /// Gives the records of some sources their vectors, a batch of texts at a time.
    pub(super) async fn embed_all(
        &self,
        prepared: &mut [&mut Prepared],
    ) -> Result<(), LibraryError> {
        let mut places: Vec<(&SourceId, u32, &mut Record)> = Vec::new();
        for Prepared {
            source, records, ..
        } in prepared.iter_mut().map(|prepared| &mut **prepared)
        {
            places.extend(
                (0..)
                    .zip(records)
                    .map(|(at, record)| (&*source, at, record)),
            );
        }
        for batch in places.chunks_mut(self.index.batch_size) {
            let texts = batch.iter().map(|(.., r)| r.text.as_deref());
            let texts: Vec<&str> = texts.map(Option::unwrap_or_default).collect();
            let vectors = embed_checked(&*self.index.embedder, Role::Passage, &texts)
                .await
                .map_err(|error| match error {
                    EmbedError::Vector { at, problem, .. } => match batch.get(at) {
                        Some((id, at, _)) => refused(id, *at, PassageProblem::Vector(problem)),
                        None => error.into(),
                    },
                    other => other.into(),
                })?;
            for ((id, at, record), vector) in batch.iter_mut().zip(vectors) {
                let check = self.index.collection.check_vector(&vector);
                check.map_err(|problem| refused(id, *at, PassageProblem::Vector(problem)))?;
                record.vector = vector;
            }
        }
        Ok(())
    }

    /// What every passage of a source holds, but its number: the source's metadata, and over it the
    /// own keys.
    fn shared_metadata(&self, source: &IndexSource) -> Result<Metadata, LibraryError> {
        let mut shared = source.metadata.clone();
        shared.insert(own(TENANT_ID), Scalar::from(&self.tenant));
        shared.insert(own(ACL_GROUPS), group_list(&source.groups)?);
        shared.insert(own(STATUS), active());
        shared.insert(own(SOURCE_ID), Scalar::from(&source.id));
        shared.insert(own(KIND), Scalar::from(&source.kind));
        shared.insert(own(TAGS), text_list(TAGS, &source.tags)?);
        if let Some(folder) = &source.folder {
            shared.insert(own(FOLDER_ID), text(FOLDER_ID, folder)?);
        }
        if let Some(title) = &source.title {
            shared.insert(own(TITLE), text(TITLE, title)?);
        }
        shared.insert(
            MetadataKey::own(REVISION),
            text(REVISION, &self.revision(source))?,
        );
        let count = i64::try_from(source.passages.len()).unwrap_or(i64::MAX);
        shared.insert(MetadataKey::own(COUNT), count);
        Ok(shared)
    }

    /// Names this content of the source: tenant, source, kind, number of passages, texts and
    /// metadata. Not where it stands, which a re-scope changes without knowing the content.
    fn revision(&self, source: &IndexSource) -> String {
        let mut hash = Sha256::new();
        update_prefixed(&mut hash, self.tenant.as_str());
        update_prefixed(&mut hash, source.id.as_str());
        update_prefixed(&mut hash, source.kind.as_str());
        hash.update(as_count(source.passages.len()).to_be_bytes());
        update_prefixed(&mut hash, &json(&source.metadata));
        for passage in &source.passages {
            update_prefixed(&mut hash, &passage.text);
            update_prefixed(&mut hash, &json(&passage.metadata));
        }
        let digits = hex(&hash.finalize());
        digits.get(..16).unwrap_or(&digits).to_owned()
    }
}

/// Metadata as JSON, in the order of its keys: the same for equal metadata, in every version.
fn json(metadata: &Metadata) -> String {
    // Keys are texts and numbers are finite, so this is always JSON.
    serde_json::to_string(metadata).unwrap_or_default()
}

/// Whether writing this does not undo what another writer decided since `before`: a removal, other
/// groups, another place.
fn still_stands(
    before: Option<&Metadata>,
    now: Option<&Metadata>,
    written: Option<&Metadata>,
    groups: &[AccessGroup],
) -> Result<(), &'static str> {
    let held = |metadata: Option<&Metadata>, key| metadata.and_then(|m| m.get(key).cloned());
    let Some(now) = now else {
        return match before {
            Some(_) => Err("the source was removed while it was indexed"),
            None => Ok(()),
        };
    };
    let changed = |key| held(before, key) != held(Some(now), key);
    // Narrower than, or as narrow as, what was decided meanwhile undoes nothing of it.
    let allowed = now.get(ACL_GROUPS).map_or(&[][..], Value::elements);
    let within = groups
        .iter()
        .all(|group| allowed.contains(&Scalar::from(group)));
    if changed(ACL_GROUPS) && !within {
        return Err("the source was re-scoped while it was indexed");
    }
    let undone =
        |key| before.is_some() && changed(key) && held(written, key) != held(Some(now), key);
    if [FOLDER_ID, TAGS, TITLE].into_iter().any(undone) {
        return Err("the source was filed elsewhere while it was indexed");
    }
    Ok(())
}

fn refused(source: &SourceId, index: u32, problem: PassageProblem) -> LibraryError {
    let id = PassageId::new(source.clone(), index);
    LibraryError::Passage { id, problem }
}

/// Refuses the keys that are the library's: metadata of a document must not say who may read it, and a
/// title that is only there would be lost.
fn check_keys(metadata: &Metadata) -> Result<(), MetadataError> {
    for (key, _) in metadata.iter() {
        let problem = match own_key_is_set_by(key.as_str()) {
            Some(right) => MetadataProblem::OwnKey { right },
            None if key.is_reserved() => MetadataProblem::ReservedKey,
            None => continue,
        };
        return Err(MetadataError::new(key, problem));
    }
    Ok(())
}

/// A passage's own metadata, over it the source's, over both the own keys.
fn passage_metadata(passage: &Passage, shared: &Metadata, index: u32) -> Metadata {
    let own_of_passage = passage.metadata.iter();
    let mut metadata: Metadata = own_of_passage
        .chain(shared.iter())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    metadata.insert(own(INDEX), i64::from(index));
    metadata
}

fn patch_of(change: &ScopeChange) -> Result<MetadataPatch, LibraryError> {
    if *change == ScopeChange::default() {
        return Err(Refusal::NothingToChange.into());
    }
    let mut patch = MetadataPatch::new();
    if let Some(groups) = &change.groups {
        patch = patch.set(own(ACL_GROUPS), group_list(groups)?);
    }
    if let Some(tags) = &change.tags {
        patch = patch.set(own(TAGS), text_list(TAGS, tags)?);
    }
    for (key, given) in [(FOLDER_ID, &change.folder), (TITLE, &change.title)] {
        patch = match given {
            Some(Some(value)) => patch.set(own(key), text(key, value)?),
            Some(None) => patch.remove(own(key)),
            None => patch,
        };
    }
    Ok(patch)
}

fn group_list(groups: &Groups) -> Result<Value, MetadataError> {
    let groups = groups.as_slice().iter().map(Scalar::from).collect();
    List::new(groups)
        .map(Value::List)
        .map_err(|problem| MetadataError::new(ACL_GROUPS, problem))
}

fn text(key: &str, text: &str) -> Result<Scalar, MetadataError> {
    Scalar::text(text).map_err(|problem| MetadataError::new(key, problem))
}

fn text_list(key: &str, texts: &[String]) -> Result<Value, MetadataError> {
    Value::texts(texts.iter().map(String::as_str))
        .map_err(|problem| MetadataError::new(key, problem))
}
