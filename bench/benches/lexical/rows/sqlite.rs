//! Searches beside SQLite's FTS5.

use std::hint::black_box;

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::Match;
use shelfward_lexical::SearchOptions;

use super::{FEW_ROUNDS, Run, both};
use crate::TOP_K;
use crate::ours::{by_id, check};
use crate::peers::sqlite::{Sqlite, name, search};

const DOCUMENTS: usize = 20_000;

pub(crate) fn sqlite(run: &Run<'_>, report: &mut Report) {
    if run.options.ours_only {
        return;
    }
    let (documents, queries) = run.of(DOCUMENTS.min(run.options.documents));
    let (index, peer) = (by_id(&documents), Sqlite::new(&documents));
    let mut select = peer.select();
    for (what, matching) in [("any word", Match::Any), ("all words", Match::All)] {
        let options = SearchOptions::default().matching(matching);
        report.checked += check(&index, &queries, &options);
        let times = alternate(
            &queries,
            run.options.rounds.min(FEW_ROUNDS),
            &mut [
                ("ours", &mut |query: &Vec<String>| {
                    let text = query.join(" ");
                    black_box(index.search_with(&text, TOP_K, &options).unwrap());
                }),
                ("SQLite", &mut |query: &Vec<String>| {
                    black_box(search(&mut select, query, matching, TOP_K));
                }),
            ],
        );
        let row = Row::times(what, documents.len(), &name());
        report.rows.push(row.measured(both(&times, Figures::many)));
    }
}
