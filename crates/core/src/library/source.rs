//! What is filed: sources, their passages, and changes to where they stand.

use std::fmt;
use std::sync::Arc;

use crate::metadata::Metadata;
use crate::names::{SourceId, SourceKind};
use crate::scope::{Groups, GroupsError};

/// A source to index, whole.
///
/// ```
/// use shelfward_core::library::{IndexSource, Passage};
/// use shelfward_core::{Groups, SourceId, SourceKind};
/// let id = SourceId::new("meeting:17")?;
/// let source = IndexSource::new(id, SourceKind::new("meeting")?, Groups::of(["team:harbor"])?)
///     .title("Weekly round")
///     .tags(["weekly"])
///     .passages([Passage::new("The crane is serviced on Friday, so ships wait until noon.")]);
/// # Ok::<(), shelfward_core::GroupsError>(())
/// ```
#[derive(Clone)]
pub struct IndexSource {
    pub(super) id: SourceId,
    pub(super) kind: SourceKind,
    pub(super) groups: Groups,
    pub(super) folder: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) title: Option<String>,
    pub(super) metadata: Metadata,
    pub(super) passages: Vec<Passage>,
    pub(super) allow_empty: bool,
}

impl IndexSource {
    /// A source without passages: its id, its kind, and the groups that may see it.
    pub fn new(id: SourceId, kind: SourceKind, groups: Groups) -> Self {
        Self {
            id,
            kind,
            groups,
            folder: None,
            tags: Vec::new(),
            title: None,
            metadata: Metadata::new(),
            passages: Vec::new(),
            allow_empty: false,
        }
    }

    /// The folder that it is filed in; an empty text is none.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folder = Some(folder.into()).filter(|folder| !folder.is_empty());
        self
    }

    /// Its tags.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Its title; an empty text is none.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into()).filter(|title| !title.is_empty());
        self
    }

    /// Metadata for every passage. It wins over a passage's own; a key of the library's own is refused in
    /// both.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Its passages, in order.
    #[must_use]
    pub fn passages(mut self, passages: impl IntoIterator<Item = Passage>) -> Self {
        self.passages = passages.into_iter().collect();
        self
    }

    /// Lets a source without passages take the old ones out. Without this it is refused, and the
    /// old ones stay.
    #[must_use]
    pub fn allow_empty(mut self, allow: bool) -> Self {
        self.allow_empty = allow;
        self
    }

    /// The id.
    pub fn id(&self) -> &SourceId {
        &self.id
    }
}

/// Shows ids and numbers, never texts.
impl fmt::Debug for IndexSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexSource")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("groups", &self.groups)
            .field("passages", &self.passages.len())
            .finish_non_exhaustive()
    }
}

/// A passage of a source.
#[derive(Clone, PartialEq)]
pub struct Passage {
    pub(super) text: Arc<str>,
    pub(super) metadata: Metadata,
}

impl Passage {
    /// A passage of this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            metadata: Metadata::new(),
        }
    }

    /// Metadata of this passage alone.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passage")
            .field("text_bytes", &self.text.len())
            .field("metadata_keys", &self.metadata.len())
            .finish()
    }
}

/// What to change of where a source stands. What is not given stays as it is.
///
/// ```
/// use shelfward_core::library::ScopeChange;
/// let change = ScopeChange::new().groups(["team:harbor"])?.remove_folder().tags(["weekly", "final"]);
/// # Ok::<(), shelfward_core::GroupsError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ScopeChange {
    pub(super) groups: Option<Groups>,
    pub(super) folder: Option<Option<String>>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) title: Option<Option<String>>,
}

impl ScopeChange {
    /// Changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The groups that may see the source from now on, at least one.
    ///
    /// # Errors
    /// [`GroupsError`], as for an empty list.
    pub fn groups<G: AsRef<str>>(
        mut self,
        groups: impl IntoIterator<Item = G>,
    ) -> Result<Self, GroupsError> {
        self.groups = Some(Groups::of(groups)?);
        Ok(self)
    }

    /// Files the source in a folder; an empty text takes it out of its folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folder = Some(Some(folder.into()).filter(|folder| !folder.is_empty()));
        self
    }

    /// Takes the source out of its folder.
    #[must_use]
    pub fn remove_folder(mut self) -> Self {
        self.folder = Some(None);
        self
    }

    /// Takes the title away.
    #[must_use]
    pub fn remove_title(mut self) -> Self {
        self.title = Some(None);
        self
    }

    /// The tags from now on.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// The title from now on; an empty text takes it away.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(Some(title.into()).filter(|title| !title.is_empty()));
        self
    }
}

/// Shows what is given, never the groups or texts themselves.
impl fmt::Debug for ScopeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeChange")
            .field("groups", &self.groups)
            .field("folder", &self.folder.as_ref().map(Option::is_some))
            .field("tags", &self.tags.as_ref().map(Vec::len))
            .field("title", &self.title.as_ref().map(Option::is_some))
            .finish()
    }
}
