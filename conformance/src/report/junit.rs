use std::time::Duration;

use super::{CaseReport, NotRun, Outcome, Report};

/// The reports as JUnit XML: one suite for each store, one case for each case; a case that did not
/// find what was expected is a failure. A store that was not run is one skipped case, and one that could
/// not begin, or was interrupted, is an error.
pub fn junit(outcomes: &[Outcome]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for outcome in outcomes {
        xml += &match outcome {
            Outcome::Ran(report) => of_report(report),
            Outcome::NotRun(not) => of_none(not),
        };
    }
    xml + "</testsuites>\n"
}

fn of_none(not: &NotRun) -> String {
    let (store, why) = (escaped(&not.store), escaped(&not.not_run));
    let (element, errors) = if not.failed {
        ("error", 1)
    } else {
        ("skipped", 0)
    };
    format!(
        "  <testsuite name=\"{store}\" tests=\"1\" failures=\"0\" errors=\"{errors}\" skipped=\"{}\">\n    \
         <testcase classname=\"{store}\" name=\"{store}\" time=\"0.000\">\n      \
         <{element} message=\"{why}\"/>\n    </testcase>\n  </testsuite>\n",
        1 - errors
    )
}

fn of_report(report: &Report) -> String {
    let failures = report.unexpected().count();
    let skipped = report.cases.iter().filter(|case| is_skipped(case));
    let (interrupted, store) = (usize::from(report.interrupted), escaped(&report.store));
    let mut xml = format!(
        "  <testsuite name=\"{store}\" tests=\"{}\" failures=\"{failures}\" errors=\"{interrupted}\" \
         skipped=\"{}\" timestamp=\"{}\">\n",
        report.cases.len() + interrupted,
        skipped.count(),
        escaped(&report.date),
    );
    if report.interrupted {
        let (done, selected) = (report.cases.len(), report.selected);
        xml += &format!(
            "    <testcase classname=\"{store}\" name=\"{store}\" time=\"0.000\">\n      <error \
             message=\"interrupted after {done} of {selected} cases\"/>\n    </testcase>\n"
        );
    }
    for case in &report.cases {
        let seconds = Duration::from_millis(case.millis).as_secs_f64();
        let (group, id) = (escaped(&case.group), escaped(&case.id));
        xml += &format!("    <testcase classname=\"{group}\" name=\"{id}\" time=\"{seconds:.3}\"");
        let message = escaped(&case.message);
        if is_skipped(case) {
            xml += &format!(">\n      <skipped message=\"{message}\"/>\n    </testcase>\n");
        } else if case.as_expected() {
            xml += "/>\n";
        } else {
            let (found, expected) = (case.verdict, case.expected);
            let mut told = format!("{}\nexpected: {expected}\nfound: {found}", case.rule);
            let causes = case.causes.iter();
            causes.for_each(|cause| told += &format!("\ncaused by: {cause}"));
            xml += &format!(
                ">\n      <failure type=\"{found}\" message=\"{message}\">{}</failure>\n    </testcase>\n",
                told.lines().map(escaped).collect::<Vec<_>>().join("\n")
            );
        }
    }
    xml + "  </testsuite>\n"
}

fn is_skipped(case: &CaseReport) -> bool {
    !case.ran() && case.as_expected()
}

/// Text for XML and HTML, in attributes and between tags. Control characters, which XML cannot hold
/// at all, become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut out, c| {
            match c {
                '&' => out += "&amp;",
                '<' => out += "&lt;",
                '>' => out += "&gt;",
                '"' => out += "&quot;",
                '\'' => out += "&#39;",
                '\n' | '\t' => out += " ",
                // Nor can it hold these two.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
                c => out.push(c),
            }
            out
        })
}
