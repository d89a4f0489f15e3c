//! Every message that the page of PostgreSQL explains is one that the store has. Which of them a server makes
//! it say is looked at in `server/messages.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

/// All Rust text below a folder, with the literals that go on in the next line as one.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => all.push_str(&std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    let lines = all.split("\\\n").map(str::trim_start);
    lines.collect()
}

#[test]
fn no_message_on_the_page_is_one_that_there_was() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/postgres.md")).unwrap();
    let (_, table) = page.split_once("## Troubleshooting").unwrap();
    let known = [
        "adapters/postgres/src",
        "crates/adapter/src",
        "crates/core/src",
    ];
    let known: String = known.map(|folder| sources(&root.join(folder))).concat();
    let mut looked_at = 0;
    for row in table.lines().filter_map(|line| line.strip_prefix("| `")) {
        let message = row.split('`').next().unwrap();
        if message.starts_with("SQLSTATE") {
            continue;
        }
        looked_at += 1;
        // `…` and `: ` part what is made of several literals.
        for part in message.split('…').flat_map(|part| part.split(": ")) {
            let part = part.trim();
            let of_the_system = part == "connection refused";
            assert!(
                of_the_system || known.contains(part),
                "docs/postgres.md explains {message:?}, of which no source has {part:?}"
            );
        }
    }
    assert!(looked_at > 20, "{looked_at} rows; the table was not found");
}
