//! One tenant among a thousand beside one that is alone.

use std::hint::black_box;
use std::sync::Arc;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::filter::key;

use super::{Run, both, memory};
use crate::collections::records;

const PASSAGES: usize = 100;

pub(crate) fn tenants(run: &Run<'_>, report: &mut Report) {
    let tenants = (run.vectors.len() / PASSAGES).min(1_000);
    let many = &run.vectors[..tenants * PASSAGES];
    let among = memory(true, &records(many, |n| format!("t{}", n % tenants)));
    let alone = memory(
        true,
        &records(&run.vectors[..PASSAGES], |_| "t1".to_owned()),
    );
    let of_one = Arc::new(key("tenant").eq("t1").build().unwrap());
    let times = alternate(
        &run.queries,
        run.options.rounds.max(9),
        &mut [
            ("among", &mut |query: &Vec<f32>| {
                drop(black_box(among.search(query, &of_one)))
            }),
            ("alone", &mut |query| {
                drop(black_box(alone.search(query, &of_one)))
            }),
        ],
    );
    let what = format!("one of {tenants} tenants of {PASSAGES}");
    let row = Row::times(&what, many.len(), "one tenant of as many, alone").goal(1.2);
    report.rows.push(row.measured(both(&times)));
}
