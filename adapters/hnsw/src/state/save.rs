//! Creating, loading and saving a collection's files.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::Arc;

use shelfward_core::{CollectionSpec, Key, Record};
use shelfward_resident::{RoaringBitmap, RowId};

use super::contents::{Contents, GraphIndex};
use super::{CollectionState, DurableFiles};
use crate::config::HnswOptions;
use crate::error::{FileError, FileResult};
use crate::files::generation::Generation;
use crate::files::layout::{Layout, sync_dir};
use crate::files::log::{Log, create_beside};
use crate::files::log_entry::LogEntry;
use crate::files::snapshot::{Snapshot, SnapshotWriter};
use crate::index::graph_file;
use crate::index::nodes::{Nodes, hash_of};
use crate::record_mapping::RecordRef;

/// Rows that are written under one lock.
const BATCH: usize = 256;

impl CollectionState {
    /// Makes the files of a new collection.
    pub(crate) fn create(
        layout: Layout,
        spec: CollectionSpec,
        options: HnswOptions,
    ) -> FileResult<Self> {
        layout.check_no_lost_snapshot()?;
        layout.remove_leftovers()?;
        let generation = Generation::first();
        // Until it is in force, it says that the log beside it is a leftover.
        let snapshot = SnapshotWriter::create(&layout.tombstone(), generation, &spec)?;
        let snapshot_length = snapshot.finish()?;
        sync_dir(layout.folder())?;
        let log = create_beside(&layout.log(generation), generation, options.sync)?;
        fs::rename(layout.tombstone(), layout.snapshot())?;
        sync_dir(layout.folder())?;
        let files = DurableFiles::new(layout, generation, log, snapshot_length, &options);
        let contents = Contents::new(Arc::new(spec), &options, true);
        Ok(Self::with(contents, options, Some(files)))
    }

    /// Reads a collection's files; `None` where there are none.
    pub(crate) fn load(layout: Layout, options: HnswOptions) -> FileResult<Option<Self>> {
        let snapshot = match Snapshot::open(&layout.snapshot()) {
            Err(FileError::Io(io::ErrorKind::NotFound)) => {
                layout.check_no_lost_snapshot()?;
                return Ok(None);
            }
            opened => opened?,
        };
        if snapshot.spec.name != *layout.name() {
            return Err(FileError::Corrupt("the snapshot is of another collection"));
        }
        let generation = snapshot.generation;
        let spec = Arc::new(snapshot.spec.clone());
        let width = spec.width as usize;
        let mut contents = Contents::new(spec.clone(), &options, true);
        let mut row_ids: Vec<RowId> = Vec::new();
        let snapshot_length = snapshot.read(|put| {
            let key = put.record.key.clone();
            let change = LogEntry::put(vec![put]);
            check_fits(&contents, width, &change)?;
            contents.apply(&change);
            row_ids.extend(contents.rows.row_id(&key));
            Ok(())
        })?;
        let params = |dimensions| options.graph_params(dimensions);
        let saved = graph_file::load(&layout, generation, spec.metric, width, params);
        // Whatever is wrong with a graph, it can be rebuilt from the vectors.
        let saved_nodes = saved
            .ok()
            .and_then(|saved| install_graph(&mut contents, saved, &row_ids));

        let log = Log::open(
            &layout.log(generation),
            generation,
            options.sync,
            |payload| {
                let change = LogEntry::from_bytes(payload, contents.rows.spec().word_rule)?;
                if let Some(spec) = &change.spec
                    && contents.rows.spec().check_compatible(spec).is_err()
                {
                    return Err(FileError::Corrupt(
                        "a write of the log changes what the collection is",
                    ));
                }
                check_fits(&contents, width, &change)?;
                contents.apply(&change);
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
        let _left = layout.remove_all_but(generation);
        let mut files = DurableFiles::new(layout, generation, log, snapshot_length, &options);
        files.saved_nodes = saved_nodes.unwrap_or(0);
        Ok(Some(Self::with(contents, options, Some(files))))
    }

    /// Stops the maintenance, and saves what the snapshot lacks. All that was written is in the log in any
    /// case.
    pub(crate) fn close(&self) -> FileResult<()> {
        self.worker.stop();
        let lacking = {
            let files = self.files();
            let mut contents = self.write();
            // No write comes after this.
            contents.closed = true;
            let nodes = (contents.index.as_ref()).map_or(0, |index| index.nodes.len());
            (files.as_ref())
                .is_some_and(|files| !files.log.is_empty() || nodes != files.saved_nodes)
        };
        // All of a change that ended in the middle is in the log.
        if lacking && self.check_whole().is_ok() {
            self.save()?;
        }
        (self.files().as_ref()).map_or(Ok(()), |files| files.log.sync())
    }

    pub(super) fn save_in_background(&self) {
        if self.worker.is_stopping() || self.save().is_ok() {
            return;
        }
        if let Some(files) = &mut *self.files() {
            // All of it is in the log. Tried again when that is twice as long.
            files.save_at = files.log.length().saturating_mul(2);
        }
    }

    /// Writes everything as the next generation. Readers and writers go on.
    ///
    /// A row is read at any moment of the save, some with what was written since it began. That is
    /// put into the next log, and to make a change again changes nothing: each says what is there
    /// afterwards.
    ///
    /// One that fails removes its files, or no space would be left for the log.
    pub(super) fn save(&self) -> FileResult<()> {
        let _saving = self.saving();
        let Some((layout, before)) = self.begin_save()? else {
            return Ok(());
        };
        let next = self.write_next(&layout, before.next());
        let saved = next.and_then(|next| self.end_save(next));
        if let Some(files) = &mut *self.files() {
            files.since_save = None;
            if saved.is_err() && files.generation == before {
                let _left = layout.remove_all_but(before);
            }
        }
        saved
    }

    /// From here on writers collect what they write.
    fn begin_save(&self) -> FileResult<Option<(Layout, Generation)>> {
        let mut files = self.files();
        let Some(files) = &mut *files else {
            return Ok(None);
        };
        self.check_whole()?;
        // Nothing is written into a folder that replaced this one.
        files.log.check_in_place()?;
        // What an earlier one left would be taken for a part of this one.
        files.layout.remove_all_but(files.generation)?;
        files.since_save = Some(Vec::new());
        Ok(Some((files.layout.clone(), files.generation)))
    }

    fn write_next(&self, layout: &Layout, generation: Generation) -> FileResult<DurableFiles> {
        let (snapshot_length, places) = self.write_snapshot(layout, generation)?;
        let saved_nodes = self.write_graph(layout, generation, &places);
        let log = create_beside(&layout.log(generation), generation, self.options.sync)?;
        let mut next = DurableFiles::new(
            layout.clone(),
            generation,
            log,
            snapshot_length,
            &self.options,
        );
        next.saved_nodes = saved_nodes.unwrap_or(0);
        Ok(next)
    }

    /// Appends what was written meanwhile to the next log, and puts the next generation in force.
    fn end_save(&self, mut next: DurableFiles) -> FileResult<()> {
        let mut files = self.files();
        let Some(files) = &mut *files else {
            return Ok(());
        };
        // A change that ended in the middle since it began may be in what was saved, by half.
        self.check_whole()?;
        files.log.check_in_place()?;
        let written = files.since_save.take().unwrap_or_default();
        if !written.is_empty() {
            next.log.append_all(&written)?;
        }
        let layout = next.layout.clone();
        fs::rename(layout.snapshot_in_writing(), layout.snapshot())?;
        // From here on the new generation is the one that would be read.
        *files = next;
        if let Err(error) = sync_dir(layout.folder()) {
            // A power cut may bring the old snapshot back, and what is written from now on is in a
            // log that does not belong to it.
            files.log.refuse_writes();
            return Err(error);
        }
        let _left = layout.remove_all_but(files.generation);
        Ok(())
    }

    /// Answers the length of the file, and the position in it of each row.
    fn write_snapshot(
        &self,
        layout: &Layout,
        generation: Generation,
    ) -> FileResult<(u64, HashMap<RowId, u32>)> {
        let spec = self.read().rows.spec().clone();
        let mut writer = SnapshotWriter::create(&layout.snapshot_in_writing(), generation, &spec)?;
        let mut places = HashMap::new();
        let mut after: Option<Key> = None;
        loop {
            let contents = self.read();
            let batch: Vec<(&Key, RowId)> = contents
                .rows
                .in_key_order(after.as_ref())
                .take(BATCH)
                .collect();
            let Some((last, _)) = batch.last() else {
                break;
            };
            let next = Some((*last).clone());
            for (key, row_id) in batch {
                if let (Some(row), Some(vector)) =
                    (contents.rows.row(row_id), contents.rows.vector(row_id))
                {
                    writer.push(&RecordRef {
                        key,
                        vector: &vector,
                        text: row.text.as_deref(),
                        words: contents.own_words(row_id),
                        metadata: &row.metadata,
                    });
                    let place = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    places.insert(row_id, place);
                }
            }
            drop(contents);
            after = next;
            writer.flush_full()?;
        }
        Ok((writer.finish()?, places))
    }

    /// Saves the graph, if there is one; answers how many nodes it has. Without it, or where that
    /// fails, one is built from the vectors when they are loaded.
    fn write_graph(
        &self,
        layout: &Layout,
        generation: Generation,
        places: &HashMap<RowId, u32>,
    ) -> Option<usize> {
        let (graph, transform, nodes) = {
            let contents = self.read();
            let index = contents
                .index
                .as_ref()
                .filter(|index| index.nodes.len() > 0)?;
            let nodes: Vec<Vec<u32>> = index
                .nodes
                .all()
                .map(|row_ids| {
                    row_ids
                        .iter()
                        .filter_map(|row_id| places.get(row_id).copied())
                        .collect()
                })
                .collect();
            (index.graph.clone(), index.transform, nodes)
        };
        // The worker was stopped between inserting a node and recording its row.
        if graph.len() != nodes.len() {
            return None;
        }
        let count = nodes.len();
        graph_file::save(layout, generation, &graph, &transform, nodes.into_iter()).ok()?;
        Some(count)
    }
}

impl DurableFiles {
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

fn check_fits(contents: &Contents, width: usize, change: &LogEntry) -> FileResult<()> {
    let records: Vec<Record> = change.put.iter().map(|put| put.record.clone()).collect();
    if records.iter().any(|record| record.vector.len() != width) {
        return Err(FileError::Corrupt(
            "a vector has another width than the collection's",
        ));
    }
    if !contents.rows.has_room_for(&records) {
        return Err(FileError::Corrupt(
            "there are more records than there is room for",
        ));
    }
    Ok(())
}

/// Installs a saved graph for the rows that were loaded; answers how many nodes it has. `None`, and
/// nothing is changed, when it stands for rows that do not exist.
fn install_graph(
    contents: &mut Contents,
    saved: graph_file::SavedGraph,
    row_ids: &[RowId],
) -> Option<usize> {
    let mut nodes = Nodes::default();
    let mut indexed = RoaringBitmap::new();
    for (node, places) in (0..).zip(&saved.nodes) {
        nodes.push(None);
        for place in places {
            let row_id = *row_ids.get(*place as usize)?;
            if !indexed.insert(row_id) {
                return None;
            }
            nodes.attach(node, row_id);
        }
        let first = places
            .first()
            .and_then(|place| row_ids.get(*place as usize));
        let vector = first.and_then(|row_id| contents.rows.vector(*row_id));
        if let Some(point) = vector.and_then(|vector| saved.transform.point(&vector)) {
            nodes.share(node, hash_of(&point));
        }
    }
    contents.unindexed = contents.rows.row_ids() - indexed;
    let count = nodes.len();
    contents.index = Some(GraphIndex {
        graph: Arc::new(saved.graph),
        transform: saved.transform,
        nodes,
        unplaced_at_build: 0,
    });
    Some(count)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use shelfward_core::{CollectionName, Metric, Operation, Text};
    use shelfward_resident::WriteBatch;

    use super::*;
    use shelfward_adapter::cancel::CancelToken;

    fn made(folder: &std::path::Path) -> Arc<CollectionState> {
        let name = CollectionName::new("c").unwrap();
        let layout = Layout::new(folder, &name);
        let spec = CollectionSpec::new(name, 2, Metric::Dot, "none");
        let options = HnswOptions::default().with_sync(false).with_graph_from(50);
        Arc::new(CollectionState::create(layout, spec, options).unwrap())
    }

    fn key(n: usize) -> Key {
        Key::new(Text::new(format!("{n:04}")).unwrap())
    }

    fn write(
        state: &Arc<CollectionState>,
        put: impl IntoIterator<Item = usize>,
        at: f32,
        gone: &[usize],
    ) {
        let records: Vec<Record> = put
            .into_iter()
            .map(|n| Record::new(key(n), [at, n as f32]).with_text(format!("at {at}")))
            .collect();
        let written = state.change(Operation::Upsert, &CancelToken::default(), |view| {
            let batch = WriteBatch {
                put: records,
                removed: gone.iter().copied().map(key).collect(),
                ..WriteBatch::default()
            };
            Ok((view.log_entry(batch), ()))
        });
        written.unwrap();
    }

    fn held(state: &CollectionState) -> Vec<(Key, Option<Arc<[f32]>>, Option<Arc<str>>)> {
        let state = state.read();
        let rows = state.rows.in_key_order(None);
        rows.map(|(key, row_id)| {
            let text = state.rows.row(row_id).unwrap().text.clone();
            (key.clone(), state.rows.vector(row_id), text)
        })
        .collect()
    }

    /// What would be read after a kill, whose searches go through the saved graph.
    fn after_a_kill(state: &CollectionState) -> Arc<CollectionState> {
        let layout = state.files().as_ref().unwrap().layout.clone();
        let read = CollectionState::load(layout, state.options)
            .unwrap()
            .unwrap();
        assert_eq!(held(state), held(&read));
        let state = read.read();
        let index = state.index.as_ref();
        for row_id in index.iter().flat_map(|index| index.nodes.row_ids()) {
            assert!(!state.unindexed.contains(row_id));
        }
        drop(state);
        Arc::new(read)
    }

    #[test]
    fn what_is_written_while_everything_is_saved_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = made(folder.path());
        write(&state, 0..700, 1.0, &[]);
        state.settle();
        // The thread that adds to the graph is the one that saves.
        state.worker.stop();
        let (layout, before) = state.begin_save().unwrap().unwrap();
        // Other vectors, and row ids of what is gone that are given again.
        write(&state, 100..200, 2.0, &[0, 699, 300]);
        write(&state, 900..902, 2.0, &[]);
        let next = state.write_next(&layout, before.next()).unwrap();
        write(&state, 150..250, 3.0, &[901, 400]);
        write(&state, [901, 950], 3.0, &[]);
        // Not in force yet.
        after_a_kill(&state);
        // Partial files from a killed save are removed on the next load; this one goes on.
        let _next = next;
        state.files().as_mut().unwrap().since_save = None;
        let (layout, before) = state.begin_save().unwrap().unwrap();
        write(&state, 0..50, 4.0, &[500]);
        let next = state.write_next(&layout, before.next()).unwrap();
        write(&state, 20..80, 5.0, &[501]);
        state.end_save(next).unwrap();
        assert_ne!(state.files().as_ref().unwrap().generation, before);
        after_a_kill(&state);
        write(&state, [7], 6.0, &[8]);
        let read = after_a_kill(&state);
        assert!(read.read().index.is_some(), "the graph was saved, too");
    }

    #[test]
    fn writers_and_saves_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let state = made(folder.path());
        write(&state, 0..1_500, 1.0, &[]);
        state.settle();
        state.worker.stop();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut n = 0;
                while !over.load(Ordering::Relaxed) {
                    n += 1;
                    let at = (n * 37) % 1_500;
                    write(&state, at..at + 20, n as f32, &[(n * 91) % 1_500]);
                }
                n
            });
            for _ in 0..12 {
                state.save().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            assert!(writing.join().unwrap() > 12);
        });
        after_a_kill(&state);
    }
}
