//! What one collection holds, as its one lock guards it.

use std::collections::HashMap;
use std::sync::Arc;

use shelfward_core::{CollectionSpec, Record, Text};
use shelfward_resident::{RoaringBitmap, Rows, RowsOptions, Slot};

use crate::config::HnswOptions;
use crate::files::change::{Change, Written};
use crate::index::graph::Graph;
use crate::index::nodes::Nodes;
use crate::index::space::Space;

/// A graph and what its nodes stand for.
pub(crate) struct Index {
    pub(crate) graph: Arc<Graph>,
    pub(crate) space: Space,
    pub(crate) nodes: Nodes,
    /// How many records had no place when it was built; see [`State::unplaced`].
    pub(crate) unplaced_at_first: u64,
}

pub(crate) struct State {
    /// Every record; everything but approximate nearness is answered from here.
    /// Held by a writer, too, while it looks at them and makes a bulk change on a clone.
    pub(crate) rows: Arc<Rows>,
    pub(crate) index: Option<Index>,
    /// Rows that are in no node of the graph there is. They are looked at in each search, so that it
    /// is full at every moment.
    pub(crate) unindexed: RoaringBitmap,
    /// Those of them that the graph's space has no place for.
    pub(crate) unplaced: RoaringBitmap,
    /// Rows whose vectors were taken to be put into a graph, and did not change since.
    pub(crate) pending: RoaringBitmap,
    /// Words that are not those of the row's text. The others are made of it when it is read back.
    own_words: HashMap<Slot, Arc<[Text]>>,
    keep_words: bool,
    /// Set when the collection is dropped, for handles that outlive it.
    pub(crate) discarded: bool,
    /// Set when the store is shut: its files may be another process's from then on.
    pub(crate) shut: bool,
}

impl State {
    /// `durable`: whether the records will be written to a file.
    pub(crate) fn new(spec: Arc<CollectionSpec>, options: &HnswOptions, durable: bool) -> Self {
        let mut held = RowsOptions::default();
        held.lexical = options.lexical;
        held.quantized = options.quantized;
        Self {
            rows: Arc::new(Rows::new(spec, held)),
            index: None,
            unindexed: RoaringBitmap::new(),
            unplaced: RoaringBitmap::new(),
            pending: RoaringBitmap::new(),
            own_words: HashMap::new(),
            keep_words: durable,
            discarded: false,
            shut: false,
        }
    }

    pub(crate) fn own_words(&self, slot: Slot) -> Option<&[Text]> {
        self.own_words.get(&slot).map(|words| &**words)
    }

    /// What a write looks at to say what is to change.
    pub(crate) fn before(&self) -> Before {
        Before {
            rows: self.rows.clone(),
            keep_words: self.keep_words,
            discarded: self.discarded,
        }
    }

    /// Makes a change in place. Answers what is of no more use, to be let go of outside of the lock.
    pub(crate) fn apply(&mut self, change: &Change) -> Old {
        let effects = make(Arc::make_mut(&mut self.rows), change);
        (None, self.settle(effects))
    }

    /// Takes rows on which a change was made. Answers what is of no more use, as [`apply`](Self::apply)
    /// does.
    pub(crate) fn take_over(&mut self, (rows, effects): Made) -> Old {
        let old = std::mem::replace(&mut self.rows, Arc::new(rows));
        (Some(old), self.settle(effects))
    }

    fn settle(&mut self, effects: Effects) -> Option<Index> {
        let mut old = None;
        if effects.cleared {
            self.own_words.clear();
            self.unindexed.clear();
            self.unplaced.clear();
            self.pending.clear();
            old = self.index.take();
        }
        let moved = &effects.moved;
        self.unindexed -= moved;
        self.unplaced -= moved;
        self.pending -= moved;
        if let Some(index) = &mut self.index {
            for slot in moved {
                index.nodes.detach(slot);
            }
            self.unindexed |= moved & self.rows.slots();
        }
        for (slot, words) in effects.own_words {
            match words {
                Some(words) => drop(self.own_words.insert(slot, words)),
                None => drop(self.own_words.remove(&slot)),
            }
        }
        old
    }
}

/// Rows and a graph that are of no more use.
pub(crate) type Old = (Option<Arc<Rows>>, Option<Index>);

/// Rows on which a change was made, and what it did.
pub(crate) type Made = (Rows, Effects);

/// What a change of rows means for what is kept beside them.
pub(crate) struct Effects {
    cleared: bool,
    /// Slots whose vectors are gone or others.
    moved: RoaringBitmap,
    own_words: Vec<(Slot, Option<Arc<[Text]>>)>,
}

/// A collection as a writer finds it. It stays so as long as the writer's lock is held.
pub(crate) struct Before {
    pub(crate) rows: Arc<Rows>,
    keep_words: bool,
    pub(crate) discarded: bool,
}

impl Before {
    /// A change that puts records.
    pub(crate) fn putting(&self, records: &[Record]) -> Change {
        let rule = self.rows.spec().word_rule;
        let put = records.iter().map(|record| {
            if self.keep_words {
                Written::new(record, rule)
            } else {
                let record = record.clone();
                Written {
                    record,
                    own_words: false,
                }
            }
        });
        Change::put(put.collect())
    }

    /// The rows with a change on them, where it is not one to be made in place while readers wait.
    pub(crate) fn made(&self, change: &Change) -> Option<Made> {
        let mut rows = if change.clear {
            self.rows.emptied()
        } else if change.spec.is_some() || self.rows.is_bulk(change.rows()) {
            Rows::clone(&self.rows)
        } else {
            return None;
        };
        let effects = make(&mut rows, change);
        Some((rows, effects))
    }
}

fn make(rows: &mut Rows, change: &Change) -> Effects {
    if let Some(spec) = &change.spec {
        rows.set_spec(spec.clone());
    }
    if change.clear {
        rows.clear();
    }
    let removed = rows.remove_all(&change.removed);
    let mut moved: RoaringBitmap = removed.iter().copied().collect();
    let mut own_words: Vec<_> = removed.into_iter().map(|slot| (slot, None)).collect();
    // A passage that is written again with the vector it had keeps its node.
    let same_vector = |put: &Written| {
        let held = rows.slot(&put.record.key);
        let held = held.and_then(|slot| rows.vector(slot));
        held.is_some_and(|held| same_bits(&held, &put.record.vector))
    };
    let same: Vec<bool> = change.put.iter().map(same_vector).collect();
    let slots = rows.put_all(change.put.iter().map(|put| &put.record));
    for ((slot, same), put) in slots.into_iter().zip(same).zip(&change.put) {
        if !same {
            moved.insert(slot);
        }
        own_words.push((slot, put.own_words.then(|| put.record.words.clone())));
    }
    rows.patch_all(&change.patched);
    Effects {
        cleared: change.clear,
        moved,
        own_words,
    }
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
