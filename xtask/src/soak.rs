use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use clap::Args;

use crate::Ended;
use crate::bench::write_tables;
use crate::run::cargo;

/// Searches and writes at random beside a model of who may read what.
#[derive(Args)]
pub(crate) struct Options {
    /// A store: memory, sqlite, hnsw, postgres or all; may be repeated. Without it, all.
    #[arg(long = "store", value_name = "STORE")]
    stores: Vec<String>,
    /// How long each store is soaked, all beside each other.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// What a run begins from; without it, another one each time.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints what was found as JSON in the place of a table.
    #[arg(long, conflicts_with = "update_docs")]
    json: bool,
    /// Writes the table into docs/reliability.md.
    #[arg(long)]
    update_docs: bool,
}

/// The page that `--update-docs` writes to.
const PAGE: &str = "docs/reliability.md";

/// Passes the work to the package that links the stores, which this one does not.
pub(crate) fn run(options: &Options) -> Ended {
    let soaked = command(options).and_then(|mut command| {
        if options.update_docs {
            return update(&mut command);
        }
        // In the place of this process, so that Ctrl-C reaches that one alone, which ends well.
        Err(command.exec().to_string())
    });
    match soaked {
        Ok(()) => Ended::Well,
        Err(why) => {
            eprintln!("{why}");
            Ended::Badly
        }
    }
}

/// Every store for a minute, as a step of `cargo xtask ci`.
pub(crate) fn one_minute() -> Result<Command, String> {
    command(&Options {
        stores: Vec::new(),
        minutes: 1.0,
        seed: None,
        json: false,
        update_docs: false,
    })
}

fn command(options: &Options) -> Result<Command, String> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "soak", "--", "--minutes"]);
    command.arg(options.minutes.to_string());
    for store in options.stores.iter().filter(|store| *store != "all") {
        command.args(["--store", store]);
    }
    if let Some(seed) = options.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    if options.json {
        command.arg("--json");
    }
    // It starts a server of its own by this program.
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    command.env("SHELFWARD_XTASK", this);
    Ok(command)
}

/// Writes the table of what was found into the page, where all is well.
fn update(command: &mut Command) -> Result<(), String> {
    let done = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&done.stdout);
    print!("{printed}");
    if !done.status.success() {
        return Err(format!("the soak ended with {}", done.status));
    }
    let table: Vec<&str> = printed
        .lines()
        .filter(|line| line.starts_with('|'))
        .collect();
    write_tables(PAGE, "soak", "cargo xtask soak", &table.join("\n"))
}
