use shelfward_conformance::report::{NotRun, Outcome, Report};

/// The reports as JUnit XML: one suite for each store, one case for each case; a case that did not
/// find what was expected is a failure. A store that was not run is one skipped case.
pub(super) fn junit(outcomes: &[Outcome]) -> String {
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
    format!(
        "  <testsuite name=\"{store}\" tests=\"1\" failures=\"0\" skipped=\"1\">\n    \
         <testcase classname=\"{store}\" name=\"{store}\" time=\"0.000\">\n      \
         <skipped message=\"{why}\"/>\n    </testcase>\n  </testsuite>\n"
    )
}

fn of_report(report: &Report) -> String {
    let failures = report.unexpected().count();
    let skipped = report
        .cases
        .iter()
        .filter(|case| !case.ran() && case.as_expected());
    let mut xml = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{}\">\n",
        escaped(&report.store),
        report.cases.len(),
        skipped.count(),
    );
    for case in &report.cases {
        let seconds = std::time::Duration::from_millis(case.millis).as_secs_f64();
        let (group, id) = (escaped(&case.group), escaped(&case.id));
        xml += &format!("    <testcase classname=\"{group}\" name=\"{id}\" time=\"{seconds:.3}\"");
        if !case.ran() && case.as_expected() {
            let message = escaped(&case.message);
            xml += &format!(">\n      <skipped message=\"{message}\"/>\n    </testcase>\n");
        } else if case.as_expected() {
            xml += "/>\n";
        } else {
            let message = escaped(&case.message);
            xml += &format!(
                ">\n      <failure type=\"{}\" message=\"{message}\"/>\n    </testcase>\n",
                case.verdict
            );
        }
    }
    xml + "  </testsuite>\n"
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
                c if c.is_control() => out.push('\u{fffd}'),
                c => out.push(c),
            }
            out
        })
}
