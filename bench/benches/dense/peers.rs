//! The peers, run by Python in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use shelfward_bench::process::Process;

use crate::WIDTH;

const PACKAGES: [&str; 6] = [
    "numpy==2.4.6",
    "faiss-cpu==1.15.1",
    "hnswlib==0.8.0",
    "usearch==2.26.6",
    "apsw==3.54.1.0",
    "sqlite-vec==0.1.9",
];

pub(crate) struct Peers(Process);

impl Peers {
    /// Starts them on these vectors, or says what is missing.
    pub(crate) fn new(vectors: &[Arc<[f32]>], queries: &[Vec<f32>]) -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vector-peers");
        let python = install(&folder)?;
        let file = |name: &str, bytes: Vec<u8>| {
            let file = folder.join(name);
            std::fs::write(&file, bytes).map_err(|e| e.to_string())?;
            Ok::<_, String>(file)
        };
        let vectors = file("vectors.f32", bytes(vectors.iter().map(|v| &**v)))?;
        let queries = file("queries.f32", bytes(queries.iter().map(Vec::as_slice)))?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/vectors.py");
        let mut command = Command::new(python);
        command
            .arg(script)
            .arg(vectors)
            .arg(queries)
            .args([WIDTH.to_string(), rayon::current_num_threads().to_string()]);
        Process::new(&mut command).map(Self)
    }

    /// The version of one, which is built now where it was not asked for before.
    pub(crate) fn version(&mut self, name: &str) -> Result<String, String> {
        let answer = self.0.ask(&format!("version {name}"))?;
        serde_json::from_str(&answer).map_err(|_| answer.trim().to_owned())
    }

    /// What one finds for each query.
    pub(crate) fn ids(&mut self, name: &str) -> Result<Vec<Vec<usize>>, String> {
        let answer = self.0.ask(&format!("ids {name}"))?;
        serde_json::from_str(&answer).map_err(|_| answer.trim().to_owned())
    }

    /// How long each query takes one.
    pub(crate) fn round(&mut self, name: &str) -> Result<Vec<Duration>, String> {
        self.0.round(&format!("round {name}"))
    }
}

fn bytes<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Vec<u8> {
    vectors.flatten().flat_map(|x| x.to_le_bytes()).collect()
}

/// The Python that has the packages.
fn install(folder: &Path) -> Result<std::path::PathBuf, String> {
    let python = folder.join("venv/bin/python");
    let done = folder.join("installed");
    let wanted = PACKAGES.join(" ");
    if std::fs::read_to_string(&done).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(folder.join("venv")))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    run(Command::new(&python).args(pip).args(PACKAGES))?;
    std::fs::write(done, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match quiet.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("no peers of Python".to_owned()),
    }
}
