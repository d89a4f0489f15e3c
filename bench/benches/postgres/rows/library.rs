//! The Library Index beside the store's own call with the same filter.

use std::hint::black_box;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::library::{Mode, SearchRequest};
use shelfward_core::{Leg, Match, Scope};

use super::{Run, both};
use crate::TOP_K;
use crate::library::{reader, tenant};

pub(crate) fn library(run: &Run<'_>, report: &mut Report) {
    let library = run.library();
    let runtime = &run.place.runtime;
    let scope = Scope::of("t0", ["half", "of-nobody"]).unwrap();
    let filter = reader(&tenant(0), "half");
    for (mode, what, depth) in [
        (Mode::Dense, "a library's dense search", TOP_K),
        (Mode::Lexical, "a library's search by words", TOP_K),
        (Mode::Hybrid, "a library's hybrid search", 50),
    ] {
        let mut ours = |n: &usize| {
            let request = SearchRequest::new(&*run.asked[*n]).mode(mode).top_k(TOP_K);
            let answer = runtime.block_on(library.index.search(&scope, &request));
            drop(black_box(answer.unwrap()));
        };
        let mut store = |n: &usize| {
            let dense = || Leg::dense(run.queries[*n].as_slice(), filter.clone(), depth);
            let lexical = || Leg::lexical(run.words(*n), Match::Any, filter.clone(), depth);
            let legs = match mode {
                Mode::Dense => vec![dense()],
                Mode::Lexical => vec![lexical()],
                _ => vec![dense(), lexical()],
            };
            drop(black_box(library.adapter().search(run, &legs)));
        };
        let asked = if mode == Mode::Dense {
            run.numbers()
        } else {
            run.by_words()
        };
        let times = alternate(
            &asked,
            run.options.rounds,
            &mut [("library", &mut ours), ("store", &mut store)],
        );
        let beside = "the adapter's own call, as deep";
        let row = Row::times(what, run.vectors.len(), beside).goal(1.05);
        report.rows.push(row.measured(both(&times)));
    }
}
