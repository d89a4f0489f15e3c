//! The suite as the tests of an adapter's crate.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::gaps::KnownGaps;
use crate::process::{Processes, child_place, serve_child};
use crate::report::{CaseReport, NotRun};
use crate::store::StoreUnderTest;
use crate::suite::{DEFAULT_SEED, Selection, Suite};
use crate::sweep::sweep;

/// Runs the suite on a store, every case as its own test named `group/case`.
///
/// For a test target with `harness = false`. Takes the arguments of any Rust test, and from the
/// environment:
///
/// | variable | what it does |
/// |---|---|
/// | `SHELFWARD_CONFORMANCE_GROUPS` | only these groups, separated by commas |
/// | `SHELFWARD_CONFORMANCE_CASE` | only cases whose id begins so |
/// | `SHELFWARD_CONFORMANCE_SEED` | the seed of the random cases |
/// | `SHELFWARD_CONFORMANCE_REPORT` | writes the report to this file, as JSON |
/// | `SHELFWARD_CONFORMANCE_REPORTS` | writes the report into this folder, as JSON, named after the store |
/// | `SHELFWARD_CONFORMANCE_PROGRESS` | `1`: a line of JSON on stderr for each case that ends |
/// | `SHELFWARD_CONFORMANCE_LIST` | `1`: prints the ids of the cases and runs none |
/// | `SHELFWARD_CONFORMANCE_SWEEP` | `1`: removes what crashed runs left on the store, prints what, and runs no case |
/// | `SHELFWARD_CONFORMANCE_KILLS` | how often a second process is killed in each case that does so |
/// | `SHELFWARD_CONFORMANCE_CRASHES` | how often a server is crashed in each case that does so under writers |
///
/// Where the store has a [place](StoreUnderTest::place), the suite begins this program again as a
/// second process. So `main` does nothing but call this, and makes the same store each time.
///
/// A case passes when it finds what is expected: `honours`, `refuses` where the capabilities exclude
/// the thing, or the verdict of its known gap. One that does not apply to the store is ignored, and its
/// line says why.
pub fn run_tests(store: impl StoreUnderTest + 'static, known_gaps: &str) -> ExitCode {
    if let Some(place) = child_place() {
        return second_process(Arc::new(store), place);
    }
    let store: Arc<dyn StoreUnderTest> = Arc::new(store);
    let ended = match flag("SWEEP") {
        true => swept(&*store),
        false => run(store, known_gaps),
    };
    ended.unwrap_or_else(|problem| {
        let mut why = problem.to_string();
        let mut source = problem.source();
        while let Some(under) = source {
            why.push_str(&format!(": {under}"));
            source = under.source();
        }
        note(&format!("the suite could not begin: {why}"));
        ExitCode::from(2)
    })
}

/// In the place of [`run_tests`] where the store cannot be run here, and why: for `main` of a store
/// whose server nobody has named.
///
/// Every case is ignored, its line says why, and so does stderr; the run ends well. Where a report is
/// asked for, it says the same. A run is never passed in silence.
///
/// ```no_run
/// # use std::process::ExitCode;
/// # use std::sync::Arc;
/// # use shelfward_conformance::{StoreUnderTest, not_run, run_tests};
/// # use shelfward_core::adapter::StoreAdapter;
/// # use shelfward_core::{Result, async_trait};
/// # struct Mine(String);
/// # #[async_trait]
/// # impl StoreUnderTest for Mine {
/// #     fn name(&self) -> &'static str { "mine" }
/// #     async fn open(&self) -> Result<Arc<dyn StoreAdapter>> { loop {} }
/// # }
/// fn main() -> ExitCode {
///     match std::env::var("MINE_URL") {
///         Ok(url) => run_tests(Mine(url), ""),
///         Err(_) => not_run("mine", "MINE_URL is not set"),
///     }
/// }
/// ```
pub fn not_run(store: &str, why: &str) -> ExitCode {
    let selection = selection();
    let cases = Suite::all_cases();
    let ids = cases.iter().filter(|case| selection.takes(case));
    let ids: Vec<String> = ids.map(|case| case.info().id.clone()).collect();
    if child_place().is_none() && flag("LIST") {
        return listed(ids);
    }
    note(&format!("{store}: not run: {why}"));
    if !written(store, &NotRun::new(store, why)) || flag("SWEEP") || child_place().is_some() {
        return ExitCode::from(2);
    }
    let trials = ids.into_iter().map(|id| {
        let why = why.to_owned();
        Trial::ignorable_test(id, move || Ok(Completion::ignored_with(why)))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

type Ended = Result<ExitCode, Box<dyn std::error::Error>>;

/// Removes what crashed runs left, and prints what it was.
fn swept(store: &dyn StoreUnderTest) -> Ended {
    let swept = runtime()?.block_on(sweep(store))?;
    printed(&swept.removed)?;
    if swept.removed.is_empty() && swept.left.is_empty() {
        note("nothing was left");
    }
    for left in &swept.left {
        note(&format!("could not be removed: {left}"));
    }
    Ok(match swept.left.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn printed(lines: &[String]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn listed(ids: Vec<String>) -> ExitCode {
    match printed(&ids) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// Writes a report of this store wherever one is asked for. Whether nothing went wrong.
fn written(store: &str, report: &impl serde::Serialize) -> bool {
    let in_folder = |folder| PathBuf::from(folder).join(format!("{store}.json"));
    let file = var("REPORT").map(PathBuf::from);
    let files = file.into_iter().chain(var("REPORTS").map(in_folder));
    let mut well = true;
    for file in files {
        let json = serde_json::to_vec_pretty(report).map_err(std::io::Error::from);
        if let Err(problem) = json.and_then(|json| std::fs::write(file, json)) {
            note(&format!("the report could not be written: {problem}"));
            well = false;
        }
    }
    well
}

/// The cases that the environment selects.
fn selection() -> Selection {
    let groups = var("GROUPS").unwrap_or_default();
    let groups = groups.split(',').filter(|group| !group.is_empty());
    Selection {
        groups: groups.map(str::to_owned).collect(),
        case: var("CASE"),
    }
}

fn flag(name: &str) -> bool {
    var(name).is_some_and(|value| value == "1")
}

/// This program as the second process of another that runs the suite.
fn second_process(store: Arc<dyn StoreUnderTest>, place: String) -> ExitCode {
    match runtime() {
        Ok(runtime) => {
            runtime.block_on(serve_child(store, place));
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::from(2),
    }
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
}

fn run(store: Arc<dyn StoreUnderTest>, known_gaps: &str) -> Ended {
    let gaps = KnownGaps::parse(known_gaps)?;
    let cases = Suite::all_cases();
    let is_case = |id: &str| cases.iter().any(|case| case.info().id == id);
    if let Some(gap) = gaps.all().iter().find(|gap| !is_case(&gap.case)) {
        return Err(format!("a known gap names no case: {}", gap.case).into());
    }
    let seed = match var("SEED") {
        Some(seed) => seed
            .parse()
            .map_err(|_| format!("the seed {seed:?} is not a whole number"))?,
        None => DEFAULT_SEED,
    };
    let (runtime, selection) = (Arc::new(runtime()?), selection());
    let suite = Suite::with_processes(store, gaps, &selection, seed, Processes::Real);
    let suite = Arc::new(runtime.block_on(suite)?);
    // Not run is no proof, and a store that says it keeps what it is given has to prove it.
    if suite.claims_more_than_it_shows() {
        return Err(
            "the store declares that it is durable, and its StoreUnderTest names no place \
                    where it could be opened again"
                .into(),
        );
    }
    if suite.cases().is_empty() {
        return Err("no case is selected; SHELFWARD_CONFORMANCE_LIST=1 lists them".into());
    }
    if flag("LIST") {
        let ids = suite.cases().iter().map(|case| case.info().id.clone());
        return Ok(listed(ids.collect()));
    }
    let stopped = stopped_by_the_user(&runtime);
    let found: Arc<Mutex<Vec<CaseReport>>> = Arc::default();
    let done = Arc::new(AtomicUsize::new(0));
    let (of, progress) = (suite.cases().len(), flag("PROGRESS"));
    let trials = suite.cases().iter().cloned().map(|case| {
        let (runtime, suite) = (runtime.clone(), suite.clone());
        let (found, done, mut stopped) = (found.clone(), done.clone(), stopped.clone());
        Trial::ignorable_test(case.info().id.clone(), move || {
            let ended = runtime.block_on(async {
                tokio::select! {
                    biased;
                    Ok(_) = stopped.wait_for(|stopped| *stopped) => None,
                    report = suite.run(&case) => Some(report),
                }
            });
            let report = ended.ok_or("stopped")?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if progress {
                note(&progress_line(&report, done, of));
            }
            let outcome = outcome(&report);
            locked(&found).push(report);
            outcome
        })
    });
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials.collect());
    let found = std::mem::take(&mut *locked(&found));
    let report = runtime.block_on(suite.finish(found));
    if !report.left_behind.is_empty() {
        note(&format!("could not be removed: {:?}", report.left_behind));
    }
    if *stopped.borrow() {
        // As a shell says it of a program that Ctrl-C ended.
        return Ok(ExitCode::from(130));
    }
    if !written(&report.store, &report) {
        return Ok(ExitCode::from(2));
    }
    // A group that asked nothing proves nothing, which is no success.
    let silent = report.silent_groups();
    if !conclusion.has_failed() && !silent.is_empty() {
        note(&format!("no case was run of {}", silent.join(", ")));
        return Ok(ExitCode::from(2));
    }
    Ok(conclusion.exit_code())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Turns true on Ctrl-C: what runs is given up, nothing more is begun, and what the run made is
/// dropped. A second Ctrl-C ends the program where it stands.
fn stopped_by_the_user(runtime: &Runtime) -> watch::Receiver<bool> {
    let (stop, stopped) = watch::channel(false);
    runtime.spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            note("stopping; what the run made is dropped");
            let _ = stop.send(true);
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(130);
        }
        // No such signals here: the channel stays open, and says false.
        std::future::pending::<()>().await;
    });
    stopped
}

/// How a case stands in the list of tests. Not run is not passed.
fn outcome(report: &CaseReport) -> Result<Completion, Failed> {
    match (report.as_expected(), report.ran()) {
        (true, true) => Ok(Completion::Completed),
        (true, false) => Ok(Completion::ignored_with(&report.message)),
        (false, _) => {
            let gap = match report.known_gap {
                Some(_) => " (a known gap; it closed or changed)",
                None => "",
            };
            let (found, expected) = (report.verdict, report.expected);
            Err(format!("{found}, expected {expected}{gap}: {}", report.message).into())
        }
    }
}

fn progress_line(report: &CaseReport, done: usize, of: usize) -> String {
    serde_json::json!({ "case": report.id, "verdict": report.verdict, "done": done, "of": of })
        .to_string()
}

fn var(name: &str) -> Option<String> {
    std::env::var(format!("SHELFWARD_CONFORMANCE_{name}"))
        .ok()
        .filter(|value| !value.is_empty())
}

/// Notes go to stderr; a reader that went away is no reason to fail.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    #[test]
    fn a_case_that_was_not_run_is_listed_as_ignored_with_its_reason() {
        let report = |verdict, expected| CaseReport {
            id: "eq/text".to_owned(),
            group: "eq".to_owned(),
            verdict,
            expected,
            message: "it has no lexical leg".to_owned(),
            known_gap: None,
            millis: 0,
        };
        let listed = |verdict, expected| outcome(&report(verdict, expected));
        let not_run = listed(Verdict::NotRun, Verdict::NotRun).unwrap();
        assert!(matches!(
            not_run,
            Completion::Ignored { reason: Some(why) } if why == "it has no lexical leg"
        ));
        for verdict in [Verdict::Honours, Verdict::Refuses] {
            let passed = listed(verdict, verdict).unwrap();
            assert!(matches!(passed, Completion::Completed));
        }
        // A gap that is not asked about is no gap that is still there.
        assert!(listed(Verdict::NotRun, Verdict::Errors).is_err());
        assert!(listed(Verdict::Errors, Verdict::Honours).is_err());
    }
}
