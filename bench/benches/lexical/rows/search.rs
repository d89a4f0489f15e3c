//! Searches beside tantivy.

use std::hint::black_box;

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::Match;
use shelfward_lexical::SearchOptions;

use super::{Run, both};
use crate::TOP_K;
use crate::ours::check;
use crate::peers::tantivy::{NAME, Tantivy};

/// A search by tantivy.
type Theirs = fn(&Tantivy, &[String]);

pub(crate) fn any(run: &Run<'_>, report: &mut Report) {
    let theirs =
        |peer: &Tantivy, words: &[String]| drop(black_box(peer.search(words, Match::Any, TOP_K)));
    let row = Row::times("any word", run.documents.len(), &NAME).goal(0.8);
    row_of(
        run,
        report,
        row,
        &run.queries,
        SearchOptions::default(),
        theirs,
    );
}

pub(crate) fn all(run: &Run<'_>, report: &mut Report) {
    let theirs =
        |peer: &Tantivy, words: &[String]| drop(black_box(peer.search(words, Match::All, TOP_K)));
    let row = Row::times("all words", run.documents.len(), &NAME)
        .goal(0.8)
        .goal_p95(1.0);
    let options = SearchOptions::default().matching(Match::All);
    row_of(run, report, row, &run.queries, options, theirs);
}

pub(crate) fn prefix(run: &Run<'_>, report: &mut Report) {
    let theirs =
        |peer: &Tantivy, words: &[String]| drop(black_box(peer.search_begun(words, TOP_K)));
    let beside = format!("{} by regex, all equal", *NAME);
    let row = Row::times(
        "words begun, ranked by the best",
        run.documents.len(),
        &beside,
    )
    .goal(0.4);
    let options = SearchOptions::default().prefix(true);
    row_of(run, report, row, &begun(&run.queries), options, theirs);
}

/// Queries of which only the first letters are typed.
pub(crate) fn begun(queries: &[Vec<String>]) -> Vec<Vec<String>> {
    let begin = |word: &String| word.chars().take(4).collect();
    let query = |query: &Vec<String>| query.iter().map(begin).collect();
    queries.iter().map(query).collect()
}

fn row_of(
    run: &Run<'_>,
    report: &mut Report,
    row: Row,
    queries: &[Vec<String>],
    options: SearchOptions,
    theirs: Theirs,
) {
    let index = run.ours();
    report.checked += check(index, queries, &options);
    // Both are given words: ours cuts the text that they make, as it always does.
    let queries: Vec<(String, &Vec<String>)> = queries.iter().map(|q| (q.join(" "), q)).collect();
    let mut ours = |(text, _): &(String, &Vec<String>)| {
        black_box(index.search_with(text, TOP_K, &options).unwrap());
    };
    let rounds = run.options.rounds;
    let times = match run.tantivy() {
        Some(peer) => alternate(
            &queries,
            rounds,
            &mut [
                ("ours", &mut ours),
                ("tantivy", &mut |(_, words)| theirs(peer, words)),
            ],
        ),
        None => alternate(&queries, rounds, &mut [("ours", &mut ours)]),
    };
    report.rows.push(row.measured(both(&times, Figures::many)));
}
