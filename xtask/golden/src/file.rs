//! One file of cases.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::deviations;
use crate::functions::{Function, by_text};

/// A file that was read.
pub(crate) struct File {
    path: PathBuf,
    content: Value,
}

/// What running a file came to.
#[derive(Default)]
pub(crate) struct Ran {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) passed: usize,
    /// Names of cases, with what was expected and got.
    pub(crate) failed: Vec<(String, String)>,
    /// Names of cases, with the rule of each.
    pub(crate) deviating: Vec<(String, &'static str)>,
    pub(crate) described: usize,
    pub(crate) not_known: usize,
}

/// Every JSON file under a folder.
pub(crate) fn find(dir: &Path) -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "json") {
                let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
                let content =
                    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
                files.push(File { path, content });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // What holds no cases is data beside them.
    files.retain(|file| file.content.get("cases").is_some_and(Value::is_array));
    Ok(files)
}

pub(crate) fn run(file: &File) -> Ran {
    let text = file
        .content
        .get("function")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let function = by_text(text);
    let cases = file
        .content
        .get("cases")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let name = |part: Option<&std::ffi::OsStr>| {
        part.map(|p| p.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let mut ran = Ran {
        file: format!(
            "{}/{}",
            name(file.path.parent().and_then(Path::file_name)),
            name(file.path.file_name())
        ),
        function: function.map_or_else(|| text.to_owned(), |known| known.name().to_owned()),
        ..Ran::default()
    };
    match function {
        None => ran.not_known = cases.len(),
        Some(Function::Described(_)) => ran.described = cases.len(),
        Some(Function::Ours { name, run }) => {
            for case in cases {
                let input = case.get("input").unwrap_or(&Value::Null);
                let case_name = case
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                match run(input, case) {
                    Ok(()) => ran.passed += 1,
                    Err(difference) => match deviations::rule(name, input) {
                        Some(rule) => ran.deviating.push((case_name, rule.name)),
                        None => ran.failed.push((case_name, difference)),
                    },
                }
            }
        }
    }
    ran
}
