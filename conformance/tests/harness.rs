//! The harness as a program of its own, as one outside this workspace has it: its options, its reports, and
//! runs that end before their time. This program is that one, too, where it is begun as such.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use shelfward_conformance::layer::{LayeredStore, StoreLayer};
use shelfward_conformance::{Server, StoreUnderTest, run_tests};
use shelfward_core::adapter::StoreAdapter;
use shelfward_core::{CollectionSpec, ErrorKind, Operation, Result, StoreError, async_trait};
use shelfward_memory::MemoryStore;
use tempfile::TempDir;

/// The variable that makes this program the one under test, in the folder that it names.
const FOLDER: &str = "SUITE_HARNESS_FOLDER";
/// And this one has its store fail to open.
const LOCKED: &str = "SUITE_HARNESS_LOCKED";
const PASSWORD: &str = "hunter2hunter2";

/// A store that is slow to create collections, and makes a file beside them.
struct Slow {
    memory: MemoryStore,
    file: PathBuf,
}

struct Creating(Arc<dyn StoreAdapter>);

#[async_trait]
impl StoreLayer for Creating {
    fn behind(&self) -> &Arc<dyn StoreAdapter> {
        &self.0
    }

    async fn create(&self, spec: &CollectionSpec) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.0.create(spec).await
    }
}

#[async_trait]
impl StoreUnderTest for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
        if std::env::var_os(LOCKED).is_some() {
            let cause = format!("slow://user:{PASSWORD}@host refused {PASSWORD}: SQLSTATE 28P01");
            let denied = StoreError::new(Operation::Connect, ErrorKind::Denied("no such password"));
            return Err(denied.with_source(cause));
        }
        std::fs::write(&self.file, "made").unwrap();
        let memory = Arc::new(self.memory.clone());
        Ok(Arc::new(LayeredStore(Creating(memory))))
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(self)
    }

    async fn tear_down(&self) -> Result<()> {
        std::fs::remove_file(&self.file).unwrap();
        Ok(())
    }
}

/// Only its secret is of use: no case of servers is selected.
#[async_trait]
impl Server for Slow {
    fn address(&self) -> String {
        "127.0.0.1:1".to_owned()
    }

    async fn open_through(
        &self,
        _: std::net::SocketAddr,
        _: Duration,
    ) -> Result<Arc<dyn StoreAdapter>> {
        self.open().await
    }

    async fn open_with_secret(&self, _: &str) -> Result<Arc<dyn StoreAdapter>> {
        self.open().await
    }

    fn secrets(&self) -> Vec<String> {
        vec![PASSWORD.to_owned()]
    }
}

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let memory = MemoryStore::new();
        let file = Path::new(&folder).join("made");
        return run_tests(Slow { memory, file }, "");
    }
    let trial = |name: &str, test: fn()| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run)
    };
    let trials = vec![
        trial(
            "a_whole_run_writes_every_report",
            a_whole_run_writes_every_report,
        ),
        trial(
            "a_signal_ends_a_run_with_what_was_found",
            a_signal_ends_a_run,
        ),
        trial(
            "the_end_of_the_watcher_ends_a_run",
            the_end_of_the_watcher_ends_a_run,
        ),
        trial(
            "a_reader_that_went_away_loses_no_report",
            a_reader_that_went_away,
        ),
        trial(
            "a_store_that_cannot_begin_is_in_every_report",
            a_store_that_cannot_begin,
        ),
        trial(
            "cases_are_listed_with_their_rules",
            cases_are_listed_with_their_rules,
        ),
        trial("two_reports_are_compared", two_reports_are_compared),
        trial(
            "wrong_options_are_refused_before_the_run",
            wrong_options_are_refused,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(arguments).current_dir(self.0.path());
        for file in ["json", "html", "junit"] {
            command.arg(format!("--{file}")).arg(self.at(file));
        }
        for (name, _) in std::env::vars_os() {
            // As the run of these tests was told, this one need not do.
            if name.to_string_lossy().starts_with("SHELFWARD_CONFORMANCE") {
                command.env_remove(name);
            }
        }
        command.env(FOLDER, self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.read("json")).unwrap()
    }

    /// Begins a run that is long enough to be ended, and waits for its first cases.
    fn begun(&self) -> Child {
        let mut command = self.command(&["--group", "eq", "--group", "writes", "--watched"]);
        command.args(["--test-threads", "1"]).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut lines = lines.map_while(std::io::Result::ok);
        let progress: Vec<_> = lines.by_ref().take(3).collect();
        assert!(progress[2].contains("\"done\":3"), "{progress:?}");
        // Read on, so that it does not meet a closed pipe.
        std::thread::spawn(move || lines.for_each(drop));
        child
    }

    /// What was found until the run was ended is in every report, and nothing that it made is left.
    #[track_caller]
    fn is_interrupted(&self) {
        let json = self.json();
        let found = json[0]["cases"].as_array().unwrap().len();
        let selected = json[0]["selected"].as_u64().unwrap();
        assert_eq!(json[0]["interrupted"], true);
        assert!(
            found >= 3 && u64::try_from(found).unwrap() < selected,
            "{found}"
        );
        assert_eq!(json[0]["leftBehind"], serde_json::json!([]));
        let told = format!("Interrupted: {found} of {selected} cases were run.");
        assert!(self.read("html").contains(&told));
        assert!(
            self.read("junit")
                .contains("<error message=\"interrupted after")
        );
        assert!(!self.at("made").exists(), "what the run made is left");
    }
}

/// How a program ended, which must not take long.
fn ended(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        let late = begun.elapsed() > Duration::from_secs(60);
        if late {
            child.kill().unwrap();
        }
        assert!(!late, "the run did not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn a_whole_run_writes_every_report() {
    let place = Place::new();
    let done = place.run(&["--group", "paging", "--seed", "7"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let json = place.json();
    assert_eq!(
        (&json[0]["seed"], &json[0]["interrupted"]),
        (&7.into(), &false.into())
    );
    assert_eq!(json[0]["cases"].as_array().unwrap().len(), 4);
    assert!(place.read("html").contains("seed 7"));
    assert!(place.read("junit").contains("name=\"paging/stable-order\""));
}

fn a_signal_ends_a_run() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Place::new();
        let mut child = place.begun();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(ended(&mut child), Some(code), "{signal:?}");
        place.is_interrupted();
    }
}

fn the_end_of_the_watcher_ends_a_run() {
    let place = Place::new();
    let mut child = place.begun();
    drop(child.stdin.take());
    assert_eq!(ended(&mut child), Some(143));
    place.is_interrupted();
}

/// As where a terminal is closed, or the output is piped to `head`.
fn a_reader_that_went_away() {
    let place = Place::new();
    let mut command = place.command(&["--group", "paging", "--test-threads", "1"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(ended(&mut child), Some(2));
    assert_eq!(place.json()[0]["interrupted"], true);
    assert!(!place.at("made").exists(), "what the run made is left");
}

fn a_store_that_cannot_begin() {
    let place = Place::new();
    let done = place.command(&[]).env(LOCKED, "1").output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let json = place.json();
    assert_eq!(json[0]["failed"], true);
    for report in ["json", "html", "junit"] {
        let text = place.read(report);
        assert!(text.contains("SQLSTATE 28P01"), "{report}: {text}");
        assert!(
            !text.contains(PASSWORD) && !text.contains("@host"),
            "{report}: {text}"
        );
    }
    assert!(place.read("html").contains("could not begin"));
    assert!(place.read("junit").contains("errors=\"1\""));
    let told = String::from_utf8(done.stderr).unwrap();
    assert_eq!(told.matches("slow: could not begin").count(), 1, "{told}");
    assert!(!told.contains(PASSWORD), "{told}");
}

fn cases_are_listed_with_their_rules() {
    let place = Place::new();
    let done = place.run(&["--list", "--case", "eq/text"]);
    let listed = String::from_utf8(done.stdout).unwrap();
    let mut lines = listed.lines();
    assert_eq!(
        lines.next(),
        Some("eq/text\tA text matches the equal text only.")
    );
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(!place.at("made").exists(), "nothing is opened");
    // Other programs that run tests ask so.
    let done = place.run(&["--list", "--format", "terse"]);
    let listed = String::from_utf8(done.stdout).unwrap();
    assert!(listed.contains("eq/text: test\n"), "{listed}");
}

fn two_reports_are_compared() {
    let (place, other) = (Place::new(), Place::new());
    place.run(&["--case", "eq/text"]);
    other.command(&[]).env(LOCKED, "1").output().unwrap();
    let compared = |before: &Place, after: &Place| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg("--compare")
            .args([before.at("json"), after.at("json")]);
        command.env(FOLDER, place.0.path()).output().unwrap()
    };
    let same = compared(&place, &place);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let worse = compared(&place, &other);
    assert_eq!(worse.status.code(), Some(1));
    let told = String::from_utf8(worse.stdout).unwrap();
    assert!(told.starts_with("new failures: 1\n"), "{told}");
    let missing = Place::new();
    let none = compared(&place, &missing);
    assert_eq!(none.status.code(), Some(2));
    assert!(
        String::from_utf8(none.stderr)
            .unwrap()
            .contains("cannot be read")
    );
}

fn wrong_options_are_refused() {
    let place = Place::new();
    for wrong in [
        &["--case", "no/such"][..],
        &["--seed", "blue"],
        &["--no-such-option"],
    ] {
        let done = place.run(wrong);
        assert_eq!(done.status.code(), Some(2), "{wrong:?}");
        assert!(!place.at("made").exists(), "nothing is opened");
    }
}
