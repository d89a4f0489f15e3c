//! The suite about itself: every fault is caught by every case that names it, and nothing is wrong
//! with a store that has none.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stores;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};
use shelfward_conformance::{CaseInfo, Suite, Verdict};
use shelfward_conformance_faulty::{Fault, KEPT_BY_THE_HANDLE};
use stores::{Kind, suite};

/// The store on which a case shows a fault.
fn shown_by(fault: Fault, case: &CaseInfo) -> Kind {
    let of_the_server = [Fault::AppliesGivenUp, Fault::AppliesGivenUpOutOfOrder].contains(&fault);
    let of_one_process = [
        Fault::LetsAnotherProcessIn,
        Fault::KeepsLockOfTheDead,
        Fault::KeepsLockWhenClosed,
    ]
    .contains(&fault);
    match case.reopens {
        _ if case.is_of_a_server() || of_the_server => Kind::Remote,
        true if of_one_process => Kind::OneProcess,
        true => Kind::Durable,
        false => Kind::Plain,
    }
}

/// The named cases of a suite, each with what it found.
async fn run(suite: &Suite, ids: &[&str]) -> Vec<shelfward_conformance::report::CaseReport> {
    let mut found = Vec::new();
    for case in suite.cases() {
        if ids.contains(&case.info().id.as_str()) {
            found.push(suite.run(case).await);
        }
    }
    found
}

/// What is wrong with the cases that must catch a fault: those that do not, and, where the whole store
/// is asked too, those that find something on it.
async fn missed(fault: Fault, whole_too: bool) -> Vec<String> {
    let mut by_kind: BTreeMap<Kind, Vec<&str>> = BTreeMap::new();
    let cases = Suite::all_cases();
    for id in fault.caught_by() {
        match cases.iter().find(|case| case.info().id == *id) {
            Some(case) => by_kind
                .entry(shown_by(fault, case.info()))
                .or_default()
                .push(id),
            None => return vec![format!("{fault:?} names no case: {id}")],
        }
    }
    let mut wrong = Vec::new();
    for (kind, ids) in by_kind {
        for found in run(&suite(kind, Some(fault)).await, &ids).await {
            if found.as_expected() || found.verdict == Verdict::NotRun {
                wrong.push(format!("{fault:?} is not caught by {}", found.id));
            }
        }
        if whole_too {
            for found in run(&suite(kind, None).await, &ids).await {
                if found.verdict != Verdict::Honours {
                    let (id, message) = (&found.id, &found.message);
                    wrong.push(format!(
                        "{fault:?}, {id} finds the whole store wrong: {message}"
                    ));
                }
            }
        }
    }
    wrong
}

async fn all_missed(faults: impl IntoIterator<Item = Fault>, whole_too: bool) {
    // Some of them are caught by waiting, so that two are run at a time. More would be late for servers.
    let missed = stream::iter(faults).map(|fault| missed(fault, whole_too));
    let missed: Vec<_> = missed.buffer_unordered(2).collect().await;
    assert!(missed.concat().is_empty(), "{}", missed.concat().join("\n"));
}

/// Whether a case of servers or of second processes, which waits, is among those of a fault.
fn waits(fault: &Fault) -> bool {
    let slow = [
        "durability/",
        "faults/",
        "crash/",
        "races/",
        "search/recall",
    ];
    let ids = fault.caught_by();
    ids.iter()
        .any(|id| slow.iter().any(|slow| id.starts_with(slow)))
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_answers_are_caught_by_every_case_that_names_them() {
    all_missed(
        Fault::ALL.iter().copied().filter(|fault| !waits(fault)),
        false,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_that_show_with_time_are_caught_by_every_case_that_names_them() {
    all_missed(Fault::ALL.iter().copied().filter(waits), false).await;
}

/// Each case beside the whole store, so that none is caught for another reason than its fault.
#[cfg(feature = "full")]
#[tokio::test(flavor = "multi_thread")]
async fn what_catches_a_fault_finds_nothing_wrong_with_the_whole_store() {
    all_missed(Fault::ALL.iter().copied(), true).await;
}

/// Faults are made from these stores. Each must be right where it is left whole.
async fn is_whole(kind: Kind, fault: Option<Fault>) {
    let report = suite(kind, fault).await.run_all().await;
    let wrong = report.unexpected();
    let wrong: Vec<_> = wrong
        .map(|case| (&case.id, case.verdict, &case.message))
        .collect();
    assert!(wrong.is_empty(), "{kind:?}, {fault:?}: {wrong:?}");
    if kind != Kind::Remote {
        return;
    }
    for case in Suite::all_cases() {
        let info = case.info();
        let found = report.cases.iter().find(|found| found.id == info.id);
        assert!(
            !info.is_of_a_server() || found.unwrap().ran(),
            "{}",
            info.id
        );
    }
}

/// Most faults of words are made from a leg of the crate's own.
#[tokio::test(flavor = "multi_thread")]
async fn the_stores_without_a_place_are_whole() {
    is_whole(Kind::WithoutTransactions, None).await;
    is_whole(Kind::Plain, Some(Fault::NoFault)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_durable_stores_are_whole() {
    is_whole(Kind::Durable, None).await;
    is_whole(Kind::OneProcess, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_behind_a_server_is_whole() {
    is_whole(Kind::Remote, None).await;
}

/// Ranks tell nothing of what is hidden, whatever more a store answers than it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_widens_changes_no_published_rank() {
    let ids = ["lexical/hidden-hits-take-no-rank", "library/hybrid"];
    for fault in [Fault::FiltersDenseOnly, Fault::FiltersOneOfBoth] {
        let found = run(&suite(Kind::Plain, Some(fault)).await, &ids).await;
        assert_eq!(found.len(), 2);
        for found in found {
            assert!(
                found.as_expected(),
                "{fault:?}, {}: {}",
                found.id,
                found.message
            );
        }
    }
}

#[test]
fn every_case_catches_a_fault_or_is_of_the_handle() {
    let cases = Suite::all_cases();
    let all: BTreeSet<&str> = cases.iter().map(|case| case.info().id.as_str()).collect();
    let caught = Fault::ALL.iter().flat_map(|fault| fault.caught_by());
    let caught: BTreeSet<&str> = caught.copied().collect();
    let of_the_handle: BTreeSet<&str> = KEPT_BY_THE_HANDLE.iter().copied().collect();
    assert!(caught.is_disjoint(&of_the_handle));
    assert_eq!(&caught | &of_the_handle, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_transactions_serves_the_library_too() {
    let fault = Fault::DeleteByFilterDoesNothing;
    let ids = ["library/remove-source", "delete/by-filter"];
    let found = run(&suite(Kind::WithoutTransactions, Some(fault)).await, &ids).await;
    // What core composes of deletes and writes must fail loudly where the delete misses.
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|case| !case.as_expected()), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_does_not_promise_is_not_run_and_says_why() {
    let suite = suite(Kind::WithoutTransactions, None).await;
    let found = run(&suite, &["races/reads-during-replace"]).await;
    let found = found.first().unwrap();
    assert_eq!(
        (found.verdict, found.as_expected()),
        (Verdict::NotRun, true)
    );
    assert!(found.message.contains("not atomic"), "{}", found.message);
}
