//! The words of an index, by how they begin and by what is near them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::edit::within_one_edit;
use super::neighbours::Neighbours;

/// How a stored word matches a query word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Same,
    /// The stored word begins with the query word.
    Begun,
    /// One edit lies between them.
    Edited,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Same, Self::Begun, Self::Edited];

    /// What a match of this kind counts.
    pub(super) fn count(self) -> f64 {
        match self {
            Self::Same => 1.0,
            Self::Begun => 0.75,
            Self::Edited => 0.5,
        }
    }
}

/// The distinct folded words. Each has a number, from 0 in the order they came.
///
/// Every look-up structure takes a word as it comes, so nothing has to be brought up to date before
/// a search.
#[derive(Clone)]
pub(super) struct Dictionary {
    words: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, u32>,
    sorted: BTreeMap<Arc<str>, u32>,
    near: Neighbours,
    edit_min_length: usize,
}

impl Dictionary {
    pub(super) fn new(edit_min_length: usize) -> Self {
        Self {
            words: Vec::new(),
            ids: HashMap::new(),
            sorted: BTreeMap::new(),
            near: Neighbours::new(),
            edit_min_length,
        }
    }

    pub(super) fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    pub(super) fn word(&self, id: u32) -> Option<&Arc<str>> {
        self.words.get(id as usize)
    }

    /// The number of a word, which is added if it is new. `None` when there is no room for it.
    pub(super) fn intern(&mut self, word: &str) -> Option<u32> {
        if let Some(id) = self.id(word) {
            return Some(id);
        }
        let id = u32::try_from(self.words.len()).ok()?;
        let word: Arc<str> = word.into();
        if has_letters(&word, self.edit_min_length) {
            self.near.add(&word, id)?;
        }
        self.words.push(Arc::clone(&word));
        self.sorted.insert(Arc::clone(&word), id);
        self.ids.insert(word, id);
        Some(id)
    }

    /// The words that match `word`, each once, with the kind that counts most.
    pub(super) fn matches(&self, word: &str) -> Vec<(u32, Kind)> {
        let from = (Bound::Included(word), Bound::Unbounded);
        let begun = self
            .sorted
            .range::<str, _>(from)
            .take_while(|(stored, _)| stored.starts_with(word));
        let mut found: Vec<_> = begun
            .map(|(stored, id)| {
                let same = stored.len() == word.len();
                (*id, if same { Kind::Same } else { Kind::Begun })
            })
            .collect();
        if has_letters(word, self.edit_min_length) {
            self.add_edited(word, &mut found);
        }
        found
    }

    fn add_edited(&self, word: &str, found: &mut Vec<(u32, Kind)>) {
        let letters = word.chars().count();
        let mut near = Vec::new();
        self.near.each_near(word, letters, |id| near.push(id));
        if let Some(swapped) = swapped_at_middle(word, letters) {
            near.extend(self.id(&swapped));
        }
        near.sort_unstable();
        near.dedup();
        found.extend(near.into_iter().filter_map(|id| {
            let stored = self.word(id)?;
            let edited = !stored.starts_with(word) && within_one_edit(stored, word);
            let long = has_letters(stored, self.edit_min_length);
            (edited && long).then_some((id, Kind::Edited))
        }));
    }
}

/// Whether a word has so many letters or more. Does not read a long word to its end.
fn has_letters(word: &str, letters: usize) -> bool {
    letters == 0 || word.chars().nth(letters - 1).is_some()
}

/// The word with the two letters on either side of its middle swapped.
fn swapped_at_middle(word: &str, letters: usize) -> Option<String> {
    let (at, left) = word.char_indices().nth((letters / 2).checked_sub(1)?)?;
    let (start, rest) = word.split_at(at);
    let mut rest = rest.chars();
    rest.next();
    let right = rest.next()?;
    Some([start, &right.to_string(), &left.to_string(), rest.as_str()].concat())
}
