//! The contents of one collection, as its one lock guards them.

use std::collections::HashMap;
use std::sync::Arc;

use shelfward_core::{CollectionSpec, Text};
use shelfward_resident::{MemTable, MemTableOptions, RoaringBitmap, RowId, WriteBatch};

use crate::config::HnswOptions;
use crate::files::log_entry::{LogEntry, LogRecord};
use crate::index::graph::Graph;
use crate::index::metric_transform::MetricTransform;
use crate::index::nodes::Nodes;

/// A graph and what its nodes stand for.
pub(crate) struct GraphIndex {
    pub(crate) graph: Arc<Graph>,
    pub(crate) transform: MetricTransform,
    pub(crate) nodes: Nodes,
    /// How many records had no place when it was built; see [`Contents::unplaced`].
    pub(crate) unplaced_at_build: u64,
}

pub(crate) struct Contents {
    /// Every record; everything but approximate nearness is answered from here.
    /// Shared with a writer while it plans a write and applies a bulk one to a clone.
    pub(crate) rows: Arc<MemTable>,
    pub(crate) index: Option<GraphIndex>,
    /// Rows that are in no node of the graph. Each search looks at them, so that it is full at every
    /// moment.
    pub(crate) unindexed: RoaringBitmap,
    /// Those of them whose vectors the graph's transform has no point for.
    pub(crate) unplaced: RoaringBitmap,
    /// Rows whose vectors were taken to be put into a graph, and did not change since.
    pub(crate) pending: RoaringBitmap,
    /// Words that are not those of the row's text. The others are made from it when it is loaded.
    own_words: HashMap<RowId, Arc<[Text]>>,
    durable: bool,
    /// Set when the collection is dropped, for handles that outlive it.
    pub(crate) discarded: bool,
    /// Set when the store is closed: its files may be another process's from then on.
    pub(crate) closed: bool,
}

impl Contents {
    /// `durable`: whether the records will be written to a file.
    pub(crate) fn new(spec: Arc<CollectionSpec>, options: &HnswOptions, durable: bool) -> Self {
        let mut table = MemTableOptions::default();
        table.lexical = options.lexical;
        table.quantized = options.quantized;
        Self {
            rows: Arc::new(MemTable::new(spec, table)),
            index: None,
            unindexed: RoaringBitmap::new(),
            unplaced: RoaringBitmap::new(),
            pending: RoaringBitmap::new(),
            own_words: HashMap::new(),
            durable,
            discarded: false,
            closed: false,
        }
    }

    pub(crate) fn own_words(&self, row_id: RowId) -> Option<&[Text]> {
        self.own_words.get(&row_id).map(|words| &**words)
    }

    /// What a write is planned on.
    pub(crate) fn writer_view(&self) -> WriterView {
        WriterView {
            rows: self.rows.clone(),
            durable: self.durable,
            discarded: self.discarded,
        }
    }

    /// Applies a write in place. Answers what it replaced, to be dropped outside of the lock.
    pub(crate) fn apply(&mut self, entry: &LogEntry) -> Retired {
        let effects = apply_to(Arc::make_mut(&mut self.rows), entry);
        (None, self.update_index(effects))
    }

    /// Installs rows to which a write was applied. Answers what it replaced, as [`apply`](Self::apply)
    /// does.
    pub(crate) fn install(&mut self, (rows, effects): Prepared) -> Retired {
        let old = std::mem::replace(&mut self.rows, Arc::new(rows));
        (Some(old), self.update_index(effects))
    }

    fn update_index(&mut self, effects: Effects) -> Option<GraphIndex> {
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
            for row_id in moved {
                index.nodes.detach(row_id);
            }
            self.unindexed |= moved & self.rows.row_ids();
        }
        for (row_id, words) in effects.own_words {
            match words {
                Some(words) => drop(self.own_words.insert(row_id, words)),
                None => drop(self.own_words.remove(&row_id)),
            }
        }
        old
    }
}

/// Rows and a graph that were replaced.
pub(crate) type Retired = (Option<Arc<MemTable>>, Option<GraphIndex>);

/// Rows to which a write was applied, and what it did.
pub(crate) type Prepared = (MemTable, Effects);

/// What a write to the rows means for the graph and the words.
pub(crate) struct Effects {
    cleared: bool,
    /// Rows whose vectors are gone or others.
    moved: RoaringBitmap,
    own_words: Vec<(RowId, Option<Arc<[Text]>>)>,
}

/// A collection as a writer finds it. It does not change while the writer's lock is held.
pub(crate) struct WriterView {
    pub(crate) rows: Arc<MemTable>,
    durable: bool,
    pub(crate) discarded: bool,
}

impl WriterView {
    /// A batch as the log stores it.
    pub(crate) fn log_entry(&self, batch: WriteBatch) -> LogEntry {
        let rule = self.rows.spec().word_rule;
        let put = batch.put.into_iter().map(|record| {
            if self.durable {
                LogRecord::new(record, rule)
            } else {
                let own_words = false;
                LogRecord { record, own_words }
            }
        });
        LogEntry {
            removed: batch.removed,
            put: put.collect(),
            patched: batch.patched,
            ..LogEntry::default()
        }
    }

    /// The rows with a write applied, where it is not to be applied in place while readers wait.
    pub(crate) fn prepare(&self, entry: &LogEntry) -> Option<Prepared> {
        let mut rows = if entry.clear {
            self.rows.emptied()
        } else if entry.spec.is_some() || self.rows.is_bulk(entry.rows()) {
            MemTable::clone(&self.rows)
        } else {
            return None;
        };
        let effects = apply_to(&mut rows, entry);
        Some((rows, effects))
    }
}

fn apply_to(rows: &mut MemTable, entry: &LogEntry) -> Effects {
    if let Some(spec) = &entry.spec {
        rows.set_spec(spec.clone());
    }
    if entry.clear {
        rows.clear();
    }
    let removed = rows.remove_all(&entry.removed);
    let mut moved: RoaringBitmap = removed.iter().copied().collect();
    let mut own_words: Vec<_> = removed.into_iter().map(|row_id| (row_id, None)).collect();
    // A passage that is written again with the vector it had keeps its node.
    let same_vector = |put: &LogRecord| {
        let held = rows.row_id(&put.record.key);
        let held = held.and_then(|row_id| rows.vector(row_id));
        held.is_some_and(|held| same_bits(&held, &put.record.vector))
    };
    let same: Vec<bool> = entry.put.iter().map(same_vector).collect();
    let row_ids = rows.put_all(entry.put.iter().map(|put| &put.record));
    for ((row_id, same), put) in row_ids.into_iter().zip(same).zip(&entry.put) {
        if !same {
            moved.insert(row_id);
        }
        own_words.push((row_id, put.own_words.then(|| put.record.words.clone())));
    }
    rows.patch_all(&entry.patched);
    Effects {
        cleared: entry.clear,
        moved,
        own_words,
    }
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
