//! Files of golden cases, as they are kept.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::functions::is_known;

/// One file: cases of one function.
pub(crate) struct GoldenFile {
    /// Where it lies, below the folder that was given.
    pub(crate) path: PathBuf,
    /// The function, by the file's own word, or by its name where that is not known here.
    pub(crate) function: String,
    pub(crate) cases: Vec<Value>,
}

/// One case: an input, and what must come of it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) expected: Expected,
}

/// What must come of an input.
pub(crate) enum Expected {
    Output(Value),
    /// The call fails; the message is the original's own.
    Error,
}

impl GoldenFile {
    /// Reads a file; `None` where it holds no cases.
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let file: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let Value::Object(mut file) = file else {
            return Ok(None);
        };
        let Some(Value::Array(cases)) = file.remove("cases") else {
            return Ok(None);
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // `name.derived.json` holds cases of `name`.
        let stem = name.split('.').next().unwrap_or_default();
        let declared = file.get("function").and_then(Value::as_str);
        let function = declared
            .filter(|declared| is_known(declared))
            .unwrap_or(stem)
            .to_owned();
        let path = path.strip_prefix(root).unwrap_or(path).to_path_buf();
        Ok(Some(Self {
            path,
            function,
            cases,
        }))
    }
}

impl Case {
    /// A case from its JSON, or what is wrong with it.
    pub(crate) fn read(case: &Value) -> Result<Self, String> {
        let case: &Map<String, Value> = case.as_object().ok_or("a case is no object")?;
        let name = case.get("name").and_then(Value::as_str);
        let name = name.ok_or("a case has no name")?.to_owned();
        let input = case.get("input").ok_or("it has no input")?.clone();
        let expected = match (case.get("output"), case.get("error")) {
            (Some(output), None) => Expected::Output(output.clone()),
            (None, Some(_)) => Expected::Error,
            _ => return Err(format!("{name}: it has not one of output and error")),
        };
        Ok(Self {
            name,
            input,
            expected,
        })
    }
}

/// The JSON files below a folder, sorted, so that two runs print alike.
pub(crate) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
