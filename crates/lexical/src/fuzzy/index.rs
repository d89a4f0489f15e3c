//! The index: adding, replacing and removing documents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::dictionary::Dictionary;
use super::document::{FieldText, FuzzyDocument, FuzzyDocumentError, Kept};
use super::rank::{Levels, Posting};
use super::settings::{Checked, FuzzySettings, FuzzySettingsError};
use super::words::{FuzzyWords, Tokenize, fold};

/// A search box's index over records such as notes. See the [module](super).
///
/// Searching takes `&self` and may run in several threads at once. Adding, replacing and removing
/// cost what the documents at hand cost, however many others there are, and leave nothing for the
/// next search to catch up on.
#[derive(Clone)]
pub struct FuzzyIndex {
    pub(super) settings: Checked,
    pub(super) levels: Levels,
    pub(super) tokenizer: Arc<dyn Tokenize>,
    pub(super) dictionary: Dictionary,
    /// By word.
    pub(super) postings: Vec<Vec<Posting>>,
    /// The documents in the order they were added. A removed one leaves its slot empty, and what it
    /// left in `postings`, until there is more of that than of the living.
    slots: Vec<Option<Kept>>,
    ids: HashMap<Arc<str>, u32>,
    living: usize,
    dead: usize,
}

impl FuzzyIndex {
    /// An empty index that reads words with [`FuzzyWords`].
    ///
    /// # Errors
    /// [`FuzzySettingsError`] names the setting, what was given and what would be right.
    pub fn new(settings: FuzzySettings) -> Result<Self, FuzzySettingsError> {
        Self::with_tokenizer(settings, FuzzyWords)
    }

    /// An empty index that reads words with a function of yours. See [`Tokenize`].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_tokenizer(
        settings: FuzzySettings,
        tokenizer: impl Tokenize + 'static,
    ) -> Result<Self, FuzzySettingsError> {
        let settings = Checked::new(settings)?;
        Ok(Self {
            levels: Levels::new(&settings),
            dictionary: Dictionary::new(settings.given.edit_min_length),
            settings,
            tokenizer: Arc::new(tokenizer),
            postings: Vec::new(),
            slots: Vec::new(),
            ids: HashMap::new(),
            living: 0,
            dead: 0,
        })
    }

    /// Adds a document. One with an id that the index holds replaces it, and counts as added last.
    ///
    /// # Errors
    /// [`FuzzyDocumentError`], with the index as it was: an empty id, a field given twice, or no
    /// room.
    pub fn add_document(&mut self, document: FuzzyDocument) -> Result<(), FuzzyDocumentError> {
        check(&document)?;
        self.insert(document)
    }

    /// Adds documents in their order. All are checked before the first is added, so a refusal leaves
    /// the index as it was.
    ///
    /// # Errors
    /// As [`add_document`](Self::add_document), for the first document that is refused. When the
    /// index is full, the documents before that one have been added.
    pub fn add_documents(
        &mut self,
        documents: impl IntoIterator<Item = FuzzyDocument>,
    ) -> Result<(), FuzzyDocumentError> {
        let documents: Vec<_> = documents.into_iter().collect();
        documents.iter().try_for_each(check)?;
        self.slots.reserve(documents.len());
        documents
            .into_iter()
            .try_for_each(|document| self.insert(document))
    }

    /// Removes a document; answers whether it was there.
    pub fn remove_document(&mut self, id: &str) -> bool {
        let Some(slot) = self.ids.remove(id) else {
            return false;
        };
        self.bury(slot);
        self.tidy();
        true
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether there is a document of this id.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    /// The document in a slot, unless it was removed.
    pub(super) fn kept(&self, slot: u32) -> Option<&Kept> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Every document, in the order they were added.
    pub(super) fn documents(&self) -> impl Iterator<Item = &Kept> {
        self.slots.iter().flatten()
    }

    pub(super) fn slot_count(&self) -> u32 {
        // `insert` gives out no slot beyond.
        u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    fn insert(&mut self, document: FuzzyDocument) -> Result<(), FuzzyDocumentError> {
        let FuzzyDocument { id, fields } = document;
        let placed = fields.into_iter().filter_map(|(name, text)| {
            let place = self.settings.place(&name)?;
            Some((place, text))
        });
        let mut fields: Vec<(u16, FieldText)> = placed.collect();
        fields.sort_unstable_by_key(|(place, _)| *place);

        let slot = self.slot_count();
        let postings = if slot == u32::MAX {
            None
        } else {
            self.index_words(&fields, slot)
        };
        let Some(postings) = postings else {
            return Err(FuzzyDocumentError::Full { id });
        };
        let id: Arc<str> = id.into();
        self.slots.push(Some(Kept {
            id: Arc::clone(&id),
            fields,
            postings,
        }));
        self.living += postings + 1;
        if let Some(replaced) = self.ids.insert(id, slot) {
            self.bury(replaced);
            self.tidy();
        }
        Ok(())
    }

    /// Files every word of a document under its slot. Answers how many there are, or nothing, with
    /// nothing filed, when one found no room.
    fn index_words(&mut self, fields: &[(u16, FieldText)], slot: u32) -> Option<usize> {
        let mut filed: Vec<u32> = Vec::new();
        let mut full = false;
        let mut folded = String::new();
        // From the heaviest field on: where a word is met first is where it weighs most.
        let mut by_weight: Vec<_> = fields.iter().collect();
        let weight = |field: u16| self.settings.weight(field);
        by_weight.sort_by(|(a, _), (b, _)| weight(*b).total_cmp(&weight(*a)));
        // A caller's tokenizer may panic: what was begun is undone before that goes on.
        let panic = catch_unwind(AssertUnwindSafe(|| {
            for (field, text) in by_weight {
                self.tokenizer.each_word(&searched(text), &mut |word, _| {
                    fold(word, &mut folded);
                    if full || folded.is_empty() {
                        return;
                    }
                    let Some(id) = self.dictionary.intern(&folded) else {
                        full = true;
                        return;
                    };
                    let at = id as usize;
                    if at >= self.postings.len() {
                        self.postings.resize_with(at + 1, Vec::new);
                    }
                    if let Some(postings) = self.postings.get_mut(at)
                        && postings.last().is_none_or(|last| last.slot != slot)
                    {
                        postings.push(Posting {
                            slot,
                            field: *field,
                        });
                        filed.push(id);
                    }
                });
            }
        }))
        .err();
        if full || panic.is_some() {
            for id in filed {
                self.postings.get_mut(id as usize)?.pop();
            }
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
            return None;
        }
        Some(filed.len())
    }

    /// Empties a slot. Its texts are gone at once.
    fn bury(&mut self, slot: u32) {
        let slot = self.slots.get_mut(slot as usize);
        if let Some(kept) = slot.and_then(Option::take) {
            self.living -= kept.postings + 1;
            self.dead += kept.postings + 1;
        }
    }

    /// Builds the index anew from what lives, once more of it is dead than alive: each removal then
    /// pays for a bounded part of the work.
    fn tidy(&mut self) {
        if self.dead <= self.living + 1_024 {
            return;
        }
        let mut next = 0;
        let moved: Vec<Option<u32>> = self
            .slots
            .iter()
            .map(|slot| {
                slot.as_ref().map(|_| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        self.slots.retain(Option::is_some);
        for slot in self.ids.values_mut() {
            if let Some(Some(to)) = moved.get(*slot as usize) {
                *slot = *to;
            }
        }
        let mut dictionary = Dictionary::new(self.settings.given.edit_min_length);
        let mut kept = Vec::new();
        for (mut postings, id) in std::mem::take(&mut self.postings).into_iter().zip(0..) {
            postings.retain_mut(|posting| match moved.get(posting.slot as usize) {
                Some(Some(to)) => {
                    posting.slot = *to;
                    true
                }
                _ => false,
            });
            let word = self.dictionary.word(id).filter(|_| !postings.is_empty());
            // There was room for it in the greater dictionary.
            if word.and_then(|word| dictionary.intern(word)).is_some() {
                postings.shrink_to_fit();
                kept.push(postings);
            }
        }
        self.postings = kept;
        self.dictionary = dictionary;
        self.dead = 0;
    }
}

/// The text of a field as it is searched: a list is one text, a line each.
fn searched(text: &FieldText) -> Cow<'_, str> {
    match text {
        FieldText::Text(text) => Cow::Borrowed(text),
        FieldText::List(texts) => Cow::Owned(texts.join("\n")),
    }
}

fn check(document: &FuzzyDocument) -> Result<(), FuzzyDocumentError> {
    if document.id.is_empty() {
        return Err(FuzzyDocumentError::EmptyId);
    }
    let mut seen = HashSet::new();
    match document.fields.iter().find(|(name, _)| !seen.insert(name)) {
        None => Ok(()),
        Some((field, _)) => Err(FuzzyDocumentError::RepeatedField {
            id: document.id.clone(),
            field: field.clone(),
        }),
    }
}

/// Shows sizes, never a text or a word.
impl fmt::Debug for FuzzyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuzzyIndex")
            .field("settings", &self.settings.given)
            .field("documents", &self.len())
            .field("words", &self.postings.len())
            .finish_non_exhaustive()
    }
}
