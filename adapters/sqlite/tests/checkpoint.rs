//! A checkpoint that is cut off leaves a file that is whole only together with its log.
//!
//! The tests run themselves as other processes: ones that are killed within a checkpoint, 16 times or
//! as often as `SHELFWARD_KILLS` says, and ones that run out of room.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use shelfward_core::{Collection, ErrorKind, Record, StoreError};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::{collection, name, open, open_with, rows, seed, source, versions};

const PASSAGES: usize = 50;
const PAGE: u64 = 4096;

fn beside(path: &Path, end: &str) -> std::path::PathBuf {
    format!("{}{end}", path.display()).into()
}

/// Whether a file is shorter than its header says.
fn is_shorter(file: &File) -> bool {
    let mut pages = [0; 4];
    let read = file.read_exact_at(&mut pages, 28);
    let pages = u64::from(u32::from_be_bytes(pages));
    read.is_ok() && pages * PAGE > file.metadata().unwrap().len()
}

fn is_cut_off(path: &Path) -> bool {
    is_shorter(&File::open(path).unwrap())
}

fn read_only() -> SqliteOptions {
    SqliteOptions::default().with_read_only(true)
}

/// The bytes of a file and of its log.
fn bytes(path: &Path) -> (Vec<u8>, Option<Vec<u8>>) {
    let log = std::fs::read(beside(path, "-wal")).ok();
    (std::fs::read(path).unwrap(), log)
}

/// The refusal of a file, which is left as it is with its log.
fn refused(path: &Path, options: SqliteOptions) -> StoreError {
    let before = bytes(path);
    let error = SqliteStore::open(path, options).unwrap_err();
    assert!(bytes(path) == before, "{error}");
    error
}

fn is_corrupt(path: &Path) {
    for options in [SqliteOptions::default(), read_only()] {
        let error = refused(path, options);
        assert!(matches!(error.kind(), ErrorKind::Corrupt(_)), "{error}");
    }
}

/// A file after a whole checkpoint, beside the log that was brought in.
async fn brought_in(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let store = open(path);
    let held = collection(&store).await;
    held.upsert(&big(0)).await.unwrap();
    let other = Connection::open(path).unwrap();
    other
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
        .unwrap();
    let (file, log) = bytes(path);
    drop(other);
    store.close().await.unwrap();
    std::fs::remove_file(path).unwrap();
    (file, log.unwrap())
}

fn write(path: &Path, file: &[u8], log: Option<&[u8]>) {
    std::fs::write(path, file).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(path, end));
    }
    if let Some(log) = log {
        std::fs::write(beside(path, "-wal"), log).unwrap();
    }
}

#[tokio::test]
async fn a_checkpoint_cut_off_after_any_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.db");
    let (file, log) = brought_in(&path).await;
    let page = usize::try_from(PAGE).unwrap();
    let pages = file.len() / page;
    assert!(pages > 200, "{pages}");
    for end in (1..pages).step_by(57).chain([pages - 1]) {
        for options in [read_only(), SqliteOptions::default()] {
            write(&path, &file[..end * page], Some(&log));
            assert!(is_cut_off(&path));
            let store = open_with(&path, options);
            let held = store.open(&name()).await.unwrap();
            assert_eq!(all_of(&held).await, 1, "{end}");
            store.close().await.unwrap();
        }
        assert!(!is_cut_off(&path), "{end}");
        // Without its log it is damaged.
        write(&path, &file[..end * page], None);
        is_corrupt(&path);
    }
}

#[tokio::test]
async fn a_file_that_its_log_does_not_mend_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.db");
    let (file, _) = brought_in(&path).await;
    write(&path, &file, None);
    // One write, which touches few pages.
    let store = open(&path);
    let held = store.open(&name()).await.unwrap();
    held.upsert(&source("t", "s", 1, 2)).await.unwrap();
    let (_, log) = bytes(&path);
    let log = log.unwrap();
    let page = usize::try_from(PAGE).unwrap();
    assert!(log.len() < file.len() / 2);
    store.close().await.unwrap();
    for end in [2, file.len() / page / 2] {
        write(&path, &file[..end * page], Some(&log));
        is_corrupt(&path);
    }
    write(&path, &file, Some(&log));
    let held = open(&path).open(&name()).await.unwrap();
    assert_eq!(versions(&held, "t", "s").await, [2]);
}

#[tokio::test]
async fn another_programs_file_and_log_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE mine (x);
             INSERT INTO mine SELECT randomblob(40000) FROM json_each('[1,2,3,4,5,6,7,8]');
             PRAGMA wal_checkpoint(PASSIVE)",
        )
        .unwrap();
    let (file, log) = bytes(&path);
    let log = log.unwrap();
    drop(theirs);
    let page = usize::try_from(PAGE).unwrap();
    for length in [page, file.len() - page, file.len()] {
        write(&path, &file[..length], Some(&log));
        is_corrupt(&path);
        assert!(!beside(&path, "-shm").exists());
    }
    // Their log beside a file of ours.
    let ours = folder.path().join("ours.db");
    let (file, _) = brought_in(&ours).await;
    write(&ours, &file, Some(&log));
    is_corrupt(&ours);
    // Without that log it is as it was.
    write(&ours, &file, None);
    let held = open(&ours).open(&name()).await.unwrap();
    assert_eq!(all_of(&held).await, 1);
}

/// Whoever makes a file writes its pages while a rollback journal says that there were none.
#[tokio::test]
async fn a_file_whose_making_was_cut_off_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.db");
    let (file, _) = brought_in(&path).await;
    let mut journal = vec![0; 512];
    journal[..8].copy_from_slice(&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    journal[20..24].copy_from_slice(&512_u32.to_be_bytes());
    journal[24..28].copy_from_slice(&u32::try_from(PAGE).unwrap().to_be_bytes());
    let page = usize::try_from(PAGE).unwrap();
    for end in [1, file.len() / page - 1] {
        write(&path, &file[..end * page], None);
        std::fs::write(beside(&path, "-journal"), &journal).unwrap();
        let error = refused(&path, read_only());
        assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
        assert!(error.to_string().contains("open and close"), "{error}");
        let store = open(&path);
        assert!(store.list().await.unwrap().is_empty());
        collection(&store).await;
        store.close().await.unwrap();
    }
}

const FOLDER: &str = "SHELFWARD_CHECKPOINT_FOLDER";
const CASE: &str = "SHELFWARD_CHECKPOINT_CASE";

/// Runs this test's program as another process, by way of a shell's line that ends in `exec "$@"`.
fn process(folder: &Path, case: &str, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line, "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "another_process", "--nocapture"]);
    command.env(FOLDER, folder).env(CASE, case);
    command
}

#[tokio::test]
async fn another_process() {
    let (Some(folder), Ok(case)) = (std::env::var_os(FOLDER), std::env::var(CASE)) else {
        return;
    };
    let folder = Path::new(&folder);
    match case.as_str() {
        "grow" => grow(folder).await,
        "full" => on_a_full_disk(folder).await,
        "limited" => {
            let path = folder.join("full.db");
            let (kept, _) = run_out_of_room(&path, is_full_or_engine).await;
            println!("kept {kept}");
        }
        other => unreachable!("{other}"),
    }
}

/// A source of 600 pages and more, and of no words, which take time.
fn big(at: usize) -> Vec<Record> {
    let mut records = source("t", &format!("s{at}"), PASSAGES, 1);
    for record in &mut records {
        record.text = Some(". ".repeat(24_000).into());
    }
    records
}

/// Files one source after another, and brings each into the file by itself.
async fn grow(folder: &Path) {
    let path = folder.join("killed.db");
    let done = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.join("done"))
        .unwrap();
    let store = open(&path);
    let held = collection(&store).await;
    let other = Connection::open(&path).unwrap();
    for at in usize::try_from(rows(&held).await).unwrap() / PASSAGES.. {
        held.upsert(&big(at)).await.unwrap();
        done.write_all_at(&(at + 1).to_le_bytes(), 0).unwrap();
        other
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
    }
}

fn done(folder: &Path) -> usize {
    let bytes = std::fs::read(folder.join("done")).unwrap();
    bytes.try_into().map_or(0, usize::from_le_bytes)
}

/// Waits until a process has done something. It looks as often as it can: a checkpoint is short.
fn wait_for(process: &mut Child, reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while (0..1_000).all(|_| !reached()) {
        assert!(process.try_wait().unwrap().is_none(), "the process ended");
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing goes on");
    }
}

#[tokio::test]
async fn a_process_killed_within_a_checkpoint() {
    let kills: usize = std::env::var("SHELFWARD_KILLS").map_or(16, |n| n.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_KILL_SEED"));
    let mut cut_off = 0;
    let mut folder = tempfile::tempdir().unwrap();
    for kill in 0..kills {
        if kill % 5 == 0 {
            folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("done"), b"").unwrap();
        }
        let path = folder.path().join("killed.db");
        let before = done(folder.path());
        let mut process = process(folder.path(), "grow", "exec \"$@\"")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&mut process, || done(folder.path()) > before);
        if kill % 4 == 0 {
            std::thread::sleep(Duration::from_micros(random.usize(..40_000) as u64));
        } else {
            let file = File::open(&path).unwrap();
            wait_for(&mut process, || is_shorter(&file));
        }
        process.kill().unwrap();
        process.wait().unwrap();
        cut_off += usize::from(is_cut_off(&path));

        let told = done(folder.path());
        let store = open(&path);
        let held = store.open(&name()).await.unwrap();
        let there = all_of(&held).await;
        assert!(there == told || there == told + 1, "{kill}: {there} {told}");
        store.close().await.unwrap();
    }
    eprintln!("{cut_off} of {kills} kills cut a checkpoint off");
    assert!(cut_off > 0, "no checkpoint was cut off");
}

/// How many sources there are, each of which is whole.
async fn all_of(held: &Collection) -> usize {
    let there = usize::try_from(rows(held).await).unwrap() / PASSAGES;
    for at in 0..there {
        assert_eq!(versions(held, "t", &format!("s{at}")).await, [1; PASSAGES]);
    }
    there
}

/// Writes until there is no room, closes, and leaves what it wrote to be looked at.
async fn run_out_of_room(path: &Path, told: fn(&StoreError) -> bool) -> (usize, u64) {
    let store = open(path);
    let held = collection(&store).await;
    let mut kept = 0;
    let error = loop {
        match held.upsert(&big(kept)).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(told(&error), "{error}");
    let there = rows(&held).await;
    assert_eq!(there, (kept * PASSAGES) as u64);
    let error = store.close().await.unwrap_err();
    assert!(
        told(&error) && error.to_string().contains("to close"),
        "{error}"
    );
    let error = store.list().await.unwrap_err();
    assert!(error.is_refusal(), "{error}");
    assert!(kept > 1, "{kept}");
    (kept, there)
}

fn is_full(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Full)
}

/// A write that is cut short is told as full, and one of which nothing is written as an I/O error.
fn is_full_or_engine(error: &StoreError) -> bool {
    is_full(error) || matches!(error.kind(), ErrorKind::Engine)
}

async fn on_a_full_disk(folder: &Path) {
    let path = folder.join("full.db");
    let (kept, there) = run_out_of_room(&path, is_full).await;
    assert!(is_cut_off(&path));
    // Whether a reader finds room for its own files is not the question.
    if let Err(error) = SqliteStore::open(&path, SqliteOptions::default()) {
        assert!(is_full_or_engine(&error), "{error}");
    }
    let mut mount = Command::new("mount");
    mount.args(["-o", "remount,size=64m"]).arg(folder);
    assert!(mount.status().unwrap().success());
    whole_again(&path, kept, there).await;
}

/// With room again, all is there that was acknowledged, and the log is brought in.
async fn whole_again(path: &Path, kept: usize, there: u64) {
    let store = open(path);
    let held = store.open(&name()).await.unwrap();
    assert_eq!(rows(&held).await, there);
    assert_eq!(all_of(&held).await, kept);
    held.upsert(&big(kept)).await.unwrap();
    store.close().await.unwrap();
    assert!(!is_cut_off(path));
}

fn ended(mut command: Command) -> String {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{failed}");
    told
}

#[test]
fn a_disk_that_is_full_within_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    // A small disk of the process's own, seen by nobody else.
    let may_mount = |line: &str| {
        let mut tried = Command::new("unshare");
        tried
            .args(["-rm", "sh", "-c", line, "sh"])
            .arg(folder.path());
        tried.output().is_ok_and(|output| output.status.success())
    };
    if !may_mount("mount -t tmpfs -o size=8m none \"$1\"") {
        eprintln!("not run: no small disk can be mounted here");
        return;
    }
    let line = format!(
        "exec unshare -rm sh -c 'mount -t tmpfs -o size=8m none \"${FOLDER}\" && exec \"$@\"' sh \"$@\""
    );
    let told = ended(process(folder.path(), "full", &line));
    assert!(told.contains("1 passed"), "{told}");
}

#[tokio::test]
async fn a_file_that_may_not_grow_within_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.db");
    // The log fits, and the file that it is brought into does not.
    let line = "trap '' XFSZ; ulimit -f 20000; exec \"$@\"";
    let told = ended(process(folder.path(), "limited", line));
    let kept = told.lines().find_map(|line| line.split("kept ").nth(1));
    let kept = kept.unwrap().trim().parse().unwrap();
    assert!(is_cut_off(&path), "{told}");
    whole_again(&path, kept, (kept * PASSAGES) as u64).await;
}
