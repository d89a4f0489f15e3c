//! Runs a benchmark, and writes what it found into the page on performance.

use std::process::Stdio;

use clap::Args;
use shelfward_bench::report::Report;

use crate::Ended;
use crate::run::{cargo, root};

/// Runs a benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Which one.
    name: String,
    /// How many documents there are.
    #[arg(long, value_name = "N")]
    documents: Option<usize>,
    /// How many rounds each query is timed in.
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Prints what was found as JSON in the place of tables.
    #[arg(long)]
    json: bool,
    /// Writes the tables into docs/performance.md.
    #[arg(long)]
    update_docs: bool,
}

/// The page that `--update-docs` writes to.
const PAGE: &str = "docs/performance.md";

pub(crate) fn run(options: &Options) -> Ended {
    let names = match names() {
        Ok(names) => names,
        Err(why) => return Ended::Unusable(why),
    };
    if !names.contains(&options.name) {
        let (name, names) = (&options.name, names.join(", "));
        return Ended::Unusable(format!("no benchmark {name:?}; there are {names}"));
    }
    match run_one(options) {
        Ok(ended) => ended,
        Err(why) => {
            eprintln!("{why}");
            Ended::Badly
        }
    }
}

/// The benchmarks that there are: the folders of `bench/benches`.
fn names() -> Result<Vec<String>, String> {
    let folder = root().join("bench/benches");
    let entries = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("main.rs").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// A benchmark says by it that it was called wrongly, or that what it measures is not there.
const NOT_RUN: i32 = 2;

fn run_one(options: &Options) -> Result<Ended, String> {
    let mut command = cargo();
    let name = options.name.as_str();
    command.args(["bench", "--package", "shelfward-bench", "--bench", name]);
    command.args(["--", "--json"]);
    for (option, number) in [
        ("--documents", options.documents),
        ("--rounds", options.rounds),
    ] {
        if let Some(number) = number {
            command.args([option, &number.to_string()]);
        }
    }
    // Its notes, and cargo's, are seen as they come.
    let done = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| e.to_string())?;
    if done.status.code() == Some(NOT_RUN) {
        return Ok(Ended::Unusable(format!("{name} was not run")));
    }
    if !done.status.success() {
        return Err(format!("{name} ended with {}", done.status));
    }
    let report: Report = serde_json::from_slice(&done.stdout)
        .map_err(|e| format!("the report of {name} cannot be read: {e}"))?;
    if options.json {
        print!("{}", String::from_utf8_lossy(&done.stdout));
    } else {
        print!("{}", report.tables());
    }
    if options.update_docs {
        let by = format!("cargo xtask bench {}", report.benchmark);
        write_tables(PAGE, &report.benchmark, &by, &report.tables())?;
    }
    Ok(Ended::Well)
}

/// Writes what a command found into its place in a page.
pub(crate) fn write_tables(page: &str, name: &str, by: &str, tables: &str) -> Result<(), String> {
    let file = root().join(page);
    let there = std::fs::read_to_string(&file).map_err(|e| format!("{page}: {e}"))?;
    let written = with_tables(&there, name, by, tables).map_err(|why| format!("{page} {why}"))?;
    std::fs::write(file, written).map_err(|e| format!("{page} could not be written: {e}"))
}

/// The page with the tables between the marks of what the command measures.
fn with_tables(page: &str, name: &str, by: &str, tables: &str) -> Result<String, String> {
    let begin = format!("<!-- begin {name}: written by {by} --update-docs -->");
    let end = format!("<!-- end {name} -->");
    let parts = page.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| {
        format!("has no place for {name}: it needs the lines {begin:?} and {end:?}")
    })?;
    Ok(format!("{before}{begin}\n\n{tables}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::with_tables;

    #[test]
    fn tables_are_written_between_the_marks_of_their_benchmark() {
        let by = "cargo xtask bench a";
        let begin = "<!-- begin a: written by cargo xtask bench a --update-docs -->";
        let page = format!("# Page\n{begin}\nold\n<!-- end a -->\nafter\n");
        let written = with_tables(&page, "a", by, "| new |\n").unwrap();
        let wanted = format!("# Page\n{begin}\n\n| new |\n\n<!-- end a -->\nafter\n");
        assert_eq!(written, wanted);
        assert_eq!(with_tables(&written, "a", by, "| new |\n").unwrap(), wanted);
        assert!(with_tables(&page, "b", by, "").is_err());
    }
}
