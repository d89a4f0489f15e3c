//! Running other programs in the project's folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The project's folder: the one above this crate's.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// `cargo`, the one that runs this.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    // What cargo tells the program that it runs is about that program. Build scripts that look at it
    // would build again what a plain cargo has built, each time.
    let about_this =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(about_this) {
            command.env_remove(name);
        }
    }
    command
}

/// `cargo` with these arguments, none of which holds a space.
pub(crate) fn cargo_with(arguments: &str) -> Command {
    let mut command = cargo();
    command.args(arguments.split(' '));
    command
}

/// What a command prints, or why there is nothing: its error output where it failed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

/// The folder of shared data: `SHELFWARD_SHARED`, or `shared` beside the project.
pub(crate) fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("SHELFWARD_SHARED").map(PathBuf::from);
    let beside = root().parent().map(|above| above.join("shared"));
    named.or(beside).filter(|folder| folder.is_dir())
}

/// Writes a note to stderr. Whoever reads may be gone, as when a terminal was closed.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether a person watches: stderr is a terminal and this is no automatic run.
pub(crate) fn watched() -> bool {
    use std::io::IsTerminal as _;
    std::env::var_os("CI").is_none() && std::io::stderr().is_terminal()
}
