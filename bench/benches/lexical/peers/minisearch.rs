//! minisearch, run by Node in a process of its own that is told when to run a round.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use shelfward_bench::process::Process;

const VERSION: &str = "7.2.0";

/// Its name and version.
pub(crate) fn name() -> String {
    format!("minisearch {VERSION}")
}

pub(crate) struct Minisearch(Process);

impl Minisearch {
    /// Starts it, or says what is missing.
    pub(crate) fn new(documents: &[String], queries: &[String]) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("minisearch");
        install(&folder)?;
        let input = folder.join("input.json");
        let json = serde_json::json!({ "documents": documents, "queries": queries });
        std::fs::write(&input, json.to_string()).map_err(|e| e.to_string())?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/minisearch.mjs");
        let mut node = Command::new("node");
        node.arg(script)
            .arg(folder.join("node_modules/minisearch/dist/es/index.js"))
            .arg(input);
        Process::new(&mut node).map(Self)
    }

    /// How long each query takes.
    pub(crate) fn round(&mut self) -> Vec<Duration> {
        self.0.round("round").unwrap()
    }
}

fn install(folder: &Path) -> Result<(), String> {
    if folder.join("node_modules/minisearch").is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    let npm = Command::new("npm")
        .args([
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--prefix",
            ".",
        ])
        .arg(format!("minisearch@{VERSION}"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match npm {
        Ok(status) if status.success() => Ok(()),
        _ => Err("no minisearch".to_owned()),
    }
}
