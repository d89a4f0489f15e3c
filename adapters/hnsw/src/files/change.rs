//! One write, as the log holds it.

use std::sync::Arc;

use shelfward_core::{CollectionSpec, Key, Metadata, Record, Text, WordRule, query_words};

use super::bytes::{Put, Take};
use crate::error::{FileError, FileResult};
use crate::record_mapping::{
    Parts, put_key, put_metadata, put_record, take_key, take_metadata, take_record,
};

/// What one write changes, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// Fields were added.
    pub(crate) spec: Option<Arc<CollectionSpec>>,
    /// Everything goes.
    pub(crate) clear: bool,
    pub(crate) removed: Vec<Key>,
    pub(crate) put: Vec<Written>,
    /// Records with their whole new metadata.
    pub(crate) patched: Vec<(Key, Arc<Metadata>)>,
}

/// A record to put, and whether its words are others than those of its text. Words of the text need
/// not be kept: they are made of it again.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) record: Record,
    pub(crate) own_words: bool,
}

impl Written {
    pub(crate) fn new(record: &Record, rule: WordRule) -> Self {
        Self {
            own_words: record.words != words_of(record.text.as_deref(), rule),
            record: record.clone(),
        }
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            key: &self.record.key,
            vector: &self.record.vector,
            text: self.record.text.as_deref(),
            words: self.own_words.then_some(&*self.record.words),
            metadata: &self.record.metadata,
        }
    }
}

impl Change {
    pub(crate) fn put(put: Vec<Written>) -> Self {
        Self {
            put,
            ..Self::default()
        }
    }

    pub(crate) fn remove(removed: Vec<Key>) -> Self {
        Self {
            removed,
            ..Self::default()
        }
    }

    /// How many rows change at most, beside those that a clear removes.
    pub(crate) fn rows(&self) -> usize {
        self.removed.len() + self.put.len() + self.patched.len()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.spec.is_none() && !self.clear && self.rows() == 0
    }

    pub(crate) fn to_bytes(&self) -> FileResult<Vec<u8>> {
        let mut bytes = Vec::new();
        match &self.spec {
            Some(spec) => {
                bytes.put_u8(1);
                bytes.put_bytes(&spec_to_bytes(spec)?);
            }
            None => bytes.put_u8(0),
        }
        bytes.put_u8(u8::from(self.clear));
        bytes.put_length(self.removed.len());
        for key in &self.removed {
            put_key(&mut bytes, key);
        }
        bytes.put_length(self.put.len());
        for put in &self.put {
            put_record(&mut bytes, &put.parts());
        }
        bytes.put_length(self.patched.len());
        for (key, metadata) in &self.patched {
            put_key(&mut bytes, key);
            put_metadata(&mut bytes, metadata);
        }
        Ok(bytes)
    }

    pub(crate) fn from_bytes(bytes: &[u8], rule: WordRule) -> FileResult<Self> {
        let mut from = Take::new(bytes);
        let spec = match from.u8()? {
            0 => None,
            _ => Some(Arc::new(spec_from_bytes(from.bytes()?)?)),
        };
        let change = Self {
            spec,
            clear: from.u8()? != 0,
            removed: many(&mut from, 2, take_key)?,
            put: many(&mut from, 6, |from| take_written(from, rule))?,
            patched: many(&mut from, 3, |from| {
                Ok((take_key(from)?, Arc::new(take_metadata(from)?)))
            })?,
        };
        if from.is_empty() {
            Ok(change)
        } else {
            Err(FileError::Corrupt("a write of the log has too many bytes"))
        }
    }
}

fn many<T>(
    from: &mut Take<'_>,
    each: usize,
    mut take: impl FnMut(&mut Take<'_>) -> FileResult<T>,
) -> FileResult<Vec<T>> {
    (0..from.length(each)?).map(|_| take(from)).collect()
}

pub(crate) fn spec_to_bytes(spec: &CollectionSpec) -> FileResult<Vec<u8>> {
    serde_json::to_vec(spec).map_err(|_| FileError::Corrupt("the spec cannot be written"))
}

pub(crate) fn spec_from_bytes(bytes: &[u8]) -> FileResult<CollectionSpec> {
    let spec: CollectionSpec = serde_json::from_slice(bytes)
        .map_err(|_| FileError::Corrupt("the collection's spec is not one"))?;
    spec.check()
        .map_err(|_| FileError::Corrupt("the collection's spec contradicts itself"))?;
    Ok(spec)
}

/// The words that a text has under a rule, as the checked handle makes them.
fn words_of(text: Option<&str>, rule: WordRule) -> Arc<[Text]> {
    // A text with U+0000 is refused by the checked handle, so none of its words are kept out.
    query_words(text.unwrap_or_default(), rule, false)
        .unwrap_or_default()
        .into_iter()
        .map(|word| word.text)
        .collect()
}

pub(crate) fn take_written(from: &mut Take<'_>, rule: WordRule) -> FileResult<Written> {
    let (mut record, own_words) = take_record(from)?;
    if !own_words {
        record.words = words_of(record.text.as_deref(), rule);
    }
    Ok(Written { record, own_words })
}
