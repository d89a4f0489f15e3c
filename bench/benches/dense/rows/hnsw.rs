//! The HNSW store beside itself, looking at everything, and other graphs.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use shelfward_bench::report::{Report, Row};
use shelfward_bench::rounds::alternate;
use shelfward_bench::vectors::recall;
use shelfward_core::adapter::StoreAdapter as _;
use shelfward_core::{Filter, Store};
use shelfward_hnsw::{HnswOptions, HnswStore, PlannerCosts};

use tokio::runtime::Runtime;

use super::{Run, beside, both};
use crate::WIDTH;
use crate::collections::{Held, everything, plain, share};

pub(crate) fn hnsw(run: &Run<'_>, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let (store, graph) = held(run, folder.path(), with_graph());
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
    graph.runtime.block_on(store.close()).unwrap();
    drop((graph, store));
    crossover(run, report, folder.path());
}

/// The graph alone beside looking at everything that is allowed, so that it is seen where one begins to
/// be faster than the other.
fn crossover(run: &Run<'_>, report: &mut Report, folder: &Path) {
    let costs = PlannerCosts::default().with_scan(1e9);
    let (_store, always) = held(run, folder, with_graph().with_costs(costs));
    let exact = run.memory();
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
                    drop(black_box(exact.search(query, &filter)))
                }),
            ],
        );
        let what = format!("the graph alone, a filter of {shown} %, recall {recall:.3}");
        let row = Row::times(&what, run.vectors.len(), "the memory store");
        report.rows.push(row.measured(both(&times)));
    }
}

/// A graph, however few records there are.
fn with_graph() -> HnswOptions {
    HnswOptions::default().with_graph_from(1_000)
}

/// The records in a folder, which keeps them and their graph for whoever opens it next.
fn held(run: &Run<'_>, folder: &Path, options: HnswOptions) -> (Arc<HnswStore>, Held) {
    let store = Arc::new(HnswStore::open(folder, options).unwrap());
    let shared = Store::from_arc(store.clone());
    let there = Runtime::new().unwrap().block_on(shared.list()).unwrap();
    let records = if there.is_empty() {
        run.records.as_slice()
    } else {
        &[]
    };
    let held = Held::new(&shared, WIDTH, records);
    held.runtime.block_on(store.settle()).unwrap();
    (store, held)
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
