//! A relative path, and a process that goes to another folder.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod support;
use std::path::Path;
use support::*;

#[tokio::test]
async fn a_relative_path_is_that_of_the_moment_of_opening() {
    let live = tempfile::tempdir().unwrap();
    let backup = tempfile::tempdir().unwrap();
    std::env::set_current_dir(live.path()).unwrap();
    let store = open(Path::new("library.db"));
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 2, 0)).await.unwrap();
    let to = backup.path().join("library.db");
    rusqlite::Connection::open("library.db")
        .unwrap()
        .execute("VACUUM INTO ?", [to.to_str().unwrap()])
        .unwrap();
    std::env::set_current_dir(backup.path()).unwrap();
    // Narrowed, say; it returned.
    c.delete_matching(&of_source("t", "s")).await.unwrap();
    // Reads of more than one at a time make further connections.
    let mut found = Vec::new();
    for leg in 0..4 {
        let _ = leg;
        let (leg1, leg2) = (dense(of_tenant("t"), 10), dense(of_tenant("t"), 10));
        let (a, b, n) = {
            let all = shelfward_core::Filter::everything();
            tokio::join!(c.search(&leg1), c.search(&leg2), c.count(&all))
        };
        found.push((a.map(|f| f.hits.len()), b.map(|f| f.hits.len()), n));
    }
    std::env::set_current_dir("/").unwrap();
    let all_right = found.iter().all(|(a, b, n)| {
        matches!((a, b), (Ok(0), Ok(0))) && n.as_ref().is_ok_and(|n| n.exact() == Some(0))
    });
    assert!(all_right, "{found:?}");
}
