//! Runs golden cases: inputs with the answers that they must have.
//!
//! A file holds `{"function": text, "cases": [{"name", "input", "output" or "error"}]}`. A case
//! passes, fails, or deviates: its answer is another, and a rule says why that is right. A rule looks
//! at a case's input, never at its name. Files that only describe the originals are counted as
//! described, files of functions that are not here as not known.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands speak to people"
)]

mod compare;
mod deviations;
mod file;
mod functions;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs golden cases.
#[derive(Parser)]
struct Options {
    /// The folder that holds them, with its subfolders.
    dir: Option<PathBuf>,
    /// Only cases of this function; may be repeated.
    #[arg(long = "function", value_name = "NAME")]
    functions: Vec<String>,
    /// Prints the result as JSON.
    #[arg(long)]
    json: bool,
    /// Prints the rules by which cases may deviate, and runs none.
    #[arg(long)]
    deviations: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.deviations {
        show::rules();
        return ExitCode::SUCCESS;
    }
    let Some(dir) = &options.dir else {
        eprintln!("name the folder of the cases");
        return ExitCode::from(2);
    };
    match file::find(dir) {
        Ok(files) => {
            let ran: Vec<_> = files
                .iter()
                .map(file::run)
                .filter(|ran| {
                    options.functions.is_empty() || options.functions.contains(&ran.function)
                })
                .collect();
            if ran.is_empty() {
                eprintln!("no golden file is selected");
                return ExitCode::from(2);
            }
            if options.json {
                show::json(&ran)
            } else {
                show::table(&ran)
            }
            ExitCode::from(u8::from(ran.iter().any(|ran| !ran.failed.is_empty())))
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
