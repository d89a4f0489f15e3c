//! An inverted index for each partition.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use shelfward_core::Match;

use crate::bm25::Bm25;
use crate::inverted::{InvertedIndex, Search, Term, TooManyExpansions, highest_first};

/// Documents in partitions, each with statistics of its own: a score tells nothing of what other
/// partitions hold, and does not change with them. What stores keep their lexical leg in.
///
/// A partition costs nothing until a document is in it, and nothing once the last one is gone.
#[derive(Clone, Debug)]
pub struct PartitionedIndex<P, D> {
    bm25: Bm25,
    /// Clones of the index share a partition until one of them changes it.
    partitions: HashMap<P, Arc<Partition<D>>>,
}

#[derive(Clone, Debug)]
struct Partition<D> {
    inverted: InvertedIndex,
    /// By number; what was removed is still there until the numbers are given anew.
    documents: Vec<D>,
    numbers: HashMap<D, u32>,
}

/// What is looked for in one partition.
#[derive(Clone, Copy, Debug)]
pub struct PartitionSearch<'a> {
    /// The words of the query, in its order.
    pub terms: &'a [Term<'a>],
    /// Whether a document must hold one of the words or all of them.
    pub matching: Match,
    /// How many documents are wanted.
    pub top_k: usize,
    /// The most words that one prefix may stand for; `None` for no limit.
    pub max_expansions: Option<usize>,
}

impl<P: Clone + Eq + Hash, D: Clone + Hash + Ord + Sync> PartitionedIndex<P, D> {
    /// An empty index.
    pub fn new(bm25: Bm25) -> Self {
        Self {
            bm25,
            partitions: HashMap::new(),
        }
    }

    /// Whether documents of so many words can be added to a partition without its numbers running
    /// out, which are 32 bits wide. `letters` is the sum of the words' bytes.
    pub fn has_room_for(&self, partition: &P, documents: usize, letters: usize) -> bool {
        match self.partitions.get(partition) {
            Some(partition) => partition.inverted.has_room_for(documents, letters),
            None => InvertedIndex::new(self.bm25).has_room_for(documents, letters),
        }
    }

    /// Puts a document with these words in a partition, in the place of one under the same name.
    /// Answers whether there was room; see [`has_room_for`](Self::has_room_for). Nothing is changed
    /// where there was none.
    pub fn put<'w>(
        &mut self,
        partition: P,
        document: D,
        words: impl IntoIterator<Item = &'w str>,
    ) -> bool {
        let bm25 = self.bm25;
        let place = self.partitions.entry(partition.clone());
        let place = place.or_insert_with(|| {
            Arc::new(Partition {
                inverted: InvertedIndex::new(bm25),
                documents: Vec::new(),
                numbers: HashMap::new(),
            })
        });
        let place = Arc::make_mut(place);
        let there_was_room = place.put(document, words);
        if place.inverted.is_empty() {
            self.partitions.remove(&partition);
        }
        there_was_room
    }

    /// Removes documents of a partition; answers how many were there. Many at once cost each of them
    /// far less than one by one.
    pub fn remove_all<'d>(
        &mut self,
        partition: &P,
        documents: impl IntoIterator<Item = &'d D>,
    ) -> usize
    where
        D: 'd,
    {
        let Some(place) = self.partitions.get_mut(partition) else {
            return 0;
        };
        let place = Arc::make_mut(place);
        let removed = place.remove_all(documents);
        if place.inverted.is_empty() {
            self.partitions.remove(partition);
        }
        removed
    }

    /// Removes a document; answers whether it was there.
    pub fn remove(&mut self, partition: &P, document: &D) -> bool {
        self.remove_all(partition, [document]) > 0
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.partitions.clear();
    }

    /// The best documents of a partition among those that `allowed` lets through, highest score
    /// first, equal ones in the order of the documents' names, with their scores. Statistics are over
    /// all of the partition's documents.
    ///
    /// # Errors
    /// [`TooManyExpansions`] when a prefix begins more words than
    /// [`PartitionSearch::max_expansions`].
    pub fn search(
        &self,
        partition: &P,
        search: &PartitionSearch<'_>,
        allowed: impl Fn(&D) -> bool + Sync,
    ) -> Result<Vec<(&D, f64)>, TooManyExpansions> {
        let Some(place) = self.partitions.get(partition) else {
            return Ok(Vec::new());
        };
        // Without the count, which would ask more of `D` than a search needs.
        let place = &**place;
        let document = |number: u32| place.documents.get(number as usize);
        let found = place.inverted.search(&Search {
            terms: search.terms,
            matching: search.matching,
            top_k: search.top_k,
            with_ties: true,
            max_expansions: search.max_expansions,
            allowed: Some(&|number| document(number).is_some_and(&allowed)),
        })?;
        let named = |found: crate::inverted::Scored| Some((document(found.document)?, found.score));
        let mut found: Vec<_> = found.into_iter().filter_map(named).collect();
        found.sort_by(|(a, a_score), (b, b_score)| {
            highest_first(*a_score, *b_score).then_with(|| a.cmp(b))
        });
        found.truncate(search.top_k);
        Ok(found)
    }
}

impl<D: Clone + Eq + Hash> Partition<D> {
    fn put<'w>(&mut self, document: D, words: impl IntoIterator<Item = &'w str>) -> bool {
        let words = |each: &mut dyn FnMut(&str)| words.into_iter().for_each(each);
        let added = match self.numbers.get(&document) {
            Some(old) => self.inverted.replace(*old, words),
            None => self.inverted.add(words),
        };
        let Ok(number) = added else { return false };
        self.documents.push(document.clone());
        self.numbers.insert(document, number);
        self.compact_if_sparse();
        true
    }

    fn remove_all<'d>(&mut self, documents: impl IntoIterator<Item = &'d D>) -> usize
    where
        D: 'd,
    {
        let documents = documents.into_iter();
        let numbers: Vec<u32> = documents.filter_map(|d| self.numbers.remove(d)).collect();
        let removed = numbers.len();
        self.inverted.remove_all(numbers);
        self.compact_if_sparse();
        removed
    }

    fn compact_if_sparse(&mut self) {
        if !self.inverted.is_sparse() {
            return;
        }
        let old = self.inverted.compact();
        let documents = old
            .iter()
            .filter_map(|old| self.documents.get(*old as usize));
        self.documents = documents.cloned().collect();
        self.numbers = self.documents.iter().cloned().zip(0..).collect();
    }
}
