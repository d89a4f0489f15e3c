use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::Ended;
use crate::run::{cargo_with, root};

/// Runs golden cases.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// Passed on as they are; `--help` lists what there is.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Options {
    /// All cases of a folder.
    pub(crate) fn of(dir: PathBuf) -> Self {
        let arguments = vec![dir.into_os_string()];
        Self { arguments }
    }
}

/// Passes the work to the package that links the memory store, which this one does not.
pub(crate) fn run(options: &Options) -> Ended {
    let mut command = cargo_with("run --quiet --package golden --manifest-path");
    command
        .arg(root().join("Cargo.toml"))
        .arg("--")
        .args(&options.arguments);
    // Folders are relative to where the person is, not to the project.
    if let Ok(here) = std::env::current_dir() {
        command.current_dir(here);
    }
    match command.status().map(|status| status.code()) {
        Ok(Some(0)) => Ended::Well,
        Ok(Some(1)) => Ended::Badly,
        Ok(_) => Ended::Unusable("no golden case was run".to_owned()),
        Err(e) => Ended::Unusable(e.to_string()),
    }
}
