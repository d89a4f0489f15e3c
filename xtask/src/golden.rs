use std::path::PathBuf;

use clap::Args;

use crate::Ended;
use crate::run::cargo;

/// Runs golden cases.
#[derive(Args)]
pub(crate) struct Options {
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

impl Options {
    /// All cases of a folder.
    pub(crate) fn of(dir: PathBuf) -> Self {
        Self {
            dir: Some(dir),
            functions: Vec::new(),
            json: false,
            deviations: false,
        }
    }
}

/// Passes the work to the package that links the memory store, which this one does not.
pub(crate) fn run(options: &Options) -> Ended {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "golden", "--"]);
    if let Some(dir) = &options.dir {
        // Relative to where the person is, not to the project.
        match std::path::absolute(dir) {
            Ok(dir) => command.arg(dir),
            Err(e) => return Ended::Unusable(e.to_string()),
        };
    }
    options.functions.iter().for_each(|name| {
        command.args(["--function", name]);
    });
    if options.json {
        command.arg("--json");
    }
    if options.deviations {
        command.arg("--deviations");
    }
    match command.status().map(|status| status.code()) {
        Ok(Some(0)) => Ended::Well,
        Ok(Some(1)) => Ended::Badly,
        Ok(_) => Ended::Unusable("no golden case was run".to_owned()),
        Err(e) => Ended::Unusable(e.to_string()),
    }
}
