//! How searches grow with the passages of a library.

use std::hint::black_box;

use shelfward_bench::report::{Growth, Report};
use shelfward_bench::rounds::alternate;
use shelfward_core::{Leg, Match};

use super::Run;
use crate::TOP_K;
use crate::library::{Library, everything, reader, tenant};

const STEPS: [usize; 3] = [100, 10, 1];

pub(crate) fn growth(run: &Run<'_>, report: &mut Report) {
    let named = |what: &str| Growth {
        what: what.to_owned(),
        figures: Vec::new(),
    };
    let mut growth = [
        named("dense"),
        named("dense, a reader of half"),
        named("by words, a reader of half"),
    ];
    let (all, half) = (everything(), reader(&tenant(0), "half"));
    for step in STEPS {
        let count = run.vectors.len() / step;
        let made;
        let library = if step == 1 {
            run.library()
        } else {
            made = Library::full(run, &format!("growth{count}"), count, 1);
            &made
        };
        let mut lexical = |n: &usize| {
            let leg = Leg::lexical(run.words(*n), Match::Any, half.clone(), TOP_K);
            drop(black_box(library.adapter().search(run, &[leg])));
        };
        let mut dense = run.dense(library.adapter(), &all);
        let mut of_half = run.dense(library.adapter(), &half);
        let times = alternate(
            &run.by_words(),
            run.options.rounds,
            &mut [
                ("dense", &mut dense),
                ("half", &mut of_half),
                ("lexical", &mut lexical),
            ],
        );
        for (growth, times) in growth.iter_mut().zip(times) {
            growth.figures.push((count, times.p50.as_secs_f64()));
        }
    }
    report.growth.extend(growth);
}
