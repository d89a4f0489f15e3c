//! What the compiler does not check. Each finding says where, what is wrong, and what would be right.

mod cycles;
mod files;
mod manifests;
mod pages;
mod purity;

use std::path::PathBuf;

use clap::Args;

use crate::Ended;
use crate::run::{output, root};

/// Checks what the compiler does not.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Prints the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// A thing to mend.
pub(crate) struct Finding {
    place: String,
    what: String,
}

impl Finding {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

pub(crate) fn run(options: &Options) -> Ended {
    let files = match tracked() {
        Ok(files) => files,
        Err(why) => return Ended::Unusable(why),
    };
    let mut findings = files::findings(&files);
    findings.extend(cycles::findings(&files));
    findings.extend(manifests::findings(&files));
    findings.extend(pages::findings(&files));
    let (trees, impure) = purity::findings(&files);
    findings.extend(impure);
    if options.json {
        let findings: Vec<_> = findings
            .iter()
            .map(|f| serde_json::json!({ "place": f.place, "what": f.what }))
            .collect();
        println!(
            "{}",
            serde_json::json!({ "findings": findings, "trees": trees })
        );
    } else {
        trees
            .iter()
            .for_each(|(name, size)| println!("{name}: {size} crates in its tree"));
        findings
            .iter()
            .for_each(|f| println!("{}: {}", f.place, f.what));
        println!("tidy: {} findings", findings.len());
    }
    if findings.is_empty() {
        Ended::Well
    } else {
        Ended::Badly
    }
}

/// The files that git tracks or would track, relative to the project's folder.
fn tracked() -> Result<Vec<PathBuf>, String> {
    let mut git = std::process::Command::new("git");
    git.current_dir(root())
        .args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = output(&mut git)?;
    Ok(listed
        .lines()
        .map(PathBuf::from)
        .filter(|file| root().join(file).is_file())
        .collect())
}

fn read(file: &std::path::Path) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_default()
}
