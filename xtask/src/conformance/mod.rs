//! Runs the adapters' own harnesses and merges their reports. Links no adapter.

mod harness;
mod show;

use std::path::PathBuf;

use clap::Args;
use shelfward_conformance::report::{Report, html, junit, stores_markdown};

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
    /// Prints the ids of the cases and runs none.
    #[arg(long)]
    list: bool,
    /// What the harnesses find live servers by, beside their environment.
    #[arg(skip)]
    variables: Vec<(&'static str, String)>,
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
    for store in &stores {
        harness::check_groups(store, options)?;
    }
    if options.list {
        let store = stores.first().ok_or("there is no adapter")?;
        return harness::list(store, options).map(|()| Ended::Well);
    }
    if options.update_docs
        && !(options.groups.is_empty() && options.case.is_none() && options.stores.is_empty())
    {
        return Err(
            "the page of stores is written from a whole run: leave out --store, --group and --case"
                .to_owned(),
        );
    }
    let mut reports = Vec::new();
    for store in &stores {
        reports.push(harness::run(store, options)?);
    }
    write_files(options, &reports)?;
    if options
        .json
        .as_deref()
        .is_none_or(|file| file.as_os_str() != "-")
    {
        show::table(&reports);
    }
    let well = reports
        .iter()
        .all(|report| report.unexpected().next().is_none());
    Ok(if well { Ended::Well } else { Ended::Badly })
}

fn write_files(options: &Options, reports: &[Report]) -> Result<(), String> {
    let write = |file: &PathBuf, text: String| {
        std::fs::write(file, text)
            .map_err(|e| format!("{} could not be written: {e}", file.display()))
    };
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(reports).map_err(|e| e.to_string())?;
        if file.as_os_str() == "-" {
            println!("{json}");
        } else {
            write(file, json)?;
        }
    }
    if let Some(file) = &options.html {
        write(file, html(reports))?;
    }
    if let Some(file) = &options.junit {
        write(file, junit(reports))?;
    }
    if options.update_docs {
        write(&root().join(PAGE), stores_markdown(reports))?;
    }
    Ok(())
}

/// The page of stores as it would be written now.
pub(crate) fn page(variables: Vec<(&'static str, String)>) -> Result<String, String> {
    let options = Options {
        variables,
        ..Options::default()
    };
    let reports = chosen(&[])?
        .iter()
        .map(|store| harness::run(store, &options))
        .collect::<Result<Vec<_>, _>>()?;
    show::table(&reports);
    match reports.iter().flat_map(Report::unexpected).next() {
        Some(case) => Err(format!(
            "{} found {}: {}",
            case.id, case.verdict, case.message
        )),
        None => Ok(stores_markdown(&reports)),
    }
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
