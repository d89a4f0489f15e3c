//! What one collection holds, as its one lock guards it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use shelfward_core::filter::Matcher;
use shelfward_core::{CollectionSpec, Filter, Key, MetadataError, MetadataPatch, Record};

use crate::lexical::Words;

/// The records of a collection, in the order of their keys: the order of scans and of ties.
pub(crate) struct Rows {
    pub(crate) spec: Arc<CollectionSpec>,
    records: BTreeMap<Key, Record>,
    /// The records' words; `None` in a store without a lexical leg.
    pub(crate) words: Option<Words>,
    /// Set when the collection is dropped, for handles that outlive it.
    pub(crate) discarded: bool,
}

impl Rows {
    pub(crate) fn new(spec: CollectionSpec, lexical: bool) -> Self {
        Self {
            spec: Arc::new(spec),
            records: BTreeMap::new(),
            words: lexical.then(Words::new),
            discarded: false,
        }
    }

    pub(crate) fn matching<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a Record> {
        let matcher = Matcher::new(filter);
        self.records
            .values()
            .filter(move |record| matcher.matches(&record.metadata))
    }

    pub(crate) fn after<'a>(&'a self, key: Option<&Key>) -> impl Iterator<Item = &'a Record> {
        let from = key.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
        self.records
            .range((from, Bound::Unbounded))
            .map(|(_, record)| record)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Record> {
        self.records.get(key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// Whether records can be inserted.
    pub(crate) fn has_room_for(&self, records: &[Record]) -> bool {
        (self.words.as_ref()).is_none_or(|words| words.has_room_for(records))
    }

    pub(crate) fn insert(&mut self, records: &[Record]) {
        for record in records {
            if let Some(words) = &mut self.words {
                words.put(record);
            }
            self.records.insert(record.key.clone(), record.clone());
        }
    }

    /// Removes what is under a key; answers whether there was anything.
    pub(crate) fn remove(&mut self, key: &Key) -> bool {
        if let Some(words) = &mut self.words {
            words.remove(key);
        }
        self.records.remove(key).is_some()
    }

    /// Removes everything; answers how much there was.
    pub(crate) fn clear(&mut self) -> usize {
        if let Some(words) = &mut self.words {
            words.clear();
        }
        let cleared = self.records.len();
        self.records.clear();
        cleared
    }

    /// Removes what the filter matches; answers how many there were.
    pub(crate) fn remove_matching(&mut self, filter: &Filter) -> usize {
        let before = self.records.len();
        let matcher = Matcher::new(filter);
        let Self { records, words, .. } = self;
        records.retain(|key, record| {
            let matches = matcher.matches(&record.metadata);
            if matches && let Some(words) = words {
                words.remove(key);
            }
            !matches
        });
        before - self.records.len()
    }

    /// Patches what the filter matches; answers how many there were.
    pub(crate) fn patch_matching(&mut self, filter: &Filter, patch: &MetadataPatch) -> usize {
        let mut patched = 0;
        let matcher = Matcher::new(filter);
        for record in self.records.values_mut() {
            if matcher.matches(&record.metadata) {
                record.metadata = Arc::new(patch.apply(&record.metadata));
                patched += 1;
            }
        }
        patched
    }

    /// Refuses values that do not keep to the declared kinds of now: a handle may have been opened
    /// before a field was declared.
    pub(crate) fn check_kinds(&self, records: &[Record]) -> Result<(), MetadataError> {
        check_kinds(&self.spec, records)
    }
}

pub(crate) fn check_kinds<'a>(
    spec: &CollectionSpec,
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<(), MetadataError> {
    for record in records {
        for (key, value) in record.metadata.iter() {
            spec.check_value(key, value)?;
        }
    }
    Ok(())
}
