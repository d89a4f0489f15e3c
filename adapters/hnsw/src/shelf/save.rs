//! How a collection gets into its files and out of them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::Arc;

use shelfward_core::{CollectionSpec, Key, Record};
use shelfward_resident::{RoaringBitmap, Slot};

use super::state::{Index, State};
use super::{Kept, Shelf};
use crate::config::HnswOptions;
use crate::error::{FileError, FileResult};
use crate::files::change::Change;
use crate::files::generation::Generation;
use crate::files::layout::{Layout, sync_folder};
use crate::files::log::{Log, create_beside};
use crate::files::snapshot::{Snapshot, SnapshotWriter};
use crate::index::graph_file;
use crate::index::nodes::{Nodes, hash_of};
use crate::record_mapping::Parts;

/// Rows that are written under one lock.
const BATCH: usize = 256;

impl Shelf {
    /// Makes the files of a new collection.
    pub(crate) fn create(
        layout: Layout,
        spec: CollectionSpec,
        options: HnswOptions,
    ) -> FileResult<Self> {
        // What is left of one that was dropped while the process was killed.
        layout.remove_all_but(None)?;
        let generation = Generation::first();
        let snapshot = SnapshotWriter::create(&layout.snapshot_in_writing(), generation, &spec)?;
        let snapshot_length = snapshot.finish()?;
        let log = create_beside(&layout.log(generation), generation, options.sync)?;
        fs::rename(layout.snapshot_in_writing(), layout.snapshot())?;
        sync_folder(layout.folder())?;
        let kept = Kept::new(layout, generation, log, snapshot_length, &options);
        let state = State::new(Arc::new(spec), &options, true);
        Ok(Self::of(state, options, Some(kept)))
    }

    /// Reads a collection's files; `None` where there are none.
    pub(crate) fn load(layout: Layout, options: HnswOptions) -> FileResult<Option<Self>> {
        let snapshot = match Snapshot::open(&layout.snapshot()) {
            Err(FileError::Io(io::ErrorKind::NotFound)) => return Ok(None),
            opened => opened?,
        };
        if snapshot.spec.name != *layout.name() {
            return Err(FileError::Corrupt("the snapshot is of another collection"));
        }
        let generation = snapshot.generation;
        let spec = Arc::new(snapshot.spec.clone());
        let width = spec.width as usize;
        let mut state = State::new(spec.clone(), &options, true);
        let mut slots: Vec<Slot> = Vec::new();
        let snapshot_length = snapshot.read(|put| {
            let key = put.record.key.clone();
            let change = Change::put(vec![put]);
            check_fits(&state, width, &change)?;
            state.apply(&change);
            slots.extend(state.rows.slot(&key));
            Ok(())
        })?;
        let shape = |dimensions| options.shape(dimensions);
        let saved = graph_file::load(&layout, generation, spec.metric, width, shape);
        // Whatever is wrong with a graph, it can be built from the vectors.
        let saved_nodes = saved
            .ok()
            .and_then(|saved| take_graph(&mut state, saved, &slots));

        let log = Log::open(
            &layout.log(generation),
            generation,
            options.sync,
            |payload| {
                let change = Change::from_bytes(payload, state.rows.spec().word_rule)?;
                if let Some(spec) = &change.spec
                    && state.rows.spec().check_serves(spec).is_err()
                {
                    return Err(FileError::Corrupt(
                        "a write of the log changes what the collection is",
                    ));
                }
                check_fits(&state, width, &change)?;
                state.apply(&change);
                Ok(())
            },
        );
        let log = log.map_err(|e| match e {
            FileError::Io(io::ErrorKind::NotFound) => {
                FileError::Corrupt("the log of the snapshot is missing")
            }
            other => other,
        })?;
        // What a save that was cut off left behind; it does no harm where it cannot be removed.
        let _left = layout.remove_all_but(Some(generation));
        let mut kept = Kept::new(layout, generation, log, snapshot_length, &options);
        kept.saved_nodes = saved_nodes.unwrap_or(0);
        Ok(Some(Self::of(state, options, Some(kept))))
    }

    /// Ends what is done in the background, and saves what the snapshot lacks. All that was written is
    /// in the log in any case.
    pub(crate) fn shut(&self) -> FileResult<()> {
        self.keeper.stop();
        let lacking = {
            let kept = self.writer();
            let mut state = self.write();
            // No write comes behind this.
            state.shut = true;
            let nodes = (state.index.as_ref()).map_or(0, |index| index.nodes.len());
            (kept.as_ref()).is_some_and(|kept| !kept.log.is_empty() || nodes != kept.saved_nodes)
        };
        if lacking {
            self.save()?;
        }
        (self.writer().as_ref()).map_or(Ok(()), |kept| kept.log.sync())
    }

    pub(super) fn save_in_background(&self) {
        if self.keeper.is_to_stop() || self.save().is_ok() {
            return;
        }
        if let Some(kept) = &mut *self.writer() {
            // All of it is in the log. Tried again when that is twice as long.
            kept.save_at = kept.log.length().saturating_mul(2);
        }
    }

    /// Writes everything as the next generation. Readers and writers go on.
    ///
    /// A row is read at any moment of the save, some with what was written since it began. That is
    /// put into the next log, and to make a change again changes nothing: each says what is there
    /// afterwards.
    ///
    /// One that fails gives the disk back what it took, or there would be none left for the log.
    fn save(&self) -> FileResult<()> {
        let _saving = self.saving();
        let Some((layout, before)) = self.begin_save()? else {
            return Ok(());
        };
        let next = self.write_next(&layout, before.next());
        let saved = next.and_then(|next| self.end_save(next));
        if let Some(kept) = &mut *self.writer() {
            kept.since_save = None;
            if saved.is_err() && kept.generation == before {
                let _left = layout.remove_all_but(Some(before));
            }
        }
        saved
    }

    /// From here on writers remember what they write.
    fn begin_save(&self) -> FileResult<Option<(Layout, Generation)>> {
        let mut kept = self.writer();
        let Some(kept) = &mut *kept else {
            return Ok(None);
        };
        // Into a folder that was replaced nothing of this one is written.
        kept.log.check_in_place()?;
        // What an earlier one left would be taken for a part of this one.
        kept.layout.remove_all_but(Some(kept.generation))?;
        kept.since_save = Some(Vec::new());
        Ok(Some((kept.layout.clone(), kept.generation)))
    }

    fn write_next(&self, layout: &Layout, generation: Generation) -> FileResult<Kept> {
        let (snapshot_length, places) = self.write_snapshot(layout, generation)?;
        let saved_nodes = self.write_graph(layout, generation, &places);
        let log = create_beside(&layout.log(generation), generation, self.options.sync)?;
        let mut next = Kept::new(
            layout.clone(),
            generation,
            log,
            snapshot_length,
            &self.options,
        );
        next.saved_nodes = saved_nodes.unwrap_or(0);
        Ok(next)
    }

    /// Puts what was written meanwhile into the next log, and the next generation in force.
    fn end_save(&self, mut next: Kept) -> FileResult<()> {
        let mut kept = self.writer();
        let Some(kept) = &mut *kept else {
            return Ok(());
        };
        kept.log.check_in_place()?;
        let written = kept.since_save.take().unwrap_or_default();
        if !written.is_empty() {
            next.log.append_all(&written)?;
        }
        let layout = next.layout.clone();
        fs::rename(layout.snapshot_in_writing(), layout.snapshot())?;
        // From here on the new generation is the one that would be read.
        *kept = next;
        if let Err(error) = sync_folder(layout.folder()) {
            // A power cut may bring the old snapshot back, and what is written from now on is in a
            // log that does not belong to it.
            kept.log.give_up();
            return Err(error);
        }
        let _left = layout.remove_all_but(Some(kept.generation));
        Ok(())
    }

    /// Answers the length of the file, and the place in it of each row.
    fn write_snapshot(
        &self,
        layout: &Layout,
        generation: Generation,
    ) -> FileResult<(u64, HashMap<Slot, u32>)> {
        let spec = self.read().rows.spec().clone();
        let mut writer = SnapshotWriter::create(&layout.snapshot_in_writing(), generation, &spec)?;
        let mut places = HashMap::new();
        let mut after: Option<Key> = None;
        loop {
            let state = self.read();
            let batch: Vec<(&Key, Slot)> = state
                .rows
                .in_key_order(after.as_ref())
                .take(BATCH)
                .collect();
            let Some((last, _)) = batch.last() else {
                break;
            };
            let next = Some((*last).clone());
            for (key, slot) in batch {
                if let (Some(row), Some(vector)) = (state.rows.row(slot), state.rows.vector(slot)) {
                    writer.push(&Parts {
                        key,
                        vector: &vector,
                        text: row.text.as_deref(),
                        words: state.own_words(slot),
                        metadata: &row.metadata,
                    });
                    let place = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    places.insert(slot, place);
                }
            }
            drop(state);
            after = next;
            writer.flush_full()?;
        }
        Ok((writer.finish()?, places))
    }

    /// Saves the graph, if there is one; answers how many nodes it has. Without it, or where that
    /// fails, one is built from the vectors when they are read.
    fn write_graph(
        &self,
        layout: &Layout,
        generation: Generation,
        places: &HashMap<Slot, u32>,
    ) -> Option<usize> {
        let (graph, space, nodes) = {
            let state = self.read();
            let index = state.index.as_ref().filter(|index| index.nodes.len() > 0)?;
            let nodes: Vec<Vec<u32>> = index
                .nodes
                .all()
                .map(|slots| {
                    slots
                        .iter()
                        .filter_map(|slot| places.get(slot).copied())
                        .collect()
                })
                .collect();
            (index.graph.clone(), index.space, nodes)
        };
        // A node that was put in and settled as nothing yet: the thread was stopped between the two.
        if graph.len() != nodes.len() {
            return None;
        }
        let count = nodes.len();
        graph_file::save(layout, generation, &graph, &space, nodes.into_iter()).ok()?;
        Some(count)
    }
}

impl Kept {
    fn new(
        layout: Layout,
        generation: Generation,
        log: Log,
        snapshot_length: u64,
        options: &HnswOptions,
    ) -> Self {
        Self {
            layout,
            generation,
            log,
            save_at: options.save_from.max(snapshot_length),
            saved_nodes: 0,
            since_save: None,
        }
    }
}

fn check_fits(state: &State, width: usize, change: &Change) -> FileResult<()> {
    let records: Vec<Record> = change.put.iter().map(|put| put.record.clone()).collect();
    if records.iter().any(|record| record.vector.len() != width) {
        return Err(FileError::Corrupt(
            "a vector has another width than the collection's",
        ));
    }
    if !state.rows.has_room_for(&records) {
        return Err(FileError::Corrupt(
            "there are more records than there is room for",
        ));
    }
    Ok(())
}

/// Takes a saved graph for the rows that were read; answers how many nodes it has. `None`, and
/// nothing is changed, when it stands for rows that there are not.
fn take_graph(state: &mut State, saved: graph_file::Saved, slots: &[Slot]) -> Option<usize> {
    let mut nodes = Nodes::default();
    let mut indexed = RoaringBitmap::new();
    for (node, places) in (0..).zip(&saved.nodes) {
        nodes.push(None);
        for place in places {
            let slot = *slots.get(*place as usize)?;
            if !indexed.insert(slot) {
                return None;
            }
            nodes.attach(node, slot);
        }
        let first = places.first().and_then(|place| slots.get(*place as usize));
        let vector = first.and_then(|slot| state.rows.vector(*slot));
        if let Some(point) = vector.and_then(|vector| saved.space.point(&vector)) {
            nodes.share(node, hash_of(&point));
        }
    }
    state.unindexed = state.rows.slots() - indexed;
    let count = nodes.len();
    state.index = Some(Index {
        graph: Arc::new(saved.graph),
        space: saved.space,
        nodes,
        unplaced_at_first: 0,
    });
    Some(count)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use shelfward_core::{CollectionName, Metric, Operation, Text};

    use super::*;
    use crate::job::Stop;

    fn shelf(folder: &std::path::Path) -> Arc<Shelf> {
        let name = CollectionName::new("c").unwrap();
        let layout = Layout::new(folder, &name);
        let spec = CollectionSpec::new(name, 2, Metric::Dot, "none");
        let options = HnswOptions::default().with_sync(false).with_graph_from(50);
        Arc::new(Shelf::create(layout, spec, options).unwrap())
    }

    fn key(n: usize) -> Key {
        Key::new(Text::new(format!("{n:04}")).unwrap())
    }

    fn write(shelf: &Arc<Shelf>, put: impl IntoIterator<Item = usize>, at: f32, gone: &[usize]) {
        let records: Vec<Record> = put
            .into_iter()
            .map(|n| Record::new(key(n), [at, n as f32]).with_text(format!("at {at}")))
            .collect();
        let written = shelf.change(Operation::Upsert, &Stop::default(), |state| {
            let mut change = state.putting(&records);
            change.removed = gone.iter().copied().map(key).collect();
            Ok((change, ()))
        });
        written.unwrap();
    }

    fn held(shelf: &Shelf) -> Vec<(Key, Option<Arc<[f32]>>, Option<Arc<str>>)> {
        let state = shelf.read();
        let rows = state.rows.in_key_order(None);
        rows.map(|(key, slot)| {
            let text = state.rows.row(slot).unwrap().text.clone();
            (key.clone(), state.rows.vector(slot), text)
        })
        .collect()
    }

    /// What would be read after a kill, whose searches go through the saved graph.
    fn after_a_kill(shelf: &Shelf) -> Arc<Shelf> {
        let layout = shelf.writer().as_ref().unwrap().layout.clone();
        let read = Shelf::load(layout, shelf.options).unwrap().unwrap();
        assert_eq!(held(shelf), held(&read));
        let state = read.read();
        let index = state.index.as_ref();
        for slot in index.iter().flat_map(|index| index.nodes.slots()) {
            assert!(!state.unindexed.contains(slot));
        }
        drop(state);
        Arc::new(read)
    }

    #[test]
    fn what_is_written_while_everything_is_saved_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(folder.path());
        write(&shelf, 0..700, 1.0, &[]);
        shelf.settle();
        // The thread that adds to the graph is the one that saves.
        shelf.keeper.stop();
        let (layout, before) = shelf.begin_save().unwrap().unwrap();
        // Other vectors, and slots of what is gone that are given again.
        write(&shelf, 100..200, 2.0, &[0, 699, 300]);
        write(&shelf, 900..902, 2.0, &[]);
        let next = shelf.write_next(&layout, before.next()).unwrap();
        write(&shelf, 150..250, 3.0, &[901, 400]);
        write(&shelf, [901, 950], 3.0, &[]);
        // Not in force yet.
        after_a_kill(&shelf);
        // What a kill leaves of a save is removed by who reads the files; this one goes on.
        let _next = next;
        shelf.writer().as_mut().unwrap().since_save = None;
        let (layout, before) = shelf.begin_save().unwrap().unwrap();
        write(&shelf, 0..50, 4.0, &[500]);
        let next = shelf.write_next(&layout, before.next()).unwrap();
        write(&shelf, 20..80, 5.0, &[501]);
        shelf.end_save(next).unwrap();
        assert_ne!(shelf.writer().as_ref().unwrap().generation, before);
        after_a_kill(&shelf);
        write(&shelf, [7], 6.0, &[8]);
        let read = after_a_kill(&shelf);
        assert!(read.read().index.is_some(), "the graph was saved, too");
    }

    #[test]
    fn writers_and_saves_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(folder.path());
        write(&shelf, 0..1_500, 1.0, &[]);
        shelf.settle();
        shelf.keeper.stop();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut n = 0;
                while !over.load(Ordering::Relaxed) {
                    n += 1;
                    let at = (n * 37) % 1_500;
                    write(&shelf, at..at + 20, n as f32, &[(n * 91) % 1_500]);
                }
                n
            });
            for _ in 0..12 {
                shelf.save().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            assert!(writing.join().unwrap() > 12);
        });
        after_a_kill(&shelf);
    }
}
