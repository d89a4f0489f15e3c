//! Everything that must pass, in order.

use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use comfy_table::{Table, presets};
use tempfile::TempDir;

use crate::conformance::{REPORTS, check_page};
use crate::run::{cargo, output, root, shared};
use crate::stores::{Live, Store};
use crate::{Ended, golden, soak, tidy};

/// Runs everything that must pass.
#[derive(Args)]
pub(crate) struct Options {
    /// Goes on after a step that failed.
    #[arg(long)]
    keep_going: bool,
    /// Prints the summary as JSON, too.
    #[arg(long)]
    json: bool,
}

/// How a step ended.
enum Step {
    Passed,
    Failed(String),
    /// It could not be run here, and why.
    NotRun(String),
}

/// What the runners of tests counted.
#[derive(Default)]
struct Tests {
    passed: u64,
    failed: u64,
    not_run: u64,
}

/// What steps leave for those after them.
#[derive(Default)]
struct State {
    tests: Tests,
    /// The server that tests of adapters use. Dropping it ends one of our own.
    postgres: Option<Live>,
    /// Where the suites, which are tests, wrote what they found. Dropping it removes them.
    reports: Option<TempDir>,
}

impl State {
    /// What tests find their servers by.
    fn variables(&self) -> Vec<(&'static str, String)> {
        self.postgres.iter().flat_map(Live::variables).collect()
    }
}

type Run = fn(&mut State) -> Step;

/// What the facade has but not by default; it is checked like the rest.
const OFF_BY_DEFAULT: &str = "shelfward/postgres";

const STEPS: [(&str, Run); 15] = [
    ("format", |_| {
        passes(cargo().args(["fmt", "--all", "--check"]))
    }),
    ("clippy", |_| {
        passes(cargo().args([
            "clippy",
            "--quiet",
            "--all-targets",
            "--features",
            OFF_BY_DEFAULT,
            "--",
            "-D",
            "warnings",
        ]))
    }),
    ("docs", |_| {
        passes(cargo().env("RUSTDOCFLAGS", "-D warnings").args([
            "doc",
            "--quiet",
            "--no-deps",
            "--features",
            OFF_BY_DEFAULT,
        ]))
    }),
    ("stores: postgres", start_postgres),
    ("tests", tests),
    ("soak", |_| match soak::one_minute() {
        Ok(mut soak) => passes(&mut soak),
        Err(why) => Step::Failed(why),
    }),
    ("features", |_| features()),
    ("example: quickstart", |_| example("library_quickstart")),
    ("example: library", |_| example("library")),
    ("example: text search", |_| example("text_search")),
    ("example: hybrid search", |_| example("hybrid_search")),
    ("tidy", |_| match tidy::run(&tidy::Options::default()) {
        Ended::Well => Step::Passed,
        _ => Step::Failed("see its findings above".to_owned()),
    }),
    ("conformance, docs/stores.md", |state| {
        stores_page(state.reports.as_ref())
    }),
    ("golden cases", |_| golden_cases()),
    ("cargo-deny", |_| deny()),
];

pub(crate) fn run(options: &Options) -> Ended {
    let mut state = State::default();
    let mut ended = Vec::new();
    for (name, step) in STEPS {
        println!("── {name}");
        let begun = Instant::now();
        let outcome = step(&mut state);
        if let Step::Failed(why) | Step::NotRun(why) = &outcome {
            println!("{why}");
        }
        let failed = matches!(outcome, Step::Failed(_));
        ended.push((name, outcome, begun.elapsed().as_secs()));
        if failed && !options.keep_going {
            break;
        }
    }
    summary(&ended, &state, options.json);
    if ended
        .iter()
        .any(|(_, outcome, _)| matches!(outcome, Step::Failed(_)))
    {
        Ended::Badly
    } else {
        Ended::Well
    }
}

fn summary(ended: &[(&str, Step, u64)], state: &State, json: bool) {
    let tests = &state.tests;
    let word = |outcome: &Step| match outcome {
        Step::Passed => "passed",
        Step::Failed(_) => "FAILED",
        Step::NotRun(_) => "not run",
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["step", "outcome", "seconds"]);
    for (name, outcome, seconds) in ended {
        table.add_row([
            (*name).to_owned(),
            word(outcome).to_owned(),
            seconds.to_string(),
        ]);
    }
    println!("{table}");
    if json {
        let steps: Vec<_> = ended
            .iter()
            .map(|(name, outcome, seconds)| serde_json::json!({ "step": name, "outcome": word(outcome), "seconds": seconds }))
            .collect();
        println!(
            "{}",
            serde_json::json!({
                "steps": steps,
                "passed": tests.passed,
                "failed": tests.failed,
                "not_run": tests.not_run,
                "stores": state.postgres.iter().map(Live::to_string).collect::<Vec<_>>(),
            })
        );
    }
    println!("slowest steps: {}", slowest(ended));
    let not_run = STEPS.len() - ended.len()
        + ended
            .iter()
            .filter(|(_, o, _)| matches!(o, Step::NotRun(_)))
            .count();
    if not_run > 0 {
        println!("steps that were not run: {not_run}");
    }
    if let Some(live) = &state.postgres {
        println!("stores: {live}");
    }
    println!(
        "tests: {} passed, {} failed, {} not run",
        tests.passed, tests.failed, tests.not_run
    );
}

/// The steps that took longest, by name.
fn slowest(ended: &[(&str, Step, u64)]) -> String {
    let mut steps: Vec<_> = ended.iter().map(|(name, _, s)| (*s, *name)).collect();
    steps.sort_by_key(|(seconds, _)| std::cmp::Reverse(*seconds));
    let named = steps
        .iter()
        .take(5)
        .map(|(s, name)| format!("{name} {s} s"));
    named.collect::<Vec<_>>().join(", ")
}

/// Runs a command whose output is worth seeing as it comes.
fn passes(command: &mut Command) -> Step {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Step::Passed,
        Ok(status) => Step::Failed(format!("ended with {status}")),
        Err(e) => Step::Failed(e.to_string()),
    }
}

/// Runs a command whose output matters only when it fails.
fn quiet(command: &mut Command) -> Step {
    match output(command) {
        Ok(_) => Step::Passed,
        Err(why) => Step::Failed(if why.is_empty() {
            "failed; run it by itself to see why".to_owned()
        } else {
            why
        }),
    }
}

/// Runs tests, shows what they print, and counts by the runners' own closing lines.
fn counted(command: &mut Command, tests: &mut Tests) -> Step {
    use std::io::{BufRead as _, BufReader};
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(e) => return Step::Failed(e.to_string()),
    };
    let lines = child
        .stdout
        .take()
        .map(|out| BufReader::new(out).lines())
        .into_iter()
        .flatten();
    for line in lines.map_while(Result::ok) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            tests.passed += before(counts, " passed");
            tests.failed += before(counts, " failed");
            tests.not_run += before(counts, " ignored");
        }
        // Thousands of lines that say "ok" hide the one that does not.
        if !line.ends_with("... ok") && !line.is_empty() {
            println!("{line}");
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Step::Passed,
        Ok(_) => Step::Failed(format!("{} tests failed", tests.failed)),
        Err(e) => Step::Failed(e.to_string()),
    }
}

/// The number that stands before a word.
fn before(line: &str, word: &str) -> u64 {
    let text = line.split(word).next().unwrap_or_default();
    text.rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}

/// Runs every test, and keeps the reports of the suites among them.
fn tests(state: &mut State) -> Step {
    let reports = match tempfile::tempdir() {
        Ok(folder) => state.reports.insert(folder).path().to_owned(),
        Err(e) => return Step::Failed(e.to_string()),
    };
    let mut command = cargo();
    command
        .args(["test", "--no-fail-fast", "--features", OFF_BY_DEFAULT])
        .envs(state.variables())
        .env(REPORTS, reports);
    counted(&mut command, &mut state.tests)
}

/// Each feature of the facade builds alone, and so does none.
fn features() -> Step {
    let manifest =
        std::fs::read_to_string(root().join("crates/shelfward/Cargo.toml")).unwrap_or_default();
    let table: toml::Table = match manifest.parse() {
        Ok(table) => table,
        Err(e) => return Step::Failed(e.to_string()),
    };
    let features = table.get("features").and_then(toml::Value::as_table);
    let named = features
        .into_iter()
        .flat_map(toml::Table::keys)
        .filter(|name| *name != "default");
    for feature in [String::new()].iter().chain(named) {
        let mut check = cargo();
        check.args([
            "check",
            "--quiet",
            "--package",
            "shelfward",
            "--no-default-features",
            "--features",
            feature,
        ]);
        if let Step::Failed(why) = quiet(&mut check) {
            return Step::Failed(format!("with the features {feature:?}: {why}"));
        }
    }
    Step::Passed
}

/// Runs an example as the tests have built it: with all packages and the same features, nothing is
/// built again.
fn example(name: &str) -> Step {
    quiet(cargo().args([
        "run",
        "--quiet",
        "--features",
        OFF_BY_DEFAULT,
        "--example",
        name,
    ]))
}

/// Finds or starts the server that the steps after this one use.
fn start_postgres(state: &mut State) -> Step {
    match Live::find(Store::Postgres) {
        Ok(live) => {
            let why = match &live {
                Live::Missing(_, why) => Some(why.clone()),
                Live::Given(_) | Live::Own(_) => None,
            };
            println!("{live}");
            state.postgres = Some(live);
            why.map_or(Step::Passed, Step::NotRun)
        }
        Err(why) => Step::Failed(why),
    }
}

/// Reads the page against what the suites found, as tests among the others.
fn stores_page(reports: Option<&TempDir>) -> Step {
    let Some(reports) = reports else {
        return Step::Failed("the tests left no reports".to_owned());
    };
    match check_page(reports.path()) {
        Ok(()) => Step::Passed,
        Err(why) => Step::Failed(why),
    }
}

fn golden_cases() -> Step {
    match shared()
        .map(|folder| folder.join("golden"))
        .filter(|folder| folder.is_dir())
    {
        Some(folder) => match golden::run(&golden::Options::of(folder)) {
            Ended::Well => Step::Passed,
            Ended::Badly => Step::Failed("see the cases above".to_owned()),
            Ended::Unusable(why) => Step::Failed(why),
        },
        None => Step::NotRun("no shared data: set SHELFWARD_SHARED to its folder".to_owned()),
    }
}

fn deny() -> Step {
    if output(cargo().args(["deny", "--version"])).is_err() {
        return Step::NotRun("cargo-deny is not installed".to_owned());
    }
    passes(cargo().args(["deny", "check"]))
}

#[cfg(test)]
mod tests {
    use super::{Step, before, slowest};

    #[test]
    fn counts_are_read_from_a_runners_closing_line() {
        let line = "ok. 31 passed; 2 failed; 4 ignored; 0 measured; 0 filtered out";
        let counts = [" passed", " failed", " ignored"].map(|word| before(line, word));
        assert_eq!(counts, [31, 2, 4]);
        assert_eq!(before("nothing", " passed"), 0);
    }

    #[test]
    fn the_slowest_steps_come_first() {
        let ended = ["a", "b", "c", "d", "e", "f"]
            .iter()
            .zip([3, 1, 9, 4, 0, 5]);
        let ended: Vec<_> = ended.map(|(name, s)| (*name, Step::Passed, s)).collect();
        assert_eq!(slowest(&ended), "c 9 s, f 5 s, d 4 s, a 3 s, b 1 s");
    }
}
