//! One adapter's harness, run as its own test.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use shelfward_conformance::report::{NotRun, Outcome};

use super::Options;
use crate::run::{cargo, output, watched};

/// The ids of the selected cases.
pub(super) fn list(store: &str, options: &Options) -> Result<Vec<String>, String> {
    let mut command = test(store, options);
    let listed = output(command.env("SHELFWARD_CONFORMANCE_LIST", "1"))
        .map_err(|said| explained(store, &[said], options))?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// The groups that a store's harness has, by the ids of its cases.
fn groups(store: &str) -> Vec<String> {
    let listed = list(store, &Options::default()).unwrap_or_default();
    let mut groups: Vec<String> = listed
        .iter()
        .filter_map(|id| id.split_once('/'))
        .map(|(group, _)| group.to_owned())
        .collect();
    groups.sort();
    groups.dedup();
    groups
}

/// Refuses a group that no case is of: beside others it would go unnoticed.
pub(super) fn check_groups(store: &str, options: &Options) -> Result<(), String> {
    if options.groups.is_empty() {
        return Ok(());
    }
    let there = groups(store);
    match options.groups.iter().find(|group| !there.contains(group)) {
        // Without a list, the run itself says what is wrong.
        Some(unknown) if !there.is_empty() => Err(format!(
            "no group {unknown:?}; there are {}",
            there.join(", ")
        )),
        _ => Ok(()),
    }
}

/// Removes what crashed runs left on a store, and prints what it was. Whether nothing is left.
pub(super) fn sweep(store: &str) -> Result<bool, String> {
    let file = ReportFile::new(store);
    let status = test(store, &Options::default())
        .env("SHELFWARD_CONFORMANCE_SWEEP", "1")
        .env("SHELFWARD_CONFORMANCE_REPORT", &file.0)
        .stdin(Stdio::null())
        .status()
        .map_err(|e| e.to_string())?;
    // A harness that could not run says so in the place of a report.
    let not_run = std::fs::read_to_string(&file.0).ok();
    match not_run.and_then(|json| serde_json::from_str::<NotRun>(&json).ok()) {
        Some(not) => Err(format!("{store}: not run: {}", not.not_run)),
        None => Ok(status.success()),
    }
}

/// Runs the suite on one store, with a bar for whoever watches, and reads its report.
pub(super) fn run(store: &str, options: &Options) -> Result<Outcome, String> {
    let file = ReportFile::new(store);
    let bar = bar(store);
    let mut child = test(store, options)
        .env("SHELFWARD_CONFORMANCE_REPORT", &file.0)
        .env("SHELFWARD_CONFORMANCE_PROGRESS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut notes = Vec::new();
    let lines = child
        .stderr
        .take()
        .map(|stderr| BufReader::new(stderr).lines())
        .into_iter()
        .flatten();
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str::<Progress>(&line) {
            Ok(progress) => {
                bar.set_length(progress.of);
                bar.set_position(progress.done);
                bar.set_message(progress.case);
            }
            Err(_) => notes.push(line),
        }
    }
    child.wait().map_err(|e| e.to_string())?;
    bar.finish_and_clear();
    let json = std::fs::read_to_string(&file.0);
    let json = json.map_err(|_| explained(store, &notes, options))?;
    read(store, &json)
}

/// What one store's harness left in a folder of [`REPORTS`].
pub(super) fn reported(store: &str, folder: &Path) -> Result<Outcome, String> {
    let json = std::fs::read_to_string(folder.join(format!("{store}.json")));
    let json = json.map_err(|e| format!("{store}: its tests left no report: {e}"))?;
    read(store, &json)
}

fn read(store: &str, json: &str) -> Result<Outcome, String> {
    serde_json::from_str(json).map_err(|e| format!("{store}: its report cannot be read: {e}"))
}

/// Without a report, what the harness or the compiler said.
fn explained(store: &str, notes: &[String], options: &Options) -> String {
    if notes
        .iter()
        .any(|note| note.contains("no case is selected"))
    {
        return no_case(store, options);
    }
    format!("{store}: {}", notes.join("\n"))
}

fn no_case(store: &str, options: &Options) -> String {
    let begins = options.case.as_deref().unwrap_or_default();
    let groups = match options.groups.as_slice() {
        [] => String::new(),
        asked => format!(" in {}", asked.join(", ")),
    };
    format!("{store}: no case{groups} begins with {begins:?}; --list prints those there are")
}

#[derive(Deserialize)]
struct Progress {
    case: String,
    done: u64,
    of: u64,
}

/// The variable that has each harness write its report into a folder, named after its store.
pub(crate) const REPORTS: &str = "SHELFWARD_CONFORMANCE_REPORTS";

fn test(store: &str, options: &Options) -> Command {
    let mut command = cargo();
    command.args([
        "test",
        "--quiet",
        "--package",
        &format!("shelfward-{store}"),
        "--test",
        "conformance",
    ]);
    // Whoever runs all tests wants what those found, not what is asked here.
    command.env_remove(REPORTS);
    if !options.groups.is_empty() {
        command.env("SHELFWARD_CONFORMANCE_GROUPS", options.groups.join(","));
    }
    if let Some(case) = &options.case {
        command.env("SHELFWARD_CONFORMANCE_CASE", case);
    }
    if let Some(seed) = options.seed {
        command.env("SHELFWARD_CONFORMANCE_SEED", seed.to_string());
    }
    command
}

fn bar(store: &str) -> ProgressBar {
    if !watched() {
        eprintln!("{store}: building and running the suite");
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{prefix:10} {bar:30} {pos}/{len} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(store.to_owned());
    bar.set_message("building the suite");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// A file of this process's own, gone when it is done with.
struct ReportFile(PathBuf);

impl ReportFile {
    fn new(store: &str) -> Self {
        let name = format!("shelfward-conformance-{store}-{}.json", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        remove(&file.0);
        file
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// What is not there is removed already.
fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}
