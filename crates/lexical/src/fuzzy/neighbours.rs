//! Finding the words one edit away without reading all words.

use std::hash::{BuildHasher, RandomState};

/// Up to this length in letters a word is filed by its deletions, above it by its halves: a word has
/// as many deletions as letters, and a word may be a whole megabyte.
const LONGEST_BY_DELETION: usize = 32;

/// No entry.
const END: u32 = u32::MAX;

/// A table from a key to the words filed under it.
///
/// A short word is filed under itself and under each form with one letter dropped. Two words one
/// edit apart share such a key: a letter added or dropped makes one a form of the other, and after a
/// change or a swap of neighbours both have a form in common.
///
/// A long word is filed under its length with its first half, and under its length with its second
/// half. One edit leaves one of them whole, unless it swaps the two letters at the middle.
///
/// Keys are hashes, seeded anew for each table so that nobody can choose words that collide. What is
/// found must be tested, and may be found more than once.
#[derive(Clone)]
pub(super) struct Neighbours {
    hasher: RandomState,
    /// The first entry of each bucket. Their number is a power of two.
    heads: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    key: u32,
    word: u32,
    next: u32,
}

impl Neighbours {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            heads: vec![END; 16],
            entries: Vec::new(),
        }
    }

    /// Files a word. `None` when the table is full.
    pub(super) fn add(&mut self, word: &str, id: u32) -> Option<()> {
        let letters = word.chars().count();
        let mut keys = Vec::new();
        if letters <= LONGEST_BY_DELETION {
            self.deletion_keys(word, &mut keys);
        } else {
            keys.extend(self.half_keys(word, letters, letters));
        }
        keys.into_iter().try_for_each(|key| self.push(key, id))
    }

    /// Gives the ids of all words one edit away from `word`, which has `letters` letters, and of
    /// some others. The swap at the middle of a long word is left to the caller.
    pub(super) fn each_near(&self, word: &str, letters: usize, mut take: impl FnMut(u32)) {
        let mut keys = Vec::new();
        if letters <= LONGEST_BY_DELETION + 1 {
            self.deletion_keys(word, &mut keys);
        }
        for length in letters.saturating_sub(1)..=letters + 1 {
            if length > LONGEST_BY_DELETION {
                keys.extend(self.half_keys(word, letters, length));
            }
        }
        for key in keys {
            let mut at = self.heads.get(self.bucket(key)).copied().unwrap_or(END);
            while let Some(entry) = entry_at(&self.entries, at) {
                if entry.key == key {
                    take(entry.word);
                }
                at = entry.next;
            }
        }
    }

    /// The keys of a word and of each form with one letter dropped.
    fn deletion_keys(&self, word: &str, keys: &mut Vec<u32>) {
        keys.push(self.key(word));
        let mut form = String::with_capacity(word.len());
        let mut before = None;
        for (at, letter) in word.char_indices() {
            // Of two like letters side by side, dropping either gives the same form.
            if before.replace(letter) == Some(letter) {
                continue;
            }
            let (start, rest) = word.split_at(at);
            form.clear();
            form.push_str(start);
            form.extend(rest.chars().skip(1));
            keys.push(self.key(form.as_str()));
        }
    }

    /// The keys under which a word of `length` letters is filed if its first half is how `word`
    /// begins, and if its second half is how `word` ends.
    fn half_keys(
        &self,
        word: &str,
        letters: usize,
        length: usize,
    ) -> impl Iterator<Item = u32> + use<> {
        let place = |letter: usize| {
            let place = word.char_indices().nth(letter).map(|(at, _)| at);
            place.unwrap_or(word.len())
        };
        let first = length / 2;
        let second = letters.saturating_sub(length - first);
        let begin = word.get(..place(first)).unwrap_or_default();
        let end = word.get(place(second)..).unwrap_or_default();
        [
            self.key((length, false, begin)),
            self.key((length, true, end)),
        ]
        .into_iter()
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a key is half of a hash, and what it finds is tested"
    )]
    fn key(&self, of: impl std::hash::Hash) -> u32 {
        self.hasher.hash_one(of) as u32
    }

    fn bucket(&self, key: u32) -> usize {
        key as usize & (self.heads.len() - 1)
    }

    fn push(&mut self, key: u32, word: u32) -> Option<()> {
        if self.entries.len() == self.heads.len() {
            self.grow();
        }
        let at = u32::try_from(self.entries.len()).ok()?;
        let bucket = self.bucket(key);
        let head = self.heads.get_mut(bucket)?;
        let next = std::mem::replace(head, at);
        self.entries.push(Entry { key, word, next });
        Some(())
    }

    /// Doubles the buckets and chains all entries anew.
    fn grow(&mut self) {
        self.heads = vec![END; self.heads.len() * 2];
        let mask = self.heads.len() - 1;
        for (entry, at) in self.entries.iter_mut().zip(0..) {
            if let Some(head) = self.heads.get_mut(entry.key as usize & mask) {
                entry.next = std::mem::replace(head, at);
            }
        }
    }
}

fn entry_at(entries: &[Entry], at: u32) -> Option<Entry> {
    entries.get(at as usize).copied()
}
