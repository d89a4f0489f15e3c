//! Dense search of the embedded stores beside what memory can give, their peers and each other.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark reports"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod collections;
mod drawn;
mod floor;
mod peers;
mod rows;

use std::process::ExitCode;

use shelfward_bench::options::Options;
use shelfward_bench::report::{Report, machine};

/// How many vectors an answer holds.
const TOP_K: usize = 10;
/// How many numbers a vector has.
const WIDTH: usize = 384;

/// What is measured, in the order of the table.
const GROUPS: [(&str, fn(&rows::Run<'_>, &mut Report)); 7] = [
    ("exact", rows::exact::exact),
    ("filtered", rows::filtered::filtered),
    ("library", rows::library::library),
    ("tenants", rows::tenants::tenants),
    ("sqlite", rows::sqlite::sqlite),
    ("hnsw", rows::hnsw::hnsw),
    ("growth", rows::growth::growth),
];

fn main() -> ExitCode {
    let options = match Options::read(&GROUPS.map(|(name, _)| name)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let mut report = Report {
        benchmark: "dense".to_owned(),
        material: format!("vectors of {WIDTH} numbers in clusters"),
        machine: machine(),
        rounds: options.rounds,
        checked: 0,
        rows: Vec::new(),
        growth: Vec::new(),
    };
    let run = rows::Run::new(&options);
    for (name, measure) in GROUPS {
        if options.wants(name) {
            eprintln!("dense: {name}");
            measure(&run, &mut report);
        }
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap());
    } else {
        print!("{}", report.tables());
    }
    ExitCode::SUCCESS
}
