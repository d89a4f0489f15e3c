//! One collection, shared by all its handles: what it holds, how it is written, and what is done to
//! it in the background.

mod keeper;
mod save;
pub(crate) mod search;
pub(crate) mod state;
mod work;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use shelfward_core::{CollectionSpec, ErrorKind, Operation, Result, StoreError};

use crate::config::HnswOptions;
use crate::error::FileError;
use crate::files::change::Change;
use crate::files::generation::Generation;
use crate::files::layout::Layout;
use crate::files::log::Log;
use crate::home::closed;
use crate::job::Stop;
use keeper::Keeper;
use state::{Before, State};

pub(crate) struct Shelf {
    pub(crate) options: HnswOptions,
    /// Held by a writer from the moment it decides what to change until it has.
    writer: Mutex<Option<Kept>>,
    /// Held while everything is saved, which writers do not wait for. Taken before the writer's lock.
    saving: Mutex<()>,
    state: RwLock<State>,
    keeper: Keeper,
    /// Searches that the graph answered.
    pub(crate) graph_searches: AtomicU64,
}

/// Where a collection is kept, when it is.
pub(crate) struct Kept {
    layout: Layout,
    generation: Generation,
    log: Log,
    /// How long the log must be before the next save in the background.
    save_at: u64,
    /// How many nodes the saved graph has.
    saved_nodes: usize,
    /// What was written since a save began, which the log of the next generation has to hold too.
    since_save: Option<Vec<Vec<u8>>>,
}

impl Shelf {
    /// An empty collection that is kept nowhere.
    pub(crate) fn in_memory(spec: CollectionSpec, options: HnswOptions) -> Self {
        Self::of(State::new(Arc::new(spec), &options, false), options, None)
    }

    fn of(state: State, options: HnswOptions, kept: Option<Kept>) -> Self {
        Self {
            options,
            writer: Mutex::new(kept),
            saving: Mutex::default(),
            state: RwLock::new(state),
            keeper: Keeper::default(),
            graph_searches: AtomicU64::new(0),
        }
    }

    // Every change under the locks is made of steps that cannot panic, so a poisoned lock guards
    // whole rows.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Option<Kept>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saving(&self) -> MutexGuard<'_, ()> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One write. `prepare` looks at what there is and says what is to change, or refuses; then it is
    /// written to the log, and then made. What changes many rows is made on a clone of them before it
    /// is written, and readers go on with those there were.
    pub(crate) fn change<T>(
        self: &Arc<Self>,
        operation: Operation,
        stop: &Stop,
        prepare: impl FnOnce(&Before) -> Result<(Change, T)>,
    ) -> Result<T> {
        let mut kept = self.writer();
        stop.check(operation)?;
        let before = {
            let state = self.read();
            if state.shut {
                return Err(closed(operation));
            }
            state.before()
        };
        let (change, answer) = prepare(&before)?;
        if change.is_nothing() {
            return Ok(answer);
        }
        let payload = kept.is_some().then(|| payload(&change)).transpose();
        let payload = payload.map_err(|e| e.during(operation))?;
        let made = before.made(&change);
        // Or they would be cloned.
        drop(before);
        // Looked at once more: preparing it may have taken long. From here on it happens.
        let gate = stop.commit(operation)?;
        if let (Some(kept), Some(payload)) = (&mut *kept, payload) {
            let written = kept.log.append(&payload);
            written.map_err(|e| e.during(operation))?;
            if let Some(since) = &mut kept.since_save {
                since.push(payload);
            }
        }
        let old = {
            let mut state = self.write();
            match made {
                Some(made) => state.take_over(made),
                None => state.apply(&change),
            }
        };
        drop(gate);
        drop(kept);
        drop(old);
        self.look_after();
        Ok(answer)
    }

    /// Adds the fields that an equal spec declares and this lacks, if what is stored keeps to them.
    pub(crate) fn add_fields(self: &Arc<Self>, asked: &CollectionSpec, stop: &Stop) -> Result<()> {
        self.change(Operation::Create, stop, |state| {
            let refuse = |kind: ErrorKind| StoreError::new(Operation::Create, kind).on(&asked.name);
            let held = state.rows.spec();
            held.check_serves(asked).map_err(|e| refuse(e.into()))?;
            let lacking: Vec<_> = held.lacking(asked).into_iter().cloned().collect();
            if lacking.is_empty() {
                return Ok((Change::default(), ()));
            }
            let spec = CollectionSpec::clone(held).with_fields(lacking);
            spec.check().map_err(|e| refuse(e.into()))?;
            let rows = &state.rows;
            for row in rows.slots().iter().filter_map(|slot| rows.row(slot)) {
                spec.check_metadata(&row.metadata)
                    .map_err(|e| refuse(e.into()))?;
            }
            let change = Change {
                spec: Some(Arc::new(spec)),
                ..Change::default()
            };
            Ok((change, ()))
        })
    }

    /// Removes the collection's files, empties it and marks it for the handles that are still there.
    ///
    /// Once the snapshot is removed the collection is gone, be there an error or not: what would be
    /// written from then on would be lost.
    pub(crate) fn discard(&self, stop: &Stop) -> Result<()> {
        // A save under way would make files of it again.
        let _saving = self.saving();
        let mut kept = self.writer();
        let _gate = stop.commit(Operation::DropCollection)?;
        let failed = |e: FileError| e.during(Operation::DropCollection);
        let mut removed = Ok(());
        if let Some(kept) = &*kept {
            kept.layout.remove_snapshot().map_err(failed)?;
            removed = kept.layout.remove_all_but(None).map_err(failed);
        }
        *kept = None;
        let old = {
            let mut state = self.write();
            state.discarded = true;
            let clear = Change {
                clear: true,
                ..Change::default()
            };
            let made = state.before().made(&clear);
            made.map(|made| state.take_over(made))
        };
        self.keeper.ask_to_stop();
        drop(old);
        removed
    }
}

/// What the log says of a change.
fn payload(change: &Change) -> Result<Vec<u8>, FileError> {
    let payload = change.to_bytes()?;
    if !Log::has_room_for(&payload) {
        return Err(FileError::Io(std::io::ErrorKind::FileTooLarge));
    }
    Ok(payload)
}
