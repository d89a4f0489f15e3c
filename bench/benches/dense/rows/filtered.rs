//! Filtered search beside the same search of everything.

use std::hint::black_box;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;

use super::{Run, both, memory};
use crate::collections::{Held, everything, share};

pub(crate) fn filtered(run: &Run<'_>, report: &mut Report) {
    measure(run, report, run.memory(), "unfiltered");
    let plain = memory(false, &run.records);
    measure(run, report, &plain, "unfiltered, without the bytes");
}

fn measure(run: &Run<'_>, report: &mut Report, held: &Held, beside: &str) {
    let all = everything();
    for (per_mille, goal) in [(10, 0.03), (100, 0.15), (500, 0.7)] {
        let filter = share(per_mille);
        run.check(held, &filter, report);
        let times = alternate(
            &run.queries,
            run.options.rounds,
            &mut [
                ("filtered", &mut |query: &Vec<f32>| {
                    drop(black_box(held.search(query, &filter)))
                }),
                ("all", &mut |query| {
                    drop(black_box(held.search(query, &all)))
                }),
            ],
        );
        let what = format!("a filter that lets {} % through", per_mille / 10);
        let row = Row::times(&what, run.vectors.len(), beside).goal(goal);
        report.rows.push(row.measured(both(&times)));
    }
}
