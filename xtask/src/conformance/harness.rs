//! One adapter's harness, run as its own test.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use shelfward_conformance::report::{NotRun, Outcome};

use super::Options;
use super::adapters::Adapter;
use crate::Ended;
use crate::run::{cargo_with, watched};

/// Runs the suite's tests of itself.
pub(super) fn self_test(full: bool) -> Result<Ended, String> {
    let mut command = cargo_with("test --package shelfward-conformance --package");
    command.args(["shelfward-conformance-faulty", "--lib", "--tests"]);
    if full {
        command.args(["--features", "shelfward-conformance-faulty/full"]);
    }
    let status = command.status().map_err(|e| e.to_string())?;
    Ok(if status.success() {
        Ended::Well
    } else {
        Ended::Badly
    })
}

/// Removes what crashed runs left on a store, and prints what it was. Whether nothing is left.
pub(super) fn sweep(adapter: &Adapter) -> Result<bool, String> {
    let store = adapter.name.as_str();
    if let Some(not) = adapter.not_run() {
        return Err(format!("{store}: not run: {}", not.not_run));
    }
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
pub(super) fn run(adapter: &Adapter, options: &Options) -> Result<Outcome, String> {
    if let Some(not) = adapter.not_run() {
        return Ok(Outcome::NotRun(not));
    }
    let store = adapter.name.as_str();
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
    let json = json.map_err(|_| format!("{store}: {}", notes.join("\n")))?;
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

#[derive(Deserialize)]
struct Progress {
    case: String,
    done: u64,
    of: u64,
}

/// The variable that has each harness write its report into a folder, named after its store.
pub(crate) const REPORTS: &str = "SHELFWARD_CONFORMANCE_REPORTS";

fn test(store: &str, options: &Options) -> Command {
    let mut command = cargo_with("test --quiet --test conformance --package");
    command.arg(format!("shelfward-{store}"));
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
