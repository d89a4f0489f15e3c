//! The lexical leg: an index of the rows' words, kept in step with them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use roaring::RoaringBitmap;
use shelfward_core::{Key, MAX_PREFIX_EXPANSIONS, Match, QueryWord, Record, Text};
use shelfward_lexical::inverted::Term;
use shelfward_lexical::{Bm25, PartitionSearch, PartitionedIndex, TooManyExpansions};

use crate::row_id::RowId;

/// The words of the rows that have a text, by partition: statistics are over all of a partition's
/// texts, whatever a search's filter.
#[derive(Clone, Debug)]
pub(crate) struct WordIndex {
    index: PartitionedIndex<Option<Text>, Document>,
}

/// A row as the index names it: by its key, which orders equal scores; its row id comes along.
#[derive(Clone, Debug)]
struct Document {
    key: Key,
    row_id: RowId,
}

impl WordIndex {
    pub(crate) fn new() -> Self {
        Self {
            index: PartitionedIndex::new(Bm25::default()),
        }
    }

    /// Whether records can be added; an index numbers with 32 bits.
    pub(crate) fn has_room_for(&self, records: &[Record]) -> bool {
        let letters = |record: &Record| {
            let words = record.words.iter();
            words.map(|word| word.as_str().len()).sum::<usize>()
        };
        let letters = records.iter().map(letters).sum();
        let mut partitions = records.iter().map(|record| &record.key.partition);
        partitions.all(|partition| self.index.has_room_for(partition, records.len(), letters))
    }

    /// Indexes a record in the place of what was under its key.
    pub(crate) fn put(&mut self, row_id: RowId, record: &Record) {
        let key = record.key.clone();
        if record.text.is_none() {
            self.remove_all([&key].into_iter());
            return;
        }
        let words = record.words.iter().map(Text::as_str);
        // There is room: that was asked before anything was changed.
        let partition = key.partition.clone();
        let _ = self.index.put(partition, Document { key, row_id }, words);
    }

    pub(crate) fn remove_all<'k>(&mut self, keys: impl Iterator<Item = &'k Key>) {
        let mut by_partition: HashMap<&Option<Text>, Vec<Document>> = HashMap::new();
        for key in keys {
            let documents = by_partition.entry(&key.partition).or_default();
            let (key, row_id) = (key.clone(), 0);
            documents.push(Document { key, row_id });
        }
        for (partition, documents) in by_partition {
            self.index.remove_all(partition, &documents);
        }
    }

    /// The `k` best rows for the words among those that are allowed.
    pub(crate) fn best(
        &self,
        partition: &Option<Text>,
        words: &[QueryWord],
        matching: Match,
        k: usize,
        among: Option<&RoaringBitmap>,
    ) -> Result<Vec<(RowId, f64)>, TooManyExpansions> {
        let terms: Vec<Term<'_>> = (words.iter())
            .map(|word| Term {
                text: word.text.as_str(),
                prefix: word.prefix,
            })
            .collect();
        let search = PartitionSearch {
            terms: &terms,
            matching,
            top_k: k,
            max_expansions: Some(MAX_PREFIX_EXPANSIONS),
        };
        let allowed =
            |document: &Document| among.is_none_or(|among| among.contains(document.row_id));
        let best = self.index.search(partition, &search, allowed)?;
        Ok(best
            .into_iter()
            .map(|(document, score)| (document.row_id, score))
            .collect())
    }
}

impl Ord for Document {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Document {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Document {}

impl Hash for Document {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}
