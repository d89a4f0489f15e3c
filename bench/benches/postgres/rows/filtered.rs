//! Filtered search beside the same search of everything.

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;

use super::{Run, both};
use crate::library::{SHARES, everything, found, may_see, reader, tenant};

pub(crate) fn filtered(run: &Run<'_>, report: &mut Report) {
    let library = run.library();
    let all = everything();
    let (of_all, _) = found(run, library.adapter(), &all, |_| true);
    report.checked += run.queries.len();
    for (group, every) in SHARES {
        let filter = reader(&tenant(0), group);
        let (recall, fewest) = found(run, library.adapter(), &filter, |n| may_see(every, n));
        report.checked += run.queries.len();
        let mut filtered = run.dense(library.adapter(), &filter);
        let mut unfiltered = run.dense(library.adapter(), &all);
        let times = alternate(
            &run.numbers(),
            run.options.rounds,
            &mut [("filtered", &mut filtered), ("all", &mut unfiltered)],
        );
        let share = 100.0 / f64::from(u32::try_from(every).unwrap());
        let what = format!("a reader of {share} %, {fewest} hits at least, recall {recall:.3}");
        let beside = format!("unfiltered, recall {of_all:.3}");
        let row = Row::times(&what, run.vectors.len(), &beside).goal(1.5);
        report.rows.push(row.measured(both(&times)));
    }
}
