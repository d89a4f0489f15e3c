//! A relative path, and a process that goes to another folder. The only test of its process.

mod support;

use std::path::Path;

use shelfward_core::Filter;
use support::{collection, dense, of_source, of_tenant, open, source};

#[tokio::test]
async fn a_relative_path_is_that_of_the_moment_of_opening() {
    let live = tempfile::tempdir().unwrap();
    let backup = tempfile::tempdir().unwrap();
    let first = std::env::current_dir().unwrap();
    std::env::set_current_dir(live.path()).unwrap();
    // A name is a name, whatever else SQLite could take it for.
    drop(open(Path::new("file:odd%20name.db")));
    assert!(live.path().join("file:odd%20name.db").is_file());
    let store = open(Path::new("library.db"));
    let c = collection(&store).await;
    c.upsert(&source("t", "s", 2, 0)).await.unwrap();
    // A file of the same name, with older rows, where the process goes.
    let to = backup.path().join("library.db");
    rusqlite::Connection::open("library.db")
        .unwrap()
        .execute("VACUUM INTO ?", [to.to_str().unwrap()])
        .unwrap();
    std::env::set_current_dir(backup.path()).unwrap();
    c.delete_matching(&of_source("t", "s")).await.unwrap();
    // Several reads at a time open further connections.
    let (leg, all) = (dense(of_tenant("t"), 10), Filter::everything());
    for _ in 0..4 {
        let (a, b, n) = tokio::join!(c.search(&leg), c.search(&leg), c.count(&all));
        assert!(a.unwrap().hits.is_empty() && b.unwrap().hits.is_empty());
        assert_eq!(n.unwrap().exact(), Some(0));
    }
    std::env::set_current_dir(first).unwrap();
}
