//! Lexical search beside its peers, in one process and on one thread.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod ours;
mod peers;
mod rows;

use std::process::ExitCode;

use shelfward_bench::benchmark::measured;
use shelfward_bench::material::paragraphs;
use shelfward_bench::options::Options;
use shelfward_bench::report::Report;

/// How many documents an answer holds.
const TOP_K: usize = 10;

/// What is measured, in the order of the table.
const GROUPS: [(&str, fn(&rows::Run<'_>, &mut Report)); 11] = [
    ("any", rows::search::any),
    ("all", rows::search::all),
    ("prefix", rows::search::prefix),
    ("build", rows::build::build),
    ("replace", rows::build::replace),
    ("bytes", rows::build::bytes),
    ("saved", rows::saved::saved),
    ("sqlite", rows::sqlite::sqlite),
    ("fuzzy", rows::fuzzy::fuzzy),
    ("snippets", rows::snippets::snippets),
    ("growth", rows::growth::growth),
];

fn main() -> ExitCode {
    let options = &Options::read(&GROUPS.map(|(name, _)| name));
    let (paragraphs, material) = paragraphs().unwrap();
    let material = format!("documents made from {material}");
    let run = &rows::Run::new(options, &paragraphs);
    let groups = GROUPS.map(|(name, rows)| (name, move |report: &mut _| rows(run, report)));
    measured("lexical", material, options, groups)
}
