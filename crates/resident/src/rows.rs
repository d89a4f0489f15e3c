use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use roaring::RoaringBitmap;
use shelfward_core::filter::Matcher;
use shelfward_core::{
    CollectionSpec, Cursor, ErrorKind, Filter, Include, Key, Match, Metadata, MetadataKey, Page,
    QueryWord, Record, Scalar, StoredRecord, Text, VectorProblem,
};
use shelfward_dense::{Among, Matrix, Stop};
use shelfward_lexical::TooManyExpansions;

use crate::filter::Indexed;
use crate::postings::Postings;
use crate::words::Words;

/// The number of a row. A row keeps it while its key is there; a number that is free is given again.
pub type Slot = u32;

/// What [`Rows`] hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowsOptions {
    /// Whether words are indexed, for a lexical leg. Default `true`.
    pub lexical: bool,
    /// Whether texts are kept. Default `true`.
    pub texts: bool,
    /// Whether vectors are held a second time in one byte a number, which a search reads first; it
    /// finds the same in a fraction of the time. Default `true`.
    pub quantized: bool,
}

impl Default for RowsOptions {
    fn default() -> Self {
        Self {
            lexical: true,
            texts: true,
            quantized: true,
        }
    }
}

/// So many rows are changed in place while readers wait: for some milliseconds.
const MAX_IN_PLACE: usize = 2_048;

/// One row in so many: fewer are sorted by their keys, more are met on a walk through all.
const FEW: u64 = 16;

/// A row as it is held: without its vector and words, which lie together with those of the others.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    /// Where it lies.
    pub key: Key,
    /// The text, if it has one and texts are kept.
    pub text: Option<Arc<str>>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
}

/// What a write changes of rows, in this order.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The keys of what is removed.
    pub removed: Vec<Key>,
    /// Records, each put in the place of what is under its key; of equal keys the last stays.
    pub put: Vec<Record>,
    /// The whole new metadata of rows that stay.
    pub patched: Vec<(Key, Arc<Metadata>)>,
}

impl Changes {
    /// How many rows change at most.
    pub fn len(&self) -> usize {
        self.removed.len() + self.put.len() + self.patched.len()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The rows of one collection: found by key, by filter, by nearness and by words, all of it exactly.
///
/// Filters on declared fields are answered from postings; one on another field reads the rows that
/// the rest of the filter leaves. Nothing is checked here: a caller hands over records that keep to
/// the spec.
#[derive(Clone, Debug)]
pub struct Rows {
    spec: Arc<CollectionSpec>,
    options: RowsOptions,
    /// In the order of the keys: the order of scans and of ties.
    by_key: BTreeMap<Key, Slot>,
    rows: Vec<Option<Row>>,
    free: Vec<Slot>,
    live: RoaringBitmap,
    postings: HashMap<MetadataKey, Postings>,
    matrix: Matrix,
    words: Option<Words>,
}

impl Rows {
    /// No rows.
    pub fn new(spec: Arc<CollectionSpec>, options: RowsOptions) -> Self {
        let width = usize::try_from(spec.width).unwrap_or(usize::MAX);
        Self {
            options,
            by_key: BTreeMap::new(),
            rows: Vec::new(),
            free: Vec::new(),
            live: RoaringBitmap::new(),
            postings: empty_postings(&spec),
            matrix: Matrix::new(spec.metric, width, options.quantized),
            words: options.lexical.then(Words::new),
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
        for (slot, row) in (0..).zip(&self.rows) {
            if let Some(row) = row {
                for (key, value) in row.metadata.iter() {
                    if let Some(postings) = postings.get_mut(key) {
                        postings.add(slot, value);
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

    /// Refuses records that there is no room for, vectors of another width, and values that a field
    /// does not hold which was declared since the records were `checked` against a spec.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`], [`ErrorKind::Vector`], [`ErrorKind::Metadata`].
    pub fn check_records(
        &self,
        records: &[Record],
        checked: &Arc<CollectionSpec>,
    ) -> Result<(), ErrorKind> {
        self.check_room_for(records)?;
        let width = self.spec.width;
        let mut given = records.iter().map(|record| record.vector.len());
        if let Some(given) = given.find(|given| u32::try_from(*given) != Ok(width)) {
            return Err(VectorProblem::Width { given, width }.into());
        }
        if !Arc::ptr_eq(&self.spec, checked) {
            for record in records {
                self.spec.check_metadata(&record.metadata)?;
            }
        }
        Ok(())
    }

    /// Whether a change of so many rows is to be made on a clone that takes the place of these, rather
    /// than on these while their readers wait. A clone costs each row a small part of what a change
    /// costs it, and is not worth it for a few of very many.
    pub fn is_bulk(&self, changed: usize) -> bool {
        changed > MAX_IN_PLACE.max(self.len() / 64)
    }

    /// Makes all of a change. There must be room for what is put; see
    /// [`has_room_for`](Self::has_room_for).
    pub fn apply(&mut self, changes: &Changes) {
        self.remove_all(&changes.removed);
        self.put_all(&changes.put);
        self.patch_all(&changes.patched);
    }

    /// Puts records, each in the place of what is under its key, in this order. There must be room; see
    /// [`has_room_for`](Self::has_room_for). Answers their slots.
    ///
    /// Many at once cost each of them less than one by one: what the words of those that are there
    /// already leave behind is cleared away once.
    pub fn put_all<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record, IntoIter: Clone>,
    ) -> Vec<Slot> {
        let records = records.into_iter();
        if let Some(words) = &mut self.words {
            let keys = records.clone().map(|record| &record.key);
            words.remove_all(keys.filter(|key| self.by_key.contains_key(key)));
        }
        records.map(|record| self.put(record)).collect()
    }

    /// Puts a record in the place of what is under its key. There must be room; see
    /// [`has_room_for`](Self::has_room_for).
    pub fn put(&mut self, record: &Record) -> Slot {
        let slot = match self.by_key.get(&record.key) {
            Some(slot) => *slot,
            None => self.take_slot(&record.key),
        };
        if let Some(words) = &mut self.words {
            words.put(slot, record);
        }
        self.matrix.set(slot, &record.vector);
        self.set_metadata(slot, record.metadata.clone());
        let text = record.text.clone().filter(|_| self.options.texts);
        if let Some(Some(row)) = self.rows.get_mut(slot as usize) {
            row.text = text;
        }
        slot
    }

    fn take_slot(&mut self, key: &Key) -> Slot {
        let row = Some(Row {
            key: key.clone(),
            text: None,
            metadata: Arc::default(),
        });
        let free = self.free.pop();
        let slot = match free.and_then(|slot| Some((slot, self.rows.get_mut(slot as usize)?))) {
            Some((slot, place)) => {
                *place = row;
                slot
            }
            None => {
                self.rows.push(row);
                // There was room, so the number fits.
                Slot::try_from(self.rows.len() - 1).unwrap_or(Slot::MAX)
            }
        };
        self.by_key.insert(key.clone(), slot);
        self.live.insert(slot);
        slot
    }

    /// Removes what is under keys; answers which slots are free now. Many at once cost each of them far
    /// less than one by one.
    pub fn remove_all(&mut self, keys: &[Key]) -> Vec<Slot> {
        if let Some(words) = &mut self.words {
            words.remove_all(keys.iter());
        }
        keys.iter().filter_map(|key| self.take_out(key)).collect()
    }

    /// Removes what is under a key; answers which slot is free now.
    pub fn remove(&mut self, key: &Key) -> Option<Slot> {
        self.remove_all(std::slice::from_ref(key)).pop()
    }

    /// Removes a row whose words are removed.
    fn take_out(&mut self, key: &Key) -> Option<Slot> {
        let slot = self.by_key.remove(key)?;
        self.set_metadata(slot, Arc::default());
        if let Some(place) = self.rows.get_mut(slot as usize) {
            *place = None;
        }
        self.matrix.remove(slot);
        self.live.remove(slot);
        self.free.push(slot);
        Some(slot)
    }

    /// Gives rows other metadata, those that are there.
    pub fn patch_all(&mut self, patched: &[(Key, Arc<Metadata>)]) {
        for (key, metadata) in patched {
            if let Some(slot) = self.slot(key) {
                self.set_metadata(slot, metadata.clone());
            }
        }
    }

    /// Gives a row other metadata.
    pub fn set_metadata(&mut self, slot: Slot, metadata: Arc<Metadata>) {
        let Some(Some(row)) = self.rows.get_mut(slot as usize) else {
            return;
        };
        let old = std::mem::replace(&mut row.metadata, metadata.clone());
        for (key, value) in old.iter() {
            if metadata.get(key.as_str()) != Some(value)
                && let Some(postings) = self.postings.get_mut(key)
            {
                postings.remove(slot, value);
            }
        }
        for (key, value) in metadata.iter() {
            if old.get(key.as_str()) != Some(value)
                && let Some(postings) = self.postings.get_mut(key)
            {
                postings.add(slot, value);
            }
        }
    }

    /// No rows, of the same collection.
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

    /// The slot of a key.
    pub fn slot(&self, key: &Key) -> Option<Slot> {
        self.by_key.get(key).copied()
    }

    /// The row of a slot.
    pub fn row(&self, slot: Slot) -> Option<&Row> {
        self.rows.get(slot as usize)?.as_ref()
    }

    /// A copy of a row's vector, as it was given.
    pub fn vector(&self, slot: Slot) -> Option<Arc<[f32]>> {
        self.matrix.vector(slot)
    }

    /// What `include` asks for of a row.
    pub fn stored(&self, slot: Slot, include: Include) -> Option<StoredRecord> {
        let row = self.row(slot)?;
        let mut stored = StoredRecord::new(row.key.clone(), row.metadata.clone());
        stored.text = row.text.clone().filter(|_| include.text);
        if include.vector {
            stored.vector = self.vector(slot);
        }
        Some(stored)
    }

    /// Every slot that holds a row.
    pub fn slots(&self) -> &RoaringBitmap {
        &self.live
    }

    /// Bytes held for vectors.
    pub fn vector_bytes(&self) -> usize {
        self.matrix.bytes()
    }

    /// The rows that a filter matches: those of which [`Filter::matches`] is true. None where it was
    /// stopped.
    pub fn matching(&self, filter: &Filter, stop: Stop<'_>) -> RoaringBitmap {
        if filter.is_everything() {
            return self.live.clone();
        }
        let matching = self.indexed(stop).matching(filter, &self.live);
        // Asked last: under a `$not`, rows that were not read would be too many.
        if stop.is_due() {
            return RoaringBitmap::new();
        }
        matching
    }

    /// Up to `limit` rows that a filter matches, in the order of the keys, from behind one on; fewer
    /// where it was stopped.
    pub fn page(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        stop: Stop<'_>,
    ) -> Vec<Slot> {
        let walk = self.in_key_order(after).take_while(|_| !stop.is_due());
        if !self.indexed(stop).answers(filter) {
            // Each row has to be read: no more of them than fill the page.
            let matcher = Matcher::new(filter);
            let matches = |slot| {
                self.row(slot)
                    .is_some_and(|row| matcher.matches(&row.metadata))
            };
            let matching = walk.map(|(_, slot)| slot).filter(|slot| matches(*slot));
            return matching.take(limit).collect();
        }
        let matching = self.matching(filter, stop);
        if matching.len() > self.live.len() / FEW {
            let matching = walk.filter(|(_, slot)| matching.contains(*slot));
            return matching.map(|(_, slot)| slot).take(limit).collect();
        }
        let mut few: Vec<(&Key, Slot)> = (matching.iter())
            .filter_map(|slot| Some((self.key(slot)?, slot)))
            .filter(|(key, _)| after.is_none_or(|after| *key > after))
            .collect();
        few.sort_unstable();
        few.into_iter().map(|(_, slot)| slot).take(limit).collect()
    }

    /// A page of a scan in the order of the keys; its cursor is that of [`Cursor::behind`]. One that was
    /// stopped is not to be answered.
    pub fn scan(
        &self,
        filter: &Filter,
        after: Option<&Key>,
        limit: usize,
        include: Include,
        stop: Stop<'_>,
    ) -> Page {
        // One more than asked tells whether there is a next page.
        let mut found = self.page(filter, after, limit.saturating_add(1), stop);
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next = last.and_then(|slot| Some(Cursor::behind(self.key(*slot)?)));
        let stored = found.into_iter();
        let stored = stored.filter_map(|slot| self.stored(slot, include));
        Page::new(stored.collect(), next)
    }

    fn indexed<'r>(&'r self, stop: Stop<'r>) -> Indexed<'r, impl Fn(Slot) -> Option<&'r Metadata>> {
        Indexed {
            stop,
            postings: &self.postings,
            metadata: |slot| Some(&*self.row(slot)?.metadata),
        }
    }

    /// The `top_k` nearest rows among some, or all, with their scores; best first, equal scores in
    /// the order of the keys. Exact; nothing where it was stopped.
    pub fn nearest(
        &self,
        query: &[f32],
        among: Option<&RoaringBitmap>,
        top_k: usize,
        stop: Stop<'_>,
    ) -> Vec<(Slot, f64)> {
        let ties = |a, b| self.key(a).cmp(&self.key(b));
        match among {
            None => self.matrix.nearest(query, Among::All, top_k, ties, stop),
            Some(slots) => {
                let slots = listed(slots);
                self.matrix
                    .nearest(query, Among::Slots(&slots), top_k, ties, stop)
            }
        }
    }

    /// The exact scores of some rows, the `top_k` best, in the order of [`nearest`](Self::nearest).
    pub fn scored(
        &self,
        query: &[f32],
        slots: impl IntoIterator<Item = Slot>,
        top_k: usize,
    ) -> Vec<(Slot, f64)> {
        let ties = |a, b| self.key(a).cmp(&self.key(b));
        self.matrix.scored(query, slots, top_k, ties)
    }

    /// The `top_k` best rows for words among some, or all, of the one partition that `filter` pins;
    /// best first, equal scores in the order of the keys. Statistics are over all of the partition's
    /// rows with a text, whatever the filter. Without a lexical index nothing is found.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] where there are partitions and the filter does not pin one by `$eq`;
    /// [`ErrorKind::Limit`] when a prefix begins more words than it may stand for.
    pub fn best(
        &self,
        filter: &Filter,
        words: &[QueryWord],
        matching: Match,
        among: Option<&RoaringBitmap>,
        top_k: usize,
    ) -> Result<Vec<(Slot, f64)>, ErrorKind> {
        if filter.never_matches() {
            return Ok(Vec::new());
        }
        let partition = self.pinned_partition(filter)?;
        match &self.words {
            Some(index) => index
                .best(&partition, words, matching, top_k, among)
                .map_err(|error| too_many_expansions(&error)),
            None => Ok(Vec::new()),
        }
    }

    /// The one partition that a filter pins; `None` in a collection without partitions.
    fn pinned_partition(&self, filter: &Filter) -> Result<Option<Text>, ErrorKind> {
        let Some(key) = self.spec.partition_key() else {
            return Ok(None);
        };
        match filter.pinned(key.as_str()).as_deref() {
            Some([Scalar::Text(partition)]) => Ok(Some(partition.clone())),
            _ => {
                let invalid = format!("a lexical search must pin {key} by one $eq");
                Err(ErrorKind::Invalid(invalid))
            }
        }
    }

    /// Keys and slots in the order of the keys, from behind one on.
    pub fn in_key_order(&self, after: Option<&Key>) -> impl Iterator<Item = (&Key, Slot)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.by_key.range::<Key, _>((from, Bound::Unbounded));
        range.map(|(key, slot)| (key, *slot))
    }

    fn key(&self, slot: Slot) -> Option<&Key> {
        self.row(slot).map(|row| &row.key)
    }
}

fn empty_postings(spec: &CollectionSpec) -> HashMap<MetadataKey, Postings> {
    let keys = spec.fields.iter().map(|field| field.key.clone());
    keys.map(|key| (key, Postings::default())).collect()
}

/// The slots of a bitmap. Its iterator is faster from within than step by step, as `collect` goes.
fn listed(slots: &RoaringBitmap) -> Vec<Slot> {
    let mut list = Vec::with_capacity(usize::try_from(slots.len()).unwrap_or(0));
    slots.iter().for_each(|slot| list.push(slot));
    list
}

fn too_many_expansions(error: &TooManyExpansions) -> ErrorKind {
    let as_u64 = |n| u64::try_from(n).unwrap_or(u64::MAX);
    ErrorKind::Limit {
        what: "stored words that begin with one word of the query",
        // How many there are would tell of passages that the reader may not see.
        given: as_u64(error.max.saturating_add(1)),
        max: as_u64(error.max),
    }
}
