//! The SQLite store beside the memory store, sqlite-vec, and a pace.

use std::hint::black_box;

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::{alternate, whole};
use shelfward_bench::vectors::drawn;
use shelfward_core::Store;
use shelfward_sqlite::{SqliteOptions, SqliteStore};

use super::{FEW_ROUNDS, Run, beside, both};
use crate::WIDTH;
use crate::collections::{Held, everything, records, share, spec};

pub(crate) fn sqlite(run: &Run<'_>, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(folder.path().join("dense.db"), SqliteOptions::default()).unwrap();
    let file = Held::new(&Store::new(store), WIDTH, &run.records);
    let memory = run.memory();
    let searches = [
        ("SQLite, warm", everything()),
        ("SQLite, warm, a filter of 10 %", share(100)),
    ];
    for (what, filter) in &searches {
        run.check(&file, filter, report);
        let times = alternate(
            &run.queries,
            run.options.rounds,
            &mut [
                ("sqlite", &mut |query: &Vec<f32>| {
                    drop(black_box(file.search(query, filter)))
                }),
                ("memory", &mut |query| {
                    drop(black_box(memory.search(query, filter)))
                }),
            ],
        );
        let row = Row::times(what, run.vectors.len(), "the memory store").goal(1.3);
        report.rows.push(row.measured(both(&times)));
    }
    let all = everything();
    let ours = |query: &Vec<f32>| drop(black_box(file.search(query, &all)));
    beside::row(run, report, "SQLite, warm", "sqlite-vec", None, ours);
    insert(run, report);
}

/// Records a second that a bulk insert should take in.
const PACE: u32 = 50_000;

fn insert(run: &Run<'_>, report: &mut Report) {
    const NARROW: usize = 8;
    let count = run.options.documents;
    let (vectors, _) = drawn(count, 0, NARROW);
    let records = records(&vectors, |_| "t".to_owned());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut ours = || {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("insert.db");
        let store = Store::new(SqliteStore::open(file, SqliteOptions::default()).unwrap());
        runtime.block_on(async {
            let collection = store.ensure(&spec(NARROW)).await.unwrap();
            collection.upsert(&records).await.unwrap();
            store.close().await.unwrap();
        });
    };
    let times = whole(FEW_ROUNDS, &mut [("sqlite", &mut ours)]);
    let pace = f64::from(u32::try_from(count).unwrap()) / f64::from(PACE);
    let what = format!("SQLite, one upsert of vectors of {NARROW}, made and closed");
    let row = Row::times(&what, count, "50,000 a second").goal(1.0);
    let ours = times.first().map(|t| Figures::one(t.p50.as_secs_f64()));
    report
        .rows
        .push(row.measured([ours, Some(Figures::one(pace))]));
}
