//! Names by number and in order: the words of an index, or the ids of its documents.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A word's number: words are numbered in the order in which they were first met.
pub(crate) type WordNumber = u32;

/// All words, each once. A word that is forgotten and met again gets a new number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    /// The words, one behind the other.
    letters: String,
    /// Where each ends in `letters`.
    ends: Vec<u32>,
    numbers: HashTable<WordNumber>,
    hasher: DefaultHashBuilder,
    /// The numbers below `ordered_to`, in the order of their words.
    ordered: Vec<WordNumber>,
    ordered_to: WordNumber,
    /// What the letters and numbers take that no word has any more.
    forgotten_bytes: usize,
}

/// What a word takes beside its letters, here and in the lists.
const BYTES_A_WORD: usize = 48;

/// How many words may stand out of order before all are put in order: a share of all, so that
/// ordering costs each added word the same however many there are.
const MIN_UNORDERED: usize = 256;

impl Dictionary {
    /// How many numbers were given.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of all words together.
    pub(crate) fn letters(&self) -> usize {
        self.letters.len()
    }

    pub(crate) fn word(&self, number: WordNumber) -> &str {
        slice(&self.letters, &self.ends, number)
    }

    pub(crate) fn find(&self, word: &str) -> Option<WordNumber> {
        self.find_hashed(hash_of(&self.hasher, word), word)
    }

    fn find_hashed(&self, hash: u64, word: &str) -> Option<WordNumber> {
        // Bytes are compared: where characters begin and end need not be looked at.
        let is_word = |number: &WordNumber| {
            let letters = self.letters.as_bytes();
            letters.get(range(&self.ends, *number)) == Some(word.as_bytes())
        };
        self.numbers.find(hash, is_word).copied()
    }

    /// Whether [`number`](Self::number) can give one.
    pub(crate) fn has_room_for(&self, word: &str) -> bool {
        u32::try_from(self.ends.len()).is_ok_and(|number| number != u32::MAX)
            && u32::try_from(self.letters.len() + word.len()).is_ok()
    }

    /// The word's number, a new one if it has none. `None` when there is no room for the word.
    pub(crate) fn number(&mut self, word: &str) -> Option<WordNumber> {
        let hash = hash_of(&self.hasher, word);
        if let Some(number) = self.find_hashed(hash, word) {
            return Some(number);
        }
        if !self.has_room_for(word) {
            return None;
        }
        let number = u32::try_from(self.ends.len()).ok()?;
        let end = u32::try_from(self.letters.len() + word.len()).ok()?;
        self.letters.push_str(word);
        self.ends.push(end);
        let (letters, ends, hasher) = (&self.letters, &self.ends, &self.hasher);
        let rehash = |number: &WordNumber| hash_of(hasher, slice(letters, ends, *number));
        self.numbers.insert_unique(hash, number, rehash);
        Some(number)
    }

    /// Makes `number` the one that its word has.
    pub(crate) fn remember(&mut self, number: WordNumber) {
        let Self {
            letters,
            ends,
            numbers,
            hasher,
            ..
        } = self;
        let rehash = |number: &WordNumber| hash_of(hasher, slice(letters, ends, *number));
        let word = slice(letters, ends, number);
        if let Ok(entry) = numbers.find_entry(hash_of(hasher, word), |other| {
            slice(letters, ends, *other) == word
        }) {
            entry.remove();
        }
        numbers.insert_unique(hash_of(hasher, word), number, rehash);
    }

    /// Forgets which number the word has: the next time it is met it gets a new one.
    pub(crate) fn forget(&mut self, number: WordNumber) {
        let word = self.word(number);
        let (hash, bytes) = (hash_of(&self.hasher, word), bytes_of(word));
        if let Ok(entry) = self.numbers.find_entry(hash, |other| *other == number) {
            entry.remove();
            self.forgotten_bytes += bytes;
        }
    }

    /// What forgotten words take, and what all do.
    pub(crate) fn forgotten_of_all(&self) -> (usize, usize) {
        let all = self.letters.len() + self.len() * BYTES_A_WORD;
        (self.forgotten_bytes, all)
    }

    /// Puts new words in order, once there are enough of them.
    pub(crate) fn keep_order(&mut self) {
        let unordered = self.len() - self.ordered_to as usize;
        if unordered > MIN_UNORDERED.max(self.ordered.len() / 8) {
            self.order_all();
        }
    }

    pub(crate) fn order_all(&mut self) {
        let mut ordered = std::mem::take(&mut self.ordered);
        let len = u32::try_from(self.len()).unwrap_or(u32::MAX);
        ordered.extend(self.ordered_to..len);
        // Two runs, the first of them in order already: this sort merges them.
        ordered.sort_by(|a, b| self.word(*a).cmp(self.word(*b)));
        self.ordered = ordered;
        self.ordered_to = len;
    }

    /// The numbers of the words that begin with `prefix`, forgotten ones included, in the order in
    /// which they were met.
    pub(crate) fn beginning_with(&self, prefix: &str) -> Vec<WordNumber> {
        let from = self.ordered.partition_point(|at| self.word(*at) < prefix);
        let begins = |number: &WordNumber| self.word(*number).starts_with(prefix);
        let ordered = self.ordered[from..].iter().copied();
        let len = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let mut found: Vec<WordNumber> = ordered
            .take_while(begins)
            .chain((self.ordered_to..len).filter(begins))
            .collect();
        found.sort_unstable();
        found
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.letters.capacity()
            + (self.ends.capacity() + self.ordered.capacity()) * size_of::<u32>()
            + self.numbers.allocation_size()
    }

    pub(crate) fn shrink(&mut self) {
        self.letters.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.ordered.shrink_to_fit();
    }
}

fn bytes_of(word: &str) -> usize {
    word.len() + BYTES_A_WORD
}

fn slice<'a>(letters: &'a str, ends: &[u32], number: WordNumber) -> &'a str {
    letters.get(range(ends, number)).unwrap_or_default()
}

/// Where a word stands in the letters.
fn range(ends: &[u32], number: WordNumber) -> Range<usize> {
    let at = number as usize;
    let end = |at: usize| ends.get(at).map_or(0, |end| *end as usize);
    at.checked_sub(1).map_or(0, end)..end(at)
}

/// Of the letters alone: nothing is hashed behind them, so nothing need mark their end.
fn hash_of(hasher: &DefaultHashBuilder, word: &str) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(word.as_bytes());
    state.finish()
}
