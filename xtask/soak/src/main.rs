//! Soaks stores: `cargo xtask soak`.
//!
//! Random searches and writes run beside a model of who may read what, in busy phases with many
//! readers and writers and in calm ones in which everything is compared exactly.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands speak to people"
)]

mod allocator;
mod asked;
mod busy;
mod calm;
mod finding;
mod judge;
mod model;
mod op;
mod report;
mod run;
mod server;
mod soak;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod writer;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::store::Kind;

#[global_allocator]
static ALLOCATOR: allocator::Checking = allocator::Checking::new();

/// Why something could not be done.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Searches and writes at random beside a model of who may read what.
#[derive(Parser)]
#[command(name = "cargo xtask soak")]
struct Arguments {
    /// A store; may be repeated. Without it, each.
    #[arg(long = "store", value_enum)]
    stores: Vec<Kind>,
    /// How long each store is soaked.
    #[arg(long, value_name = "N", default_value = "1")]
    minutes: f64,
    /// What a run begins from; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints what was found as JSON in the place of a table.
    #[arg(long)]
    json: bool,
    /// Soaks its one store in this process.
    #[arg(long, hide = true)]
    here: bool,
    /// Writes what standard input says to the store in this folder.
    #[arg(long, hide = true, value_name = "FOLDER")]
    write_to: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let lasts = Duration::try_from_secs_f64(arguments.minutes * 60.0);
    let (lasts, seed) = match (lasts, arguments.seed) {
        (Ok(lasts), seed) => (lasts, seed.unwrap_or_else(|| fastrand::u64(..))),
        (Err(e), _) => {
            eprintln!("--minutes: {e}");
            return ExitCode::from(2);
        }
    };
    match (&arguments.stores[..], &arguments.write_to) {
        ([kind], Some(folder)) => match writer::serve(*kind, folder).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("{}", op::chain(&*e));
                ExitCode::FAILURE
            }
        },
        ([kind], None) if arguments.here => {
            let of = soak::soak(*kind, seed, lasts, &ALLOCATOR).await;
            println!("{}", serde_json::to_string(&of).unwrap_or_default());
            ExitCode::SUCCESS
        }
        (stores, _) => run::run(stores, seed, lasts, arguments.json).await,
    }
}
