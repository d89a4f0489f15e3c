//! The lexical leg: an index of the records' words, kept in step with them.

use shelfward_core::{Key, MAX_PREFIX_EXPANSIONS, Match, QueryWord, Record, Text};
use shelfward_lexical::inverted::Term;
use shelfward_lexical::{Bm25, PartitionSearch, PartitionedIndex, TooManyExpansions};

/// The words of the records that have a text, by partition: statistics are over all of a
/// partition's texts, whatever a search's filter.
pub(crate) struct Words {
    index: PartitionedIndex<Option<Text>, Key>,
}

impl Words {
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

    /// Takes a record in, in the place of what was under its key.
    pub(crate) fn put(&mut self, record: &Record) {
        if record.text.is_none() {
            self.remove(&record.key);
            return;
        }
        let words = record.words.iter().map(Text::as_str);
        let partition = record.key.partition.clone();
        // There is room: that was asked before anything was changed.
        let _ = self.index.put(partition, record.key.clone(), words);
    }

    pub(crate) fn remove(&mut self, key: &Key) {
        self.index.remove(&key.partition, key);
    }

    pub(crate) fn clear(&mut self) {
        self.index.clear();
    }

    /// The `k` best keys for the words among those that are allowed.
    pub(crate) fn best(
        &self,
        partition: &Option<Text>,
        words: &[QueryWord],
        matching: Match,
        k: usize,
        allowed: impl Fn(&Key) -> bool + Sync,
    ) -> Result<Vec<(&Key, f64)>, TooManyExpansions> {
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
        self.index.search(partition, &search, allowed)
    }
}
