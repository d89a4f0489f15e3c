//! Versions stand in one place, and every crate says what it is.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Finding, read};

pub(super) fn findings(files: &[PathBuf]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let members = files
        .iter()
        .filter(|file| file.ends_with("Cargo.toml") && *file != Path::new("Cargo.toml"));
    for file in members {
        let text = read(file);
        let place = format!("{}:1", file.display());
        let manifest: Table = match text.parse() {
            Ok(manifest) => manifest,
            Err(e) => {
                findings.push(Finding::new(place, format!("cannot be read: {e}")));
                continue;
            }
        };
        let package = manifest.get("package").and_then(Value::as_table);
        if package
            .and_then(|package| package.get("description"))
            .is_none()
        {
            findings.push(Finding::new(
                place.clone(),
                "has no description; say in a line what the crate is for",
            ));
        }
        for (name, dependency) in dependencies(&manifest) {
            if has_version(dependency) {
                let what = format!(
                    "{name} has a version of its own; put it into [workspace.dependencies]"
                );
                let place = format!("{}:{}", file.display(), line_of(&text, name));
                findings.push(Finding::new(place, what));
            }
        }
        if manifest.get("lints").is_none() {
            findings.push(Finding::new(
                place,
                "does not take the lints of the workspace; add `[lints] workspace = true`",
            ));
        }
    }
    findings
}

/// All dependencies of a manifest, those of single targets included.
fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([manifest]);
    let parts = tables.flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .into_iter()
            .filter_map(|part| table.get(part)?.as_table())
    });
    parts.flatten().collect()
}

/// A version, or a source that stands in the place of one.
fn has_version(dependency: &Value) -> bool {
    match dependency {
        Value::Table(table) => table.contains_key("version") || table.contains_key("git"),
        other => other.is_str(),
    }
}

/// The line that a dependency stands on.
fn line_of(text: &str, name: &str) -> usize {
    let found = text.lines().position(|line| {
        let rest = line.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '=', '.']))
    });
    found.map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_wherever_a_manifest_has_dependencies() {
        let text = "[dependencies]\nserde = { workspace = true }\na = \"1\"\n\
                    [target.'cfg(unix)'.dev-dependencies]\nb = { version = \"2\" }\n";
        let manifest: Table = text.parse().unwrap();
        let versioned = dependencies(&manifest)
            .into_iter()
            .filter(|(_, dependency)| has_version(dependency));
        let mut lines: Vec<_> = versioned.map(|(name, _)| line_of(text, name)).collect();
        lines.sort_unstable();
        assert_eq!(lines, [3, 5]);
    }
}
