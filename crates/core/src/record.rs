//! What a store holds, and what it gives back.

use std::fmt;
use std::sync::Arc;

use crate::metadata::{Metadata, Text};

/// Where a record lies: its id, and the partition that a routed store needs to find it.
///
/// Ids are unique within a partition. With a partition field declared, `partition` must equal the
/// record's value under it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Key {
    /// The value of the partition field, when the collection declares one.
    pub partition: Option<Text>,
    /// The id: 1 to 512 bytes.
    pub id: Text,
}

impl Key {
    /// The most bytes that an id has.
    pub const MAX_ID_BYTES: usize = 512;

    /// A key in a collection without partitions.
    pub fn new(id: Text) -> Self {
        Self {
            partition: None,
            id,
        }
    }

    /// A key in a partition.
    pub fn within(partition: Text, id: Text) -> Self {
        Self {
            partition: Some(partition),
            id,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.partition {
            Some(partition) => write!(f, "{partition}/{}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A record to write. Its large parts are shared, so a clone costs reference counts.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// Where it lies.
    pub key: Key,
    /// The vector, of the collection's width.
    pub vector: Arc<[f32]>,
    /// The text, if it has one. Records without a text take no part in lexical search.
    pub text: Option<Arc<str>>,
    /// The text's words under the collection's rule, in order, each at most 512 bytes.
    /// `Collection` fills them in; a caller leaves them empty.
    pub words: Arc<[Text]>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
}

impl Record {
    /// A record without text and metadata.
    pub fn new(key: Key, vector: impl Into<Arc<[f32]>>) -> Self {
        Self {
            key,
            vector: vector.into(),
            text: None,
            words: Arc::from([]),
            metadata: Arc::default(),
        }
    }

    /// Sets the text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<Arc<str>>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Sets the metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Arc<Metadata>>) -> Self {
        self.metadata = metadata.into();
        self
    }
}

/// Shows the key and lengths, never the text or the metadata.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("key", &self.key)
            .field("width", &self.vector.len())
            .field("text_bytes", &self.text.as_deref().map(str::len))
            .field("words", &self.words.len())
            .field("metadata_keys", &self.metadata.len())
            .finish()
    }
}

/// A record as a store gives it back.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredRecord {
    /// Where it lies.
    pub key: Key,
    /// The vector as given at write, when it was asked for.
    pub vector: Option<Arc<[f32]>>,
    /// The text, when it has one and it was asked for.
    pub text: Option<Arc<str>>,
    /// The metadata, always: what is released is checked on what came with it.
    pub metadata: Arc<Metadata>,
}

impl StoredRecord {
    /// A record with its metadata alone.
    pub fn new(key: Key, metadata: Arc<Metadata>) -> Self {
        Self {
            key,
            vector: None,
            text: None,
            metadata,
        }
    }

    /// What `include` asks for of a record.
    pub fn of(record: &Record, include: Include) -> Self {
        Self {
            key: record.key.clone(),
            vector: include.vector.then(|| record.vector.clone()),
            text: record.text.clone().filter(|_| include.text),
            metadata: record.metadata.clone(),
        }
    }
}

impl fmt::Debug for StoredRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredRecord")
            .field("key", &self.key)
            .field("width", &self.vector.as_deref().map(<[f32]>::len))
            .field("text_bytes", &self.text.as_deref().map(str::len))
            .field("metadata_keys", &self.metadata.len())
            .finish()
    }
}

/// What a read brings beside keys and metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// The vectors.
    pub vector: bool,
    /// The texts.
    pub text: bool,
}

impl Include {
    /// Metadata alone.
    pub const METADATA: Self = Self {
        vector: false,
        text: false,
    };
    /// Texts, without vectors.
    pub const TEXT: Self = Self {
        vector: false,
        text: true,
    };
    /// Everything.
    pub const ALL: Self = Self {
        vector: true,
        text: true,
    };
}
