//! Runs the adapters' own harnesses and merges their reports. Links no adapter.

mod harness;
mod show;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use shelfward_conformance::report::{
    NotRun, Outcome, Report, StoresPage, html, junit, stores_markdown,
};

pub(crate) use harness::REPORTS;

use crate::Ended;
use crate::run::root;

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
    /// Writes docs/stores.md from what was found.
    #[arg(long)]
    update_docs: bool,
    /// Prints the ids of the cases and runs none; with --json, as a list.
    #[arg(long, conflicts_with_all = ["html", "junit", "update_docs"])]
    list: bool,
    /// Removes everything named `sfwt_…` that crashed runs left on the stores given by --store, of
    /// whatever run, and prints what it was.
    #[arg(
        long,
        requires = "stores",
        conflicts_with_all = ["list", "groups", "case", "seed", "json", "html", "junit", "update_docs"]
    )]
    sweep: bool,
}

/// The page that `--update-docs` writes.
pub(crate) const PAGE: &str = "docs/stores.md";

pub(crate) fn run(options: &Options) -> Ended {
    match run_all(options) {
        Ok(ended) => ended,
        Err(why) => Ended::Unusable(why),
    }
}

fn run_all(options: &Options) -> Result<Ended, String> {
    let stores = chosen(&options.stores)?;
    if options.sweep {
        let mut clean = true;
        for store in &stores {
            clean &= harness::sweep(store)?;
        }
        return Ok(if clean { Ended::Well } else { Ended::Badly });
    }
    check_files(options)?;
    for store in &stores {
        harness::check_groups(store, options)?;
    }
    if options.list {
        let store = stores.first().ok_or("there is no adapter")?;
        let ids = harness::list(store, options)?;
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
            Ok(outcome) => outcomes.push(outcome),
            // What the others showed is worth having, too.
            Err(why) => failures.push(why),
        }
    }
    if !prints_json(options) {
        show::table(&outcomes);
    }
    write_files(options, &outcomes)?;
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    ended(&outcomes, !options.stores.is_empty())
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
        write(&root().join(PAGE), new_page(outcomes))?;
    }
    Ok(())
}

/// The page of stores as it would be written of the reports in a folder. What it says of stores that
/// were not run is what it says already: nobody looked whether it is still so.
pub(crate) fn page(reports: &Path) -> Result<String, String> {
    let outcomes = chosen(&[])?
        .iter()
        .map(|store| harness::reported(store, reports))
        .collect::<Result<Vec<_>, _>>()?;
    show::table(&outcomes);
    let mut reports = outcomes.iter().filter_map(Outcome::ran);
    match reports.find_map(|report| report.unexpected().next()) {
        Some(case) => Err(format!(
            "{} found {}: {}",
            case.id, case.verdict, case.message
        )),
        None => Ok(new_page(&outcomes)),
    }
}

fn new_page(outcomes: &[Outcome]) -> String {
    let present = std::fs::read_to_string(root().join(PAGE)).unwrap_or_default();
    let StoresPage {
        text,
        kept,
        left_out,
        ..
    } = stores_markdown(outcomes, &present);
    for store in kept {
        eprintln!(
            "{PAGE}: what it says of {store} is kept as it stands, since {store} was not run"
        );
    }
    for store in left_out {
        eprintln!("{PAGE}: says nothing of {store}, which was not run and never shown");
    }
    text
}

/// The adapters that run the suite, or those of them that were asked for.
fn chosen(asked: &[String]) -> Result<Vec<String>, String> {
    let folder = root().join("adapters");
    let entries = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
    let mut there: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("tests/conformance.rs").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    there.sort();
    match asked.iter().find(|name| !there.contains(name)) {
        Some(unknown) => Err(format!(
            "no store {unknown:?}; there are {}",
            there.join(", ")
        )),
        None if asked.is_empty() => Ok(there),
        None => Ok(there
            .into_iter()
            .filter(|name| asked.contains(name))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is on machines without the servers of some stores that the page is read again.
    #[test]
    fn the_page_as_it_stands_is_kept_where_no_store_is_run() {
        let present = std::fs::read_to_string(root().join(PAGE)).unwrap();
        let stores: Vec<_> = chosen(&[]).unwrap();
        let not_run = stores.iter().map(|store| {
            let not = NotRun::new(store.as_str(), "nobody was asked");
            Outcome::NotRun(not)
        });
        let page = stores_markdown(&not_run.collect::<Vec<_>>(), &present);
        assert_eq!(page.text, present);
        assert!(page.kept.len() >= 3, "{:?} are kept", page.kept);
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
