use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::junit::escaped;
use super::{CaseReport, Group, NotRun, Outcome, Report, group, legend};
use crate::verdict::Verdict;

/// The reports as one page that needs no network: the stores, what they do wrong and what that means,
/// a table of groups and stores, the cases of each group, what the stores declare, and what the
/// verdicts mean.
pub fn html(outcomes: &[Outcome]) -> String {
    let page = Page::new(outcomes);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>Conformance report</title>\n\
         <style>{}</style></head>\n<body>\n<h1>Conformance report</h1>\n",
        include_str!("page.css")
    );
    html += &page.stores();
    html += &page.failures();
    html += &page.form();
    html += &page.matrix();
    html += &page.groups();
    html += &page.abilities();
    html += &verdicts();
    html += &format!(
        "<script>{}</script>\n</body></html>\n",
        include_str!("page.js")
    );
    html
}

struct Page<'a> {
    outcomes: &'a [Outcome],
    /// The reports by store, as far as there are some.
    reports: Vec<&'a Report>,
    /// What every group holds, by case, a case for each report.
    groups: BTreeMap<&'a str, BTreeMap<&'a str, Vec<Option<&'a CaseReport>>>>,
}

/// How good what a case found is: the class of its mark.
fn class(case: &CaseReport) -> &'static str {
    match (case.as_expected(), case.ran()) {
        (false, _) => "bad",
        (true, false) => "none",
        (true, true) if case.known_gap.is_some() => "gap",
        (true, true) => "good",
    }
}

/// Text with `code` in it.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    });
    parts.collect()
}

fn mark(class: &str, text: impl std::fmt::Display) -> String {
    format!("<span class=\"mark {class}\">{text}</span>")
}

impl<'a> Page<'a> {
    fn new(outcomes: &'a [Outcome]) -> Self {
        let reports: Vec<&Report> = outcomes.iter().filter_map(Outcome::ran).collect();
        let mut groups: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
        for (at, report) in reports.iter().enumerate() {
            for case in &report.cases {
                let cases = groups.entry(case.group.as_str()).or_default();
                let found = cases.entry(case.id.as_str());
                let found = found.or_insert_with(|| vec![None; reports.len()]);
                if let Some(place) = found.get_mut(at) {
                    *place = Some(case);
                }
            }
        }
        Self {
            outcomes,
            reports,
            groups,
        }
    }

    fn told_of(&self, name: &str) -> Option<&'a Group> {
        let mut reports = self.reports.iter();
        let told = reports.find_map(|report| report.groups.get(name));
        told.or_else(|| group(name))
    }

    fn title(&self, name: &str) -> String {
        self.told_of(name)
            .map_or_else(String::new, |told| escaped(&told.title))
    }

    fn stores(&self) -> String {
        let stores = self.outcomes.iter().map(|outcome| match outcome {
            Outcome::Ran(report) => store(report),
            Outcome::NotRun(not) => not_run(not),
        });
        format!(
            "<div class=\"stores\">\n{}</div>\n",
            stores.collect::<String>()
        )
    }

    fn failures(&self) -> String {
        let mut html = String::from("<h2 id=\"failures\">What is wrong</h2>\n");
        let mut any = false;
        for outcome in self.outcomes {
            if let Some(not) = outcome.not_run().filter(|not| not.failed) {
                any = true;
                let (store, why) = (escaped(&not.store), escaped(&not.not_run));
                let _ = writeln!(
                    html,
                    "<article class=\"failure\"><h3>{store} could not begin</h3><p>{why}</p><p>Nothing was \
                     asked of it. Check the address, the credentials and the server, and run again.</p></article>"
                );
            }
        }
        for report in &self.reports {
            let mut groups: BTreeMap<&str, Vec<&CaseReport>> = BTreeMap::new();
            for case in report.unexpected() {
                groups.entry(&case.group).or_default().push(case);
            }
            any |= !groups.is_empty();
            let mut groups: Vec<_> = groups.into_iter().collect();
            // The worst first.
            groups.sort_by_key(|(name, cases)| {
                (cases.iter().map(|c| severity(c.verdict)).min(), *name)
            });
            for (name, cases) in groups {
                html += &self.failures_of(report, name, &cases);
            }
        }
        if !any && self.reports.is_empty() {
            html += "<p class=\"none\">No store was run, so nothing is known.</p>\n";
        } else if !any {
            html += "<p class=\"good\">Nothing: every case that ran found what was expected.</p>\n";
        }
        html
    }

    /// What is wrong with a store in one group, what that means, and what can be done.
    fn failures_of(&self, report: &Report, name: &str, cases: &[&CaseReport]) -> String {
        let (store, anchor) = (escaped(&report.store), escaped(name));
        let verdicts: BTreeSet<Verdict> = cases.iter().map(|case| case.verdict).collect();
        let words = verdicts.iter().map(|verdict| key(*verdict));
        let words: Vec<&str> = ["bad"].into_iter().chain(words).collect();
        let mut html = format!(
            "<article class=\"failure\" id=\"{store}-{anchor}\" data-group=\"{anchor}\" data-verdicts=\"{}\">\n\
             <h3>{store}: <a href=\"#group-{anchor}\">{}</a> {}</h3>\n",
            words.join(" "),
            self.title(name),
            mark("bad", format!("{} not as expected", cases.len())),
        );
        if let Some(told) = self.told_of(name) {
            let _ = writeln!(
                html,
                "<p><b>For readers:</b> {}</p>\n<p><b>What you can do:</b> {}</p>",
                prose(&told.means),
                prose(&told.remedy),
            );
        }
        for verdict in verdicts {
            let (mark, action) = (mark("bad", verdict), prose(verdict.action()));
            let _ = writeln!(html, "<p>{mark} {} {action}</p>", prose(verdict.meaning()));
        }
        let open = if cases.len() <= SHOWN { " open" } else { "" };
        let _ = writeln!(
            html,
            "<details{open}><summary>{}</summary>",
            plural(cases.len())
        );
        let mut cases = cases.to_vec();
        cases.sort_by_key(|case| (severity(case.verdict), &case.id));
        cases.iter().for_each(|case| html += &failure(&store, case));
        html + "</details></article>\n"
    }

    fn form(&self) -> String {
        let groups = self.groups.keys().map(|name| {
            let title = self.title(name);
            format!(
                "<option value=\"{0}\">{0} – {title}</option>",
                escaped(name)
            )
        });
        let verdicts = legend().into_iter().map(|legend| legend.verdict);
        let verdicts = verdicts.map(|v| format!("<option value=\"{}\">{v}</option>", key(v)));
        format!(
            "<h2 id=\"cases\">Cases</h2>\n<form hidden><label>Group<select name=\"group\"><option value=\"\">all \
             groups</option>{}</select></label><label>Verdict<select name=\"verdict\"><option value=\"\">all \
             verdicts</option><option value=\"bad\">not as expected</option><option value=\"gap\">known gap</option>\
             {}</select></label><label>Text<input name=\"text\" type=\"search\"></label>\
             <button type=\"reset\">Show all</button></form>\n",
            groups.collect::<String>(),
            verdicts.collect::<String>()
        )
    }

    /// The header of a table with a column for each report.
    fn header(&self, first: &str) -> String {
        let stores = self.reports.iter();
        let stores = stores.map(|report| format!("<th>{}</th>", escaped(&report.store)));
        format!(
            "<div class=\"scroll\"><table><thead><tr><th>{first}</th>{}</tr></thead><tbody>\n",
            stores.collect::<String>()
        )
    }

    fn matrix(&self) -> String {
        if self.reports.is_empty() {
            return String::new();
        }
        let mut html = self.header("group");
        for (name, cases) in &self.groups {
            let (anchor, title) = (escaped(name), self.title(name));
            let _ = write!(
                html,
                "<tr data-group=\"{anchor}\"><th><a href=\"#group-{anchor}\">{anchor}</a> <small>{title}</small></th>"
            );
            for (at, report) in self.reports.iter().enumerate() {
                let store = &report.store;
                let found = cases.values().filter_map(|row| *row.get(at)?);
                html += &cell(store, &anchor, &found.collect::<Vec<_>>());
            }
            html += "</tr>\n";
        }
        html + "</tbody></table></div>\n"
    }

    fn groups(&self) -> String {
        let mut html = String::new();
        for (name, cases) in &self.groups {
            let anchor = escaped(name);
            let bad = cases.values().flatten().flatten();
            let bad = bad.filter(|case| !case.as_expected()).count();
            let state = match bad {
                0 => String::new(),
                bad => mark("bad", format!("{bad} not as expected")),
            };
            let _ = writeln!(
                html,
                "<details class=\"group\" id=\"group-{anchor}\" data-group=\"{anchor}\"><summary><h3>{}</h3> \
                 <small>{anchor}, {}</small>{state}</summary>",
                self.title(name),
                plural(cases.len())
            );
            if let Some(told) = self.told_of(name) {
                let _ = writeln!(
                    html,
                    "<p>{}</p>\n<p><b>A failure means:</b> {}</p>\n<p><b>What you can do:</b> {}</p>",
                    prose(&told.asks),
                    prose(&told.means),
                    prose(&told.remedy)
                );
            }
            html += &self.header("case");
            let mut rows: Vec<_> = cases.iter().collect();
            // Those of which something is wrong first.
            rows.sort_by_key(|(id, found)| (found.iter().flatten().all(|c| c.as_expected()), *id));
            for (id, found) in rows {
                html += &self.case(name, id, found);
            }
            html += "</tbody></table></div></details>\n";
        }
        html + "<p id=\"none\" hidden>No case is left by these filters.</p>\n"
    }

    /// One row: what a case asks, and what each store answered.
    fn case(&self, group: &str, id: &str, found: &[Option<&CaseReport>]) -> String {
        let cases = || found.iter().flatten();
        let words: BTreeSet<&str> = cases().flat_map(|c| [class(c), key(c.verdict)]).collect();
        let words: Vec<&str> = words.into_iter().collect();
        let rule = cases().find(|case| !case.rule.is_empty());
        let mut html = format!(
            "<tr id=\"{id}\" data-group=\"{}\" data-verdicts=\"{}\"><th><code>{id}</code><br><small>{}</small></th>",
            escaped(group),
            words.join(" "),
            rule.map_or(String::new(), |case| prose(&case.rule)),
            id = escaped(id),
        );
        for (case, report) in found.iter().zip(&self.reports) {
            let Some(case) = case else {
                html += "<td class=\"none\">–</td>";
                continue;
            };
            let (class, verdict) = (class(case), case.verdict);
            let shown = match (class, &case.known_gap) {
                ("bad", _) => {
                    let anchor = escaped(&format!("{}:{}", report.store, case.id));
                    format!("<a href=\"#{anchor}\">{verdict}</a>")
                }
                ("gap", Some(why)) => {
                    format!("{verdict} <small>known gap: {}</small>", escaped(why))
                }
                ("none", _) => format!("{verdict} <small>{}</small>", escaped(&case.message)),
                _ => verdict.to_string(),
            };
            let _ = write!(
                html,
                "<td class=\"{class}\" title=\"{} ms\">{shown}</td>",
                case.millis
            );
        }
        html + "</tr>\n"
    }

    fn abilities(&self) -> String {
        let Some(first) = self.reports.first() else {
            return String::new();
        };
        let mut html = String::from("<h2 id=\"capabilities\">What each store declares</h2>\n");
        html += &self.header("capability");
        for (at, ability) in first.abilities.iter().enumerate() {
            let _ = write!(html, "<tr><th>{}</th>", escaped(&ability.name));
            for report in &self.reports {
                let value = report.abilities.get(at);
                let value = value.map_or(String::new(), |ability| prose(&ability.value));
                let _ = write!(html, "<td>{value}</td>");
            }
            html += "</tr>\n";
        }
        html + "</tbody></table></div>\n"
    }
}

/// So many failures of a group are shown at once.
const SHOWN: usize = 5;

fn plural(cases: usize) -> String {
    format!("{cases} {}", if cases == 1 { "case" } else { "cases" })
}

/// How bad a verdict is, where it was not expected; 0 is the worst.
fn severity(verdict: Verdict) -> usize {
    let mut legend = legend().into_iter();
    legend
        .position(|legend| legend.verdict == verdict)
        .unwrap_or(usize::MAX)
}

/// One case that did not find what was expected.
fn failure(store: &str, case: &CaseReport) -> String {
    let id = escaped(&case.id);
    let mut html = format!(
        "<section class=\"found\" id=\"{store}:{id}\" data-group=\"{}\" data-verdicts=\"bad {}\"><h4><a \
         href=\"#{id}\"><code>{id}</code></a></h4><p>{}</p>\n<p>Expected {}, found {}</p>\n",
        escaped(&case.group),
        key(case.verdict),
        prose(&case.rule),
        mark("none", case.expected),
        mark("bad", case.verdict),
    );
    if !case.message.is_empty() {
        let _ = writeln!(html, "<p><code>{}</code></p>", escaped(&case.message));
    }
    for cause in &case.causes {
        let _ = writeln!(html, "<p>caused by <code>{}</code></p>", escaped(cause));
    }
    if let Some(gap) = &case.known_gap {
        let _ = writeln!(
            html,
            "<p>It is listed as a known gap, which closed or changed: {}</p>",
            escaped(gap)
        );
    }
    html + "</section>\n"
}

/// How many cases of a group a store did as expected, of those that ran.
fn cell(store: &str, group: &str, found: &[&CaseReport]) -> String {
    let asked = || {
        found
            .iter()
            .filter(|case| case.ran() || !case.as_expected())
    };
    let (all, good) = (asked().count(), asked().filter(|c| c.as_expected()).count());
    let left = found.len() - all;
    let class = match (all - good, all) {
        (1.., _) => "bad",
        (0, 0) => "none",
        _ if asked().any(|case| case.known_gap.is_some()) => "gap",
        _ => "good",
    };
    let left = match left {
        0 => String::new(),
        left => format!(" <small>{left} not run</small>"),
    };
    let anchor = match class {
        "bad" => format!("{}-{group}", escaped(store)),
        _ => format!("group-{group}"),
    };
    format!("<td class=\"{class} number\"><a href=\"#{anchor}\">{good}/{all}</a>{left}</td>")
}

fn store(report: &Report) -> String {
    let (bad, ran) = (
        report.unexpected().count(),
        report.cases.iter().filter(|c| c.ran()).count(),
    );
    let gaps = report
        .cases
        .iter()
        .filter(|case| class(case) == "gap")
        .count();
    let good = report
        .cases
        .iter()
        .filter(|case| case.ran() && case.as_expected())
        .count();
    let class = match (bad, gaps) {
        (0, 0) if !report.interrupted => "good",
        (0, _) => "gap",
        _ => "bad",
    };
    let mut html = format!(
        "<section class=\"store {class}\"><h3>{}</h3><p>{} {good} as expected of {ran} that ran, {} not run",
        escaped(&report.store),
        mark(
            class,
            match bad {
                0 => "as expected".to_owned(),
                bad => format!("{bad} not as expected"),
            }
        ),
        report.cases.len() - ran,
    );
    if gaps > 0 {
        let _ = write!(html, ", {gaps} known gaps");
    }
    html += "</p>\n";
    if report.interrupted {
        let _ = writeln!(
            html,
            "<p class=\"bad\">Interrupted: {} of {} cases were run.</p>",
            report.cases.len(),
            report.selected
        );
    }
    if !report.left_behind.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"bad\">Left on the store: {}</p>",
            escaped(&report.left_behind.join(", "))
        );
    }
    let totals = report.totals.iter();
    let totals: Vec<String> = totals
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    let versions = report.versions.iter();
    let versions =
        versions.map(|(name, version)| format!("{} {}", escaped(name), escaped(version)));
    let versions: Vec<String> = versions.collect();
    let _ = writeln!(
        html,
        "<p class=\"soft\">{}<br>{}suite {}<br>{}, seed {}</p></section>",
        totals.join(", "),
        versions
            .iter()
            .fold(String::new(), |all, version| all + version + ", "),
        escaped(&report.suite),
        escaped(&report.date),
        report.seed
    );
    html
}

fn not_run(not: &NotRun) -> String {
    let (class, what) = match not.failed {
        true => ("bad", "could not begin"),
        false => ("none", "not run"),
    };
    format!(
        "<section class=\"store {class}\"><h3>{}</h3><p>{} {}</p></section>\n",
        escaped(&not.store),
        mark(class, what),
        escaped(&not.not_run)
    )
}

fn verdicts() -> String {
    let mut html = String::from(
        "<h2 id=\"verdicts\">What the verdicts mean</h2>\n<p>A verdict is a failure where another one was expected: \
         <b>honours</b>, or <b>refuses</b> where the capabilities exclude the thing, or the verdict of a known \
         gap.</p>\n<div class=\"scroll\"><table><thead><tr><th>verdict</th><th>the store</th><th>where it was not \
         expected</th></tr></thead><tbody>\n",
    );
    for legend in legend() {
        let _ = writeln!(
            html,
            "<tr><th>{}</th><td>{}</td><td>{}</td></tr>",
            legend.verdict,
            prose(&legend.meaning),
            prose(&legend.action)
        );
    }
    html + "</tbody></table></div>\n"
}

/// A verdict as one word for a filter.
fn key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotRun => "notRun",
        other => other.name(),
    }
}
