//! Exact search beside what memory can give.

use std::hint::black_box;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;

use super::{Run, beside, both, memory};
use crate::WIDTH;
use crate::collections::everything;
use crate::floor::Floor;

pub(crate) fn exact(run: &Run<'_>, report: &mut Report) {
    let floor = Floor::new(run.vectors.len() * WIDTH * 4);
    let all = everything();
    let plain = memory(false, &run.records);
    let quantized = run.memory();
    for held in [&plain, quantized] {
        run.check(held, &all, report);
    }
    let times = alternate(
        &run.queries,
        run.options.rounds,
        &mut [
            ("exact", &mut |query: &Vec<f32>| {
                drop(black_box(plain.search(query, &all)))
            }),
            ("quantized", &mut |query| {
                drop(black_box(quantized.search(query, &all)))
            }),
            ("floor", &mut |_| {
                black_box(floor.read());
            }),
        ],
    );
    let beside = "reading the vectors once, as many threads";
    let documents = run.vectors.len();
    let rows = [("exact", 1.1), ("exact, a byte a number read first", 0.35)];
    for ((what, goal), ours) in rows.into_iter().zip(&times) {
        let row = Row::times(what, documents, beside).goal(goal);
        report.rows.push(row.measured(both(&[*ours, times[2]])));
    }
    let ours = |query: &Vec<f32>| drop(black_box(plain.search(query, &all)));
    beside::row(run, report, "exact", "faiss flat", Some(0.8), ours);
}
