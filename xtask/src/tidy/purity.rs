//! The pure crates reach no runtime, and trees stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::Finding;
use crate::run::{cargo_with, output};

/// No runtime, file, socket, clock or thread in these. Their clippy.toml forbids the calls.
const PURE: [&str; 4] = [
    "shelfward-core",
    "shelfward-text",
    "shelfward-lexical",
    "shelfward-websearch",
];

/// What a tree of these must not hold.
const IMPURE: [&str; 6] = ["tokio", "async-std", "smol", "mio", "reqwest", "chrono"];

/// The most crates in the tree of core, itself included.
const CORE_TREE: usize = 36;

pub(super) fn findings(files: &[PathBuf]) -> (BTreeMap<String, usize>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut trees = BTreeMap::new();
    let adapters = files
        .iter()
        .filter(|file| file.starts_with("adapters") && file.ends_with("Cargo.toml"))
        .filter_map(|file| file.parent()?.file_name()?.to_str())
        .map(|name| format!("shelfward-{name}"));
    for name in PURE.map(str::to_owned).into_iter().chain(adapters) {
        match tree(&name) {
            Ok(tree) => {
                if PURE.contains(&name.as_str()) {
                    let reached = IMPURE.iter().filter(|impure| tree.contains(**impure));
                    findings.extend(reached.map(|impure| {
                        Finding::new(
                            name.clone(),
                            format!("reaches {impure}; the pure crates reach no runtime"),
                        )
                    }));
                }
                trees.insert(name, tree.len());
            }
            Err(why) => findings.push(Finding::new(name, format!("has no tree: {why}"))),
        }
    }
    if let Some(size) = trees
        .get("shelfward-core")
        .filter(|size| **size > CORE_TREE)
    {
        let what = format!("has {size} crates in its tree, at most {CORE_TREE} are allowed");
        findings.push(Finding::new("shelfward-core", what));
    }
    (trees, findings)
}

/// The names and versions of a package's normal dependencies, with itself.
fn tree(package: &str) -> Result<BTreeSet<String>, String> {
    let mut command = cargo_with("tree --edges normal --prefix none --format {p} --package");
    command.arg(package);
    let printed = output(&mut command)?;
    Ok(printed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect())
}
