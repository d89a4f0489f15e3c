//! How ours grows with its documents.

use std::hint::black_box;

use shelfward_bench::report::{Growth, Report};
use shelfward_bench::rounds::{alternate, whole};
use shelfward_core::Match;
use shelfward_lexical::SearchOptions;

use super::search::begun;
use super::{FEW_ROUNDS, Run};
use crate::TOP_K;
use crate::ours::{by_id, check};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

pub(crate) fn growth(run: &Run<'_>, report: &mut Report) {
    let default = SearchOptions::default();
    let searches = [
        ("any word", default, false),
        ("all words", default.matching(Match::All), false),
        ("words begun", default.prefix(true), true),
    ];
    let named = |what: &str| Growth {
        what: what.to_owned(),
        figures: Vec::new(),
    };
    let mut grown: Vec<Growth> = searches.iter().map(|(what, ..)| named(what)).collect();
    let (mut building, mut bytes) = (named("build"), named("bytes"));
    for size in SIZES {
        let (documents, queries) = run.of(size);
        let index = by_id(&documents);
        for ((_, options, first_letters), growth) in searches.iter().zip(&mut grown) {
            let queries = if *first_letters {
                begun(&queries)
            } else {
                queries.clone()
            };
            report.checked += check(&index, &queries, options);
            let mut ours = |query: &Vec<String>| {
                black_box(index.search_with(&query.join(" "), TOP_K, options).unwrap());
            };
            let times = alternate(&queries, run.options.rounds, &mut [("ours", &mut ours)]);
            growth
                .figures
                .extend(times.iter().map(|t| (size, t.p50.as_secs_f64())));
        }
        let times = whole(FEW_ROUNDS, &mut [("ours", &mut || drop(by_id(&documents)))]);
        building
            .figures
            .extend(times.iter().map(|t| (size, t.p50.as_secs_f64())));
        #[expect(
            clippy::cast_precision_loss,
            reason = "they are printed with three digits"
        )]
        bytes.figures.push((size, index.memory_bytes() as f64));
    }
    report.growth.extend(grown);
    report.growth.extend([building, bytes]);
}
