//! The adapter's searches beside statements written by hand.

use std::hint::black_box;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_bench::vectors::recall;
use shelfward_core::{Leg, Match};

use super::{Run, both};
use crate::TOP_K;
use crate::by_hand::ByHand;
use crate::library::{Face, everything, found, may_see, nearest, number, numbers, reader, tenant};

const BESIDE: &str = "SQL by hand through sqlx";
const GOAL: f64 = 1.1;
/// So deep a library asks both legs for ten passages.
const DEPTH: usize = 50;

pub(crate) fn search(run: &Run<'_>, report: &mut Report) {
    dense(run, report);
    legs(run, report);
}

/// Dense search of everything, and of what readers may see.
fn dense(run: &Run<'_>, report: &mut Report) {
    let library = run.library();
    let by_hand = ByHand::new(run.place, &library.table);
    let bare = library.adapter();
    for (what, group, every) in [
        ("dense", None, 1),
        ("dense, a reader of all", Some("all"), 1),
        ("dense, a reader of half", Some("half"), 2),
        ("dense, a reader of 1 %", Some("hundredth"), 100),
    ] {
        let filter = group.map_or_else(everything, |group| reader(&tenant(0), group));
        let groups = group.map(|group| [group.to_owned(), "of-nobody".to_owned()]);
        let scope = groups.as_ref().map(|groups| ("t0", groups.as_slice()));
        let hand = |n: &usize| by_hand.dense(&run.queries[*n], scope, TOP_K);
        let such = |n| may_see(every, n);
        let (ours, _) = found(run, bare, &filter, such);
        let theirs: Vec<Vec<String>> = (run.numbers().iter())
            .map(|n| {
                hand(n)
                    .iter()
                    .map(|hit| number(hit.text.as_deref()))
                    .collect()
            })
            .collect();
        let theirs = recall(&theirs, &nearest(run, such));
        report.checked += 2 * run.queries.len();
        let mut of_checked = run.dense(library.checked(), &filter);
        let mut of_bare = run.dense(bare, &filter);
        let times = alternate(
            &run.numbers(),
            run.options.rounds,
            &mut [
                ("adapter", &mut of_bare),
                ("checked", &mut of_checked),
                ("by hand", &mut |n| drop(black_box(hand(n)))),
            ],
        );
        let beside = format!("{BESIDE}, recall {theirs:.3}");
        for (who, at) in [("the adapter", 0), ("the checked handle", 1)] {
            let what = format!("{what}, {who}, recall {ours:.3}");
            let row = Row::times(&what, run.vectors.len(), &beside).goal(GOAL);
            report.rows.push(row.measured(both(&[times[at], times[2]])));
        }
    }
}

/// Search by words, and both legs in one call beside two statements.
fn legs(run: &Run<'_>, report: &mut Report) {
    let library = run.library();
    let by_hand = ByHand::new(run.place, &library.table);
    let filter = reader(&tenant(0), "half");
    let groups = ["half".to_owned(), "of-nobody".to_owned()];
    let scope = ("t0", groups.as_slice());
    let written: Vec<String> = (run.by_words().iter())
        .map(|n| {
            let words = run.words(*n);
            let quoted = words.iter().map(|word| format!("'{}'", word.text.as_str()));
            quoted.collect::<Vec<_>>().join(" | ")
        })
        .collect();
    let lexical = |n: &usize, top_k| Leg::lexical(run.words(*n), Match::Any, filter.clone(), top_k);
    let dense = |n: &usize, top_k| Leg::dense(run.queries[*n].as_slice(), filter.clone(), top_k);
    let ours = |face: Face<'_>, n: &usize| {
        let mut found = face.search(run, &[lexical(n, TOP_K)]);
        found.pop().unwrap().hits
    };
    for n in &run.by_words() {
        let by_hand = by_hand.lexical(&written[*n], scope, TOP_K);
        let by_hand: Vec<_> = by_hand
            .iter()
            .map(|hit| number(hit.text.as_deref()))
            .collect();
        let ours = numbers(&ours(library.adapter(), n));
        assert_eq!(ours, by_hand, "the statement written by hand finds others");
    }
    let times = alternate(
        &run.by_words(),
        run.options.rounds,
        &mut [
            ("adapter", &mut |n| {
                drop(black_box(ours(library.adapter(), n)))
            }),
            ("checked", &mut |n| {
                drop(black_box(ours(library.checked(), n)))
            }),
            ("by hand", &mut |n| {
                drop(black_box(by_hand.lexical(&written[*n], scope, TOP_K)))
            }),
        ],
    );
    let both_legs = |face: Face<'_>, n: &usize| {
        let legs = [dense(n, DEPTH), lexical(n, DEPTH)];
        drop(black_box(face.search(run, &legs)));
    };
    let times_of_both = alternate(
        &run.by_words(),
        run.options.rounds,
        &mut [
            ("adapter", &mut |n| both_legs(library.adapter(), n)),
            ("checked", &mut |n| both_legs(library.checked(), n)),
            ("by hand", &mut |n| {
                drop(black_box(by_hand.dense(
                    &run.queries[*n],
                    Some(scope),
                    DEPTH,
                )));
                drop(black_box(by_hand.lexical(&written[*n], scope, DEPTH)));
            }),
        ],
    );
    for (who, at) in [("the adapter", 0), ("the checked handle", 1)] {
        let what = format!("by words, a reader of half, {who}");
        let row = Row::times(&what, run.vectors.len(), BESIDE).goal(GOAL);
        report.rows.push(row.measured(both(&[times[at], times[2]])));
    }
    for (who, at) in [("the adapter", 0), ("the checked handle", 1)] {
        let what = format!("both legs, {DEPTH} deep, a reader of half, {who}");
        let beside = "two statements by hand, one after the other";
        let row = Row::times(&what, run.vectors.len(), beside).goal(GOAL);
        let pair = [times_of_both[at], times_of_both[2]];
        report.rows.push(row.measured(both(&pair)));
    }
}
