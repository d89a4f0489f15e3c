//! Runs the adapters' own harnesses and merges their reports. Links no adapter.

mod adapters;
mod harness;
mod interrupt;
mod markdown;
mod page;
mod show;

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use shelfward_conformance::report::{Change, Comparison, Files, NotRun, Outcome, Report, rule};
use shelfward_conformance::{Selection, Suite};

pub(crate) use harness::REPORTS;

use crate::Ended;
use crate::run::{note, root};

use adapters::chosen;
use interrupt::Interrupt;
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
    /// Where the reports are written to; `--json -` prints them in the place of the table.
    #[command(flatten)]
    files: Files,
    /// Compares two reports written by --json, the earlier one first, and runs nothing.
    #[arg(long, num_args = 2, value_names = ["A", "B"], exclusive = true)]
    compare: Vec<PathBuf>,
    /// Writes docs/stores.json and docs/stores.md from what was found.
    #[arg(long)]
    update_docs: bool,
    /// Prints the ids of the cases and their rules, and runs none; with --json, as a list.
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
    if let [before, after] = &*options.compare {
        return compared(before, after);
    }
    let stores = chosen(&options.stores)?;
    if options.sweep {
        let (mut clean, interrupt) = (true, Interrupt::listen()?);
        for store in &stores {
            clean &= harness::sweep(store, &interrupt)?;
            if let Some(signal) = interrupt.signal() {
                return Ok(Ended::With(128 + signal));
            }
        }
        return Ok(if clean { Ended::Well } else { Ended::Badly });
    }
    options.files.check().map_err(|e| chain(&e))?;
    let ids = selected(options)?;
    if options.list {
        return list(options, &ids);
    }
    if options.update_docs
        && !(options.groups.is_empty() && options.case.is_none() && options.stores.is_empty())
    {
        return Err(
            "the page of stores is written from a whole run: leave out --store, --group and --case"
                .to_owned(),
        );
    }
    let (mut outcomes, interrupt) = (Vec::new(), Interrupt::listen()?);
    let prints = !options.files.prints_json();
    for store in &stores {
        if interrupt.signal().is_some() {
            let not = NotRun::new(store.name.as_str(), harness::INTERRUPTED);
            outcomes.push(Outcome::NotRun(not));
            continue;
        }
        let outcome = harness::run(store, options, &interrupt);
        if prints {
            // The first table need not wait for the other stores.
            show::store(&outcome, !outcomes.iter().any(ran));
        } else if let Some(not) = outcome.not_run() {
            note(&not.to_string());
        }
        // What the others show is worth having, whatever became of this one.
        outcomes.push(outcome);
    }
    if prints && outcomes.iter().filter(|outcome| ran(outcome)).count() > 1 {
        show::table(&outcomes);
    }
    options.files.write(&outcomes).map_err(|e| chain(&e))?;
    if let Some(signal) = interrupt.signal() {
        // As a shell says it of a program that a signal ended.
        return Ok(Ended::With(128 + signal));
    }
    if options.update_docs {
        update_docs(&outcomes)?;
    }
    ended(&outcomes, !options.stores.is_empty())
}

/// Prints what two reports differ in.
fn compared(before: &Path, after: &Path) -> Result<Ended, String> {
    let comparison = Comparison::of_files(before, after).map_err(|e| chain(&e))?;
    let _ = writeln!(std::io::stdout(), "{comparison}");
    Ok(match comparison.of(Change::NewFailure) {
        [] => Ended::Well,
        _ => Ended::Badly,
    })
}

/// Prints the ids and rules of cases, or writes them as JSON.
fn list(options: &Options, ids: &[String]) -> Result<Ended, String> {
    let Some(file) = &options.files.json else {
        let lines = ids.iter().map(|id| format!("{id:44} {}", rule(id)));
        // Whoever reads may have seen enough.
        let _ = writeln!(
            std::io::stdout(),
            "{}",
            lines.collect::<Vec<_>>().join("\n")
        );
        return Ok(Ended::Well);
    };
    let cases = ids
        .iter()
        .map(|id| serde_json::json!({ "id": id, "rule": rule(id) }));
    let json =
        serde_json::to_string_pretty(&cases.collect::<Vec<_>>()).map_err(|e| e.to_string())?;
    match options.files.prints_json() {
        true => drop(writeln!(std::io::stdout(), "{json}")),
        false => write(file, json)?,
    }
    Ok(Ended::Well)
}

/// An error and what lies under it.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
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
    let not_run: Vec<_> = outcomes.iter().filter_map(Outcome::not_run).collect();
    Ok(match shows_enough(reports().count(), &not_run, named) {
        true => Ended::Well,
        // Why has been printed with the store.
        false => Ended::With(2),
    })
}

/// Whether a store was run and no case of it.
fn asked_nothing(report: &Report) -> bool {
    report.silent_groups() == report.groups()
}

/// A run that asked no store anything shows nothing, nor does one that did not ask a store that was
/// named, or could not.
fn shows_enough(ran: usize, not_run: &[&NotRun], named: bool) -> bool {
    let failed = not_run.iter().any(|not| not.failed);
    !failed && (not_run.is_empty() || !named && ran > 0)
}

fn write(file: &Path, text: String) -> Result<(), String> {
    std::fs::write(file, text).map_err(|e| format!("{} could not be written: {e}", file.display()))
}

fn update_docs(outcomes: &[Outcome]) -> Result<(), String> {
    let (json, markdown) = new_page(outcomes)?;
    write(&root().join(PAGE_JSON), json)?;
    write(&root().join(PAGE), markdown)
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
    // The versions are those of the last look; another server is no departure.
    let (mut page, _) = Page::new(&outcomes, &present_page()?);
    page.keep_versions(&present_page()?);
    let (json, markdown) = (page.to_json()?, page.to_markdown());
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
    use shelfward_conformance::report::{abilities, html, junit};
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
        let can = Capabilities::exact();
        let report = json!({
            "schema": 1, "store": "made-up", "versions": {}, "seed": 7, "totals": {},
            "date": "2026-01-02T03:04:05Z", "suite": "0.1.0", "selected": 3, "groups": {},
            "verdicts": [], "abilities": abilities(&can), "capabilities": can, "leftBehind": [],
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
    fn a_run_that_asked_nobody_or_not_whom_it_was_to_ask_is_no_success() {
        let not = NotRun::new("far", "FAR_URL is not set");
        let failed = NotRun::failed("far", "the password is wrong");
        assert!(!shows_enough(0, &[&not], false));
        assert!(shows_enough(2, &[&not], false));
        assert!(!shows_enough(2, &[&not], true));
        assert!(shows_enough(2, &[], true));
        assert!(!shows_enough(2, &[&failed], false));
    }
}
