//! The soak finds what it is there to find: writes done otherwise than the model is told, and stores
//! with one fault each. A store without one keeps every promise.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use shelfward::memory::MemoryStore;
use shelfward::{LibraryIndex, Store};
use shelfward_conformance_faulty::{Fault, FaultyStore};

use crate::busy::Soak;
use crate::calm::Recall;
use crate::finding::Kind;
use crate::model::{Change, Model, Outcome};
use crate::op::Op;
use crate::source::{Place, Slot, State};
use crate::store::{COLLECTION, library};
use crate::writer::Writer;

/// Rounds of a busy and a calm phase that a fault has to show itself in.
const ROUNDS: usize = 60;

/// Soaks until one of the kinds was found, or all rounds are over.
async fn found(
    store: Store,
    wanted: &[Kind],
    writer: fn(LibraryIndex) -> Writer,
) -> BTreeMap<Kind, u64> {
    let index = library(&store, COLLECTION).await.unwrap();
    let soak = Arc::new(Soak::new(1, index.capabilities().late_writes));
    for _ in 0..ROUNDS {
        let until = Instant::now() + Duration::from_millis(100);
        soak.busy(Some(&index), &writer(index.clone()), until).await;
        let calm = soak.calm(&index, &mut Recall::default()).await;
        soak.failed("calm phase", calm);
        let counts = soak.findings.counts();
        if wanted.iter().any(|kind| counts.contains_key(kind)) {
            return counts;
        }
        assert!(
            !wanted.is_empty() || counts.is_empty(),
            "{:#?}",
            soak.findings.kept()
        );
        if wanted.is_empty() && soak.findings.done()["searches compared exactly"] > 200 {
            return counts;
        }
    }
    soak.findings.counts()
}

fn memory() -> Store {
    Store::new(MemoryStore::new())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_without_a_fault_keeps_every_promise() {
    let counts = found(memory(), &[], Writer::Here).await;
    assert_eq!(counts, BTreeMap::new());
}

/// Another write in the place of one in ten, by its content.
fn one_in_ten(op: Op, instead: impl FnOnce(Slot, State) -> Option<Op>) -> Option<Op> {
    match op {
        Op::Source(slot, Change::Index(state)) if state.content / 4 % 10 == 7 => {
            instead(slot, state)
        }
        _ => Some(op),
    }
}

fn index(slot: Slot, state: State) -> Option<Op> {
    Some(Op::Source(slot, Change::Index(state)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_filed_under_other_groups_is_found_outside_of_its_scope() {
    let counts = found(memory(), &[Kind::OutsideScope], |index_of| {
        Writer::Sabotaged(index_of, |op| {
            one_in_ten(op, |slot, mut state| {
                state.place.groups = state.place.groups.rotate_left(3);
                index(slot, state)
            })
        })
    })
    .await;
    assert!(counts.contains_key(&Kind::OutsideScope), "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_filed_with_another_text_is_not_in_force() {
    let counts = found(memory(), &[Kind::NotInForce], |index_of| {
        Writer::Sabotaged(index_of, |op| {
            one_in_ten(op, |slot, mut state| {
                state.content += 4_000_000;
                index(slot, state)
            })
        })
    })
    .await;
    assert!(counts.contains_key(&Kind::NotInForce), "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_filed_with_another_tag_is_not_in_force() {
    let counts = found(memory(), &[Kind::NotInForce], |index_of| {
        Writer::Sabotaged(index_of, |op| {
            one_in_ten(op, |slot, mut state| {
                state.place.tags ^= 1;
                index(slot, state)
            })
        })
    })
    .await;
    assert!(counts.contains_key(&Kind::NotInForce), "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_acknowledged_and_not_done_is_lost() {
    let counts = found(memory(), &[Kind::LostOrUndone], |index_of| {
        Writer::Sabotaged(index_of, |op| one_in_ten(op, |_, _| None))
    })
    .await;
    assert!(counts.contains_key(&Kind::LostOrUndone), "{counts:?}");
}

const ANY: State = State {
    content: 4,
    place: Place {
        groups: 1,
        folder: 0,
        tags: 0,
    },
};

/// Faults of a store that its library does not make up for, and what the soak calls them.
const FAULTS: [(Fault, Kind); 16] = [
    (Fault::LeavesStaleTail, Kind::MixedVersions),
    (Fault::ReplacesInTwoSteps, Kind::LostOrUndone),
    (Fault::LandsLate, Kind::LostOrUndone),
    (Fault::LosesLastOfBatch, Kind::LostOrUndone),
    (Fault::UpdateReplacesMetadata, Kind::LostOrUndone),
    (Fault::UnorderedWriters, Kind::LostOrUndone),
    (Fault::TearsWrites, Kind::NotInForce),
    (Fault::KeepsOldWords, Kind::NotInForce),
    (Fault::UpdateDoesNothing, Kind::Call),
    (Fault::DeleteByFilterDoesNothing, Kind::Call),
    (Fault::ForgetsLexicalOnDelete, Kind::Ranking),
    (Fault::FlatLexicalScores, Kind::Ranking),
    (Fault::InvertsScores, Kind::Ranking),
    (Fault::SharesStatistics, Kind::Ranking),
    (Fault::SwapsLegs, Kind::Ranking),
    (Fault::MissesNeighbours, Kind::Ranking),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_a_store_are_found() {
    for (fault, kind) in FAULTS {
        let store = FaultyStore::new(Arc::new(MemoryStore::new()), fault);
        let counts = found(Store::new(store), &[kind], Writer::Here).await;
        assert!(counts.contains_key(&kind), "{fault:?}: {counts:?}");
    }
}

fn state(content: u64, groups: u8) -> State {
    State {
        content,
        place: Place {
            groups,
            ..ANY.place
        },
    }
}

const SLOT: Slot = Slot {
    tenant: 0,
    source: 0,
};

fn possible(model: &Model) -> Vec<Option<State>> {
    model.read().possible(SLOT).into_iter().collect()
}

#[test]
fn a_write_is_possible_from_its_begin_and_certain_from_its_return() {
    let model = Model::new(false);
    let new = state(4, 1);
    let reading = model.read();
    let id = model.begin(SLOT, Change::Index(new));
    assert_eq!(possible(&model), [None, Some(new)]);
    model.end(SLOT, id, &Outcome::Done(None));
    assert_eq!(possible(&model), [Some(new)]);
    // What began before may have seen either.
    assert_eq!(reading.possible(SLOT).len(), 2);

    let id = model.begin(SLOT, Change::Remove);
    model.end(SLOT, id, &Outcome::Refused(String::new()));
    assert_eq!(possible(&model), [Some(new)]);
    let id = model.begin(SLOT, Change::Remove);
    model.end(SLOT, id, &Outcome::GivenUp);
    assert_eq!(possible(&model), [None, Some(new)]);
    let from = model.read().from;
    model.observed(SLOT, from, None);
    assert_eq!(possible(&model), [None]);
}

#[test]
fn of_two_writes_at_once_either_may_be_the_last() {
    let model = Model::new(false);
    let [wide, narrow] = [state(4, 3), state(8, 1)];
    let first = model.begin(SLOT, Change::Index(wide));
    let second = model.begin(SLOT, Change::Index(narrow));
    model.end(SLOT, first, &Outcome::Done(None));
    model.end(SLOT, second, &Outcome::Done(None));
    assert_eq!(possible(&model), [Some(wide), Some(narrow)]);
    // One that begins later undoes both.
    let third = model.begin(SLOT, Change::Remove);
    model.end(SLOT, third, &Outcome::Done(None));
    assert_eq!(possible(&model), [None]);
}

#[test]
fn a_late_write_is_possible_until_a_narrowing_has_returned() {
    let model = Model::new(true);
    let (old, late) = (state(4, 3), state(8, 3));
    let id = model.begin(SLOT, Change::Index(old));
    model.end(SLOT, id, &Outcome::Done(None));
    let id = model.begin(SLOT, Change::Index(late));
    model.end(SLOT, id, &Outcome::GivenUp);
    assert!(model.may_change_late(SLOT));
    assert_eq!(possible(&model), [Some(old), Some(late)]);
    let narrow = Change::Rescope {
        groups: Some(1),
        folder: None,
        tags: None,
    };
    let id = model.begin(SLOT, narrow);
    model.end(SLOT, id, &Outcome::Done(None));
    assert!(!model.may_change_late(SLOT));
    assert_eq!(possible(&model), [Some(state(4, 1)), Some(state(8, 1))]);
}
