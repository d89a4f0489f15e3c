//! A process that is killed while it writes leaves the old whole or the new whole.
//!
//! The test runs itself as another process, which replaces a source without end, and kills it at a
//! random moment: 40 times, or as often as `SHELFWARD_KILLS` says.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{
    collection, everything, lexical, name, of_source, of_tenant, open, rows, seed, source, versions,
};

const CHILD: &str = "SHELFWARD_SQLITE_CHILD";

/// How many passages a version has.
fn passages(version: usize) -> usize {
    20 + version % 7
}

/// What the killed process does.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let folder = Path::new(&folder);
    let done = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.join("done"))
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = open(&folder.join("killed.db"));
        let collection = collection(&store).await;
        let found = versions(&collection, "t", "s").await;
        let mut version = usize::try_from(found.first().copied().unwrap_or(0)).unwrap();
        loop {
            version += 1;
            let records = source("t", "s", passages(version), version);
            collection
                .replace(&of_source("t", "s"), &records)
                .await
                .unwrap();
            done.write_all_at(&version.to_le_bytes(), 0).unwrap();
        }
    });
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(CHILD, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn done(folder: &Path) -> usize {
    let bytes = std::fs::read(folder.join("done")).unwrap();
    bytes.try_into().map_or(0, usize::from_le_bytes)
}

#[tokio::test]
async fn a_process_killed_at_any_moment() {
    let kills: usize = std::env::var("SHELFWARD_KILLS").map_or(40, |n| n.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_KILL_SEED"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.db");
    std::fs::write(folder.path().join("done"), b"").unwrap();
    let mut last = 0;
    for kill in 0..kills {
        let mut process = start(folder.path());
        // From its first write on, or before it has made the file.
        let begun = Instant::now();
        if kill % 4 != 0 {
            while done(folder.path()) <= last && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        std::thread::sleep(Duration::from_micros(random.usize(..60_000) as u64));
        process.kill().unwrap();
        process.wait().unwrap();

        let store = open(&path);
        if store.list().await.unwrap().is_empty() {
            assert_eq!(done(folder.path()), 0, "kill {kill}: what was made is lost");
            continue;
        }
        let collection = store.open(&name()).await.unwrap();
        let found = versions(&collection, "t", "s").await;
        let version = usize::try_from(found.first().copied().unwrap_or(0)).unwrap();
        let whole = if version == 0 { 0 } else { passages(version) };
        let expected = vec![i64::try_from(version).unwrap(); whole];
        assert_eq!(found, expected, "kill {kill}");
        assert_eq!(rows(&collection).await, whole as u64, "kill {kill}");
        let words = format!("v{version}");
        let worded = collection
            .search(&lexical(&words, of_tenant("t"), 100))
            .await
            .unwrap();
        assert_eq!(worded.hits.len(), whole, "kill {kill}");
        assert_eq!(everything(&collection).await.unwrap().len(), whole);
        // A write that returned is not lost, and the one that never returned may be there.
        let told = done(folder.path()).max(last);
        assert!(
            version == told || version == told + 1,
            "kill {kill}: {version} and {told}"
        );
        last = version;
        store.close().await.unwrap();
    }
    assert!(last > kills / 2, "{last} versions were written");
}

#[tokio::test]
async fn a_process_killed_while_it_makes_the_file() {
    let kills: usize = std::env::var("SHELFWARD_KILLS").map_or(40, |n| n.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed("SHELFWARD_KILL_SEED"));
    let (mut nothing, mut made) = (0, 0);
    for kill in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("killed.db");
        std::fs::write(folder.path().join("done"), b"").unwrap();
        let mut process = start(folder.path());
        // Half of them from the moment on when there is something.
        let begun = Instant::now();
        while kill % 2 == 0 && !path.exists() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(random.usize(..20_000) as u64));
        process.kill().unwrap();
        process.wait().unwrap();
        match open(&path).list().await.unwrap().len() {
            0 => nothing += 1,
            _ => made += 1,
        }
    }
    assert!(nothing > 0, "{made} were made each time");
}
