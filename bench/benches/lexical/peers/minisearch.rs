//! minisearch, run by Node in a process of its own that is told when to run a round.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const VERSION: &str = "7.2.0";

/// Its name and version.
pub(crate) fn name() -> String {
    format!("minisearch {VERSION}")
}

pub(crate) struct Minisearch {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Minisearch {
    /// Starts it, or says what is missing.
    pub(crate) fn new(documents: &[String], queries: &[String]) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("minisearch");
        install(&folder)?;
        let input = folder.join("input.json");
        let json = serde_json::json!({ "documents": documents, "queries": queries });
        std::fs::write(&input, json.to_string()).map_err(|e| e.to_string())?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/minisearch.mjs");
        let mut child = Command::new("node")
            .arg(script)
            .arg(folder.join("node_modules/minisearch/dist/es/index.js"))
            .arg(input)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("no node: {e}"))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (Some(to), Some(from)) = (to, from) else {
            return Err("no node".to_owned());
        };
        Ok(Self {
            child,
            to,
            from: BufReader::new(from),
        })
    }

    /// How long each query takes.
    pub(crate) fn round(&mut self) -> Vec<Duration> {
        writeln!(self.to, "round").unwrap();
        self.to.flush().unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let millis: Vec<f64> = serde_json::from_str(&line).unwrap();
        let duration = |millis: f64| Duration::from_secs_f64(millis / 1e3);
        millis.into_iter().map(duration).collect()
    }
}

impl Drop for Minisearch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
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
