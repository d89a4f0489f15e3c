use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

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

impl Options {
    /// Every store, for a minute.
    pub(crate) fn one_minute() -> Self {
        Self {
            stores: Vec::new(),
            minutes: 1.0,
            seed: None,
            json: false,
            update_docs: false,
        }
    }
}

/// The page that `--update-docs` writes to.
const PAGE: &str = "docs/reliability.md";

/// Passes the work to the package that links the stores, which this one does not.
pub(crate) fn run(options: &Options) -> Ended {
    match soak(options) {
        Ok(ended) => ended,
        Err(why) => {
            eprintln!("{why}");
            Ended::Badly
        }
    }
}

fn soak(options: &Options) -> Result<Ended, String> {
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
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let out = child.stdout.take().map(|out| BufReader::new(out).lines());
    let mut table = String::new();
    for line in out.into_iter().flatten().map_while(Result::ok) {
        println!("{line}");
        if line.starts_with('|') {
            table += &format!("{line}\n");
        }
    }
    let ended = match child.wait().map_err(|e| e.to_string())?.code() {
        Some(0) => Ended::Well,
        Some(2) => Ended::Unusable("no store was soaked".to_owned()),
        _ => Ended::Badly,
    };
    if options.update_docs && matches!(ended, Ended::Well) {
        write_tables(PAGE, "soak", "cargo xtask soak", &table)?;
    }
    Ok(ended)
}
