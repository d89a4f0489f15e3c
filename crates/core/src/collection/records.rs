//! Checks of records, keys and patches before anything is sent.

use std::collections::HashMap;

use super::Collection;
use crate::error::{ErrorKind, Operation, Result};
use crate::filter::Selector;
use crate::metadata::{Metadata, MetadataError, MetadataProblem, Text};
use crate::record::{Key, Record};
use crate::search::{MetadataPatch, as_count, text_words};

/// Who made the records of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A caller, who may not write the library's own keys.
    Caller,
    /// The library itself.
    Library,
}

impl Collection {
    /// Checks every record, fills in its words, and keeps the last of each key.
    pub(super) fn prepare(
        &self,
        operation: Operation,
        origin: Origin,
        records: &[Record],
    ) -> Result<Vec<Record>> {
        let mut prepared: Vec<Record> = Vec::with_capacity(records.len());
        let mut places: HashMap<&Key, usize> = HashMap::with_capacity(records.len());
        for record in records {
            self.check_record(operation, origin, record)?;
            let mut record_with_words = record.clone();
            record_with_words.words = self.words_of(record);
            match places.get(&record.key).and_then(|at| prepared.get_mut(*at)) {
                Some(earlier) => *earlier = record_with_words,
                None => {
                    places.insert(&record.key, prepared.len());
                    prepared.push(record_with_words);
                }
            }
        }
        Ok(prepared)
    }

    fn words_of(&self, record: &Record) -> std::sync::Arc<[Text]> {
        let text = record.text.as_deref().unwrap_or_default();
        text_words(text, self.spec().word_rule)
    }

    fn check_record(&self, operation: Operation, origin: Origin, record: &Record) -> Result<()> {
        self.check_vector(&record.vector)
            .map_err(ErrorKind::from)
            .and_then(|()| self.check_record_but_vector(origin, record))
            .map_err(|e| self.error(operation, e).of_record(&record.key))
    }

    pub(super) fn check_record_but_vector(
        &self,
        origin: Origin,
        record: &Record,
    ) -> Result<(), ErrorKind> {
        self.key_problem(&record.key)?;
        self.check_metadata(origin, &record.metadata)?;
        if let Some(key) = self.spec().partition_key() {
            let held = record.metadata.text(key.as_str());
            if held != record.key.partition.as_ref().map(Text::as_str) {
                let invalid = format!(
                    "the record {} must hold its partition under {key}",
                    record.key
                );
                return Err(ErrorKind::Invalid(invalid));
            }
        }
        if let Some(text) = record.text.as_deref() {
            if text.contains('\0') {
                let nul = "its text holds U+0000, which not every store can hold; leave it out";
                return Err(ErrorKind::Invalid(nul.to_owned()));
            }
            let max = self.capabilities().max_text_bytes;
            check_limit("bytes of a text", text.len(), max)?;
        }
        Ok(())
    }

    fn check_metadata(&self, origin: Origin, metadata: &Metadata) -> Result<(), ErrorKind> {
        for (key, value) in metadata.iter() {
            if origin == Origin::Caller && key.is_reserved() {
                return Err(MetadataError::new(key, MetadataProblem::ReservedKey).into());
            }
            self.spec().check_value(key, value)?;
        }
        self.check_metadata_bytes(metadata.byte_len())
    }

    fn check_metadata_bytes(&self, bytes: usize) -> Result<(), ErrorKind> {
        let max = self.capabilities().max_metadata_bytes;
        check_limit("bytes of a record's metadata", bytes, max)
    }

    pub(super) fn check_key(&self, operation: Operation, key: &Key) -> Result<()> {
        self.key_problem(key).map_err(|e| self.error(operation, e))
    }

    fn key_problem(&self, key: &Key) -> Result<(), ErrorKind> {
        let invalid = |text: String| Err(ErrorKind::Invalid(text));
        match key.id.as_str().len() {
            0 => return invalid("a record's id has at least 1 byte".to_owned()),
            bytes if bytes > Key::MAX_ID_BYTES => {
                let max = Key::MAX_ID_BYTES;
                return invalid(format!(
                    "a record's id has at most {max} bytes, not {bytes}"
                ));
            }
            _ => {}
        }
        match (self.spec().partition_key(), &key.partition) {
            (Some(field), None) => invalid(format!(
                "the key {key} needs a partition: the value of {field}"
            )),
            (None, Some(_)) => invalid(format!(
                "the key {key} has a partition, the collection has none"
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn check_patch(&self, operation: Operation, patch: &MetadataPatch) -> Result<()> {
        let invalid = |text: String| Err(self.error(operation, ErrorKind::Invalid(text)));
        if patch.is_empty() {
            return invalid(
                "a patch that changes nothing; set or remove at least one key".to_owned(),
            );
        }
        let fixed = [self.spec().partition_key(), self.spec().unit_key()];
        if let Some(key) = fixed
            .into_iter()
            .flatten()
            .find(|key| patch.touches(key.as_str()))
        {
            return invalid(format!(
                "{key} says where a record belongs; write the record anew instead"
            ));
        }
        let mut bytes = 0;
        for (key, value) in patch.iter() {
            if key.is_reserved() {
                let reserved = MetadataError::new(key, MetadataProblem::ReservedKey);
                return Err(self.error(operation, reserved));
            }
            if let Some(value) = value {
                self.spec()
                    .check_value(key, value)
                    .map_err(|e| self.error(operation, e))?;
                bytes += Metadata::from_iter([(key.clone(), value.clone())]).byte_len();
            }
        }
        self.check_metadata_bytes(bytes)
            .map_err(|e| self.error(operation, e))
    }

    /// Refuses a patch that would take a record past the store's limit of metadata: a patch within
    /// it is no small record. Called in the turn of the update. Where there is no scan to look by, it
    /// is the store that refuses.
    pub(super) async fn check_patched(
        &self,
        selector: &Selector,
        patch: &MetadataPatch,
    ) -> Result<()> {
        let operation = Operation::UpdateMetadata;
        let grows = patch.iter().any(|(_, value)| value.is_some());
        let can = self.capabilities();
        if can.max_metadata_bytes.is_none() || !can.scan || !grows {
            return Ok(());
        }
        let mut refused = None;
        self.scan_all(operation, selector.filter(), |record| {
            if refused.is_none()
                && let Err(kind) =
                    self.check_metadata_bytes(patch.apply(&record.metadata).byte_len())
            {
                refused = Some(self.error(operation, kind).of_record(&record.key));
            }
        })
        .await?;
        refused.map_or(Ok(()), Err)
    }
}

fn check_limit(what: &'static str, given: usize, max: Option<usize>) -> Result<(), ErrorKind> {
    match max {
        Some(max) if given > max => {
            let (given, max) = (as_count(given), as_count(max));
            Err(ErrorKind::Limit { what, given, max })
        }
        _ => Ok(()),
    }
}
