//! An inverted index: for each word, the documents that hold it.
//!
//! Documents are numbers here, given in the order in which they are added. Whoever gives them names
//! keeps the table; `LexicalIndex` does.

mod block;
mod bounds;
mod dictionary;
mod lengths;
mod list;
mod number;
mod parts;
mod search;
mod tail;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::bm25::Bm25;

pub(crate) use block::Posting;
use bounds::Bounds;
pub(crate) use dictionary::Dictionary;
use dictionary::WordNumber;
use lengths::Lengths;
use list::List;
pub(crate) use number::{read_number, write_number};
pub(crate) use parts::Parts;
pub(crate) use search::highest_first;
pub use search::{Allowed, Scored, Search, Term, TooManyExpansions};

/// For each word the documents that hold it, packed, with what BM25 needs to know of them.
///
/// Adding, removing and searching may alternate freely. What is removed is not found from then on
/// and counts in no statistic; its postings are cleared away a batch at a time.
#[derive(Clone, Debug, Default)]
pub struct InvertedIndex {
    bm25: Bm25,
    dictionary: Dictionary,
    /// By word number.
    lists: Vec<List>,
    lengths: Lengths,
    live: u32,
    total_length: u64,
    /// The average length under which the bounds of blocks were counted.
    bounded_for: f64,
    removed: Removed,
    /// The distinct words of the document that is being added, and by word number how often it
    /// holds them: kept for the next one, all 0 in between.
    numbers: Vec<WordNumber>,
    counts: Vec<u32>,
}

/// Documents that were removed.
#[derive(Clone, Debug, Default)]
struct Removed {
    /// Those whose postings are still there, in ascending order.
    pending: Vec<u32>,
    /// How many words those have.
    pending_length: u64,
    /// One bit for each document, set when it was removed. Empty while none was.
    bits: Vec<u64>,
}

/// Into how many batches clearing away every document would fall. Each walks all postings; in
/// between, a search counts what was removed of the words that it asks for.
const BATCHES: usize = 32;

/// How many words removed documents may have, beside half of those that are there, before their
/// postings are cleared away.
const MAX_PENDING_LENGTH: u64 = 1 << 14;

/// How many bytes forgotten words may take, beside half of what all do.
const MAX_FORGOTTEN: usize = 1 << 18;

/// There is no room for another document, word or letter: numbers are 32 bits wide.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is full: it numbers documents, words and the letters of words with 32 bits")]
pub struct Full;

shelfward_core::debug_as_chain!(Full);

/// How many there are of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Documents.
    pub documents: u32,
    /// Distinct words.
    pub words: usize,
    /// The average length of a document in words; 0 where there is none.
    pub average_length: f64,
}

impl InvertedIndex {
    /// An empty index.
    pub fn new(bm25: Bm25) -> Self {
        Self {
            bm25,
            bounded_for: 1.0,
            ..Self::default()
        }
    }

    /// The constants of the formula.
    pub fn bm25(&self) -> Bm25 {
        self.bm25
    }

    /// How many documents there are.
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The number that the next document gets.
    pub fn end(&self) -> u32 {
        u32::try_from(self.lengths.len()).unwrap_or(u32::MAX)
    }

    /// Whether so many documents can be added, their words of so many bytes together, without
    /// [`Full`] for certain.
    pub fn has_room_for(&self, documents: usize, letters: usize) -> bool {
        let fits = |held: usize, more: usize| {
            let sum = held.checked_add(more).map(u32::try_from);
            matches!(sum, Some(Ok(sum)) if sum < u32::MAX)
        };
        fits(self.lengths.len(), documents)
            && fits(self.dictionary.letters(), letters)
            // A word has a letter at least, but for the empty one.
            && fits(self.dictionary.len() + 1, letters)
    }

    /// Adds a document and answers its number, which is above all that were given. `words` calls
    /// what it is given with each word of the document, in order.
    ///
    /// # Errors
    /// [`Full`]; nothing is changed then.
    pub fn add(&mut self, words: impl FnOnce(&mut dyn FnMut(&str))) -> Result<u32, Full> {
        self.put(None, words)
    }

    /// Removes a document and adds one, as [`remove`](Self::remove) and then [`add`](Self::add) do.
    ///
    /// # Errors
    /// [`Full`]; the old document stays then.
    pub fn replace(
        &mut self,
        old: u32,
        words: impl FnOnce(&mut dyn FnMut(&str)),
    ) -> Result<u32, Full> {
        self.put(Some(old), words)
    }

    fn put(
        &mut self,
        old: Option<u32>,
        words: impl FnOnce(&mut dyn FnMut(&str)),
    ) -> Result<u32, Full> {
        let document = u32::try_from(self.lengths.len()).map_err(|_| Full)?;
        let old = old.filter(|old| self.mark_removed(*old));
        let mut numbers = std::mem::take(&mut self.numbers);
        let mut renumbered = Vec::new();
        numbers.clear();
        let mut full = document == u32::MAX;
        let mut length = 0_u32;
        // A caller's tokenizer may panic: what was begun is undone before that goes on.
        let panic = catch_unwind(AssertUnwindSafe(|| {
            words(&mut |word| {
                let number = self.number(word, &mut renumbered);
                let longer = length.checked_add(1).filter(|_| !full);
                let (Some(number), Some(longer)) = (number, longer) else {
                    full = true;
                    return;
                };
                length = longer;
                if let Some(count) = self.counts.get_mut(number as usize) {
                    // Not more than `length`.
                    *count += 1;
                    if *count == 1 {
                        numbers.push(number);
                    }
                }
            })
        }))
        .err();
        let length = (!full && panic.is_none()).then_some(length);
        if let Some(length) = length {
            self.push(document, length, numbers.iter().copied());
            self.clear_enough();
        } else {
            for number in &numbers {
                if let Some(count) = self.counts.get_mut(*number as usize) {
                    *count = 0;
                }
            }
            for number in renumbered {
                self.dictionary.remember(number);
            }
            if let Some(old) = old {
                self.unmark_removed(old);
            }
        }
        self.numbers = numbers;
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        length.map(|_| document).ok_or(Full)
    }

    /// The number of a word of a new document. A word that only removed documents hold is met for
    /// the first time again: its old number goes into `renumbered`.
    fn number(&mut self, word: &str, renumbered: &mut Vec<WordNumber>) -> Option<WordNumber> {
        if let Some(number) = self.dictionary.find(word) {
            if self.removed.pending.is_empty() {
                return Some(number);
            }
            let list = self.lists.get(number as usize)?;
            let met_before = self.counts.get(number as usize).is_some_and(|n| *n > 0);
            if met_before || list.is_empty() || self.has_live(list) {
                return Some(number);
            }
            if !self.dictionary.has_room_for(word) {
                return None;
            }
            self.dictionary.forget(number);
            renumbered.push(number);
        }
        let number = self.dictionary.number(word)?;
        self.lists.resize_with(self.dictionary.len(), List::default);
        self.counts.resize(self.dictionary.len(), 0);
        Some(number)
    }

    fn push(&mut self, document: u32, length: u32, numbers: impl Iterator<Item = WordNumber>) {
        self.lengths.push(length);
        self.live += 1;
        self.total_length += u64::from(length);
        let bounds = Bounds {
            bm25: self.bm25,
            average: self.bounded_for,
            lengths: &self.lengths,
        };
        for number in numbers {
            let Some(count) = self.counts.get_mut(number as usize) else {
                continue;
            };
            if let Some(list) = self.lists.get_mut(number as usize) {
                let count = std::mem::take(count);
                list.push(Posting { document, count }, &bounds);
            }
        }
        self.dictionary.keep_order();
        self.keep_bounds();
    }

    /// Removes a document; answers whether it was there.
    pub fn remove(&mut self, document: u32) -> bool {
        let was_there = self.mark_removed(document);
        self.clear_enough();
        was_there
    }

    /// Removes documents, as [`remove`](Self::remove) does one by one. Their postings are cleared away
    /// at most once, so this costs each of them the less the more there are.
    pub fn remove_all(&mut self, mut documents: Vec<u32>) {
        // In this order each is marked behind those before it.
        documents.sort_unstable();
        for document in documents {
            self.mark_removed(document);
        }
        self.clear_enough();
    }

    fn mark_removed(&mut self, document: u32) -> bool {
        let Some(length) = self.length(document) else {
            return false;
        };
        self.removed.insert(document, length);
        self.live -= 1;
        self.total_length -= u64::from(length);
        true
    }

    fn unmark_removed(&mut self, document: u32) {
        let length = self.lengths.get(document).unwrap_or(0);
        self.removed.take_back(document, length);
        self.live += 1;
        self.total_length += u64::from(length);
    }

    /// Clears removed documents away in batches that grow with the index, so that clearing costs
    /// each removal the same however many documents there are: about what adding a document does.
    /// Long ones are not left for long.
    fn clear_enough(&mut self) {
        let Removed {
            pending,
            pending_length,
            ..
        } = &self.removed;
        let many = pending.len() > (self.lengths.len() / BATCHES).max(64);
        if many || *pending_length > self.total_length / 2 + MAX_PENDING_LENGTH {
            self.clear_removed();
        }
    }

    /// Whether a document of this number is there.
    pub fn is_live(&self, document: u32) -> bool {
        (document as usize) < self.lengths.len() && !self.removed.contains(document)
    }

    /// How many words document `document` has; `None` where there is none.
    pub fn length(&self, document: u32) -> Option<u32> {
        let length = self.lengths.get(document);
        length.filter(|_| self.is_live(document))
    }

    /// How many there are of what. Looks at every word while removed documents are not cleared
    /// away yet.
    pub fn statistics(&self) -> Statistics {
        let held = self.lists.iter().filter(|list| self.has_live(list));
        let average_length = if self.live == 0 {
            0.0
        } else {
            as_f64(self.total_length) / f64::from(self.live)
        };
        Statistics {
            documents: self.live,
            words: held.count(),
            average_length,
        }
    }

    /// The average length; 1 where no document has a word, as no score depends on it then.
    fn average_length(&self) -> f64 {
        if self.live == 0 || self.total_length == 0 {
            1.0
        } else {
            as_f64(self.total_length) / f64::from(self.live)
        }
    }

    /// Clears removed documents' postings away.
    fn clear_removed(&mut self) {
        let pending = std::mem::take(&mut self.removed.pending);
        self.removed.pending_length = 0;
        let removed = &self.removed;
        let keep = |document: u32| (!removed.contains(document)).then_some(document);
        let touches = |from: u32, to: u32| {
            let first = pending.partition_point(|document| *document < from);
            pending.get(first).is_some_and(|document| *document <= to)
        };
        let bounds = Bounds {
            bm25: self.bm25,
            average: self.bounded_for,
            lengths: &self.lengths,
        };
        for (number, list) in (0..).zip(&mut self.lists) {
            if list.is_empty() {
                continue;
            }
            list.rewrite(keep, touches, &bounds);
            if list.is_empty() {
                self.dictionary.forget(number);
            }
        }
    }

    /// Whether enough is left of removed documents, numbers or words, to be worth
    /// [`compact`](Self::compact).
    pub fn is_sparse(&self) -> bool {
        let live = self.live as usize;
        let (forgotten, all) = self.dictionary.forgotten_of_all();
        self.lengths.len() > 2 * live + 1024 || forgotten > all / 2 + MAX_FORGOTTEN.max(8 * live)
    }

    /// Numbers the documents and words anew, without gaps and in the same order, and gives back
    /// memory. Answers the documents' old numbers, in the order of the new ones.
    pub fn compact(&mut self) -> Vec<u32> {
        let old: Vec<u32> = (0..self.end()).filter(|old| self.is_live(*old)).collect();
        let mut new = vec![None; self.lengths.len()];
        for (number, old) in (0..).zip(&old) {
            if let Some(place) = new.get_mut(*old as usize) {
                *place = Some(number);
            }
        }
        let lengths = |old: &u32| self.lengths.get(*old).unwrap_or(0);
        let lengths: Lengths = old.iter().map(lengths).collect();
        let average = self.average_length();
        let mut compacted = Self::new(self.bm25);
        let bounds = Bounds {
            bm25: self.bm25,
            average,
            lengths: &lengths,
        };
        for (number, mut list) in (0..).zip(std::mem::take(&mut self.lists)) {
            let keep = |document: u32| new.get(document as usize).copied().flatten();
            list.rewrite(keep, |_, _| true, &bounds);
            if !list.is_empty() {
                // There is room: there was for more.
                let _ = compacted.dictionary.number(self.dictionary.word(number));
                compacted.lists.push(list);
            }
        }
        compacted.dictionary.order_all();
        compacted.dictionary.shrink();
        compacted.lists.shrink_to_fit();
        compacted.counts = vec![0; compacted.lists.len()];
        compacted.lengths = lengths;
        compacted.live = self.live;
        compacted.total_length = self.total_length;
        compacted.bounded_for = average;
        *self = compacted;
        old
    }

    /// How rare a word is: what a document's score for it is multiplied with. That of the most frequent
    /// word that a prefix stands for.
    pub fn idf(&self, term: Term<'_>) -> f64 {
        let numbers = if term.prefix {
            self.dictionary.beginning_with(term.text)
        } else {
            self.dictionary.find(term.text).into_iter().collect()
        };
        let lists = numbers
            .into_iter()
            .filter_map(|n| self.lists.get(n as usize));
        let holders = lists.map(|list| self.live_len(list)).max().unwrap_or(0);
        Bm25::idf(self.live, holders)
    }

    /// How many documents that are there hold the word of a list.
    fn live_len(&self, list: &List) -> u32 {
        let pending = &self.removed.pending;
        if pending.is_empty() || list.is_empty() {
            return list.len();
        }
        list.len() - list.count_among(pending)
    }

    /// Whether a document that is there holds the word of a list.
    fn has_live(&self, list: &List) -> bool {
        list.len() as usize > self.removed.pending.len()
            || list.any(|document| !self.removed.contains(document))
    }

    fn keep_bounds(&mut self) {
        let now = self.average_length();
        if Bounds::holds_for(self.bounded_for, now) {
            return;
        }
        self.bounded_for = now;
        let bounds = Bounds {
            bm25: self.bm25,
            average: now,
            lengths: &self.lengths,
        };
        self.lists.iter_mut().for_each(|list| list.rebound(&bounds));
    }

    /// What bounds counted under another average must be multiplied by to hold now.
    fn shrink(&self) -> f32 {
        bounds::rounded_down((self.bounded_for / self.average_length()).min(1.0))
    }

    /// The bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        let lists = self.lists.iter().map(List::heap_bytes).sum::<usize>();
        size_of::<Self>()
            + self.dictionary.heap_bytes()
            + lists
            + self.lists.capacity() * size_of::<List>()
            + self.lengths.heap_bytes()
            + self.removed.bits.capacity() * size_of::<u64>()
            + (self.removed.pending.capacity() + self.numbers.capacity() + self.counts.capacity())
                * size_of::<u32>()
    }

    /// Gives back memory that was set aside for more.
    pub fn shrink_to_fit(&mut self) {
        self.dictionary.order_all();
        self.dictionary.shrink();
        self.lists.iter_mut().for_each(List::shrink);
        self.lists.shrink_to_fit();
        self.lengths.shrink();
        self.numbers = Vec::new();
    }
}

impl Removed {
    fn contains(&self, document: u32) -> bool {
        let word = self.bits.get((document / 64) as usize);
        word.is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    fn take_back(&mut self, document: u32, length: u32) {
        if let Some(word) = self.bits.get_mut((document / 64) as usize) {
            *word &= !(1 << (document % 64));
        }
        self.pending.retain(|other| *other != document);
        self.pending_length = self.pending_length.saturating_sub(u64::from(length));
    }

    fn insert(&mut self, document: u32, length: u32) {
        let at = (document / 64) as usize;
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        if let Some(word) = self.bits.get_mut(at) {
            *word |= 1 << (document % 64);
        }
        let place = self.pending.partition_point(|other| *other < document);
        self.pending.insert(place, document);
        self.pending_length += u64::from(length);
    }
}

fn as_f64(n: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "memory holds far fewer than 2^53 words"
    )]
    let float = n as f64;
    float
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clearing walks every posting, so how often it is done is what removing costs.
    #[test]
    fn removing_all_documents_one_by_one_clears_in_few_batches() {
        let mut index = InvertedIndex::new(Bm25::default());
        for n in 0..20_000_u32 {
            let word = format!("w{}", n % 100);
            index
                .add(|each| each(&word))
                .unwrap_or_else(|e| panic!("{e}"));
        }
        let mut clearings = 0;
        for n in 0..20_000 {
            let pending = index.removed.pending.len();
            assert!(index.remove(n * 7 % 20_000));
            clearings += usize::from(index.removed.pending.len() < pending);
        }
        assert!(index.is_empty());
        assert!((1..=2 * BATCHES).contains(&clearings), "{clearings}");
    }
}
