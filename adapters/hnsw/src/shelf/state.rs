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
    pub(crate) rows: Rows,
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
            rows: Rows::new(spec, held),
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

    /// Makes a change. Answers a graph that is of no more use, to be let go of outside of the lock.
    pub(crate) fn apply(&mut self, change: &Change) -> Option<Index> {
        if let Some(spec) = &change.spec {
            self.rows.set_spec(spec.clone());
        }
        let old = change.clear.then(|| self.clear()).flatten();
        for key in &change.removed {
            if let Some(slot) = self.rows.remove(key) {
                self.forget(slot);
                self.own_words.remove(&slot);
            }
        }
        for put in &change.put {
            self.put(put);
        }
        for (key, metadata) in &change.patched {
            if let Some(slot) = self.rows.slot(key) {
                self.rows.set_metadata(slot, metadata.clone());
            }
        }
        old
    }

    fn clear(&mut self) -> Option<Index> {
        self.rows.clear();
        self.own_words.clear();
        self.unindexed.clear();
        self.unplaced.clear();
        self.pending.clear();
        self.index.take()
    }

    fn put(&mut self, Written { record, own_words }: &Written) {
        let held = self.rows.slot(&record.key);
        // A passage that is written again with the vector it had keeps its node.
        let same_vector = held
            .and_then(|slot| self.rows.vector(slot))
            .is_some_and(|held| same_bits(&held, &record.vector));
        let slot = self.rows.put(record);
        if !same_vector {
            self.forget(slot);
            if self.index.is_some() {
                self.unindexed.insert(slot);
            }
        }
        if *own_words {
            self.own_words.insert(slot, record.words.clone());
        } else {
            self.own_words.remove(&slot);
        }
    }

    /// Takes a row out of the graph.
    fn forget(&mut self, slot: Slot) {
        if let Some(index) = &mut self.index {
            index.nodes.detach(slot);
        }
        self.unindexed.remove(slot);
        self.unplaced.remove(slot);
        self.pending.remove(slot);
    }
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
