//! Printing, for people and for programs.

use comfy_table::{Table, presets};
use serde_json::json;

use crate::functions::FUNCTIONS;
use crate::rule::Ours;
use crate::run::{Counts, FileResult, deviations as deviations_of};

/// Prints a line for each file, every failure, and the rules that were used.
pub(crate) fn table(results: &[FileResult], total: Counts) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "file",
        "passed",
        "failed",
        "deviating",
        "described",
        "not known",
    ]);
    let rows = results
        .iter()
        .map(|result| (result.file.as_str(), result.counts));
    for (name, counts) in rows.chain([("all", total)]) {
        let numbers = [
            counts.passed,
            counts.failed,
            counts.deviating,
            counts.described,
            counts.not_known,
        ];
        let shown = |number: usize| {
            if number == 0 {
                "-".to_owned()
            } else {
                number.to_string()
            }
        };
        table.add_row([name.to_owned()].into_iter().chain(numbers.map(shown)));
    }
    println!("{table}");
    for result in results {
        for (rule, cases) in &result.deviations {
            println!("{}: {} deviate by {rule}", result.file, cases.len());
        }
    }
    for result in results {
        for failure in &result.failures {
            println!("{}: {}: {}", result.file, failure.case, failure.what);
        }
    }
    println!(
        "golden: {} passed, {} failed, {} deviating by rule, {} described, {} not known",
        total.passed, total.failed, total.deviating, total.described, total.not_known
    );
}

/// Prints the same as JSON.
pub(crate) fn as_json(results: &[FileResult], total: Counts) {
    println!(
        "{}",
        json!({ "schema": 1, "files": results, "total": total })
    );
}

/// Prints every rule by which cases may deviate.
pub(crate) fn deviations(as_json: bool) {
    let rules: Vec<_> = FUNCTIONS
        .iter()
        .flat_map(|function| deviations_of(function).map(|rule| (function.name, rule)))
        .collect();
    if as_json {
        let rules: Vec<_> = rules
            .iter()
            .map(|(function, rule)| {
                json!({ "function": function, "rule": rule.name, "why": rule.why, "ours": ours(rule.ours) })
            })
            .collect();
        println!("{}", json!({ "schema": 1, "deviations": rules }));
        return;
    }
    for (function, rule) in rules {
        println!(
            "{function}: {} ({}): {}",
            rule.name,
            ours(rule.ours),
            rule.why
        );
    }
}

fn ours(ours: Ours) -> &'static str {
    match ours {
        Ours::Refuses => "ours refuses",
        Ours::Answers => "ours answers otherwise",
        Ours::Either => "ours refuses or answers otherwise",
    }
}
