use super::junit::escaped;
use shelfward_conformance::report::{Outcome, Report};

/// The reports as one page that needs no network: a matrix of stores and groups, and under it the
/// cases of each store. A store that was not run is a row that says why.
pub(super) fn html(outcomes: &[Outcome]) -> String {
    let reports = || outcomes.iter().filter_map(Outcome::ran);
    let mut groups: Vec<&str> = reports().flat_map(Report::groups).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut page = String::from(HEAD);
    page += "<table><tr><th>store</th>";
    groups
        .iter()
        .for_each(|group| page += &format!("<th>{}</th>", escaped(group)));
    page += "</tr>\n";
    for outcome in outcomes {
        page += &format!("<tr><th>{}</th>", escaped(outcome.store()));
        let report = match outcome {
            Outcome::Ran(report) => report,
            Outcome::NotRun(not) => {
                let (across, why) = (groups.len().max(1), escaped(&not.not_run));
                page +=
                    &format!("<td class=\"none\" colspan=\"{across}\">not run: {why}</td></tr>\n");
                continue;
            }
        };
        for group in &groups {
            let cases = || {
                let of_group = report.cases.iter().filter(|case| case.group == *group);
                of_group.filter(|case| case.ran() || !case.as_expected())
            };
            let (all, odd) = (
                cases().count(),
                cases().filter(|case| !case.as_expected()).count(),
            );
            let gaps = cases().filter(|case| case.known_gap.is_some()).count();
            let class = if odd > 0 {
                "bad"
            } else if gaps > 0 {
                "gap"
            } else {
                "good"
            };
            let anchor = format!("{}-{group}", report.store);
            page += &format!(
                "<td class=\"{class}\"><a href=\"#{}\">{}/{all}</a></td>",
                escaped(&anchor),
                all - odd
            );
        }
        page += "</tr>\n";
    }
    page += "</table>\n";
    for report in reports() {
        for group in report.groups() {
            let anchor = escaped(&format!("{}-{group}", report.store));
            page += &format!("<details id=\"{anchor}\"><summary>{anchor}</summary><ul>\n");
            for case in report.cases.iter().filter(|case| case.group == group) {
                let class = match (case.as_expected(), case.ran()) {
                    (false, _) => "bad",
                    (true, true) => "good",
                    (true, false) => "none",
                };
                page += &format!(
                    "<li class=\"{class}\"><code>{}</code> {} {}</li>\n",
                    escaped(&case.id),
                    case.verdict,
                    escaped(case.known_gap.as_deref().unwrap_or(&case.message)),
                );
            }
            page += "</ul></details>\n";
        }
    }
    page + SCRIPT
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n\
<title>Conformance</title>\n<style>\
body{font:14px system-ui;margin:2rem}td,th{padding:.3rem .6rem;text-align:left}\
.good{color:#176b2c}.gap{color:#8a5a00}.bad{color:#a01414;font-weight:bold}.none{color:#666}</style>\n<h1>Conformance</h1>\n";

// A cell opens the cases behind it.
const SCRIPT: &str = "<script>addEventListener('hashchange',()=>{\
const d=document.getElementById(location.hash.slice(1));if(d)d.open=true})</script>\n</html>\n";
