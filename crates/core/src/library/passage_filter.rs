use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::LibraryError;
use super::own::{FOLDER_ID, KIND, SOURCE_ID, TAGS, own};
use crate::filter::{Filter, Op};
use crate::metadata::{MetadataError, Scalar};
use crate::names::{NameError, SourceId};

/// What a search is narrowed to, beside its scope; also one branch of `any_of`.
///
/// What is not given does not narrow. **What is given and empty finds nothing**, whatever it is: a
/// list of what somebody may see, made from permissions, may come out empty, and must not widen. To
/// leave something open, leave it out.
///
/// ```
/// use shelfward_core::library::PassageFilter;
/// let open = PassageFilter::new();
/// let nothing = PassageFilter::new().kinds(Vec::<String>::new());
/// assert_ne!(open, nothing);
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PassageFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kinds: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) folder_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) folder_ids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tags: Option<Vec<String>>,
    #[serde(
        default,
        deserialize_with = "checked_ids",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) source_ids: Option<Vec<String>>,
}

/// Refuses in data, where it is read, what the search would refuse.
pub(super) fn checked_ids<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let ids = Option::<Vec<SourceId>>::deserialize(deserializer)?;
    Ok(ids.map(texts))
}

fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

impl PassageFilter {
    /// Narrows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Any of these kinds.
    #[must_use]
    pub fn kinds<T: Into<String>>(mut self, kinds: impl IntoIterator<Item = T>) -> Self {
        self.kinds = Some(texts(kinds));
        self
    }

    /// This folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folder_id = Some(folder.into());
        self
    }

    /// Any of these folders.
    #[must_use]
    pub fn folder_ids<T: Into<String>>(mut self, folders: impl IntoIterator<Item = T>) -> Self {
        self.folder_ids = Some(texts(folders));
        self
    }

    /// Every one of these tags.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(texts(tags));
        self
    }

    /// Any of these sources. A text that can be no source's id is refused by the search.
    #[must_use]
    pub fn source_ids<T: Into<String>>(mut self, sources: impl IntoIterator<Item = T>) -> Self {
        self.source_ids = Some(texts(sources));
        self
    }

    /// This narrowing, with what it does not give taken from another.
    pub(super) fn or(&self, other: &Self) -> Self {
        fn either<T: Clone>(ours: &Option<T>, other: &Option<T>) -> Option<T> {
            ours.clone().or_else(|| other.clone())
        }
        Self {
            kinds: either(&self.kinds, &other.kinds),
            folder_id: either(&self.folder_id, &other.folder_id),
            folder_ids: either(&self.folder_ids, &other.folder_ids),
            tags: either(&self.tags, &other.tags),
            source_ids: either(&self.source_ids, &other.source_ids),
        }
    }

    /// Whether nothing can be found, so that nobody needs to be asked.
    pub(super) fn finds_nothing(&self) -> bool {
        let texts = [&self.kinds, &self.folder_ids, &self.tags];
        let empty = texts.into_iter().flatten().any(|given| given.is_empty());
        let no_source = self.source_ids.as_ref().is_some_and(Vec::is_empty);
        let no_folder = self.folder_id.as_ref().is_some_and(|folder| {
            let among = |folders: &Vec<String>| folders.contains(folder);
            folder.is_empty() || !self.folder_ids.as_ref().is_none_or(among)
        });
        empty || no_source || no_folder
    }

    /// The conditions, each to hold.
    pub(super) fn conditions(&self) -> Result<Vec<Filter>, LibraryError> {
        let mut conditions = Vec::new();
        let mut add = |key, op| conditions.push(Filter::test(own(key), op));
        if let Some(kinds) = &self.kinds {
            add(KIND, Op::In(scalars("kinds", kinds)?));
        }
        if let Some(folder) = &self.folder_id {
            add(FOLDER_ID, Op::Eq(scalar("folderId", folder)?));
        } else if let Some(folders) = &self.folder_ids {
            add(FOLDER_ID, Op::In(scalars("folderIds", folders)?));
        }
        if let Some(tags) = &self.tags {
            add(TAGS, Op::All(scalars("tags", tags)?));
        }
        if let Some(sources) = &self.source_ids {
            let ids = sources.iter().map(SourceId::new);
            let ids = ids.map(|id| Ok(Scalar::from(&id?)));
            add(SOURCE_ID, Op::In(ids.collect::<Result<_, NameError>>()?));
        }
        Ok(conditions)
    }
}

fn scalar(path: &str, text: &str) -> Result<Scalar, MetadataError> {
    Scalar::text(text).map_err(|problem| MetadataError::new(path, problem))
}

fn scalars(path: &str, texts: &[String]) -> Result<Vec<Scalar>, MetadataError> {
    texts
        .iter()
        .enumerate()
        .map(|(at, text)| scalar(&format!("{path}[{at}]"), text))
        .collect()
}

/// Shows how much is given, never the values.
impl fmt::Debug for PassageFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassageFilter")
            .field("kinds", &self.kinds.as_ref().map(Vec::len))
            .field("folder", &self.folder_id.is_some())
            .field("folders", &self.folder_ids.as_ref().map(Vec::len))
            .field("tags", &self.tags.as_ref().map(Vec::len))
            .field("sources", &self.source_ids.as_ref().map(Vec::len))
            .finish()
    }
}
