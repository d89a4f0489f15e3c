//! Everything that must pass, in order.

use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use comfy_table::{Table, presets};
use tempfile::TempDir;

use crate::conformance::{REPORTS, check_page};
use crate::run::{cargo_with, output, root, shared};
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
    /// Those that told how long they took.
    seconds: Vec<(f64, String)>,
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
    ("format", |_| passes(&mut cargo_with("fmt --all --check"))),
    ("clippy", |_| {
        let mut clippy = cargo_with("clippy --quiet --all-targets --features");
        passes(clippy.arg(OFF_BY_DEFAULT).args(["--", "-D", "warnings"]))
    }),
    ("docs", |_| {
        let mut doc = cargo_with("doc --quiet --no-deps --features");
        passes(doc.arg(OFF_BY_DEFAULT).env("RUSTDOCFLAGS", "-D warnings"))
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
        ended.push((name, outcome, begun.elapsed().as_secs_f64()));
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

fn summary(ended: &[(&str, Step, f64)], state: &State, json: bool) {
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
            format!("{seconds:.0}"),
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
    let steps = ended.iter().map(|(name, _, seconds)| (*seconds, *name));
    println!("slowest steps: {}", slowest(steps, 5));
    let tests_by_time = tests
        .seconds
        .iter()
        .map(|(seconds, name)| (*seconds, name.as_str()));
    println!("slowest tests: {}", slowest(tests_by_time, 10));
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

/// What took longest, by name.
fn slowest<'a>(took: impl Iterator<Item = (f64, &'a str)>, most: usize) -> String {
    let mut took: Vec<_> = took.collect();
    took.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let named = took
        .iter()
        .take(most)
        .map(|(seconds, name)| format!("{name} {seconds:.1} s"));
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

/// Runs tests, shows what they print, counts by the runners' own closing lines, and notes how long each
/// took where its runner tells.
fn counted(command: &mut Command, tests: &mut Tests) -> Step {
    use std::io::{BufRead as _, BufReader};
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(e) => return Step::Failed(e.to_string()),
    };
    let out = child.stdout.take().map(|out| BufReader::new(out).lines());
    for line in out.into_iter().flatten().map_while(Result::ok) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            tests.passed += before(counts, " passed");
            tests.failed += before(counts, " failed");
            tests.not_run += before(counts, " ignored");
        }
        let took = took(&line);
        let is_known = took.is_some();
        tests
            .seconds
            .extend(took.map(|(name, seconds)| (seconds, name.to_owned())));
        // Thousands of lines that say "ok" hide the one that does not.
        if !line.ends_with("... ok")
            && !line.contains("... ignored")
            && !line.is_empty()
            && !is_known
        {
            println!("{line}");
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Step::Passed,
        Ok(_) => Step::Failed(format!("{} tests failed", tests.failed)),
        Err(e) => Step::Failed(e.to_string()),
    }
}

/// A test that passed and how long it took, as in `test NAME ... ok <0.031s>`.
fn took(line: &str) -> Option<(&str, f64)> {
    let (name, seconds) = line.strip_prefix("test ")?.split_once(" ... ok <")?;
    Some((name, seconds.strip_suffix("s>")?.parse().ok()?))
}

/// Runs one program of tests, as cargo is told to in [`tests`].
#[derive(Args)]
pub(crate) struct Timed {
    program: std::path::PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

/// Has a program of tests tell how long each takes. The standard one can, but says that the option may
/// change; of any other, the time of all its tests is told.
pub(crate) fn timed(options: &Timed) -> Ended {
    // The samples of the documentation, which rustdoc builds elsewhere, are run as they are.
    let is_of_cargo = options
        .program
        .parent()
        .is_some_and(|folder| folder.ends_with("deps"));
    // Looked for in the program: asked for its help, one with a runner of its own may begin its work.
    let mut grep = Command::new("grep");
    let tells =
        is_of_cargo && output(grep.args(["-qF", "report-time"]).arg(&options.program)).is_ok();
    let mut command = Command::new(&options.program);
    command.args(&options.arguments);
    if tells {
        command
            .args(["-Zunstable-options", "--report-time"])
            .env("RUSTC_BOOTSTRAP", "1");
    }
    let begun = Instant::now();
    if !command.status().is_ok_and(|status| status.success()) {
        return Ended::Badly;
    }
    if is_of_cargo && !tells {
        // `target/debug/deps/server-0123456789abcdef`
        let program = options.program.file_stem().unwrap_or_default();
        let program = program.to_string_lossy();
        let name = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
        let seconds = begun.elapsed().as_secs_f64();
        println!("test {name} (all) ... ok <{seconds:.3}s>");
    }
    Ended::Well
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
    let this = match std::env::current_exe() {
        Ok(this) => serde_json::json!([this, "timed"]),
        Err(e) => return Step::Failed(e.to_string()),
    };
    let mut command = cargo_with("test --no-fail-fast --features");
    command
        .arg(OFF_BY_DEFAULT)
        .args(["--config", &format!("target.'cfg(all())'.runner={this}")])
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
        let mut check =
            cargo_with("check --quiet --package shelfward --no-default-features --features");
        if let Step::Failed(why) = quiet(check.arg(feature)) {
            return Step::Failed(format!("with the features {feature:?}: {why}"));
        }
    }
    Step::Passed
}

/// Runs an example as the tests have built it: with all packages and the same features, nothing is
/// built again.
fn example(name: &str) -> Step {
    let mut run = cargo_with("run --quiet --features");
    quiet(run.args([OFF_BY_DEFAULT, "--example", name]))
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
            Ended::Badly | Ended::With(_) => Step::Failed("see the cases above".to_owned()),
            Ended::Unusable(why) => Step::Failed(why),
        },
        None => Step::NotRun("no shared data: set SHELFWARD_SHARED to its folder".to_owned()),
    }
}

fn deny() -> Step {
    if output(&mut cargo_with("deny --version")).is_err() {
        return Step::NotRun("cargo-deny is not installed".to_owned());
    }
    passes(&mut cargo_with("deny check"))
}

#[cfg(test)]
mod tests {
    use super::{before, slowest, took};

    #[test]
    fn counts_are_read_from_a_runners_closing_line() {
        let line = "ok. 31 passed; 2 failed; 4 ignored; 0 measured; 0 filtered out";
        let counts = [" passed", " failed", " ignored"].map(|word| before(line, word));
        assert_eq!(counts, [31, 2, 4]);
        assert_eq!(before("nothing", " passed"), 0);
    }

    #[test]
    fn what_took_longest_comes_first() {
        let lines = [
            "test a::b - with words ... ok <0.250s>",
            "test slow ... ok <12.061s>",
            "test quick ... ok <0.001s>",
            "test untold ... ok",
            "test failed ... FAILED <3.000s>",
        ];
        let told: Vec<_> = lines.iter().filter_map(|line| took(line)).collect();
        let by_time = told.iter().map(|(name, seconds)| (*seconds, *name));
        assert_eq!(slowest(by_time, 2), "slow 12.1 s, a::b - with words 0.2 s");
    }
}
