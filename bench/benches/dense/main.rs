//! Dense search of the embedded stores beside what memory can give, their peers and each other.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod collections;
mod drawn;
mod floor;
mod peers;
mod rows;

use std::process::ExitCode;

use shelfward_bench::benchmark::measured;
use shelfward_bench::options::Options;
use shelfward_bench::report::Report;

/// How many vectors an answer holds.
const TOP_K: usize = 10;
/// How many numbers a vector has.
const WIDTH: usize = 384;

/// What is measured, in the order of the table.
const GROUPS: [(&str, fn(&rows::Run<'_>, &mut Report)); 8] = [
    ("exact", rows::exact::exact),
    ("filtered", rows::filtered::filtered),
    ("library", rows::library::library),
    ("tenants", rows::tenants::tenants),
    ("sqlite", rows::sqlite::sqlite),
    ("hnsw", rows::hnsw::hnsw),
    ("writes", rows::writes::writes),
    ("growth", rows::growth::growth),
];

fn main() -> ExitCode {
    let options = &Options::read(&GROUPS.map(|(name, _)| name));
    let material = format!("vectors of {WIDTH} numbers in clusters");
    let run = &rows::Run::new(options);
    let groups = GROUPS.map(|(name, rows)| (name, move |report: &mut _| rows(run, report)));
    measured("dense", material, options, groups)
}
