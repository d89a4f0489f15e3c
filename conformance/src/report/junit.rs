use super::Report;

/// The reports as JUnit XML: one suite for each store, one case for each case; a case that did not
/// find what was expected is a failure.
pub fn junit(reports: &[Report]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports {
        let failures = report.unexpected().count();
        let skipped = report
            .cases
            .iter()
            .filter(|case| !case.ran() && case.as_expected());
        xml += &format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{}\">\n",
            escaped(&report.store),
            report.cases.len(),
            skipped.count(),
        );
        for case in &report.cases {
            let seconds = std::time::Duration::from_millis(case.millis).as_secs_f64();
            let (group, id) = (escaped(&case.group), escaped(&case.id));
            xml +=
                &format!("    <testcase classname=\"{group}\" name=\"{id}\" time=\"{seconds:.3}\"");
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
        xml += "  </testsuite>\n";
    }
    xml + "</testsuites>\n"
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
