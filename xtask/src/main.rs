//! The commands of the project: `cargo xtask COMMAND`.
//!
//! Results go to stdout and notes to stderr. Every command exits with 0 when all is as expected, 1
//! when something failed, and 2 when it was called wrongly or there was nothing to run.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands speak to people"
)]

mod bench;
mod ci;
mod conformance;
mod fuzz;
mod golden;
mod run;
mod sanitize;
mod soak;
mod stores;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The commands of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the conformance suite on every adapter, or some, and prints what it found.
    Conformance(conformance::Options),
    /// Runs golden cases: inputs with the answers they must have.
    Golden(golden::Options),
    /// Checks what the compiler does not: purity, files that must be there, cycles of modules.
    Tidy(tidy::Options),
    /// Runs a benchmark and prints what ours takes beside its peers.
    Bench(bench::Options),
    /// Searches and writes at random beside a model of who may read what.
    Soak(soak::Options),
    /// Starts, lists and ends real servers for tests.
    Stores(stores::Options),
    /// Runs the tests of what is unsafe, or C, under the address sanitizer and under Miri.
    Sanitize(sanitize::Options),
    /// Runs the fuzz targets.
    Fuzz(fuzz::Options),
    /// Runs everything that must pass.
    Ci(ci::Options),
    /// How `ci` has cargo run each program of tests.
    #[command(hide = true)]
    Timed(ci::Timed),
}

/// How a command ended.
pub(crate) enum Ended {
    /// All as expected.
    Well,
    /// Something failed.
    Badly,
    /// Called wrongly, or there was nothing to run.
    Unusable(String),
    /// With this exit code, of which everything is said already.
    With(u8),
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().command {
        Command::Conformance(options) => conformance::run(&options),
        Command::Golden(options) => golden::run(&options),
        Command::Tidy(options) => tidy::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Soak(options) => soak::run(&options),
        Command::Stores(options) => stores::run(&options),
        Command::Sanitize(options) => sanitize::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Ci(options) => ci::run(&options),
        Command::Timed(options) => ci::timed(&options),
    };
    match ended {
        Ended::Well => ExitCode::SUCCESS,
        Ended::Badly => ExitCode::from(1),
        Ended::With(code) => ExitCode::from(code),
        Ended::Unusable(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
