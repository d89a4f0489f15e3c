//! Runs golden cases: inputs with what the originals answer.
//!
//! Exits with 0 when every known case passes or deviates by a rule, 1 when one fails, and 2 when
//! there is no such folder or nothing in it was run.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command speaks to people"
)]

mod case;
mod compare;
mod deviations;
mod functions;
mod rule;
mod run;
mod show;
mod utf16;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs golden cases.
#[derive(Parser)]
#[command(name = "cargo xtask golden")]
struct Arguments {
    /// The folder that holds them, with its subfolders.
    #[arg(required_unless_present = "deviations")]
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
    let arguments = Arguments::parse();
    if arguments.deviations {
        show::deviations(arguments.json);
        return ExitCode::SUCCESS;
    }
    match run_all(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Runs what was asked for; answers whether nothing failed.
fn run_all(arguments: &Arguments) -> Result<bool, String> {
    let folder = arguments.dir.as_deref().ok_or("no folder is given")?;
    if !folder.is_dir() {
        return Err(format!("there is no folder {}", folder.display()));
    }
    let results = run::run_folder(folder, &arguments.functions)?;
    let there = |name: &&String| !results.iter().any(|result| result.function == **name);
    if let Some(missing) = arguments.functions.iter().find(there) {
        return Err(format!(
            "no cases of {missing:?} are there; known are {}",
            functions::FUNCTIONS
                .iter()
                .map(|function| function.name)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    let mut total = run::Counts::default();
    results.iter().for_each(|result| total.add(result.counts));
    if total.all() == 0 {
        return Err(format!("no golden cases lie in {}", folder.display()));
    }
    if arguments.json {
        show::as_json(&results, total);
    } else {
        show::table(&results, total);
    }
    Ok(total.failed == 0)
}
