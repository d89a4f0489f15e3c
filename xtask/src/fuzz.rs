//! Feeds what is read from outside with inputs that nobody would write.
//!
//! The targets are a workspace of their own, in `fuzz`, since they need a nightly compiler and
//! cargo-fuzz. Inputs that were found are kept in `fuzz/corpus`, those that failed in
//! `fuzz/artifacts`.

use std::process::{Command, Stdio};

use clap::Args;
use serde::Serialize;

use crate::Ended;
use crate::run::{output, root};

/// Runs the fuzz targets.
#[derive(Args)]
pub(crate) struct Options {
    /// How long each target is run.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// Only this target; may be repeated.
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Prints what was found as JSON in the place of a line for each target.
    #[arg(long)]
    json: bool,
}

/// What came of one target.
#[derive(Serialize)]
struct Outcome {
    target: String,
    passed: bool,
    /// How many inputs were tried, where it came to its end.
    inputs: Option<u64>,
    /// The last lines that the target printed, where it failed: they name the input.
    said: String,
}

pub(crate) fn run(options: &Options) -> Ended {
    match run_all(options) {
        Ok(true) => Ended::Well,
        Ok(false) => Ended::Badly,
        Err(why) => Ended::Unusable(why),
    }
}

fn run_all(options: &Options) -> Result<bool, String> {
    let needs =
        |what: &str, install: &str| format!("fuzzing needs {what}, which is not there: {install}");
    output(Command::new("rustup").args(["run", "nightly", "rustc", "--version"]))
        .map_err(|_| needs("a nightly toolchain", "rustup toolchain install nightly"))?;
    // Asked without a toolchain's help: rustup would name the missing command as one of its own.
    output(&mut cargo_fuzz(&["--version"]))
        .map_err(|_| needs("cargo-fuzz", "cargo install cargo-fuzz"))?;
    let targets = chosen(&options.targets)?;
    let mut outcomes = Vec::new();
    for target in targets {
        eprintln!("── {target}");
        let outcome = one(&target, options.minutes)?;
        if !options.json {
            match (outcome.passed, outcome.inputs) {
                (true, inputs) => println!("{target}: {} inputs", inputs.unwrap_or(0)),
                (false, _) => println!("{target}: FAILED\n{}", outcome.said),
            }
        }
        outcomes.push(outcome);
    }
    if options.json {
        println!(
            "{}",
            serde_json::json!({ "schema": 1, "targets": outcomes })
        );
    }
    Ok(outcomes.iter().all(|outcome| outcome.passed))
}

/// The targets that there are, or those of them that were asked for.
fn chosen(asked: &[String]) -> Result<Vec<String>, String> {
    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml"));
    let manifest: toml::Table = manifest
        .map_err(|e| e.to_string())?
        .parse()
        .map_err(|e: toml::de::Error| e.to_string())?;
    let bins = manifest
        .get("bin")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    let there: Vec<String> = bins
        .filter_map(|bin| Some(bin.get("name")?.as_str()?.to_owned()))
        .collect();
    match asked.iter().find(|name| !there.contains(name)) {
        Some(unknown) => Err(format!(
            "no target {unknown:?}; there are {}",
            there.join(", ")
        )),
        None if asked.is_empty() => Ok(there),
        None => Ok(asked.to_vec()),
    }
}

fn one(target: &str, minutes: f64) -> Result<Outcome, String> {
    let (corpus, seeds) = (format!("corpus/{target}"), format!("seeds/{target}"));
    let folder = root().join("fuzz");
    std::fs::create_dir_all(folder.join(&corpus)).map_err(|e| e.to_string())?;
    let mut command = cargo_fuzz(&["run", target, &corpus]);
    command.args(folder.join(&seeds).is_dir().then_some(&seeds));
    // Rounded up to a second, since 0 is for ever.
    let seconds = (minutes * 60.0).ceil().max(1.0);
    command.args(["--", &format!("-max_total_time={seconds}"), "-timeout=30"]);
    // Long inputs at once: there is no time to grow them.
    command.arg("-len_control=0");
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr);
    // `#95060	DONE   cov: 5857 ft: …`
    let last = said.lines().find(|line| line.contains("\tDONE "));
    let inputs = last.and_then(|line| line.strip_prefix('#')?.split('\t').next()?.parse().ok());
    let passed = done.status.success();
    let lines: Vec<&str> = said.lines().collect();
    let end = lines
        .get(lines.len().saturating_sub(30)..)
        .unwrap_or_default();
    Ok(Outcome {
        target: target.to_owned(),
        passed,
        inputs,
        said: if passed {
            String::new()
        } else {
            end.join("\n")
        },
    })
}

/// `cargo fuzz` with the nightly toolchain, in its folder.
fn cargo_fuzz(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo", "fuzz"])
        .args(arguments);
    command
        .current_dir(root().join("fuzz"))
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn every_target_has_its_file_and_every_file_is_a_target() {
        let folder = crate::run::root().join("fuzz/fuzz_targets");
        let files = std::fs::read_dir(folder).unwrap();
        let stem =
            |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut files: Vec<_> = files.map(|entry| stem(entry.unwrap().path())).collect();
        let mut targets = chosen(&[]).unwrap();
        files.sort();
        targets.sort();
        assert_eq!(files, targets);
        let refused = chosen(&["no".to_owned()]).unwrap_err();
        assert!(
            refused.contains("no target \"no\"") && refused.contains("filter_json"),
            "{refused}"
        );
    }
}
