//! Loading many passages beside one `COPY` of the same rows as bytes that lie ready.

use std::time::{Duration, Instant};

use shelfward_bench::report::{Figures, Report, Row};
use shelfward_bench::rounds::times;
use shelfward_core::library::{IndexSource, Passage};
use shelfward_core::{Filter, Groups, Include, Record, SourceId, SourceKind};
use shelfward_postgres::VectorIndex;

use super::{FEW_ROUNDS, Run};
use crate::by_hand::{copied_out, copy_in};
use crate::library::{Library, tenant};

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

/// Small sources, as a folder of documents has, one by one and in one call.
pub(crate) fn sources(run: &Run<'_>, report: &mut Report) {
    for (name, index, with) in [
        ("sources_plain", VectorIndex::None, "no graph"),
        ("sources_graph", VectorIndex::Hnsw, "a graph"),
    ] {
        let library = Library::new(run, name, index);
        let org = library.index.tenant(tenant(0));
        let sources = || -> Vec<_> { (0..SOURCES).map(|at| small_source(run, at)).collect() };
        let mut singly = || {
            for source in sources() {
                run.place
                    .runtime
                    .block_on(org.index_source(source))
                    .unwrap();
            }
        };
        let mut together = || {
            for outcome in run.place.runtime.block_on(org.index_sources(sources())) {
                outcome.report.unwrap();
            }
        };
        let mut taken = [(); 2].map(|()| Vec::new());
        for _ in 0..FEW_ROUNDS {
            let ways: [&mut dyn FnMut(); 2] = [&mut together, &mut singly];
            for (load, taken) in ways.into_iter().zip(&mut taken) {
                run.place.run(&format!("TRUNCATE {}", library.table));
                taken.push(measured(load));
            }
        }
        let figures = taken.map(|taken| Some(Figures::one(times(taken).p50.as_secs_f64())));
        let what = format!("{SOURCES} sources of {SMALL} in one call, {with}");
        let row = Row::times(&what, SOURCES * SMALL, "one by one").goal(0.33);
        report.rows.push(row.measured(figures));
    }
}

/// How many small sources there are, and how many passages each has.
const SOURCES: usize = 200;
const SMALL: usize = 13;

fn small_source(run: &Run<'_>, at: usize) -> IndexSource {
    let texts = run.texts[at * SMALL..(at + 1) * SMALL].iter();
    let id = SourceId::new(format!("small{at}")).unwrap();
    let kind = SourceKind::new("document").unwrap();
    IndexSource::new(id, kind, Groups::of(["all"]).unwrap())
        .passages(texts.map(|text| Passage::new(text.as_str())))
}

fn measured(load: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    load();
    begun.elapsed()
}

/// The records of a library, as a caller of its collection may give them.
fn records(run: &Run<'_>, library: &Library) -> Vec<Record> {
    let mut records = Vec::new();
    let mut after = None;
    loop {
        let all = Filter::everything();
        let page = (library.checked).scan(&all, after.as_ref(), 1_000, Include::ALL);
        let page = run.place.runtime.block_on(page).unwrap();
        for stored in page.records {
            let record = Record::new(stored.key, stored.vector.unwrap());
            let mut metadata = (*stored.metadata).clone();
            // Keys that only the library itself may set.
            metadata.remove("_shelfward_revision");
            metadata.remove("_shelfward_count");
            let record = record.with_metadata(metadata);
            records.push(record.with_text(stored.text.unwrap()));
        }
        after = page.next;
        if after.is_none() {
            return records;
        }
    }
}
