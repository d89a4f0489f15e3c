//! One write, as the log stores it.

use std::sync::Arc;

use shelfward_core::adapter::text_words;
use shelfward_core::{CollectionSpec, Key, Metadata, Record, Text, WordRule};

use super::codec::{Decoder, Encode};
use crate::error::{FileError, FileResult};
use crate::record_mapping::{
    RecordRef, decode_key, decode_metadata, decode_record, encode_key, encode_metadata,
    encode_record,
};

/// What one write changes, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogEntry {
    /// Fields were added.
    pub(crate) spec: Option<Arc<CollectionSpec>>,
    /// Everything is removed.
    pub(crate) clear: bool,
    pub(crate) removed: Vec<Key>,
    pub(crate) put: Vec<LogRecord>,
    /// Records with their whole new metadata.
    pub(crate) patched: Vec<(Key, Arc<Metadata>)>,
}

/// A record to put, and whether its words are others than those of its text. Words of the text are not
/// stored: they are made from it again.
#[derive(Clone, Debug)]
pub(crate) struct LogRecord {
    pub(crate) record: Record,
    pub(crate) own_words: bool,
}

impl LogRecord {
    pub(crate) fn new(record: Record, rule: WordRule) -> Self {
        Self {
            own_words: record.words != words_of(record.text.as_deref(), rule),
            record,
        }
    }

    fn as_ref(&self) -> RecordRef<'_> {
        RecordRef {
            key: &self.record.key,
            vector: &self.record.vector,
            text: self.record.text.as_deref(),
            words: self.own_words.then_some(&*self.record.words),
            metadata: &self.record.metadata,
        }
    }
}

impl LogEntry {
    pub(crate) fn put(put: Vec<LogRecord>) -> Self {
        Self {
            put,
            ..Self::default()
        }
    }

    /// Removes everything.
    pub(crate) fn clear() -> Self {
        Self {
            clear: true,
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
            encode_key(&mut bytes, key);
        }
        bytes.put_length(self.put.len());
        for put in &self.put {
            encode_record(&mut bytes, &put.as_ref());
        }
        bytes.put_length(self.patched.len());
        for (key, metadata) in &self.patched {
            encode_key(&mut bytes, key);
            encode_metadata(&mut bytes, metadata);
        }
        Ok(bytes)
    }

    pub(crate) fn from_bytes(bytes: &[u8], rule: WordRule) -> FileResult<Self> {
        let mut from = Decoder::new(bytes);
        let spec = match from.u8()? {
            0 => None,
            _ => Some(Arc::new(spec_from_bytes(from.bytes()?)?)),
        };
        let change = Self {
            spec,
            clear: from.u8()? != 0,
            removed: many(&mut from, 2, decode_key)?,
            put: many(&mut from, 6, |from| decode_log_record(from, rule))?,
            patched: many(&mut from, 3, |from| {
                Ok((decode_key(from)?, Arc::new(decode_metadata(from)?)))
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
    from: &mut Decoder<'_>,
    each: usize,
    mut take: impl FnMut(&mut Decoder<'_>) -> FileResult<T>,
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

/// The words that a text has under a rule, as `Collection` makes them.
fn words_of(text: Option<&str>, rule: WordRule) -> Arc<[Text]> {
    text_words(text.unwrap_or_default(), rule)
}

pub(crate) fn decode_log_record(from: &mut Decoder<'_>, rule: WordRule) -> FileResult<LogRecord> {
    let (mut record, own_words) = decode_record(from)?;
    if !own_words {
        record.words = words_of(record.text.as_deref(), rule);
    }
    Ok(LogRecord { record, own_words })
}
