//! Writes of a library that meet, or are given up half way: at every step at which they can.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use proptest::collection::vec;
use proptest::prelude::*;
use shelfward_core::capabilities::{Capabilities, Replace};
use shelfward_core::library::{LibraryError, ScopeChange, TenantLibrary};
use shelfward_core::{Collection, Count, Filter, Include, Store, Value};
use shelfward_memory::MemoryStore;
use support::{Meddle, Meddling, TestEmbedder, id, library, library_with, name, source, tenant};

/// Gives way before every call, and takes two records at once.
struct Slow {
    replace: Replace,
}

impl Meddle for Slow {
    fn capabilities(&self, mut can: Capabilities) -> Capabilities {
        can.replace = self.replace;
        can.max_batch = Some(2);
        can
    }

    fn yields(&self) -> usize {
        1
    }
}

/// A tenant's library in a slow store, and what is really in the store.
struct Shelf {
    org: TenantLibrary,
    embedder: Arc<TestEmbedder>,
    really: Collection,
}

/// Each passage's text and groups.
type Held = Vec<(String, Vec<String>)>;

impl Shelf {
    /// With one source of three passages, `old`, which all and few may read.
    fn new(replace: Replace) -> Self {
        let store = Meddling::new(Slow { replace });
        let memory: MemoryStore = store.memory.clone();
        let raw = Store::new(memory);
        let filed = async {
            let old = source("s", &["all", "few"], &["old"; 3]);
            let quick = library(&raw).await.tenant(tenant("a"));
            quick.index_source(old).await.unwrap();
            raw.open_unscoped(&name()).await.unwrap()
        };
        let really = filed.now_or_never().unwrap();
        let embedder = TestEmbedder {
            yields: 1,
            ..TestEmbedder::default()
        };
        let slow_store = Store::new(store);
        let opened = library_with(&slow_store, embedder).now_or_never();
        let (index, embedder) = opened.unwrap();
        let org = index.tenant(tenant("a"));
        Self {
            org,
            embedder,
            really,
        }
    }

    fn held(&self) -> Held {
        let everything = Filter::everything();
        let scan = self.really.scan(&everything, None, 100, Include::TEXT);
        let page = scan.now_or_never().unwrap().unwrap();
        let groups = |value: &Value| {
            let texts = value.elements().iter().filter_map(|e| e.as_text());
            texts.map(str::to_owned).collect()
        };
        page.records
            .iter()
            .map(|r| {
                (
                    r.text.as_deref().unwrap_or_default().to_owned(),
                    groups(r.metadata.get("aclGroups").unwrap()),
                )
            })
            .collect()
    }

    fn index<'a>(
        &'a self,
        text: &'static str,
        passages: usize,
        groups: &'static [&'static str],
    ) -> Call<'a> {
        let source = source("s", groups, &vec![text; passages]);
        Box::pin(async move { self.org.index_source(source).await.map(drop) })
    }

    fn narrow(&self) -> Call<'_> {
        let change = ScopeChange::new().groups(["few"]).unwrap();
        Box::pin(async move { self.org.set_source_scope(&id("s"), &change).await.map(drop) })
    }

    fn remove(&self) -> Call<'_> {
        Box::pin(async move { self.org.remove_source(&id("s")).await.map(drop) })
    }
}

type Call<'a> = Pin<Box<dyn Future<Output = Result<(), LibraryError>> + Send + 'a>>;

/// Runs a call to its end, alone.
fn finish(mut call: Call<'_>) -> Result<(), LibraryError> {
    loop {
        if let Some(answer) = (&mut call).now_or_never() {
            return answer;
        }
    }
}

/// Polls a call so often; answers whether it ended.
fn steps(call: &mut Call<'_>, steps: usize) -> bool {
    (0..steps).any(|_| call.now_or_never().is_some())
}

fn all_of(text: &str, groups: &[&str], passages: usize) -> Held {
    let groups = groups.iter().map(|g| (*g).to_owned()).collect();
    vec![(text.to_owned(), groups); passages]
}

const WIDE: &[&str] = &["all", "few"];
const NARROW: &[&str] = &["few"];
const BOTH: [Replace; 2] = [Replace::Atomic, Replace::DeleteThenWrite];

/// More steps than any call has.
const MANY: usize = 40;

#[test]
fn a_replace_given_up_at_any_step_leaves_the_old_or_some_of_the_new_and_never_both() {
    for replace in BOTH {
        let mut met = BTreeSet::new();
        for at in 0..MANY {
            let shelf = Shelf::new(replace);
            let mut call = shelf.index("new", 5, NARROW);
            let ended = steps(&mut call, at);
            drop(call);
            let held = shelf.held();
            let whole = held == all_of("old", WIDE, 3) || held == all_of("new", NARROW, 5);
            let part = held.len() < 5 && held == all_of("new", NARROW, held.len());
            assert!(
                whole || (part && replace == Replace::DeleteThenWrite),
                "{replace:?} after {at} steps: {held:?}"
            );
            assert!(
                !ended || held == all_of("new", NARROW, 5),
                "after {at} steps"
            );
            met.insert((held.first().map(|h| h.0.clone()), held.len()));
            // Nobody is locked out, and indexing again heals.
            finish(shelf.index("again", 2, NARROW)).unwrap();
            assert_eq!(shelf.held(), all_of("again", NARROW, 2));
        }
        let of = |text: &str, n| (Some(text.to_owned()), n);
        let mut expected = BTreeSet::from([of("old", 3), of("new", 5)]);
        if replace == Replace::DeleteThenWrite {
            expected.extend([(None, 0), of("new", 2), of("new", 4)]);
        }
        assert_eq!(met, expected, "{replace:?}: every state was met");
    }
}

#[test]
fn a_narrowing_or_a_removal_given_up_at_any_step_happened_or_did_not() {
    for replace in BOTH {
        let mut met = BTreeSet::new();
        for at in 0..MANY {
            let shelf = Shelf::new(replace);
            let mut call = shelf.narrow();
            let ended = steps(&mut call, at);
            drop(call);
            let held = shelf.held();
            let narrowed = held == all_of("old", NARROW, 3);
            assert!(
                narrowed || (!ended && held == all_of("old", WIDE, 3)),
                "{held:?}"
            );

            let mut call = shelf.remove();
            let ended = steps(&mut call, at);
            drop(call);
            let left = shelf.held();
            assert!(left.is_empty() || (!ended && left == held), "{left:?}");
            met.extend([(narrowed, left.is_empty())]);
            // What was given up never happens later.
            assert!(finish(shelf.narrow()).is_ok());
            assert_eq!(shelf.held().len(), left.len());
        }
        assert!(
            met.contains(&(false, false)) && met.contains(&(true, true)),
            "{met:?}"
        );
    }
}

#[test]
fn one_that_waits_and_is_given_up_holds_up_nobody() {
    let shelf = Shelf::new(Replace::DeleteThenWrite);
    let mut first = shelf.index("first", 5, NARROW);
    while shelf.held() != all_of("first", NARROW, 2) {
        assert!((&mut first).now_or_never().is_none());
    }
    let mut waiting = shelf.remove();
    let mut last = shelf.index("last", 2, NARROW);
    assert!(!steps(&mut waiting, MANY) && !steps(&mut last, MANY));
    // The removal was never done, so it stands against nothing that comes after it.
    drop(waiting);
    assert!(!steps(&mut last, MANY), "the first still writes");
    drop(first);
    finish(last).unwrap();
    assert_eq!(shelf.held(), all_of("last", NARROW, 2));
}

/// Polls both calls in the order of the flags, then to their ends, and looks after every step.
fn interleave<'a>(
    mut calls: [Call<'a>; 2],
    order: &[bool],
    mut look: impl FnMut(),
) -> [Result<(), LibraryError>; 2] {
    let mut answers = [None, None];
    let endless = order
        .iter()
        .copied()
        .chain([false, true].into_iter().cycle());
    for second in endless.take(order.len() + 4 * MANY) {
        let at = usize::from(second);
        if answers[at].is_none() {
            answers[at] = (&mut calls[at]).now_or_never();
        }
        look();
    }
    answers.map(|answer| answer.unwrap())
}

fn orders() -> impl Strategy<Value = (bool, Vec<bool>)> {
    (any::<bool>(), vec(any::<bool>(), 0..60))
}

fn of(atomic: bool) -> Replace {
    if atomic {
        Replace::Atomic
    } else {
        Replace::DeleteThenWrite
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_replaces_that_meet_end_as_one_of_them((atomic, order) in orders()) {
        let shelf = Shelf::new(of(atomic));
        let calls = [shelf.index("aaa", 5, WIDE), shelf.index("bbb", 2, WIDE)];
        let answers = interleave(calls, &order, || {
            // At no moment is there anything of two of them.
            let texts: BTreeSet<_> = shelf.held().into_iter().map(|(text, _)| text).collect();
            assert!(texts.len() <= 1, "{texts:?}");
        });
        prop_assert!(answers.iter().all(Result::is_ok), "{:?}", answers);
        let held = shelf.held();
        prop_assert!(
            held == all_of("aaa", WIDE, 5) || held == all_of("bbb", WIDE, 2),
            "{:?}", held
        );
    }

    #[test]
    fn what_was_narrowed_is_not_widened_by_what_was_already_being_indexed((atomic, order) in orders()) {
        let shelf = Shelf::new(of(atomic));
        let embedded = shelf.embedder.calls();
        // Whether the replace was already embedding, so had looked, when the narrowing took effect.
        let (mut knew_only_the_old, mut in_force) = (false, false);
        let calls = [shelf.index("new", 5, WIDE), shelf.narrow()];
        let [indexed, narrowed] = interleave(calls, &order, || {
            if !in_force && shelf.held().iter().any(|(_, groups)| groups == NARROW) {
                in_force = true;
                knew_only_the_old = shelf.embedder.calls() > embedded;
            }
        });
        prop_assert!(narrowed.is_ok(), "{:?}", narrowed);
        let held = shelf.held();
        match indexed {
            Err(error) => {
                prop_assert!(error.is_conflict(), "{}", error);
                prop_assert_eq!(held, all_of("old", NARROW, 3));
            }
            // The one after the other, either way round.
            Ok(()) if held == all_of("new", WIDE, 5) => {
                prop_assert!(!knew_only_the_old, "widened again");
            }
            Ok(()) => prop_assert_eq!(held, all_of("new", NARROW, 5)),
        }
    }

    #[test]
    fn what_was_removed_is_not_brought_back_by_what_was_already_being_indexed((atomic, order) in orders()) {
        let shelf = Shelf::new(of(atomic));
        let embedded = shelf.embedder.calls();
        let (mut knew_only_the_old, mut in_force) = (false, false);
        let calls = [shelf.index("new", 5, WIDE), shelf.remove()];
        let [indexed, removed] = interleave(calls, &order, || {
            if !in_force && shelf.held().is_empty() {
                in_force = true;
                knew_only_the_old = shelf.embedder.calls() > embedded;
            }
        });
        prop_assert!(removed.is_ok(), "{:?}", removed);
        let held = shelf.held();
        match indexed {
            Err(error) => {
                prop_assert!(error.is_conflict(), "{}", error);
                prop_assert!(held.is_empty(), "{:?}", held);
            }
            Ok(()) if held == all_of("new", WIDE, 5) => {
                prop_assert!(!knew_only_the_old, "brought back");
            }
            Ok(()) => prop_assert!(held.is_empty(), "{:?}", held),
        }
    }

    #[test]
    fn a_narrowing_and_a_removal_that_meet_leave_nothing((atomic, order) in orders()) {
        let shelf = Shelf::new(of(atomic));
        let calls = [shelf.narrow(), shelf.remove()];
        let answers = interleave(calls, &order, || {});
        prop_assert!(answers.iter().all(Result::is_ok), "{:?}", answers);
        prop_assert!(shelf.held().is_empty());
    }
}

#[test]
fn sources_apart_do_not_wait_for_each_other_and_a_removal_of_the_tenant_waits_for_all() {
    let shelf = Shelf::new(Replace::DeleteThenWrite);
    let mut replace = shelf.index("new", 5, NARROW);
    // In the middle of its writes: some of the new is there.
    while shelf.held() != all_of("new", NARROW, 2) {
        assert!((&mut replace).now_or_never().is_none());
    }
    let other = source("t", NARROW, &["other"]);
    finish(Box::pin(async {
        shelf.org.index_source(other).await.map(drop)
    }))
    .unwrap();
    assert_eq!(shelf.held().len(), 3, "the other did not wait");
    let mut remove: Pin<Box<dyn Future<Output = Result<Count, LibraryError>> + '_>> =
        Box::pin(shelf.org.remove_tenant());
    for _ in 0..MANY {
        assert!((&mut remove).now_or_never().is_none(), "it waits");
    }
    assert_eq!(shelf.held().len(), 3);
    finish(replace).unwrap();
    loop {
        if let Some(removed) = (&mut remove).now_or_never() {
            assert_eq!(removed.unwrap(), Count::Exact(6));
            break;
        }
    }
    assert!(shelf.held().is_empty());
}
