//! The suite as the tests of an adapter's crate.

mod interrupt;
mod options;
mod progress;

use std::error::Error;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Completion, Failed, Trial};
use tokio::runtime::Runtime;

use crate::context::{redacted, secrets};
use crate::gaps::KnownGaps;
use crate::process::{Processes, child_place, serve_child};
use crate::report::{CaseReport, NotRun, Outcome, rule};
use crate::store::StoreUnderTest;
use crate::suite::{DEFAULT_SEED, Suite};
use crate::sweep::sweep;
use crate::verdict::chain;

use interrupt::Interrupt;
use options::{Options, options};
use progress::Progress;

/// Runs the suite on a store, every case as its own test named `group/case`.
///
/// For a test target with `harness = false`. Takes the arguments of any Rust test, and
///
/// | option | what it does |
/// |---|---|
/// | `--group G` | only this group; may be repeated |
/// | `--case C` | only cases whose id begins so |
/// | `--seed N` | the seed of the random cases |
/// | `--json FILE`, `--html FILE`, `--junit FILE` | writes the report: as JSON, as a page for a browser, as JUnit XML |
/// | `--list` | prints the ids of the cases and their rules, and runs none |
/// | `--compare A B` | compares two JSON reports, and runs nothing |
/// | `--sweep` | removes what crashed runs left on the store, prints what, and runs no case |
///
/// and from the environment what holds for every program of a `cargo test`:
///
/// | variable | what it does |
/// |---|---|
/// | `SHELFWARD_CONFORMANCE_GROUPS` | only these groups, separated by commas, where there is no `--group` |
/// | `SHELFWARD_CONFORMANCE_CASE` | as `--case` |
/// | `SHELFWARD_CONFORMANCE_SEED` | as `--seed` |
/// | `SHELFWARD_CONFORMANCE_REPORT` | as `--json` |
/// | `SHELFWARD_CONFORMANCE_REPORTS` | writes the report into this folder, as JSON, named after the store |
/// | `SHELFWARD_CONFORMANCE_KILLS` | how often a second process is killed in each case that does so |
/// | `SHELFWARD_CONFORMANCE_CRASHES` | how often a server is crashed in each case that does so under writers |
///
/// Where the store has a [place](StoreUnderTest::place), the suite begins this program again as a
/// second process. So `main` does nothing but call this, and makes the same store each time.
///
/// A case passes when it finds what is expected: `honours`, `refuses` where the capabilities exclude
/// the thing, or the verdict of its known gap. One that does not apply to the store is ignored, and its
/// line says why.
///
/// Ctrl-C, SIGTERM and SIGHUP end the run: what it made is removed, and the reports hold what was found
/// until then and say that they were interrupted. A second one ends the program where it stands.
pub fn run_tests(store: impl StoreUnderTest + 'static, known_gaps: &str) -> ExitCode {
    if let Some(place) = child_place() {
        return second_process(Arc::new(store), place);
    }
    let store: Arc<dyn StoreUnderTest> = Arc::new(store);
    let options = match options() {
        Ok(options) => options,
        Err(ended) => return ended,
    };
    let ended = match options.sweep {
        true => swept(&*store),
        false => run(store.clone(), known_gaps, &options),
    };
    ended.unwrap_or_else(|problem| {
        let why = redacted(&chain(&*problem), &secrets(&*store));
        begin_failed(store.name(), &why, &options)
    })
}

/// In the place of [`run_tests`] where the store was to be run and cannot be, and why: for `main` of a
/// store whose address or password cannot be used. The reports say so, and the exit code is 2.
///
/// `why` must show no secret.
pub fn could_not_begin(store: &str, why: &str) -> ExitCode {
    match options() {
        Ok(options) => begin_failed(store, why, &options),
        Err(ended) => ended,
    }
}

fn begin_failed(store: &str, why: &str, options: &Options) -> ExitCode {
    let not_run = NotRun::failed(store, why);
    note(&not_run.to_string());
    options.write(&[Outcome::NotRun(not_run)]);
    ExitCode::from(2)
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
    let options = match options() {
        Ok(options) => options,
        Err(ended) => return ended,
    };
    let (selection, cases) = (options.selection(), Suite::all_cases());
    let ids = cases.iter().filter(|case| selection.takes(case));
    let ids: Vec<String> = ids.map(|case| case.info().id.clone()).collect();
    if options.lists() && child_place().is_none() {
        return listed(&ids);
    }
    let not_run = NotRun::new(store, why);
    if !options.is_watched() {
        note(&not_run.to_string());
    }
    let written = options.write(&[Outcome::NotRun(not_run)]);
    if !written || options.sweep || child_place().is_some() {
        return ExitCode::from(2);
    }
    let trials = ids.into_iter().map(|id| {
        let why = why.to_owned();
        Trial::ignorable_test(id, move || Ok(Completion::ignored_with(why)))
    });
    libtest_mimic::run(&options.test, trials.collect()).exit_code()
}

type Ended = Result<ExitCode, Box<dyn Error>>;

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

/// Prints ids, each with its rule.
fn listed(ids: &[String]) -> ExitCode {
    let lines = ids.iter().map(|id| format!("{id}\t{}", rule(id)));
    match printed(&lines.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
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

fn run(store: Arc<dyn StoreUnderTest>, known_gaps: &str, options: &Options) -> Ended {
    let gaps = KnownGaps::parse(known_gaps)?;
    let cases = Suite::all_cases();
    let is_case = |id: &str| cases.iter().any(|case| case.info().id == id);
    if let Some(gap) = gaps.all().iter().find(|gap| !is_case(&gap.case)) {
        return Err(format!("a known gap names no case: {}", gap.case).into());
    }
    options.files.check()?;
    let (runtime, selection) = (Arc::new(runtime()?), options.selection());
    if !cases.iter().any(|case| selection.takes(case)) {
        return Err("no case is selected; --list prints them".into());
    }
    if options.lists() {
        let taken = cases.iter().filter(|case| selection.takes(case));
        let ids: Vec<String> = taken.map(|case| case.info().id.clone()).collect();
        return Ok(listed(&ids));
    }
    let interrupt = Interrupt::listen(&runtime, options.is_watched());
    let seed = options.seed.unwrap_or(DEFAULT_SEED);
    let suite = Suite::with_processes(store.clone(), gaps, &selection, seed, Processes::Real);
    let suite = runtime.block_on(async {
        tokio::select! {
            suite = suite => suite.map(Some),
            () = interrupt.wait() => Ok(None),
        }
    })?;
    let Some(suite) = suite.map(Arc::new) else {
        // Opening may have made something.
        let _ = runtime.block_on(store.tear_down());
        begin_failed(store.name(), "interrupted before its first case", options);
        return Ok(ExitCode::from(128 + interrupt.signal().unwrap_or_default()));
    };
    // Not run is no proof, and a store that says it keeps what it is given has to prove it.
    if suite.claims_more_than_it_shows() {
        return Err(
            "the store declares that it is durable, and its StoreUnderTest names no place \
                    where it could be opened again"
                .into(),
        );
    }
    let found: Arc<Mutex<Vec<CaseReport>>> = Arc::default();
    let progress = options.is_watched().then(|| Progress::new(&suite));
    let progress = Arc::new(Mutex::new(progress));
    let trials = suite.cases().iter().cloned().map(|case| {
        let (runtime, suite, interrupt) = (runtime.clone(), suite.clone(), interrupt.clone());
        let (found, progress) = (found.clone(), progress.clone());
        Trial::ignorable_test(case.info().id.clone(), move || {
            let ended = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = interrupt.wait() => None,
                    report = suite.run(&case) => Some(report),
                }
            });
            let report = ended.ok_or("interrupted")?;
            if let Some(progress) = &mut *locked(&progress) {
                note(&progress.line(&report));
            }
            let outcome = outcome(&report);
            locked(&found).push(report);
            outcome
        })
    });
    let trials = trials.collect();
    // Who prints to a terminal or a reader that is gone panics. What was found is reported all the same.
    let conclusion = catch_unwind(AssertUnwindSafe(|| {
        libtest_mimic::run(&options.test, trials)
    }))
    .ok();
    let found = std::mem::take(&mut *locked(&found));
    let mut report = runtime.block_on(suite.finish(found));
    let signal = interrupt.signal();
    report.interrupted = signal.is_some() || conclusion.is_none();
    if !report.left_behind.is_empty() {
        note(&format!("could not be removed: {:?}", report.left_behind));
    }
    // A group that asked nothing proves nothing, which is no success.
    let silent = report.silent_groups().join(", ");
    if !options.write(&[Outcome::Ran(report)]) {
        return Ok(ExitCode::from(2));
    }
    Ok(match (signal, conclusion) {
        // As a shell says it of a program that a signal ended.
        (Some(signal), _) => ExitCode::from(128 + signal),
        (None, None) => ExitCode::from(2),
        (None, Some(conclusion)) if !conclusion.has_failed() && !silent.is_empty() => {
            note(&format!("no case was run of {silent}"));
            ExitCode::from(2)
        }
        (None, Some(conclusion)) => conclusion.exit_code(),
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Notes go to stderr; a reader that went away is no reason to fail.
pub(crate) fn note(text: &str) {
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
            rule: String::new(),
            verdict,
            expected,
            message: "it has no lexical leg".to_owned(),
            causes: Vec::new(),
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
