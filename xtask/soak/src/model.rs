//! What may be in force of each source, by what was begun, answered and given up.
//!
//! Writers of one source may run at once, so a source has a set of possible states. A write that
//! begins widens the set, for it may take effect from then on; one that returned narrows it, for it
//! has. A read is judged by every state that was possible between its begin and its end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::source::{SOURCES, Slot, State, TENANTS};

/// A source as it may be: not there, or there in a state.
pub(crate) type Now = Option<State>;
pub(crate) type Possible = BTreeSet<Now>;

/// What a write does to one source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    Index(State),
    /// What is given changes.
    Rescope {
        groups: Option<u8>,
        folder: Option<u8>,
        tags: Option<u8>,
    },
    Remove,
}

impl Change {
    fn on(self, now: Now) -> Now {
        match (self, now) {
            (Self::Index(state), _) => Some(state),
            (Self::Rescope { .. }, None) | (Self::Remove, _) => None,
            (
                Self::Rescope {
                    groups,
                    folder,
                    tags,
                },
                Some(mut state),
            ) => {
                let place = &mut state.place;
                place.groups = groups.unwrap_or(place.groups);
                place.folder = folder.unwrap_or(place.folder);
                place.tags = tags.unwrap_or(place.tags);
                Some(state)
            }
        }
    }

    fn is_index(self) -> bool {
        matches!(self, Self::Index(_))
    }
}

/// How a write ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// It is in force; how many passages it was about, where that is counted exactly.
    Done(Option<u64>),
    /// Nothing was done.
    Refused(String),
    /// It happened or it did not.
    Unknown(String),
    /// Its future was dropped.
    GivenUp,
}

struct Running {
    id: u64,
    change: Change,
    before: Possible,
    /// Every state that was possible while it ran.
    seen: Possible,
    /// What ran beside it, at whatever time.
    beside: Vec<(u64, Change)>,
    /// Given up on a store that may still apply it.
    late: bool,
    /// The late ones that there were when it began.
    late_before: Vec<u64>,
}

#[derive(Default)]
struct Source {
    running: Vec<Running>,
    /// What is possible from a time on, in order; the last is now.
    history: Vec<(u64, Possible)>,
    log: VecDeque<String>,
}

/// The model of all sources.
pub(crate) struct Model {
    /// Whether the store may still apply a write that was given up.
    late_writes: bool,
    clock: AtomicU64,
    ids: AtomicU64,
    sources: Vec<Mutex<Source>>,
    /// When the reads began that are under way.
    reads: Mutex<BTreeMap<u64, usize>>,
}

/// How many entries of a source's log are kept.
const LOG: usize = 16;

impl Model {
    pub(crate) fn new(late_writes: bool) -> Self {
        let empty = || {
            Mutex::new(Source {
                history: vec![(0, Possible::from([None]))],
                ..Source::default()
            })
        };
        Self {
            late_writes,
            clock: AtomicU64::new(0),
            ids: AtomicU64::new(0),
            sources: (0..TENANTS * SOURCES).map(|_| empty()).collect(),
            reads: Mutex::default(),
        }
    }

    fn source(&self, slot: Slot) -> MutexGuard<'_, Source> {
        lock(&self.sources[slot.tenant * SOURCES + slot.source])
    }

    /// A write begins. It may take effect from now on.
    pub(crate) fn begin(&self, slot: Slot, change: Change) -> u64 {
        let id = self.ids.fetch_add(1, SeqCst);
        let mut source = self.source(slot);
        let before = source.now().clone();
        let beside = source.running.iter().map(|r| (r.id, r.change)).collect();
        let late = source.running.iter().filter(|r| r.late);
        let running = Running {
            id,
            change,
            seen: Possible::new(),
            beside,
            late: false,
            late_before: late.map(|r| r.id).collect(),
            before: before.clone(),
        };
        source
            .running
            .iter_mut()
            .for_each(|other| other.beside.push((id, change)));
        source.running.push(running);
        let changes: Vec<_> = source.running.iter().map(|r| r.change).collect();
        self.now_possible(&mut source, closure(before, &changes));
        source.log(format!("{id} begins: {change:?}"));
        id
    }

    /// A write ends. Answers what is wrong with how it did.
    pub(crate) fn end(&self, slot: Slot, id: u64, outcome: &Outcome) -> Option<String> {
        let mut source = self.source(slot);
        source.log(format!("{id} ends: {outcome:?}"));
        let at = source.running.iter().position(|r| r.id == id)?;
        let mut possible = source.now().clone();
        let mut wrong = None;
        match outcome {
            Outcome::Done(count) => {
                let ended = source.running.swap_remove(at);
                // A late write is settled by a narrowing or removal that returned.
                let settles =
                    |late: u64| !ended.change.is_index() && ended.late_before.contains(&late);
                let beside = ended.beside.iter().filter(|(other, _)| !settles(*other));
                let beside: Vec<_> = beside.map(|(_, change)| *change).collect();
                let done = ended.seen.iter().map(|now| ended.change.on(*now)).collect();
                let done = closure(done, &beside);
                possible.retain(|now| done.contains(now));
                let counts =
                    |now: &Now| now.map_or(0, |s| u64::from(crate::source::passages(s.content)));
                let about: BTreeSet<u64> = match ended.change {
                    Change::Index(state) => [counts(&Some(state))].into(),
                    _ => ended.seen.iter().map(counts).collect(),
                };
                if let Some(count) = count.filter(|count| !about.contains(count)) {
                    wrong = Some(format!(
                        "{:?} answered {count}, not of {about:?}",
                        ended.change
                    ));
                }
                source.running.retain(|r| !(r.late && settles(r.id)));
            }
            Outcome::Refused(_) => {
                let ended = source.running.swap_remove(at);
                if ended.beside.is_empty() {
                    possible = ended.before;
                }
            }
            Outcome::Unknown(_) | Outcome::GivenUp if self.late_writes => {
                source.running[at].late = true;
            }
            Outcome::Unknown(_) | Outcome::GivenUp => {
                source.running.swap_remove(at);
            }
        }
        self.now_possible(&mut source, possible);
        wrong
    }

    /// What is possible now; it is not looked back at further than reads that run began.
    fn now_possible(&self, source: &mut Source, possible: Possible) {
        source
            .running
            .iter_mut()
            .for_each(|r| r.seen.extend(possible.iter().copied()));
        let time = self.clock.fetch_add(1, SeqCst) + 1;
        source.history.push((time, possible));
        let oldest = lock(&self.reads).keys().next().copied();
        let oldest = oldest.unwrap_or(u64::MAX);
        let last_before = source.history.partition_point(|(from, _)| *from <= oldest);
        source.history.drain(..last_before.saturating_sub(1));
    }

    /// A read begins.
    pub(crate) fn read(&self) -> Reading<'_> {
        let mut reads = lock(&self.reads);
        let from = self.clock.load(SeqCst);
        *reads.entry(from).or_default() += 1;
        Reading { model: self, from }
    }

    /// The source was seen in a state, by a read that began at a time: where nothing has happened to
    /// it since, it is in that state.
    pub(crate) fn observed(&self, slot: Slot, from: u64, now: Now) {
        let mut source = self.source(slot);
        let quiet = source.running.is_empty();
        let settled = source.history.last().is_some_and(|(time, _)| *time <= from);
        let is_new = *source.now() != Possible::from([now]);
        if quiet && settled && is_new {
            source.log(format!("seen: {now:?}"));
            self.now_possible(&mut source, Possible::from([now]));
        }
    }

    /// Whether a write of the source was given up that may still happen.
    pub(crate) fn may_change_late(&self, slot: Slot) -> bool {
        self.source(slot).running.iter().any(|r| r.late)
    }

    /// The last that happened to a source.
    pub(crate) fn log(&self, slot: Slot) -> Vec<String> {
        self.source(slot).log.iter().cloned().collect()
    }
}

impl Source {
    fn now(&self) -> &Possible {
        const NOTHING: &Possible = &Possible::new();
        self.history
            .last()
            .map_or(NOTHING, |(_, possible)| possible)
    }

    fn log(&mut self, what: String) {
        if self.log.len() == LOG {
            self.log.pop_front();
        }
        self.log.push_back(what);
    }
}

/// A read under way.
pub(crate) struct Reading<'a> {
    model: &'a Model,
    pub(crate) from: u64,
}

impl Reading<'_> {
    /// Every state of a source that was possible between the read's begin and now.
    pub(crate) fn possible(&self, slot: Slot) -> Possible {
        let source = self.model.source(slot);
        let first = source
            .history
            .partition_point(|(time, _)| *time <= self.from);
        let during = source.history.iter().skip(first.saturating_sub(1));
        during.flat_map(|(_, possible)| possible).copied().collect()
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut reads = lock(&self.model.reads);
        if let Some(n) = reads.get_mut(&self.from) {
            *n -= 1;
            if *n == 0 {
                reads.remove(&self.from);
            }
        }
    }
}

/// The states that any of the changes, in any order and any number, can make of these.
fn closure(mut possible: Possible, changes: &[Change]) -> Possible {
    loop {
        let made: Vec<Now> = possible
            .iter()
            .flat_map(|now| changes.iter().map(|change| change.on(*now)))
            .collect();
        let there = possible.len();
        possible.extend(made);
        if possible.len() == there {
            return possible;
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
