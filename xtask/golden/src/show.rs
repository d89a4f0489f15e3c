use std::collections::BTreeMap;

use comfy_table::{Table, presets};
use serde_json::json;

use crate::deviations::RULES;
use crate::file::Ran;

pub(crate) fn table(files: &[Ran]) {
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
    let row = |name: &str, of: [usize; 5]| {
        [name.to_owned()]
            .into_iter()
            .chain(of.map(|n| n.to_string()))
            .collect::<Vec<_>>()
    };
    let mut total = [0; 5];
    for ran in files {
        let counts = counts(ran);
        total.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        table.add_row(row(&ran.file, counts));
    }
    table.add_row(row("all", total));
    println!("{table}");
    for ran in files {
        for (case, difference) in &ran.failed {
            let shown: String = difference.chars().take(600).collect();
            println!("{} {case}: {shown}", ran.file);
        }
    }
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, rule) in files.iter().flat_map(|ran| &ran.deviating) {
        *by_rule.entry(rule).or_default() += 1;
    }
    by_rule
        .iter()
        .for_each(|(rule, n)| println!("{n} deviate by: {rule}"));
}

fn counts(ran: &Ran) -> [usize; 5] {
    [
        ran.passed,
        ran.failed.len(),
        ran.deviating.len(),
        ran.described,
        ran.not_known,
    ]
}

pub(crate) fn json(files: &[Ran]) {
    let files: Vec<_> = files
        .iter()
        .map(|ran| {
            let [passed, failed, deviating, described, not_known] = counts(ran);
            json!({
                "file": ran.file, "function": ran.function, "passed": passed, "failed": failed,
                "deviating": deviating, "described": described, "notKnown": not_known,
                "failures": ran.failed.iter().map(|(name, why)| json!({ "case": name, "difference": why })).collect::<Vec<_>>(),
                "deviations": ran.deviating.iter().map(|(name, rule)| json!({ "case": name, "rule": rule })).collect::<Vec<_>>(),
            })
        })
        .collect();
    println!("{}", json!({ "files": files }));
}

pub(crate) fn rules() {
    for rule in RULES {
        println!("{} ({}): {}", rule.name, rule.function, rule.why);
    }
}
