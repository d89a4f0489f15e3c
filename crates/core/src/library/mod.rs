//! The Library Index: sources over any store, each held as a unit under a tenant and access groups.
//!
//! A source is replaced whole, re-scoped or removed, by a handle of its tenant. A search names a
//! scope and is answered inside it, checked twice: by the store's filter, and by the index on every
//! hit, on the metadata that came with the text.

mod answer;
mod bulk;
mod error;
mod listing;
mod own;
mod passage_filter;
mod plan;
mod read;
mod reading;
mod recheck;
mod request;
mod search;
mod source;
mod write;

use std::fmt;
use std::sync::Arc;

use shelfward_text::{Highlighter, WordRule};

pub use answer::{ExecutedMode, FoundPassage, LegRank, Legs, SearchAnswer};
pub use bulk::IndexOutcome;
pub use error::{LibraryError, PassageProblem, Refusal};
pub use listing::{FiledSource, ListedSource, SourcePage};
pub use own::{
    ACL_GROUPS, ACTIVE, FOLDER_ID, INDEX, KIND, OWN_KEYS, SOURCE_ID, STATUS, TAGS, TENANT_ID,
    TITLE, own_fields,
};
pub use passage_filter::PassageFilter;
pub use read::{PassageId, PassageIdError};
pub use reading::Reading;
pub use request::{Mode, SearchRequest};
pub use source::{IndexSource, Passage, ScopeChange};
pub use write::{Affected, IndexReport, TenantLibrary};

pub(crate) use error::embedded;
pub(crate) use own::{hex, is_library};

use crate::capabilities::Replace;
use crate::collection::Collection;
use crate::embed::Embedder;
use crate::error::{ErrorKind, Operation, StoreError};
use crate::names::{CollectionName, TenantId};
use crate::observer::{DigestKey, Event, Observer};
use crate::scope::Scope;
use crate::spec::{CollectionSpec, Field, Metric};
use crate::store::Store;

/// A library over a collection of some store. A clone is the same library.
///
/// Nothing can be read from it without a [`Scope`]:
///
/// ```compile_fail
/// async fn unscoped(index: shelfward_core::LibraryIndex, request: shelfward_core::library::SearchRequest) {
///     index.search(&request).await;
/// }
/// ```
#[derive(Clone)]
pub struct LibraryIndex {
    collection: Collection,
    embedder: Arc<dyn Embedder>,
    batch_size: usize,
    observer: Option<Arc<dyn Observer>>,
    digest_key: Option<DigestKey>,
}

/// What a library to be made is: its collection's name, and how it compares and cuts words.
#[derive(Clone, Debug)]
pub struct LibrarySpec {
    name: CollectionName,
    metric: Metric,
    word_rule: WordRule,
    fields: Vec<Field>,
    open_fields: bool,
}

impl LibrarySpec {
    /// A library under cosine and the default word rule, with the library's own fields.
    pub fn new(name: CollectionName) -> Self {
        Self {
            name,
            metric: Metric::Cosine,
            word_rule: WordRule::default(),
            fields: Vec::new(),
            open_fields: false,
        }
    }

    /// How vectors are compared.
    #[must_use]
    pub fn with_metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// How texts are cut into words.
    #[must_use]
    pub fn with_word_rule(mut self, rule: WordRule) -> Self {
        self.word_rule = rule;
        self
    }

    /// Fields of the caller's own metadata that searches may filter by.
    #[must_use]
    pub fn with_fields(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.fields.extend(fields);
        self
    }

    /// Lets searches filter by any of the caller's metadata, where the store can.
    #[must_use]
    pub fn with_open_fields(mut self, open: bool) -> Self {
        self.open_fields = open;
        self
    }

    /// The collection that a library of this spec is, with an embedder's vectors: for stores whose
    /// tables a person makes.
    ///
    /// # Errors
    /// [`Refusal::OwnField`] for a field of the library's own.
    pub fn collection_spec(&self, embedder: &dyn Embedder) -> Result<CollectionSpec, LibraryError> {
        if let Some(field) = self
            .fields
            .iter()
            .find(|f| OWN_KEYS.contains(&f.key.as_str()))
        {
            return Err(Refusal::OwnField(field.key.to_string()).into());
        }
        Ok(CollectionSpec::new(
            self.name.clone(),
            embedder.width(),
            self.metric,
            embedder.id(),
        )
        .with_word_rule(self.word_rule)
        .with_open_fields(self.open_fields)
        .with_fields(own_fields())
        .with_fields(self.fields.iter().cloned()))
    }
}

impl LibraryIndex {
    /// Opens a library that is there. Creates and changes nothing.
    ///
    /// # Errors
    /// [`LibraryError::Store`] where there is no such collection, or where it holds vectors of
    /// another embedder or width, both named; [`Refusal::NoLibrary`] where the collection lacks the
    /// library's fields; `Unsupported` on a store that could never take a source out again.
    pub async fn open(
        store: &Store,
        name: &CollectionName,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, LibraryError> {
        Self::over(store.open_unscoped(name).await?, embedder)
    }

    /// Makes a library, or opens an equal one and adds the fields that it lacks.
    ///
    /// # Errors
    /// As [`LibraryIndex::open`], and [`Refusal::OwnField`] for a field of the library's own.
    pub async fn ensure(
        store: &Store,
        spec: LibrarySpec,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, LibraryError> {
        let spec = spec.collection_spec(&*embedder)?;
        Self::over(store.ensure_unscoped(&spec).await?, embedder)
    }

    /// A library over an open collection.
    ///
    /// # Errors
    /// As [`LibraryIndex::open`].
    pub fn over(collection: Collection, embedder: Arc<dyn Embedder>) -> Result<Self, LibraryError> {
        let spec = collection.spec();
        let mut asked = spec.clone();
        embedder.id().clone_into(&mut asked.embedder);
        asked.width = embedder.width();
        asked.fields = own_fields();
        if let Some(lacking) = spec.missing_fields(&asked).first() {
            return Err(Refusal::NoLibrary(lacking.key.to_string()).into());
        }
        spec.check_compatible(&asked)
            .map_err(|e| StoreError::new(Operation::Open, e).on(&spec.name))?;
        let can = collection.capabilities();
        if can.replace != Replace::Atomic && can.delete_matching.is_none() && !can.scan {
            // Found out at the first write, it would be found out with half a library filed.
            let needs = "a library, which needs an atomic replace, a delete by filter or a scan";
            return Err(
                StoreError::new(Operation::Open, ErrorKind::Unsupported(needs))
                    .on(&collection.spec().name)
                    .into(),
            );
        }
        Ok(Self {
            collection,
            embedder,
            batch_size: 64,
            observer: None,
            digest_key: None,
        })
    }

    /// How many texts are embedded by one call, and how many passages one write carries to a store
    /// without transactions. Default 64.
    ///
    /// # Errors
    /// [`Refusal::ZeroBatch`].
    pub fn with_batch_size(mut self, size: usize) -> Result<Self, LibraryError> {
        if size == 0 {
            return Err(Refusal::ZeroBatch.into());
        }
        self.batch_size = size;
        Ok(self)
    }

    /// Sends an event of every search and write to an observer. With a key, events of searches
    /// carry a keyed digest of the groups.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>, key: Option<DigestKey>) -> Self {
        self.observer = Some(observer);
        self.digest_key = key;
        self
    }

    /// What the library's collection is.
    pub fn spec(&self) -> &CollectionSpec {
        self.collection.spec()
    }

    /// What the library's collection can do.
    pub fn capabilities(&self) -> &crate::Capabilities {
        self.collection.capabilities()
    }

    /// The limits of its requests.
    pub fn limits(&self) -> &crate::Limits {
        self.collection.limits()
    }

    /// Shows why passages answer a request: the part that holds most of its words, with the words marked.
    /// Words are read by the library's word rule, and as prefixes if the request's are. What a passage
    /// was found by for its meaning alone is not marked.
    #[must_use]
    pub fn highlighter(&self, request: &SearchRequest) -> Highlighter {
        Highlighter::new(self.spec().word_rule, &request.text).prefix(request.prefix)
    }

    /// The handle by which one tenant's sources are written.
    pub fn tenant(&self, tenant: TenantId) -> TenantLibrary {
        TenantLibrary::new(self.clone(), tenant)
    }

    /// The observer, where there is one: for a search that is composed of the library's own and is
    /// told as one.
    pub fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.observer.as_ref()
    }

    /// As this library, with another observer. The key of its digests stays.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    fn digest(&self, scope: &Scope) -> Option<String> {
        self.digest_key.as_ref().map(|key| key.digest(scope))
    }

    fn observe(&self, event: impl FnOnce() -> Event) {
        if let Some(observer) = &self.observer {
            observer.observe(&event());
        }
    }
}

impl fmt::Debug for LibraryIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryIndex")
            .field("collection", &self.spec().name)
            .field("embedder", &self.embedder.id())
            .finish_non_exhaustive()
    }
}
