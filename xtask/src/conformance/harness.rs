//! One adapter's harness: built by cargo, and run by itself.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use shelfward_conformance::report::{NotRun, Outcome};

use super::Options;
use super::adapters::Adapter;
use super::interrupt::{Interrupt, Running, apart};
use crate::Ended;
use crate::run::{cargo_with, note, root, watched};

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
pub(super) fn sweep(adapter: &Adapter, interrupt: &Interrupt) -> Result<bool, String> {
    if let Some(not) = adapter.not_run() {
        return Err(not.to_string());
    }
    let (store, file) = (adapter.name.as_str(), report_file()?);
    let program = built(store, interrupt)?;
    let mut command = harness(store, &program, file.path());
    let status = command.arg("--sweep").stdin(Stdio::null()).status();
    let status = status.map_err(|e| e.to_string())?;
    // A harness that could not run says so in the place of a report; its own note is on stderr.
    match read(store, file.path()) {
        Ok(Outcome::NotRun(not)) => Err(not.to_string()),
        _ => Ok(status.success()),
    }
}

/// Runs the suite on one store, with a bar for whoever watches and a line for each group otherwise, and
/// answers what became of it, whatever that is.
pub(super) fn run(adapter: &Adapter, options: &Options, interrupt: &Interrupt) -> Outcome {
    let ran = match adapter.not_run() {
        Some(not) => Ok(Outcome::NotRun(not)),
        None => asked(adapter, options, interrupt),
    };
    ran.unwrap_or_else(|why| Outcome::NotRun(NotRun::failed(adapter.name.as_str(), why)))
}

fn asked(adapter: &Adapter, options: &Options, interrupt: &Interrupt) -> Result<Outcome, String> {
    let (store, file) = (adapter.name.as_str(), report_file()?);
    let mut bar = Bar::new(store);
    let program = built(store, interrupt)?;
    let mut command = harness(store, &program, file.path());
    let groups = options.groups.iter();
    command.args(groups.flat_map(|group| ["--group", group]));
    if let Some(case) = &options.case {
        command.args(["--case", case]);
    }
    if let Some(seed) = options.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    let mut child = apart(&mut command)
        // It ends when this pipe closes, however this process ends.
        .arg("--watched")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    interrupt.set(child.stdin.take().map(Running::Suite));
    let notes = followed(&mut child, &mut bar);
    let ended = child.wait();
    interrupt.set(None);
    ended.map_err(|e| e.to_string())?;
    bar.0.finish_and_clear();
    read(store, file.path()).map_err(|why| match notes.is_empty() {
        true => why,
        false => notes,
    })
}

/// Shows the progress of a harness until it ends, and answers what else it said.
fn followed(child: &mut Child, bar: &mut Bar) -> String {
    let mut notes = VecDeque::new();
    let stderr = child.stderr.take().map(BufReader::new);
    let lines = stderr.into_iter().flat_map(BufReader::lines);
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str::<Progress>(&line) {
            Ok(progress) => bar.show(progress),
            Err(_) => {
                notes.push_back(line);
                if notes.len() > NOTES {
                    notes.pop_front();
                }
            }
        }
    }
    Vec::from(notes).join("\n")
}

/// Why a store was not run that a signal came before.
pub(super) const INTERRUPTED: &str = "the run was interrupted before";

/// So many of the last lines of a harness are kept.
const NOTES: usize = 20;

/// What one store's harness left in a folder of [`REPORTS`].
pub(super) fn reported(store: &str, folder: &Path) -> Result<Outcome, String> {
    read(store, &folder.join(format!("{store}.json")))
}

/// The report of one store alone.
fn read(store: &str, file: &Path) -> Result<Outcome, String> {
    let json = std::fs::read(file).unwrap_or_default();
    if json.is_empty() {
        return Err(format!("{store}: its tests left no report"));
    }
    let unread = |e| format!("{store}: its report cannot be read: {e}");
    let mut outcomes: Vec<Outcome> = serde_json::from_slice(&json).map_err(unread)?;
    let outcome = outcomes.pop();
    outcome.ok_or_else(|| format!("{store}: its report is empty"))
}

#[derive(Deserialize)]
struct Progress {
    case: String,
    group: String,
    left: u64,
    bad: u64,
    done: u64,
    of: u64,
}

/// The variable that has each harness write its report into a folder, named after its store.
pub(crate) const REPORTS: &str = "SHELFWARD_CONFORMANCE_REPORTS";

/// Builds a store's harness and answers the program. Run by cargo, it would be out of reach of a signal to
/// this process, and its failures would end in cargo's own.
fn built(store: &str, interrupt: &Interrupt) -> Result<PathBuf, String> {
    let mut command = cargo_with("test --no-run --quiet --message-format json --test conformance");
    command.args(["--package", &format!("shelfward-{store}")]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut cargo = interrupt.grouped(&mut command)?;
    let (mut json, out) = (String::new(), cargo.stdout.take());
    let read = out.map(|mut out| out.read_to_string(&mut json)).transpose();
    let status = cargo.wait().map_err(|e| e.to_string())?;
    interrupt.set(None);
    read.map_err(|e| e.to_string())?;
    let messages = json
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let messages: Vec<Message> = messages.collect();
    let program = messages.iter().rev().find_map(|m| m.executable.clone());
    match program {
        _ if interrupt.signal().is_some() => Err(INTERRUPTED.to_owned()),
        Some(program) if status.success() => Ok(program),
        _ => {
            let rendered = messages.into_iter().filter_map(|m| m.message?.rendered);
            rendered.for_each(|text| note(&text));
            Err("its conformance test does not build".to_owned())
        }
    }
}

/// Of a message of cargo's, the program that it built or what the compiler says.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
}

fn harness(store: &str, program: &Path, report: &Path) -> Command {
    let folder = root().join("adapters").join(store);
    let mut command = Command::new(program);
    command.arg("--json").arg(report);
    // As under cargo. Whoever runs all tests wants what those found, not what is asked here.
    command
        .env("CARGO_MANIFEST_DIR", &folder)
        .current_dir(folder);
    command.env_remove(REPORTS);
    command
}

/// What is shown of a run that goes on.
struct Bar(ProgressBar);

impl Bar {
    fn new(store: &str) -> Self {
        if !watched() {
            note(&format!("{store}: building and running the suite"));
            let bar = ProgressBar::hidden();
            bar.set_prefix(store.to_owned());
            return Self(bar);
        }
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{prefix:10} {bar:30} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(store.to_owned());
        bar.set_message("building the suite");
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    fn show(&mut self, progress: Progress) {
        if watched() {
            self.0.set_length(progress.of);
            self.0.set_position(progress.done);
            self.0.set_message(progress.case);
        } else if progress.left == 0 {
            let Progress {
                group,
                bad,
                done,
                of,
                ..
            } = progress;
            let store = self.0.prefix();
            let bad = match bad {
                0 => "as expected".to_owned(),
                bad => format!("{bad} not as expected"),
            };
            note(&format!("{store}: {group} {bad}, {done} of {of} cases"));
        }
    }
}

/// A file of this process's own, gone when it is done with.
fn report_file() -> Result<tempfile::NamedTempFile, String> {
    let mut file = tempfile::Builder::new();
    file.prefix("shelfward-conformance-").suffix(".json");
    file.tempfile().map_err(|e| e.to_string())
}
