//! An index taken apart and put together again, as its saved forms need.

use crate::bm25::Bm25;

use super::block::Posting;
use super::bounds::Bounds;
use super::list::List;
use super::{Full, InvertedIndex};

impl InvertedIndex {
    /// Calls `each` with every word that a document holds, in the order in which they were met, and
    /// its postings in ascending order of documents.
    pub(crate) fn for_each_word(&self, mut each: impl FnMut(&str, &[Posting])) {
        let mut postings = Vec::new();
        for (number, list) in (0..).zip(&self.lists) {
            postings.clear();
            list.for_each(|posting| {
                if self.is_live(posting.document) {
                    postings.push(posting);
                }
            });
            if !postings.is_empty() {
                each(self.dictionary.word(number), &postings);
            }
        }
    }
}

/// An index that is put together.
pub(crate) struct Parts {
    index: InvertedIndex,
}

impl Parts {
    /// Begins with the lengths of the documents, none of them removed.
    pub(crate) fn new(bm25: Bm25, lengths: Vec<u32>) -> Self {
        let mut index = InvertedIndex::new(bm25);
        index.total_length = lengths.iter().map(|length| u64::from(*length)).sum();
        index.live = u32::try_from(lengths.len()).unwrap_or(u32::MAX);
        index.lengths = lengths.into_iter().collect();
        index.bounded_for = index.average_length();
        Self { index }
    }

    /// Whether a word was not added before.
    pub(crate) fn is_new(&self, word: &str) -> bool {
        self.index.dictionary.find(word).is_none()
    }

    /// Adds a word that was not added before, with postings of these documents in ascending order,
    /// each with a count of 1 or more.
    pub(crate) fn word(&mut self, word: &str, postings: &[Posting]) -> Result<(), Full> {
        let index = &mut self.index;
        let bounds = Bounds {
            bm25: index.bm25,
            average: index.bounded_for,
            lengths: &index.lengths,
        };
        let list = List::of(postings, &bounds);
        let number = index.dictionary.number(word).ok_or(Full)?;
        index.lists.resize_with(number as usize, List::default);
        index.lists.push(list);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> InvertedIndex {
        self.index.counts = vec![0; self.index.lists.len()];
        self.index.dictionary.order_all();
        self.index
    }
}
