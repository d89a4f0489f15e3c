//! `cargo xtask stores` on real servers. Each test has a temporary folder of its own, so that it
//! meets no server of anybody else, and sees what is left behind.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Servers take a wheel that may have to be downloaded, so these tests are asked for.
/// `cargo xtask ci` asks when it has started a server itself.
const SWITCH: &str = "SHELFWARD_TEST_STORES";

fn main() {
    let asked = std::env::var_os(SWITCH).is_some();
    let trial = |name: &str, test: fn(&Place)| {
        let run = move || {
            test(&Place::new());
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(!asked)
    };
    let trials = vec![
        trial("up_twice_is_one_server", up_twice_is_one_server),
        trial(
            "names_are_servers_of_their_own",
            names_are_servers_of_their_own,
        ),
        trial(
            "a_killed_server_is_cleared_away",
            a_killed_server_is_cleared_away,
        ),
        trial(
            "what_was_committed_outlives_a_kill",
            what_was_committed_outlives_a_kill,
        ),
        trial(
            "a_killed_caller_leaves_no_server",
            a_killed_caller_leaves_no_server,
        ),
        trial(
            "a_killed_guard_is_made_up_for",
            a_killed_guard_is_made_up_for,
        ),
        trial("without_a_wheel_it_says_so", without_a_wheel_it_says_so),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A temporary folder in which the command works.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The server may run as another user than the caller.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .arg("stores")
            .args(arguments)
            .env("TMPDIR", self.0.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command prints, which must end well.
    fn prints(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        let notes = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {notes}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn up(&self, name: &str) -> Value {
        let printed = self.prints(&["up", "postgres", "--json", "--name", name]);
        serde_json::from_str(&printed).unwrap()
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(self.0.path()).unwrap().next().is_none()
    }

    #[track_caller]
    fn down(&self) {
        self.prints(&["down", "--all"]);
        assert!(self.is_empty(), "something is left behind");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // After a test that failed, its servers would be left.
        let _ = self.command(&["down", "--all"]).output();
    }
}

fn text<'a>(server: &'a Value, field: &str) -> &'a str {
    server[field].as_str().unwrap()
}

fn kill(server: &Value, field: &str) {
    let pid = server[field].as_i64().unwrap().try_into().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

fn runs(server: &Value) -> bool {
    let command = fs::read(format!("/proc/{}/cmdline", server["pid"])).unwrap_or_default();
    String::from_utf8_lossy(&command).contains(text(server, "data"))
}

/// Long, since the tests beside this one hold the lock of the checkout while they start a server.
const DEADLINE: Duration = Duration::from_secs(180);

#[track_caller]
fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A program of the server, run as its user.
fn program(server: &Value, name: &str) -> Command {
    let mut words: Vec<String> = serde_json::from_value(server["run_as"].clone()).unwrap();
    words.push(format!("{}/{name}", text(server, "bin")));
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .current_dir("/")
        .stdin(Stdio::null());
    command
}

/// What a statement answers.
fn ask(server: &Value, statement: &str) -> Result<String, String> {
    let mut psql = program(server, "psql");
    let done = psql
        .args(["-XqtAw", "-d", text(server, "url"), "-c", statement])
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() {
        Ok(said(&done.stdout))
    } else {
        Err(said(&done.stderr))
    }
}

fn up_twice_is_one_server(place: &Place) {
    let server = place.up("one");
    ask(&server, "create extension vector").unwrap();
    for (question, answer) in [
        (
            "select current_user || current_database()",
            "shelfwardshelfward",
        ),
        ("select '[3,4]'::vector <-> '[0,0]'", "5"),
        ("show listen_addresses", "127.0.0.1"),
        ("show server_encoding", "UTF8"),
        (
            "select rolsuper from pg_roles where rolname = current_user",
            "t",
        ),
    ] {
        assert_eq!(ask(&server, question).unwrap(), answer);
    }
    assert_eq!(place.up("one"), server);
    let variable = place.prints(&["up", "postgres", "--name", "one"]);
    assert_eq!(variable, format!("DATABASE_URL={}\n", text(&server, "url")));

    let password = text(&server, "url").split([':', '@']).nth(2).unwrap();
    for arguments in [&["status"][..], &["status", "--json"]] {
        let printed = place.prints(arguments);
        assert!(printed.contains(&server["pid"].to_string()), "{printed}");
        assert!(!printed.contains(password), "a password is printed");
    }
    // Whoever may go through the folder reads no password.
    let folder = Path::new(text(&server, "data")).ancestors().nth(2).unwrap();
    let record = fs::metadata(folder.join("server.json")).unwrap();
    assert_eq!(record.permissions().mode() & 0o777, 0o600);
    let mut wrong = server.clone();
    wrong["url"] = text(&server, "url").replace(password, "wrong").into();
    let refused = ask(&wrong, "select 1").unwrap_err();
    assert!(
        refused.contains("password authentication failed"),
        "{refused}"
    );

    place.down();
    assert!(!runs(&server));
    // What is not there is ended already.
    place.down();
}

fn names_are_servers_of_their_own(place: &Place) {
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| place.up("one"));
        let other = scope.spawn(|| place.up("other"));
        (one.join().unwrap(), other.join().unwrap())
    });
    for field in ["url", "pid", "port", "data"] {
        assert_ne!(one[field], other[field], "{field}");
    }
    let password = |server: &Value| {
        text(server, "url")
            .split([':', '@'])
            .nth(2)
            .unwrap()
            .to_owned()
    };
    assert_ne!(password(&one), password(&other));
    ask(&one, "create table mark (number int)").unwrap();
    assert!(ask(&other, "select * from mark").is_err());
    place.prints(&["down", "postgres", "--name", "one"]);
    assert!(!runs(&one));
    assert_eq!(ask(&other, "select 1").unwrap(), "1");
    place.down();
    assert!(!runs(&other));
}

fn a_killed_server_is_cleared_away(place: &Place) {
    let killed = place.up("one");
    kill(&killed, "pid");
    soon("it ends", || !runs(&killed));
    assert!(place.prints(&["status"]).contains("has ended"));
    let anew = place.up("one");
    assert_ne!(anew["url"], killed["url"]);
    assert_eq!(ask(&anew, "select 1").unwrap(), "1");
    kill(&anew, "pid");
    soon("it ends", || !runs(&anew));
    place.down();
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    for server in [&killed, &anew] {
        let maker = server["pid"].to_string();
        let mut segments = segments.lines();
        let left = segments.any(|line| line.split_whitespace().nth(4) == Some(&maker));
        assert!(!left, "shared memory is left behind");
    }
}

/// What the tests of faults do: kill a server of their own, and start it again.
fn what_was_committed_outlives_a_kill(place: &Place) {
    let server = place.up("one");
    ask(&server, "create table mark (number int)").unwrap();
    ask(&server, "insert into mark select generate_series(1, 1000)").unwrap();
    kill(&server, "pid");
    soon("it ends", || !runs(&server));
    // While nobody has waited for the killed process, its id counts as one that runs.
    fs::remove_file(Path::new(text(&server, "data")).join("postmaster.pid")).unwrap();
    let mut postgres = program(&server, "postgres");
    postgres
        .args(["-D", text(&server, "data")])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut again = postgres.spawn().unwrap();
    soon("it starts again", || {
        // Again and again while processes of the killed one end.
        if again.try_wait().unwrap().is_some() {
            again = postgres.spawn().unwrap();
        }
        ask(&server, "select 1").is_ok()
    });
    assert_eq!(ask(&server, "select count(*) from mark").unwrap(), "1000");
    let status: Value = serde_json::from_str(&place.prints(&["status", "--json"])).unwrap();
    assert_eq!(status[0]["running"], true);
    assert_eq!(status[0]["pid"], again.id());
    let waits = std::thread::spawn(move || again.wait().unwrap());
    place.down();
    waits.join().unwrap();
}

/// A caller that stays, and the server that it printed.
fn guarded(place: &Place) -> (Child, Value) {
    let mut command = place.command(&["up", "postgres", "--json", "--until-stdin-closes"]);
    let mut caller = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(caller.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let server = serde_json::from_str(&line).unwrap();
    assert_eq!(ask(&server, "select 1").unwrap(), "1");
    (caller, server)
}

fn a_killed_caller_leaves_no_server(place: &Place) {
    let (mut caller, server) = guarded(place);
    // Another of this name would be ended with it.
    let second = place.run(&["up", "postgres", "--until-stdin-closes"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(runs(&server), "the second has ended the first");
    caller.kill().unwrap();
    caller.wait().unwrap();
    soon("nothing is left", || place.is_empty());
    assert!(!runs(&server));

    let (mut caller, server) = guarded(place);
    drop(caller.stdin.take());
    assert!(caller.wait().unwrap().success());
    assert!(place.is_empty(), "something is left behind");
    assert!(!runs(&server));
}

fn a_killed_guard_is_made_up_for(place: &Place) {
    let (mut caller, server) = guarded(place);
    kill(&server, "guard");
    assert!(!caller.wait().unwrap().success());
    assert!(runs(&server), "nobody could end it");
    let other = place.up("other");
    assert!(!runs(&server));
    assert!(runs(&other));
    place.down();
}

fn without_a_wheel_it_says_so(place: &Place) {
    let empty = tempfile::tempdir().unwrap();
    let mut up = place.command(&["up", "postgres"]);
    let done = up
        .env("CARGO_TARGET_DIR", empty.path())
        .env("PIP_NO_INDEX", "1")
        .output()
        .unwrap();
    let notes = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{notes}");
    assert!(
        notes.contains("no wheel of the server can be had"),
        "{notes}"
    );
    assert!(done.stdout.is_empty());
    assert!(place.is_empty(), "something is left behind");
}
