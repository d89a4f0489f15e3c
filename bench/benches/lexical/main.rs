//! Lexical search beside its peers, in one process and on one thread.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark reports"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod ours;
mod peers;
mod rows;

use std::process::ExitCode;

use shelfward_bench::material::paragraphs;
use shelfward_bench::options::Options;
use shelfward_bench::report::{Report, machine};

/// How many documents an answer holds.
const TOP_K: usize = 10;

/// What is measured, in the order of the table.
const GROUPS: [(&str, fn(&rows::Run<'_>, &mut Report)); 9] = [
    ("any", rows::search::any),
    ("all", rows::search::all),
    ("prefix", rows::search::prefix),
    ("build", rows::build::build),
    ("bytes", rows::build::bytes),
    ("saved", rows::saved::saved),
    ("sqlite", rows::sqlite::sqlite),
    ("fuzzy", rows::fuzzy::fuzzy),
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
    let (paragraphs, material) = paragraphs().unwrap();
    let mut report = Report {
        benchmark: "lexical".to_owned(),
        material: format!("documents made from {material}"),
        machine: machine(),
        rounds: options.rounds,
        checked: 0,
        rows: Vec::new(),
        growth: Vec::new(),
    };
    let run = rows::Run::new(&options, &paragraphs);
    for (name, measure) in GROUPS {
        if options.wants(name) {
            eprintln!("lexical: {name}");
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
