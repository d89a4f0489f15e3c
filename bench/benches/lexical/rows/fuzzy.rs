//! A search box's index beside minisearch.

use std::hint::black_box;
use std::time::{Duration, Instant};

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::{Times, times};
use shelfward_lexical::fuzzy::{FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings};

use super::{FEW_ROUNDS, Run};
use crate::peers::minisearch::{Minisearch, name};

const DOCUMENTS: usize = 20_000;
const QUERIES: usize = 100;

pub(crate) fn fuzzy(run: &Run<'_>, report: &mut Report) {
    let (documents, queries) = run.of(DOCUMENTS.min(run.options.documents));
    let queries: Vec<String> = queries.iter().take(QUERIES).map(|q| q.join(" ")).collect();
    let beside = format!("{}, fuzzy 1 and prefix", name());
    let row = |what: &str| Row::times(what, documents.len(), &beside).goal(0.1);
    let (with_marks, ranked) = (
        "search box, with marks and passages",
        "search box, ids and scores",
    );
    if run.options.ours_only {
        return;
    }
    let mut peer = match Minisearch::new(&documents, &queries) {
        Ok(peer) => peer,
        Err(why) => {
            let not_run = Some(why);
            report.rows.push(Row {
                not_run,
                ..row(with_marks)
            });
            return;
        }
    };
    let index = index(&documents);
    let search = FuzzySearch::default();
    let mut best: [Vec<Duration>; 3] = [const { Vec::new() }; 3];
    for _ in 0..run.options.rounds.min(FEW_ROUNDS) {
        let round = [
            round(&queries, |query| {
                drop(black_box(index.search(query, &search)))
            }),
            round(&queries, |query| {
                drop(black_box(index.rank(query, &search)))
            }),
            peer.round(),
        ];
        best.iter_mut()
            .zip(round)
            .for_each(|(best, round)| keep_best(best, round));
    }
    let [marked, scored, theirs] = best.map(times);
    for (what, ours) in [(with_marks, marked), (ranked, scored)] {
        let both = [ours, theirs].map(|t: Times| Some(Figures::many(&t)));
        report.rows.push(row(what).measured(both));
    }
}

fn index(documents: &[String]) -> FuzzyIndex {
    let mut index = FuzzyIndex::new(FuzzySettings::new([("text", 1.0)])).unwrap();
    let document = |(at, text): (usize, &String)| {
        FuzzyDocument::new(format!("d{at}")).field("text", text.as_str())
    };
    index
        .add_documents(documents.iter().enumerate().map(document))
        .unwrap();
    index
}

fn round(queries: &[String], mut search: impl FnMut(&str)) -> Vec<Duration> {
    let time = |query: &String| {
        let begun = Instant::now();
        search(query);
        begun.elapsed()
    };
    queries.iter().map(time).collect()
}

fn keep_best(best: &mut Vec<Duration>, round: Vec<Duration>) {
    if best.is_empty() {
        *best = round;
        return;
    }
    best.iter_mut()
        .zip(round)
        .for_each(|(best, taken)| *best = taken.min(*best));
}
