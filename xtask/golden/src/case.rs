//! Files of golden cases, as they are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// One file: cases of one function.
pub(crate) struct GoldenFile {
    /// Where it lies, below the folder that was given; with the function, where the file holds
    /// cases of several.
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
    /// Reads a file; nothing comes of one that holds no cases, and one for each function where
    /// its cases name theirs.
    pub(crate) fn read(
        root: &Path,
        path: &Path,
        is_known: fn(&str) -> bool,
    ) -> Result<Vec<Self>, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let file: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let Value::Object(mut file) = file else {
            return Ok(Vec::new());
        };
        let Some(Value::Array(cases)) = file.remove("cases") else {
            return Ok(Vec::new());
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // `name.derived.json` holds cases of `name`.
        let stem = name.split('.').next().unwrap_or_default();
        let declared = file.get("function").and_then(Value::as_str);
        let function = declared
            .filter(|declared| is_known(declared))
            .unwrap_or(stem);
        let path = path.strip_prefix(root).unwrap_or(path);
        let corpora = file.get("corpora").unwrap_or(&Value::Null);
        let mut by_function: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for mut case in cases {
            give_corpus(&mut case, corpora);
            let own = case.get("op").and_then(Value::as_str);
            let function = own.unwrap_or(function).to_owned();
            by_function.entry(function).or_default().push(case);
        }
        let mixed = by_function.len() > 1;
        let files = by_function.into_iter().map(|(function, cases)| Self {
            path: if mixed {
                PathBuf::from(format!("{} ({function})", path.display()))
            } else {
                path.to_path_buf()
            },
            function,
            cases,
        });
        Ok(files.collect())
    }
}

/// Puts a corpus of the file in the place of its name.
fn give_corpus(case: &mut Value, corpora: &Value) {
    let Some(named) = case.pointer_mut("/input/corpus") else {
        return;
    };
    let corpus = named.as_str().and_then(|name| corpora.get(name));
    if let Some(corpus) = corpus {
        *named = corpus.clone();
    }
}

impl Case {
    /// A case from its JSON, or what is wrong with it.
    pub(crate) fn read(case: &Value) -> Result<Self, String> {
        let case: &Map<String, Value> = case.as_object().ok_or("a case is no object")?;
        let either = |one, other| case.get(one).or_else(|| case.get(other));
        let name = either("name", "id").and_then(Value::as_str);
        let name = name.ok_or("a case has no name")?.to_owned();
        let input = case.get("input").ok_or("it has no input")?.clone();
        let output = either("output", "expect");
        // Where one key holds both, a refusal is an object that says so.
        let refused = case
            .get("expect")
            .is_some_and(|expect| expect.get("error").is_some());
        let expected = match (output, case.get("error")) {
            (Some(output), None) if !refused => Expected::Output(output.clone()),
            (Some(_), None) | (None, Some(_)) => Expected::Error,
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
