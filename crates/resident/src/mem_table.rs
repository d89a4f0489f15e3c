use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use roaring::RoaringBitmap;
use shelfward_core::{CollectionSpec, ErrorKind, Key, Metadata, MetadataKey, Record};
use shelfward_dense::Matrix;

use crate::postings::Postings;
use crate::row_id::RowId;
use crate::word_index::WordIndex;

/// What a [`MemTable`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemTableOptions {
    /// Whether words are indexed, for a lexical leg. Default `true`.
    pub lexical: bool,
    /// Whether texts are kept. Default `true`.
    pub texts: bool,
    /// Whether vectors are stored a second time in one byte a number, which a search reads first; it
    /// finds the same in a fraction of the time. Default `true`.
    pub quantized: bool,
}

impl Default for MemTableOptions {
    fn default() -> Self {
        Self {
            lexical: true,
            texts: true,
            quantized: true,
        }
    }
}

/// A row without its vector and words, which are stored together with those of the others.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// Its key.
    pub key: Key,
    /// The text, if it has one and texts are kept.
    pub text: Option<Arc<str>>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
}

/// The rows of one collection, found by key, by filter, by nearness and by words, all of it exactly.
///
/// Filters on declared fields are answered from postings; one on another field reads the rows that
/// the rest of the filter leaves. Nothing is checked here: a caller hands over records that keep to
/// the spec.
#[derive(Clone, Debug)]
pub struct MemTable {
    spec: Arc<CollectionSpec>,
    options: MemTableOptions,
    /// In the order of the keys: the order of scans and of ties.
    by_key: BTreeMap<Key, RowId>,
    rows: Vec<Option<Row>>,
    free: Vec<RowId>,
    pub(crate) live: RoaringBitmap,
    pub(crate) postings: HashMap<MetadataKey, Postings>,
    pub(crate) matrix: Matrix,
    pub(crate) words: Option<WordIndex>,
}

impl MemTable {
    /// No rows.
    pub fn new(spec: Arc<CollectionSpec>, options: MemTableOptions) -> Self {
        let width = usize::try_from(spec.width).unwrap_or(usize::MAX);
        Self {
            options,
            by_key: BTreeMap::new(),
            rows: Vec::new(),
            free: Vec::new(),
            live: RoaringBitmap::new(),
            postings: empty_postings(&spec),
            matrix: Matrix::new(spec.metric, width, options.quantized),
            words: options.lexical.then(WordIndex::new),
            spec,
        }
    }

    /// What the collection is.
    pub fn spec(&self) -> &Arc<CollectionSpec> {
        &self.spec
    }

    /// Takes a spec with more fields, and indexes what the rows hold under them.
    pub fn set_spec(&mut self, spec: Arc<CollectionSpec>) {
        let mut postings = empty_postings(&spec);
        postings.retain(|key, _| !self.postings.contains_key(key));
        for (row_id, row) in (0..).zip(&self.rows) {
            if let Some(row) = row {
                for (key, value) in row.metadata.iter() {
                    if let Some(postings) = postings.get_mut(key) {
                        postings.add(row_id, value);
                    }
                }
            }
        }
        self.postings.extend(postings);
        self.spec = spec;
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Whether records can be put: rows and words are numbered with 32 bits.
    pub fn has_room_for(&self, records: &[Record]) -> bool {
        let rows = u32::try_from(self.rows.len().saturating_add(records.len()));
        rows.is_ok() && (self.words.as_ref()).is_none_or(|words| words.has_room_for(records))
    }

    /// Refuses records that there is no room for.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`].
    pub fn check_room_for(&self, records: &[Record]) -> Result<(), ErrorKind> {
        if self.has_room_for(records) {
            return Ok(());
        }
        Err(ErrorKind::Limit {
            what: "documents, words or letters of words of one partition",
            given: u64::from(u32::MAX),
            max: u64::from(u32::MAX) - 1,
        })
    }

    /// Puts records, each in the place of what is under its key, in this order. There must be room; see
    /// [`has_room_for`](Self::has_room_for). Answers their row ids.
    ///
    /// Many at once cost each of them less than one by one: what the words of those that are there
    /// already leave behind is cleared away once.
    pub fn put_all<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record, IntoIter: Clone>,
    ) -> Vec<RowId> {
        let records = records.into_iter();
        if let Some(words) = &mut self.words {
            let keys = records.clone().map(|record| &record.key);
            words.remove_all(keys.filter(|key| self.by_key.contains_key(key)));
        }
        records.map(|record| self.put(record)).collect()
    }

    /// Puts a record in the place of what is under its key. There must be room; see
    /// [`has_room_for`](Self::has_room_for).
    pub fn put(&mut self, record: &Record) -> RowId {
        let row_id = match self.by_key.get(&record.key) {
            Some(row_id) => *row_id,
            None => self.allocate(&record.key),
        };
        if let Some(words) = &mut self.words {
            words.put(row_id, record);
        }
        self.matrix.set(row_id, &record.vector);
        self.set_metadata(row_id, record.metadata.clone());
        let text = record.text.clone().filter(|_| self.options.texts);
        if let Some(Some(row)) = self.rows.get_mut(row_id as usize) {
            row.text = text;
        }
        row_id
    }

    fn allocate(&mut self, key: &Key) -> RowId {
        let row = Some(Row {
            key: key.clone(),
            text: None,
            metadata: Arc::default(),
        });
        let free = self.free.pop();
        let row_id =
            match free.and_then(|row_id| Some((row_id, self.rows.get_mut(row_id as usize)?))) {
                Some((row_id, place)) => {
                    *place = row;
                    row_id
                }
                None => {
                    self.rows.push(row);
                    // There was room, so the number fits.
                    RowId::try_from(self.rows.len() - 1).unwrap_or(RowId::MAX)
                }
            };
        self.by_key.insert(key.clone(), row_id);
        self.live.insert(row_id);
        row_id
    }

    /// Removes what is under keys; answers which row ids are free now. Many at once cost each of them far
    /// less than one by one.
    pub fn remove_all(&mut self, keys: &[Key]) -> Vec<RowId> {
        if let Some(words) = &mut self.words {
            words.remove_all(keys.iter());
        }
        keys.iter().filter_map(|key| self.remove_row(key)).collect()
    }

    /// Removes what is under a key; answers which row id is free now.
    pub fn remove(&mut self, key: &Key) -> Option<RowId> {
        self.remove_all(std::slice::from_ref(key)).pop()
    }

    /// Removes a row whose words are removed.
    fn remove_row(&mut self, key: &Key) -> Option<RowId> {
        let row_id = self.by_key.remove(key)?;
        self.set_metadata(row_id, Arc::default());
        if let Some(place) = self.rows.get_mut(row_id as usize) {
            *place = None;
        }
        self.matrix.remove(row_id);
        self.live.remove(row_id);
        self.free.push(row_id);
        Some(row_id)
    }

    /// Gives rows other metadata, those that are there.
    pub fn patch_all(&mut self, patched: &[(Key, Arc<Metadata>)]) {
        for (key, metadata) in patched {
            if let Some(row_id) = self.row_id(key) {
                self.set_metadata(row_id, metadata.clone());
            }
        }
    }

    /// Gives a row other metadata.
    pub fn set_metadata(&mut self, row_id: RowId, metadata: Arc<Metadata>) {
        let Some(Some(row)) = self.rows.get_mut(row_id as usize) else {
            return;
        };
        let old = std::mem::replace(&mut row.metadata, metadata.clone());
        for (key, value) in old.iter() {
            if metadata.get(key.as_str()) != Some(value)
                && let Some(postings) = self.postings.get_mut(key)
            {
                postings.remove(row_id, value);
            }
        }
        for (key, value) in metadata.iter() {
            if old.get(key.as_str()) != Some(value)
                && let Some(postings) = self.postings.get_mut(key)
            {
                postings.add(row_id, value);
            }
        }
    }

    /// An empty table of the same collection.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self::new(self.spec.clone(), self.options)
    }

    /// Removes everything; answers how much there was.
    pub fn clear(&mut self) -> usize {
        let cleared = self.len();
        *self = self.emptied();
        cleared
    }

    /// The row id of a key.
    pub fn row_id(&self, key: &Key) -> Option<RowId> {
        self.by_key.get(key).copied()
    }

    /// The row of a row id.
    pub fn row(&self, row_id: RowId) -> Option<&Row> {
        self.rows.get(row_id as usize)?.as_ref()
    }

    /// A copy of a row's vector, as it was given.
    pub fn vector(&self, row_id: RowId) -> Option<Arc<[f32]>> {
        self.matrix.vector(row_id)
    }

    /// Every row id that holds a row.
    pub fn row_ids(&self) -> &RoaringBitmap {
        &self.live
    }

    /// Keys and row ids in the order of the keys, after one or from the first.
    pub fn in_key_order(&self, after: Option<&Key>) -> impl Iterator<Item = (&Key, RowId)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.by_key.range::<Key, _>((from, Bound::Unbounded));
        range.map(|(key, row_id)| (key, *row_id))
    }

    pub(crate) fn key(&self, row_id: RowId) -> Option<&Key> {
        self.row(row_id).map(|row| &row.key)
    }
}

fn empty_postings(spec: &CollectionSpec) -> HashMap<MetadataKey, Postings> {
    let keys = spec.fields.iter().map(|field| field.key.clone());
    keys.map(|key| (key, Postings::default())).collect()
}
