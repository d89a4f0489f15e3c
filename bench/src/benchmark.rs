//! The frame of a benchmark: options, groups of rows, a report.

use std::process::ExitCode;

use crate::options::Options;
use crate::report::{Report, machine};

/// Measures the groups that are wanted, in their order, and prints the report.
///
/// `material` is what is searched, as the report says it; a group is its name and what measures it.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark reports"
)]
pub fn measured<M: FnOnce(&mut Report)>(
    benchmark: &str,
    material: String,
    options: &Options,
    groups: impl IntoIterator<Item = (&'static str, M)>,
) -> ExitCode {
    let mut report = Report {
        benchmark: benchmark.to_owned(),
        material,
        machine: machine(),
        rounds: options.rounds,
        checked: 0,
        rows: Vec::new(),
        growth: Vec::new(),
    };
    for (name, measure) in groups {
        if options.wants(name) {
            eprintln!("{benchmark}: {name}");
            measure(&mut report);
        }
    }
    if !options.json {
        print!("{}", report.tables());
        return ExitCode::SUCCESS;
    }
    match serde_json::to_string_pretty(&report) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
