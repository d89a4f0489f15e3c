//! Files in folders that may not be written. Rights do not bind root, so the tests run themselves
//! as another user where root runs them.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use shelfward_core::{ErrorKind, Store, StoreError};
use shelfward_sqlite::{SqliteOptions, SqliteStore};
use support::{collection, name, open, open_with, source, versions};

const FOLDER: &str = "SHELFWARD_UNWRITABLE_FOLDER";
const CASE: &str = "SHELFWARD_UNWRITABLE_CASE";

fn read_only() -> SqliteOptions {
    SqliteOptions::default().with_read_only(true)
}

fn rights(folder: &Path, mode: u32) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A folder of a closed store with five passages.
async fn closed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db"));
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 1)).await.unwrap();
    store.close().await.unwrap();
    folder
}

/// Begins a case in a process of a user who may read the folder and not write it.
fn another_user(folder: &Path, case: &str) -> (Child, tempfile::TempDir) {
    rights(folder, 0o555);
    // Where that user may run it.
    let home = tempfile::tempdir().unwrap();
    rights(home.path(), 0o755);
    let program = home.path().join("test");
    // A process that begins elsewhere while the copy is written holds it open for a moment, and what is
    // open for writing cannot be run.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut process = Command::new(program);
    process.args(["--exact", "as_another_user", "--nocapture"]);
    process.env(FOLDER, folder).env(CASE, case);
    if std::fs::metadata(folder).unwrap().uid() == 0 {
        process.uid(65_534).gid(65_534);
    }
    process.stdout(Stdio::piped()).stderr(Stdio::piped());
    (process.spawn().unwrap(), home)
}

fn without_the_right(folder: &Path, case: &str) {
    let (process, _home) = another_user(folder, case);
    let ended = process.wait_with_output().unwrap();
    rights(folder, 0o755);
    let told = String::from_utf8_lossy(&ended.stdout);
    let failed = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{told}{failed}");
    assert!(told.contains(&format!("{case} is done")), "{told}{failed}");
}

fn refused(path: &Path, options: SqliteOptions, because: &str) -> StoreError {
    let error = SqliteStore::open(path, options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
    assert!(error.to_string().contains(because), "{error}");
    assert!(!format!("{error:?}").contains("a.db"), "{error:?}");
    error
}

async fn read(store: &Store) -> shelfward_core::Result<u64> {
    let held = store.open(&name()).await?;
    let count = held.count(&shelfward_core::Filter::everything()).await?;
    Ok(count.exact().unwrap())
}

/// What the other user does.
#[tokio::test]
async fn as_another_user() {
    let (Some(folder), Ok(case)) = (std::env::var_os(FOLDER), std::env::var(CASE)) else {
        return;
    };
    let folder = Path::new(&folder);
    let path = folder.join("a.db");
    assert!(std::fs::write(folder.join("mine"), "").is_err());
    match case.as_str() {
        "closed" => {
            let store = open_with(&path, read_only());
            let held = store.open(&name()).await.unwrap();
            assert_eq!(versions(&held, "t", "s").await, [1; 5]);
            let error = held.upsert(&source("t", "s", 1, 2)).await.unwrap_err();
            assert!(
                error.is_refusal() && error.to_string().contains("opened read_only"),
                "{error}"
            );
            drop(refused(&path, SqliteOptions::default(), "read_only"));
            let new = folder.join("new.db");
            drop(refused(
                &new,
                SqliteOptions::default(),
                "may not be written",
            ));
        }
        "open" => {
            // Another process has it open, and what it wrote is seen.
            let store = open_with(&path, read_only());
            let held = store.open(&name()).await.unwrap();
            assert_eq!(versions(&held, "t", "s").await, [2; 5]);
        }
        "written" => {
            let store = open_with(&path, read_only());
            assert_eq!(read(&store).await.unwrap(), 5);
            assert_eq!(read(&store).await.unwrap(), 5);
            say("it is read");
            let until = Instant::now() + Duration::from_secs(20);
            let error = loop {
                assert!(Instant::now() < until, "nobody wrote");
                match read(&store).await {
                    Ok(count) => assert_eq!(count, 5),
                    Err(error) => break error,
                }
            };
            let told = error.to_string();
            assert!(told.contains("written by others"), "{told}");
        }
        "log" => drop(refused(&path, read_only(), "log beside the file")),
        other => unreachable!("{other}"),
    }
    say(&format!("{case} is done"));
}

fn say(what: &str) {
    #[expect(clippy::print_stdout, reason = "who started this looks for it")]
    {
        println!("\n{what}");
    }
}

#[tokio::test]
async fn a_file_that_nobody_has_open_is_read_as_it_stands() {
    let folder = closed().await;
    without_the_right(folder.path(), "closed");
}

#[tokio::test]
async fn a_file_that_others_have_open_is_read_with_its_log() {
    let folder = closed().await;
    let store = open(&folder.path().join("a.db"));
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 2)).await.unwrap();
    for end in ["-wal", "-shm"] {
        rights(&folder.path().join(format!("a.db{end}")), 0o644);
    }
    without_the_right(folder.path(), "open");
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_log_that_nobody_brings_into_the_file_is_not_left_out() {
    let folder = closed().await;
    let path = folder.path().join("a.db");
    let store = open(&path);
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 5, 2)).await.unwrap();
    // As a process leaves it that was killed; and what only speeds up is lost.
    let copy = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let from = folder.path().join(format!("a.db{end}"));
        std::fs::copy(from, copy.path().join(format!("a.db{end}"))).unwrap();
    }
    without_the_right(copy.path(), "log");
    let again = open(&copy.path().join("a.db"));
    let held = again.open(&name()).await.unwrap();
    assert_eq!(versions(&held, "t", "s").await, [2; 5]);
}

#[tokio::test]
async fn what_is_read_as_it_stands_is_refused_once_somebody_writes() {
    let folder = closed().await;
    let path = folder.path().join("a.db");
    let (mut reader, _home) = another_user(folder.path(), "written");
    let mut told = BufReader::new(reader.stdout.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().ends_with("it is read")));
    rights(folder.path(), 0o755);
    let store = open(&path);
    let held = collection(&store).await;
    held.upsert(&source("t", "s", 9, 2)).await.unwrap();
    store.close().await.unwrap();
    assert!(told.any(|line| line.unwrap().ends_with("written is done")));
    assert!(reader.wait().unwrap().success());
}
