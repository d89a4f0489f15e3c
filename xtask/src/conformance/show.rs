use comfy_table::{Table, presets};
use shelfward_conformance::report::Report;

/// Prints the cases as expected by store and group, and every case that is not.
pub(super) fn table(reports: &[Report]) {
    let mut groups: Vec<&str> = reports.iter().flat_map(Report::groups).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let stores = reports.iter().map(|report| report.store.as_str());
    table.set_header(["group"].into_iter().chain(stores));
    for group in groups {
        let cells = reports.iter().map(|report| {
            let cases: Vec<_> = report
                .cases
                .iter()
                .filter(|case| case.group == group)
                .collect();
            let good = cases.iter().filter(|case| case.as_expected()).count();
            format!("{good}/{}", cases.len())
        });
        table.add_row([group.to_owned()].into_iter().chain(cells));
    }
    println!("{table}");
    for report in reports {
        let (mut good, mut gaps) = (0, 0);
        for case in &report.cases {
            good += usize::from(case.as_expected());
            gaps += usize::from(case.known_gap.is_some());
        }
        let bad = report.cases.len() - good;
        println!(
            "{}: {good} as expected ({gaps} known gaps), {bad} not, seed {}",
            report.store, report.seed
        );
        for case in report.unexpected() {
            println!(
                "  {} {}, expected {}: {}",
                case.id, case.verdict, case.expected, case.message
            );
        }
        for name in &report.left_behind {
            println!("  {name} could not be dropped");
        }
    }
}
