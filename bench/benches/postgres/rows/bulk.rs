//! Loading many passages beside one `COPY` of the same rows as bytes that lie ready.

use std::time::{Duration, Instant};

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::times;
use shelfward_core::{Filter, Include, Record};
use shelfward_postgres::VectorIndex;

use super::{FEW_ROUNDS, Run};
use crate::by_hand::{copied_out, copy_in};
use crate::library::Library;

/// At least 0.8 times as fast.
const GOAL: f64 = 1.25;

pub(crate) fn bulk(run: &Run<'_>, report: &mut Report) {
    for (name, index, with, part) in [
        ("plain", VectorIndex::None, "no graph", 5),
        ("graph", VectorIndex::Hnsw, "a graph", 50),
    ] {
        let count = (run.vectors.len() / part).min(20_000);
        let library = Library::new(run, name, index);
        let (ours, copy) = (&library.table, run.place.table(&format!("copy_of_{name}")));
        run.place
            .run(&format!("CREATE TABLE {copy} (LIKE {ours} INCLUDING ALL)"));
        library.fill(run, count, 1);
        let (records, bytes) = (records(run, &library), copied_out(run.place, ours));
        let mut upsert = || {
            let upsert = library.checked.upsert(&records);
            run.place.runtime.block_on(upsert).unwrap();
        };
        let mut index = || library.fill(run, count, 1);
        let mut by_hand = || copy_in(run.place, &copy, &bytes);
        let mut taken = [(); 3].map(|()| Vec::new());
        for _ in 0..FEW_ROUNDS {
            let contenders: [(&str, &mut dyn FnMut()); 3] = [
                (ours, &mut upsert),
                (ours, &mut index),
                (&copy, &mut by_hand),
            ];
            for ((table, load), taken) in contenders.into_iter().zip(&mut taken) {
                run.place.run(&format!("TRUNCATE {table}"));
                taken.push(measured(load));
            }
        }
        for table in [ours, &copy] {
            let there = run
                .place
                .ask(&format!("SELECT count(*)::text FROM {table}"));
            assert_eq!(there, count.to_string(), "not all rows are there");
        }
        let [upsert, index, by_hand] = taken.map(|taken| times(taken).p50);
        let figures = |duration: Duration| Some(Figures::one(duration.as_secs_f64()));
        for (what, taken) in [
            (format!("one upsert, {with}"), upsert),
            (format!("indexing sources of 100 one by one, {with}"), index),
        ] {
            let row = Row::times(&what, count, "COPY of bytes that lie ready").goal(GOAL);
            let row = row.measured([figures(taken), figures(by_hand)]);
            report.rows.push(row);
        }
    }
}

fn measured(load: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    load();
    begun.elapsed()
}

/// The records of a library, as they were given to its collection.
fn records(run: &Run<'_>, library: &Library) -> Vec<Record> {
    let mut records = Vec::new();
    let mut after = None;
    loop {
        let all = Filter::everything();
        let page = (library.checked).scan(&all, after.as_ref(), 1_000, Include::ALL);
        let page = run.place.runtime.block_on(page).unwrap();
        for stored in page.records {
            let record = Record::new(stored.key, stored.vector.unwrap());
            let record = record.with_metadata(stored.metadata);
            records.push(record.with_text(stored.text.unwrap()));
        }
        after = page.next;
        if after.is_none() {
            return records;
        }
    }
}
