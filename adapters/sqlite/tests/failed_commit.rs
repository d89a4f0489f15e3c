//! What is concluded from a commit whose log could not be synced.
//!
//! The test runs itself with a library in front of the system's whose `fsync` fails as long as a path
//! is there: once where that is a file, and always where it is a folder.

#![cfg(target_os = "linux")]

mod support;

use std::path::Path;
use std::process::Command;

use shelfward_core::{ErrorKind, Persistence};
use support::{collection, name, of_source, open, source, versions};

const FAILING: &str = "SHELFWARD_FAILING_FSYNC";

const LIBRARY: &str = r#"
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int sync_by(long call, int file) {
    const char *path = getenv("SHELFWARD_FAILING_FSYNC");
    if (path && access(path, F_OK) == 0) { unlink(path); errno = EIO; return -1; }
    return (int)syscall(call, file);
}
int fsync(int file) { return sync_by(SYS_fsync, file); }
int fdatasync(int file) { return sync_by(SYS_fdatasync, file); }
"#;

#[tokio::test]
async fn with_a_failing_disk() {
    let Some(failing) = std::env::var_os(FAILING) else {
        return;
    };
    let failing = Path::new(&failing);
    let store = open(&failing.with_file_name("a.db"));
    let held = collection(&store).await;
    let selector = of_source("t", "s");
    for (version, once) in [(1, true), (2, false)] {
        let before = source("t", "s", 5, version);
        held.replace(&selector, &before).await.unwrap();
        if once {
            std::fs::write(failing, "").unwrap();
        } else {
            std::fs::create_dir(failing).unwrap();
        }
        let after = source("t", "s", 5, 9);
        let error = held.replace(&selector, &after).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Engine), "{error}");
        let known = if once {
            Persistence::Temporary
        } else {
            Persistence::Unknown
        };
        assert_eq!(error.persistence(), known, "{error}");
        let before = i64::try_from(version).unwrap();
        assert_eq!(versions(&held, "t", "s").await, [before; 5]);
        if once && std::env::var_os("SHELFWARD_STOP").is_some() {
            break;
        }
    }
    // As a crash ends it: nothing is closed.
    println!("all is well");
    std::process::exit(0);
}

#[tokio::test]
async fn a_write_whose_commit_failed_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (code, library) = (folder.path().join("sync.c"), folder.path().join("sync.so"));
    std::fs::write(&code, LIBRARY).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &code]);
    if !compiler.status().is_ok_and(|status| status.success()) {
        eprintln!("not run: there is no compiler for C");
        return;
    }
    let run = |stop: bool| {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process
            .args(["--exact", "with_a_failing_disk", "--nocapture"])
            .env("LD_PRELOAD", &library)
            .env(FAILING, folder.path().join("failing"));
        if stop {
            process.env("SHELFWARD_STOP", "");
        }
        let output = process.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("all is well"), "{told}{failed}");
    };
    run(true);
    let path = folder.path().join("a.db");
    let store = open(&path);
    let held = store.open(&name()).await.unwrap();
    assert_eq!(versions(&held, "t", "s").await, [1; 5]);
    store.close().await.unwrap();
    run(false);
    // Nobody knows which of the two, and it is one of them.
    let held = open(&path).open(&name()).await.unwrap();
    let found = versions(&held, "t", "s").await;
    assert!(found == [2; 5] || found == [9; 5], "{found:?}");
}
