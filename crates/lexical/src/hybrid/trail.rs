//! A search of several steps, told to the library's observer as the one that it is.

use std::sync::{Arc, Mutex, PoisonError};

use shelfward_core::LibraryIndex;
use shelfward_core::library::PassageId;
use shelfward_core::observer::{DroppedHit, Event, LegRan, Observer, Searched};

/// Takes the events of the steps, so that none is told by itself.
#[derive(Default)]
pub(super) struct Trail(Mutex<Steps>);

#[derive(Default)]
struct Steps {
    searched: Option<Searched>,
    fetched: Vec<DroppedHit>,
}

impl Observer for Trail {
    fn observe(&self, event: &Event) {
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Searched(searched) => steps.searched = Some(searched.clone()),
            Event::Fetched(fetched) => steps.fetched.extend_from_slice(&fetched.dropped),
            _ => {}
        }
    }
}

impl Trail {
    /// The library of the steps; itself where nobody observes it.
    pub(super) fn of(library: &LibraryIndex) -> (Arc<Self>, LibraryIndex) {
        let trail = Arc::new(Self::default());
        let steps = match library.observer() {
            Some(_) => library.clone().observed_by(trail.clone()),
            None => library.clone(),
        };
        (trail, steps)
    }

    /// Tells what was answered in the end.
    pub(super) fn tell(
        &self,
        library: &LibraryIndex,
        answered: Vec<PassageId>,
        leg: Option<LegRan>,
        complete: bool,
    ) {
        let steps = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let (Some(observer), Some(mut searched)) = (library.observer(), steps.searched) else {
            return;
        };
        searched.answered = answered;
        searched.dropped.extend(steps.fetched);
        searched.legs.extend(leg);
        searched.complete = complete;
        observer.observe(&Event::Searched(searched));
    }
}
