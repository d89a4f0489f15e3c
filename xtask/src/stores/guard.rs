//! A process that ends a server when its caller is gone.
//!
//! The guard waits for its standard input to close, and the other end of that pipe is the caller's
//! alone: however the caller ends, the system closes it. The guard is in a process group of its
//! own, so that Ctrl-C, which every process of a group gets, ends the caller and leaves the guard
//! to do its work.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::{Failure, Home, Name, Server, Store, Up, clear, process, show, start};
use crate::Ended;

/// The guard itself.
pub(super) fn guard(options: &Up) -> Result<(), Failure> {
    let own = std::process::id();
    let server = start(options.store, &options.name, Some(own))?;
    show::up(&server, options.json);
    drain(&mut std::io::stdin());
    let home = Home::locked()?;
    let folder = home.folder(server.store, &server.name);
    // Another may have ended it, and even have started a new one of this name.
    if Server::read(&folder).is_some_and(|there| there.guard == Some(own)) {
        clear(server.store, &folder)?;
    }
    home.leave();
    Ok(())
}

/// Whether a guard still runs.
pub(super) fn is_alive(pid: u32) -> bool {
    process::words(pid).iter().any(|word| word == "guard")
}

/// Reads until the end, or until nothing can be read.
fn drain(from: &mut impl std::io::Read) {
    let mut nothing = [0; 256];
    loop {
        match from.read(&mut nothing) {
            Ok(0) => return,
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn command(store: Store, name: &Name, json: bool) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(Failure::of("this program's own file"))?;
    let mut command = Command::new(program);
    command.args(["stores", "guard", store.name(), "--name"]);
    command.arg(name.to_string());
    if json {
        command.arg("--json");
    }
    command.stdin(Stdio::piped()).process_group(0);
    Ok(command)
}

/// `up --until-stdin-closes`: passes the end of its standard input to a guard, and ends with it.
pub(super) fn in_foreground(options: &Up) -> Ended {
    let guard = command(options.store, &options.name, options.json)
        .and_then(|mut command| command.spawn().map_err(Failure::of("the guard")));
    let mut guard = match guard {
        Ok(guard) => guard,
        Err(why) => return why.ended(),
    };
    let pipe = guard.stdin.take();
    // Not waited for: where the guard ends first, the reading goes with this process.
    std::thread::spawn(move || {
        drain(&mut std::io::stdin());
        drop(pipe);
    });
    match guard.wait().map(|status| status.code()) {
        Ok(Some(0)) => Ended::Well,
        // The guard has said why.
        Ok(Some(2)) => Ended::Unusable("there is no server".to_owned()),
        _ => Ended::Badly,
    }
}

/// A server that ends when this is dropped, and with this process however that ends.
pub(crate) struct Guarded {
    pub(super) server: Server,
    guard: Child,
}

impl Guarded {
    pub(super) fn start(store: Store, name: &Name) -> Result<Self, Failure> {
        let mut guard = command(store, name, true)?
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Failure::of("the guard"))?;
        let mut line = String::new();
        if let Some(out) = guard.stdout.take() {
            // A line that cannot be read is an empty one, which is no server.
            let _ = BufReader::new(out).read_line(&mut line);
        }
        if let Ok(server) = serde_json::from_str(&line) {
            return Ok(Self { server, guard });
        }
        drop(guard.stdin.take());
        let mut why = String::new();
        if let Some(mut notes) = guard.stderr.take() {
            let _ = notes.read_to_string(&mut why);
        }
        let why = why.trim().to_owned();
        match guard.wait().map(|status| status.code()) {
            Ok(Some(2)) => Err(Failure::Missing(why)),
            _ => Err(Failure::Failed(why)),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let well = self.guard.wait().is_ok_and(|status| status.success());
        if !well {
            let name = &self.server.name;
            eprintln!(
                "the server {name} may be left; `cargo xtask stores down --name {name}` ends it"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_alive;

    #[test]
    fn a_process_that_is_no_guard_is_none() {
        assert!(!is_alive(std::process::id()));
        assert!(!is_alive(u32::MAX));
    }
}
