//! How the memory store grows with its vectors.

use std::hint::black_box;

use shelfward_bench::report::{Growth, Report};
use shelfward_bench::rounds::{alternate, whole};
use shelfward_bench::vectors::drawn;

use super::{Run, memory};
use crate::WIDTH;
use crate::collections::{everything, records, share};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// The largest is built once only.
const MANY: usize = 100_000;

pub(crate) fn growth(run: &Run<'_>, report: &mut Report) {
    let named = |what: &str| Growth {
        what: what.to_owned(),
        figures: Vec::new(),
    };
    let mut searches = [
        named("search"),
        named("search of 1 %"),
        named("search of 50 %"),
    ];
    let mut writes = named("upsert");
    let filters = [everything(), share(10), share(500)];
    for size in SIZES
        .into_iter()
        .filter(|size| *size <= run.options.documents.max(MANY) * 10)
    {
        let (vectors, queries) = drawn(size, 20, WIDTH);
        let records = records(&vectors, |_| "t".to_owned());
        let rounds = if size > MANY { 1 } else { 3 };
        let taken = whole(
            rounds,
            &mut [("upsert", &mut || drop(memory(true, &records)))],
        );
        writes.figures.push((size, taken[0].p50.as_secs_f64()));
        let held = memory(true, &records);
        drop(records);
        for (filter, growth) in filters.iter().zip(&mut searches) {
            let mut ours = |query: &Vec<f32>| drop(black_box(held.search(query, filter)));
            let times = alternate(&queries, run.options.rounds, &mut [("ours", &mut ours)]);
            growth.figures.push((size, times[0].p50.as_secs_f64()));
        }
    }
    report.growth.extend(searches);
    report.growth.push(writes);
}
