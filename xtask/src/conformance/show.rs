use std::collections::BTreeMap;
use std::io::Write as _;

use comfy_table::{Table, presets};
use shelfward_conformance::Verdict;
use shelfward_conformance::report::{Outcome, Report};

/// Prints a line. Whoever reads may be gone, and the reports are written all the same.
macro_rules! say {
    ($($text:tt)*) => {
        drop(writeln!(std::io::stdout(), $($text)*))
    };
}

/// Prints what became of one store: the cases as expected, and every case that is not; where it is
/// asked for, by group.
pub(super) fn store(outcome: &Outcome, by_group: bool) {
    match outcome {
        Outcome::Ran(report) => {
            if by_group {
                matrix(&[report]);
            }
            of_report(report);
        }
        Outcome::NotRun(not) => say!("{not}"),
    }
}

/// Prints the cases as expected by group and store.
pub(super) fn table(outcomes: &[Outcome]) {
    let reports: Vec<&Report> = outcomes.iter().filter_map(Outcome::ran).collect();
    if !reports.is_empty() {
        matrix(&reports);
    }
}

fn matrix(reports: &[&Report]) {
    let mut groups: Vec<&str> = reports.iter().flat_map(|report| report.groups()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let stores = reports.iter().map(|report| report.store.as_str());
    table.set_header(["group"].into_iter().chain(stores));
    for group in groups {
        let cells = reports.iter().map(|report| {
            let of_group = report.cases.iter().filter(|case| case.group == group);
            // What was not run is neither.
            let ran: Vec<_> = of_group
                .filter(|case| case.verdict != Verdict::NotRun)
                .collect();
            let good = ran.iter().filter(|case| case.as_expected()).count();
            format!("{good}/{}", ran.len())
        });
        table.add_row([group.to_owned()].into_iter().chain(cells));
    }
    say!("{table}");
}

fn of_report(report: &Report) {
    let (mut good, mut gaps) = (0, 0);
    let mut not_run: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &report.cases {
        gaps += usize::from(case.known_gap.is_some());
        if case.verdict == Verdict::NotRun {
            *not_run.entry(&case.message).or_default() += 1;
        } else {
            good += usize::from(case.as_expected());
        }
    }
    let bad = report.unexpected().count();
    let left: usize = not_run.values().sum();
    if report.interrupted {
        let (store, done, of) = (&report.store, report.cases.len(), report.selected);
        say!("{store}: interrupted after {done} of {of} cases");
    }
    say!(
        "{}: {good} as expected ({gaps} known gaps), {bad} not, {left} not run, seed {}",
        report.store,
        report.seed
    );
    for (why, cases) in not_run {
        say!("  {cases} not run: {why}");
    }
    for case in report.unexpected() {
        say!(
            "  {} {}, expected {}: {}",
            case.id,
            case.verdict,
            case.expected,
            case.message
        );
        say!("    rule: {}", case.rule);
        let causes = case.causes.iter();
        causes.for_each(|cause| say!("    caused by: {cause}"));
    }
    for name in report.left_behind.iter().take(NAMED) {
        say!("  left behind: {name}");
    }
    if let Some(more @ 1..) = report.left_behind.len().checked_sub(NAMED) {
        let store = &report.store;
        say!("  left behind: {more} more; --sweep --store {store} removes them");
    }
}

/// So many of the things that were left behind are named; the report holds all.
const NAMED: usize = 5;
