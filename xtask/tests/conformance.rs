//! `cargo xtask conformance` around a harness that is a script, so that nothing is built: what a signal ends,
//! and what is said of a store that gave no answer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use shelfward_core::Capabilities;
use tempfile::TempDir;

/// A folder with a cargo and a harness that do what a test says.
struct Place(TempDir);

/// A cargo that has built the harness.
const BUILDS: &str =
    r#"echo "{\"reason\":\"compiler-artifact\",\"executable\":\"$PLACE/harness\"}""#;
/// A harness that finds something, waits for its input to end, and reports, whoever listens.
const WAITS: &str = r#"trap '' PIPE; echo $$ > "$PLACE/pid.part"; mv "$PLACE/pid.part" "$PLACE/pid"
echo '{"case":"eq/text","group":"eq","left":0,"bad":0,"done":1,"of":2}' >&2
cat > /dev/null; cp "$PLACE/report" "$2"; echo > "$PLACE/ended""#;

impl Place {
    fn new(cargo: &str, harness: &str) -> Self {
        let this = Self(tempfile::tempdir().unwrap());
        for (name, script) in [("cargo", cargo), ("harness", harness)] {
            let file = this.at(name);
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        }
        let case = json!({ "id": "eq/text", "group": "eq", "rule": "It is so.", "verdict": "honours",
            "expected": "honours", "millis": 1 });
        let report = json!([{
            "schema": 1, "store": "memory", "versions": {}, "seed": 7, "totals": { "honours": 1 },
            "date": "2026-01-02T03:04:05Z", "suite": "0.1.0", "selected": 2, "interrupted": true,
            "groups": {}, "verdicts": [], "abilities": [], "capabilities": Capabilities::exact(),
            "leftBehind": [], "cases": [case],
        }]);
        fs::write(this.at("report"), report.to_string()).unwrap();
        this
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, stores: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("conformance");
        for store in stores {
            command.args(["--store", store]);
        }
        for file in ["json", "html", "junit"] {
            command.arg(format!("--{file}")).arg(self.at(file));
        }
        command
            .env("CARGO", self.at("cargo"))
            .env("PLACE", self.0.path())
            .env_remove("DATABASE_URL");
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, stores: &[&str]) -> Output {
        self.command(stores).output().unwrap()
    }

    fn begun(&self) -> Child {
        let mut command = self.command(&["memory", "sqlite"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// The process that a script told of.
    fn pid(&self) -> Pid {
        until("the script has begun", || self.at("pid").exists());
        Pid::from_raw(self.read("pid").trim().parse().unwrap()).unwrap()
    }
}

fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn is_gone(pid: Pid) {
    until("it has ended", || test_kill_process(pid).is_err());
}

#[test]
fn a_signal_ends_the_suite_and_what_was_found_is_reported() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Place::new(BUILDS, WAITS);
        let mut command = place.command(&["memory", "sqlite"]);
        // Nobody reads, as when a terminal was closed.
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let harness = place.pid();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        is_gone(harness);
        assert!(
            place
                .read("html")
                .contains("Interrupted: 1 of 2 cases were run.")
        );
        assert!(place.read("json").contains("\"interrupted\": true"));
        // The second store was not begun, which is said.
        assert!(
            place
                .read("junit")
                .contains("the run was interrupted before")
        );
    }
}

#[test]
fn a_killed_command_leaves_no_suite() {
    let place = Place::new(BUILDS, WAITS);
    let mut child = place.begun();
    let harness = place.pid();
    child.kill().unwrap();
    child.wait().unwrap();
    until("it came to its end", || place.at("ended").exists());
    is_gone(harness);
}

#[test]
fn a_signal_ends_what_is_being_built() {
    let place = Place::new(
        r#"sleep 600 & echo $! > "$PLACE/pid.part"; mv "$PLACE/pid.part" "$PLACE/pid"; wait"#,
        "",
    );
    let mut child = place.begun();
    let compiler = place.pid();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    is_gone(compiler);
    assert!(
        place
            .read("html")
            .contains("the run was interrupted before")
    );
}

#[test]
fn a_store_that_could_not_begin_is_in_every_report_beside_the_others() {
    let failed = json!([{ "schema": 1, "store": "memory", "failed": true,
        "notRun": "failed to connect: SQLSTATE 28P01" }]);
    let place = Place::new(
        BUILDS,
        r#"cp "$PLACE/report" "$2"; echo "a note of its own" >&2; exit 2"#,
    );
    fs::write(place.at("report"), failed.to_string()).unwrap();
    let done = place.run(&["memory", "postgres"]);
    assert_eq!(done.status.code(), Some(2));
    for report in ["json", "html", "junit"] {
        let text = place.read(report);
        assert!(text.contains("SQLSTATE 28P01"), "{report}: {text}");
        assert!(text.contains("DATABASE_URL is not set"), "{report}: {text}");
    }
    let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
    for once in [
        "memory: could not begin",
        "postgres: not run: DATABASE_URL is not set",
    ] {
        assert_eq!(said.matches(once).count(), 1, "{said}");
    }
    assert!(!said.contains("to rerun"), "{said}");
}

#[test]
fn a_suite_that_does_not_build_or_says_nothing_is_in_every_report() {
    let message =
        r#"{"reason":"compiler-message","message":{"rendered":"error[E0432]: no such\n"}}"#;
    for (cargo, harness, told) in [
        (
            format!("printf '%s\\n' '{message}'; exit 101"),
            "",
            "does not build",
        ),
        (BUILDS.to_owned(), "echo 'it broke' >&2; exit 3", "it broke"),
        (BUILDS.to_owned(), "exit 3", "left no report"),
    ] {
        let place = Place::new(&cargo, harness);
        let done = place.run(&["memory"]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(place.read("html").contains(told), "{told}");
        assert!(place.read("junit").contains(told), "{told}");
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(said.contains("E0432"), told == "does not build", "{said}");
    }
}

#[test]
fn without_a_terminal_each_group_that_ends_is_a_line() {
    let place = Place::new(BUILDS, WAITS);
    let mut command = place.command(&["memory"]);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    place.pid();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.contains("memory: eq as expected, 1 of 2 cases\n"),
        "{said}"
    );
}
