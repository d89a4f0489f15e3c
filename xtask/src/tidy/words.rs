//! Words that must stand in no tracked file.

use std::path::PathBuf;

use super::{Finding, read};

/// Each is put together here, so that this file does not hold it.
fn forbidden() -> Vec<(String, &'static str)> {
    let mut words: Vec<(String, &'static str)> = ["todo", "unimplemented", "dbg"]
        .map(|name| {
            (
                format!("{name}!("),
                "unfinished or left over; finish it or take it out",
            )
        })
        .into();
    words.extend(["FIX", "XX"].map(|half| {
        let end = if half == "FIX" { "ME" } else { "X" };
        (
            format!("{half}{end}"),
            "an unfinished mark; finish it, or say it in an issue",
        )
    }));
    words.push((
        format!("#[{}", "ignore"),
        "a test that does not run; assert what holds today",
    ));
    for folder in ["work", "root", "farm", "home"] {
        let what = "a path of somebody's machine; name it relative to the project";
        words.push((format!("/{folder}/"), what));
    }
    for host in [
        "index.crates",
        "static.crates",
        "pypi",
        "registry.npmjs",
        "repo1.maven",
        "proxy.golang",
    ] {
        let end = match host {
            "pypi" | "registry.npmjs" | "repo1.maven" | "proxy.golang" => ".org",
            _ => ".io",
        };
        words.push((
            format!("{host}{end}"),
            "a registry's host; name the package alone",
        ));
    }
    words
}

pub(super) fn findings(files: &[PathBuf]) -> Vec<Finding> {
    let forbidden = forbidden();
    let mut findings = Vec::new();
    // The lock file is written by cargo.
    for file in files.iter().filter(|file| !file.ends_with("Cargo.lock")) {
        for (line, number) in read(file).lines().zip(1..) {
            for (word, what) in &forbidden {
                if holds(line, word) {
                    let place = format!("{}:{number}", file.display());
                    findings.push(Finding::new(place, format!("holds {word:?}: {what}")));
                }
            }
        }
    }
    findings
}

/// A path counts where nothing stands before it that makes it a part of another.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !word.starts_with('/')
            || before
                .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_' | '/' | ':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_only_where_it_begins() {
        let path = format!("/{}/", "work");
        assert!(holds(&format!("cd {path}x"), &path));
        assert!(holds(&format!("\"{path}x\""), &path));
        assert!(!holds(&format!("target{path}x"), &path));
        assert!(!holds(&format!("..{path}x"), &path));
        assert!(!holds("nothing", &path));
    }
}
