//! One tenant of a hundred passages among a thousand.

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;

use super::{Run, both};
use crate::library::{Library, PASSAGES, everything, found, reader, tenant};

pub(crate) fn tenants(run: &Run<'_>, report: &mut Report) {
    let tenants = (run.vectors.len() / PASSAGES).clamp(1, 1_000);
    let count = tenants * PASSAGES;
    let many = Library::full(run, "tenants", count, tenants);
    let one = tenants / 2;
    let filter = reader(&tenant(one), "all");
    let all = everything();
    let (recall, fewest) = found(run, many.adapter(), &filter, |n| n / PASSAGES == one);
    report.checked += run.queries.len();
    let mut among = run.dense(many.adapter(), &filter);
    let mut unfiltered = run.dense(many.adapter(), &all);
    let times = alternate(
        &run.numbers(),
        run.options.rounds,
        &mut [("among", &mut among), ("all", &mut unfiltered)],
    );
    let what = format!(
        "one of {tenants} tenants of {PASSAGES}, {fewest} hits at least, recall {recall:.3}"
    );
    let row = Row::times(&what, count, "unfiltered").goal(1.5);
    report.rows.push(row.measured(both(&times)));
}
