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
        let place = file.display().to_string();
        let manifest: Table = match read(file).parse() {
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
            findings.push(Finding::new(place.clone(), "has no description"));
        }
        for part in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = manifest.get(part).and_then(Value::as_table) else {
                continue;
            };
            for (name, dependency) in dependencies {
                if has_version(dependency) {
                    let what = format!(
                        "{name} has a version of its own; put it into [workspace.dependencies]"
                    );
                    findings.push(Finding::new(place.clone(), what));
                }
            }
        }
        if manifest.get("lints").is_none() {
            findings.push(Finding::new(
                place,
                "does not take the lints of the workspace",
            ));
        }
    }
    findings
}

fn has_version(dependency: &Value) -> bool {
    match dependency {
        Value::Table(table) => table.contains_key("version"),
        other => other.is_str(),
    }
}
