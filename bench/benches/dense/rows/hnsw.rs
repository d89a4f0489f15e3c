//! The HNSW store beside itself, looking at everything, and other graphs.

use std::hint::black_box;
use std::sync::Arc;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_core::{Filter, Store};
use shelfward_hnsw::{HnswOptions, HnswStore, PlannerCosts};

use super::{Run, beside, both};
use crate::WIDTH;
use crate::collections::{Held, everything, plain, recall, share};

pub(crate) fn hnsw(run: &Run<'_>, report: &mut Report) {
    let graph = held(run, HnswOptions::default());
    let all = everything();
    let unfiltered = recall_of(run, &graph, &all);
    for (per_mille, shown) in [(900, "90"), (500, "50"), (100, "10"), (10, "1"), (1, "0.1")] {
        let filter = share(per_mille);
        let recall = recall_of(run, &graph, &filter);
        let times = alternate(
            &run.queries,
            run.options.rounds,
            &mut [
                ("filtered", &mut |query: &Vec<f32>| {
                    drop(black_box(graph.search(query, &filter)))
                }),
                ("all", &mut |query| {
                    drop(black_box(graph.search(query, &all)))
                }),
            ],
        );
        let what = format!("HNSW, a filter that lets {shown} % through, recall {recall:.3}");
        let beside = format!("unfiltered, recall {unfiltered:.3}");
        let row = Row::times(&what, run.vectors.len(), &beside).goal(1.5);
        report.rows.push(row.measured(both(&times)));
    }
    for peer in ["hnswlib", "usearch"] {
        let what = match run.peers().and_then(|mut peers| peers.ids(peer)) {
            Ok(ids) => {
                let named = |ids: &Vec<usize>| ids.iter().map(|n| format!("v{n:07}")).collect();
                let found: Vec<Vec<String>> = ids.iter().map(named).collect();
                let theirs = recall(&found, &nearest(run, &all));
                format!("HNSW, recall {unfiltered:.3} beside {theirs:.3}")
            }
            Err(_) => format!("HNSW, recall {unfiltered:.3}"),
        };
        let ours = |query: &Vec<f32>| drop(black_box(graph.search(query, &all)));
        beside::row(run, report, &what, peer, None, ours);
    }
    crossover(run, report);
}

/// The graph alone beside looking at everything that is allowed, so that it is seen where one begins to
/// be faster than the other.
fn crossover(run: &Run<'_>, report: &mut Report) {
    let costs = PlannerCosts::default();
    let always = held(run, HnswOptions::default().with_costs(costs.with_scan(1e9)));
    let never = held(run, HnswOptions::default().with_graph_from(usize::MAX));
    for (per_mille, shown) in [
        (1_000, "100"),
        (500, "50"),
        (200, "20"),
        (100, "10"),
        (50, "5"),
    ] {
        let filter = share(per_mille);
        let recall = recall_of(run, &always, &filter);
        let times = alternate(
            &run.queries,
            run.options.rounds,
            &mut [
                ("graph", &mut |query: &Vec<f32>| {
                    drop(black_box(always.search(query, &filter)))
                }),
                ("exact", &mut |query| {
                    drop(black_box(never.search(query, &filter)))
                }),
            ],
        );
        let what = format!("the graph alone, a filter of {shown} %, recall {recall:.3}");
        let row = Row::times(&what, run.vectors.len(), "looking at what is allowed");
        report.rows.push(row.measured(both(&times)));
    }
}

fn held(run: &Run<'_>, options: HnswOptions) -> Held {
    let store = HnswStore::in_memory_with(options).unwrap();
    Held::new(&Store::new(store), WIDTH, &run.records)
}

fn nearest(run: &Run<'_>, filter: &Filter) -> Vec<Vec<String>> {
    run.queries
        .iter()
        .map(|query| plain(&run.records, query, filter))
        .collect()
}

fn recall_of(run: &Run<'_>, held: &Held, filter: &Arc<Filter>) -> f64 {
    let found: Vec<Vec<String>> = run
        .queries
        .iter()
        .map(|query| held.search(query, filter))
        .collect();
    recall(&found, &nearest(run, filter))
}
