//! Runs the adapters' own harnesses and merges their reports. Links no adapter.

mod adapters;
mod harness;
mod html;
mod junit;
mod markdown;
mod page;
mod show;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use shelfward_conformance::report::{NotRun, Outcome, Report};
use shelfward_conformance::{Selection, Suite};

pub(crate) use harness::REPORTS;

use crate::Ended;
use crate::run::root;

use adapters::chosen;
use html::html;
use junit::junit;
use page::Page;

/// Runs the conformance suite.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Only this store; may be repeated.
    #[arg(long = "store", value_name = "NAME")]
    stores: Vec<String>,
    /// Only this group of cases; may be repeated.
    #[arg(long = "group", value_name = "G")]
    groups: Vec<String>,
    /// Only cases whose id begins so, as `eq/text`.
    #[arg(long, value_name = "C")]
    case: Option<String>,
    /// The seed of the random cases.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Writes the reports to this file, as JSON; `-` prints them in the place of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a page for a browser to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Writes JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Writes docs/stores.json and docs/stores.md from what was found.
    #[arg(long)]
    update_docs: bool,
    /// Prints the ids of the cases and runs none; with --json, as a list.
    #[arg(long, conflicts_with_all = ["html", "junit", "update_docs"])]
    list: bool,
    /// Tests the suite itself, with stores that have one fault each: each on the cases that name it,
    /// or `full`.
    #[arg(long, value_name = "EXTENT", num_args = 0..=1, default_missing_value = "quick", exclusive = true)]
    self_test: Option<Extent>,
    /// Removes everything named `sfwt_…` that crashed runs left on the stores given by --store, of
    /// whatever run, and prints what it was.
    #[arg(
        long,
        requires = "stores",
        conflicts_with_all = ["list", "groups", "case", "seed", "json", "html", "junit", "update_docs"]
    )]
    sweep: bool,
}

/// What `--self-test` runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Extent {
    /// Each fault on the cases that name it.
    Quick,
    /// Beside that each of these cases on the whole store, and every case on weaker stores.
    Full,
}

pub(crate) fn run(options: &Options) -> Ended {
    match run_all(options) {
        Ok(ended) => ended,
        Err(why) => Ended::Unusable(why),
    }
}

fn run_all(options: &Options) -> Result<Ended, String> {
    if let Some(extent) = options.self_test {
        return harness::self_test(extent == Extent::Full);
    }
    let stores = chosen(&options.stores)?;
    if options.sweep {
        let mut clean = true;
        for store in &stores {
            clean &= harness::sweep(store)?;
        }
        return Ok(if clean { Ended::Well } else { Ended::Badly });
    }
    check_files(options)?;
    let ids = selected(options)?;
    if options.list {
        match options.json {
            Some(_) => write_json(options, &ids)?,
            // Whoever reads may have seen enough.
            None => drop(writeln!(std::io::stdout(), "{}", ids.join("\n"))),
        }
        return Ok(Ended::Well);
    }
    if options.update_docs
        && !(options.groups.is_empty() && options.case.is_none() && options.stores.is_empty())
    {
        return Err(
            "the page of stores is written from a whole run: leave out --store, --group and --case"
                .to_owned(),
        );
    }
    let (mut outcomes, mut failures) = (Vec::new(), Vec::new());
    for store in &stores {
        match harness::run(store, options) {
            Ok(outcome) => {
                if !prints_json(options) {
                    // The first table need not wait for the other stores.
                    show::store(&outcome, !outcomes.iter().any(ran));
                }
                outcomes.push(outcome);
            }
            // What the others showed is worth having, too.
            Err(why) => failures.push(why),
        }
    }
    if !prints_json(options) && outcomes.iter().filter(|outcome| ran(outcome)).count() > 1 {
        show::table(&outcomes);
    }
    write_files(options, &outcomes)?;
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    ended(&outcomes, !options.stores.is_empty())
}

fn ran(outcome: &Outcome) -> bool {
    outcome.ran().is_some()
}

/// The ids of the cases to run. Refuses a group that no case is of: beside others it would go unnoticed.
fn selected(options: &Options) -> Result<Vec<String>, String> {
    let cases = Suite::all_cases();
    let mut groups: Vec<&str> = cases.iter().map(|case| case.info().group()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut asked = options.groups.iter();
    if let Some(unknown) = asked.find(|group| !groups.contains(&group.as_str())) {
        return Err(format!(
            "no group {unknown:?}; there are {}",
            groups.join(", ")
        ));
    }
    let mut selection = Selection::default().groups(options.groups.iter().cloned());
    selection.case.clone_from(&options.case);
    let selected = cases.iter().filter(|case| selection.takes(case));
    let ids: Vec<String> = selected.map(|case| case.info().id.clone()).collect();
    if ids.is_empty() {
        let begins = options.case.as_deref().unwrap_or_default();
        return Err(format!(
            "no case begins with {begins:?} there; --list prints all"
        ));
    }
    Ok(ids)
}

/// Whether JSON takes the place of what is printed.
fn prints_json(options: &Options) -> bool {
    let file = options.json.as_deref();
    file.is_some_and(|file| file.as_os_str() == "-")
}

/// How a run of these outcomes ended.
fn ended(outcomes: &[Outcome], named: bool) -> Result<Ended, String> {
    let reports = || outcomes.iter().filter_map(Outcome::ran);
    if reports().any(|report| report.unexpected().next().is_some()) {
        return Ok(Ended::Badly);
    }
    if let Some(report) = reports().find(|report| !report.silent_groups().is_empty())
        && (named || reports().all(asked_nothing))
    {
        let silent = report.silent_groups().join(", ");
        return Err(format!("{}: no case was run of {silent}", report.store));
    }
    let not_run = outcomes.iter().find_map(Outcome::not_run);
    shows_enough(reports().count(), not_run, named).map(|()| Ended::Well)
}

/// Whether a store was run and no case of it.
fn asked_nothing(report: &Report) -> bool {
    report.silent_groups() == report.groups()
}

/// A run that asked no store anything shows nothing, nor does one that did not ask a store that was
/// named.
fn shows_enough(ran: usize, not_run: Option<&NotRun>, named: bool) -> Result<(), String> {
    match not_run {
        Some(not) if named || ran == 0 => Err(format!("{}: not run: {}", not.store, not.not_run)),
        _ => Ok(()),
    }
}

/// Refuses files that could not be written when the run has ended.
fn check_files(options: &Options) -> Result<(), String> {
    for file in [&options.html, &options.junit].into_iter().flatten() {
        if file.as_os_str() == "-" {
            return Err("only --json prints to -; name a file for a page or JUnit XML".to_owned());
        }
    }
    let json = options.json.as_ref().filter(|_| !prints_json(options));
    let files = [json, options.html.as_ref(), options.junit.as_ref()];
    for file in files.into_iter().flatten() {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if file.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(format!("{} cannot be a file to write", file.display()));
        }
    }
    Ok(())
}

fn write(file: &Path, text: String) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{} could not be written: {e}", file.display()))
}

/// Writes what is asked for as JSON to where it is asked for.
fn write_json(options: &Options, what: &impl serde::Serialize) -> Result<(), String> {
    let Some(file) = &options.json else {
        return Ok(());
    };
    let json = serde_json::to_string_pretty(what).map_err(|e| e.to_string())?;
    if prints_json(options) {
        println!("{json}");
        return Ok(());
    }
    write(file, json)
}

fn write_files(options: &Options, outcomes: &[Outcome]) -> Result<(), String> {
    write_json(options, &outcomes)?;
    if let Some(file) = &options.html {
        write(file, html(outcomes))?;
    }
    if let Some(file) = &options.junit {
        write(file, junit(outcomes))?;
    }
    if options.update_docs {
        let (json, markdown) = new_page(outcomes)?;
        write(&root().join(PAGE_JSON), json)?;
        write(&root().join(PAGE), markdown)?;
    }
    Ok(())
}

/// The page that `--update-docs` writes, and the data that it is made of.
const PAGE: &str = "docs/stores.md";
const PAGE_JSON: &str = "docs/stores.json";

/// Compares the page of stores with the reports in a folder.
pub(crate) fn check_page(reports: &Path) -> Result<(), String> {
    let outcomes = chosen(&[])?
        .iter()
        .map(|store| harness::reported(&store.name, reports))
        .collect::<Result<Vec<_>, _>>()?;
    outcomes
        .iter()
        .for_each(|outcome| show::store(outcome, false));
    show::table(&outcomes);
    let mut reports = outcomes.iter().filter_map(Outcome::ran);
    if let Some(case) = reports.find_map(|report| report.unexpected().next()) {
        let (id, verdict, message) = (&case.id, case.verdict, &case.message);
        return Err(format!("{id} found {verdict}: {message}"));
    }
    let (json, markdown) = new_page(&outcomes)?;
    for (file, expected) in [(PAGE_JSON, json), (PAGE, markdown)] {
        if std::fs::read_to_string(root().join(file)).unwrap_or_default() != expected {
            return Err(format!(
                "{file} is not what the suite finds; run `cargo xtask conformance --update-docs`"
            ));
        }
    }
    Ok(())
}

/// The page of stores after a run, as JSON and as Markdown. What it says of stores that were not run is
/// what it says already: nobody looked whether it is still so.
fn new_page(outcomes: &[Outcome]) -> Result<(String, String), String> {
    let (page, unseen) = Page::new(outcomes, &present_page()?);
    for store in unseen.kept {
        eprintln!("{PAGE}: {store} was not run; what was found before is kept");
    }
    for store in unseen.left_out {
        eprintln!("{PAGE}: says nothing of {store}, which was not run and never shown");
    }
    Ok((page.to_json()?, page.to_markdown()))
}

fn present_page() -> Result<Page, String> {
    match std::fs::read_to_string(root().join(PAGE_JSON)) {
        Ok(json) => serde_json::from_str(&json).map_err(|e| {
            format!("{PAGE_JSON} cannot be read, so remove it and run every store: {e}")
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Page::empty()),
        Err(e) => Err(format!("{PAGE_JSON} cannot be read: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shelfward_conformance::Verdict;
    use shelfward_core::Capabilities;

    use super::*;

    fn case(id: &str, verdict: Verdict, gap: Option<&str>) -> serde_json::Value {
        let group = id.split('/').next();
        let expected = if gap.is_some() {
            verdict
        } else {
            Verdict::Honours
        };
        let message = "expected <a> & \"b\"";
        json!({ "id": id, "group": group, "verdict": verdict, "expected": expected,
            "message": message, "knownGap": gap, "millis": 3 })
    }

    pub(super) fn ran() -> Outcome {
        let gap = Some("the server | holds no empty text");
        let report = json!({
            "schema": 1, "store": "made-up", "versions": {}, "seed": 7, "totals": {},
            "capabilities": Capabilities::exact(), "leftBehind": [],
            "cases": [
                case("eq/text", Verdict::Honours, None),
                case("eq/case", Verdict::Widens, None),
                case("writes/empty-text", Verdict::Errors, gap),
            ],
        });
        serde_json::from_value(report).unwrap()
    }

    pub(super) fn not_run(store: &str) -> Outcome {
        Outcome::NotRun(NotRun::new(store, "THE_URL is not <set>"))
    }

    #[test]
    fn a_store_that_was_not_run_is_shown_with_its_reason() {
        let outcomes = [ran(), not_run("far")];
        for text in [html(&outcomes), junit(&outcomes)] {
            assert!(text.contains("far"), "{text}");
            assert!(text.contains("THE_URL is not &lt;set&gt;"), "{text}");
        }
        assert!(junit(&[not_run("far")]).contains("skipped=\"1\""));
        let json = serde_json::to_string(&outcomes).unwrap();
        let read: Vec<Outcome> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, outcomes);
    }

    #[test]
    fn the_other_forms_escape_what_they_show() {
        for text in [html(&[ran()]), junit(&[ran()])] {
            let escaped = "expected &lt;a&gt; &amp; &quot;b&quot;";
            assert!(text.contains(escaped), "{text}");
        }
        assert!(junit(&[ran()]).contains("tests=\"3\" failures=\"1\""));
    }

    /// It is on machines without the servers of some stores that the page is read again.
    #[test]
    fn the_page_as_it_stands_is_kept_where_no_store_is_run() {
        let stores = chosen(&[]).unwrap();
        let not_run: Vec<_> = stores.iter().map(|store| not_run(&store.name)).collect();
        let present = present_page().unwrap();
        let (page, unseen) = Page::new(&not_run, &present);
        assert_eq!(page, present);
        assert!(unseen.kept.len() >= 4, "{unseen:?}");
        let markdown = std::fs::read_to_string(root().join(PAGE)).unwrap();
        assert_eq!(page.to_markdown(), markdown);
    }

    #[test]
    fn groups_and_cases_that_there_are_not_are_refused() {
        let of = |group: &str, case: Option<&str>| Options {
            groups: vec![group.to_owned()],
            case: case.map(str::to_owned),
            ..Options::default()
        };
        assert_eq!(
            selected(&of("eq", Some("eq/text"))).unwrap(),
            ["eq/text", "eq/text-is-no-number"]
        );
        assert!(selected(&of("such", None)).unwrap_err().contains("eq"));
        assert!(selected(&of("eq", Some("in/"))).is_err());
    }

    #[test]
    fn files_that_could_not_be_written_are_refused_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(folder.path().join(name));
        let json = |json| Options {
            json,
            ..Options::default()
        };
        let html = |html| Options {
            html,
            ..Options::default()
        };
        for well in [
            json(at("a.json")),
            json(Some("-".into())),
            html(Some("a.html".into())),
        ] {
            check_files(&well).unwrap();
        }
        for badly in [
            json(at("no/such/a.json")),
            html(Some("-".into())),
            html(at("")),
        ] {
            check_files(&badly).unwrap_err();
        }
    }

    #[test]
    fn a_run_that_asked_nobody_or_not_whom_it_was_to_ask_is_no_success() {
        let not = NotRun::new("far", "FAR_URL is not set");
        let said = Err("far: not run: FAR_URL is not set".to_owned());
        assert_eq!(shows_enough(0, Some(&not), false), said);
        assert_eq!(shows_enough(2, Some(&not), false), Ok(()));
        assert_eq!(shows_enough(2, Some(&not), true), said);
        assert_eq!(shows_enough(2, None, true), Ok(()));
    }
}
