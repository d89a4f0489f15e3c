//! A process that ends a server when its caller is gone.
//!
//! The guard waits for its standard input to close, and the other end of that pipe is the caller's
//! alone: however the caller ends, the system closes it. The guard is in a process group of its
//! own, so that Ctrl-C, which every process of a group gets, ends the caller and leaves the guard
//! to do its work.

use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::{Failure, Server, Store, Up, print, process, start};
use crate::Ended;

/// What the guard runs; behind it stand this program, the store and the name.
const SCRIPT: &str = r#"cat > /dev/null; exec "$0" stores down "$1" --name "$2" --as-guard"#;

/// Whether a process is a guard.
pub(super) fn is_alive(pid: u32) -> bool {
    process::words(pid)
        .iter()
        .any(|word| word == SCRIPT || word == "--as-guard")
}

/// A server that is ended with this process, however that ends.
pub(crate) struct Guarded {
    server: Server,
    guard: Child,
}

impl Guarded {
    fn start(store: Store, name: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(Failure::of("this program's own file"))?;
        let mut guard = Command::new("sh");
        guard
            .args(["-c", SCRIPT])
            .arg(program)
            .args([store.name(), name]);
        guard.stdin(Stdio::piped()).process_group(0);
        let mut guard = guard.spawn().map_err(Failure::of("the guard"))?;
        match start(store, name, Some(guard.id())) {
            Ok(server) => Ok(Self { server, guard }),
            Err(why) => {
                drop(guard.stdin.take());
                let _ = guard.wait();
                Err(why)
            }
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if !self.guard.wait().is_ok_and(|status| status.success()) {
            let name = &self.server.name;
            eprintln!(
                "the server {name} may be left; `cargo xtask stores down --name {name}` ends it"
            );
        }
    }
}

/// `up --until-stdin-closes`: passes the end of its standard input to a guard, and ends with it.
pub(super) fn in_foreground(options: &Up) -> Result<Ended, Failure> {
    let mut guarded = Guarded::start(options.store, &options.name)?;
    print(&guarded.server, options.json);
    let pipe = guarded.guard.stdin.take();
    // Not waited for: where the guard ends first, the reading goes with this process.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(pipe);
    });
    let well = guarded.guard.wait().is_ok_and(|status| status.success());
    Ok(if well { Ended::Well } else { Ended::Badly })
}

/// Where the tests of an adapter find a live server.
pub(crate) enum Live {
    /// The one that the caller's environment names.
    Given(Store),
    /// One that was started for these tests.
    Own(Guarded),
    /// None can be had here, and why.
    Missing(Store, String),
}

impl Live {
    /// The given server, or one of our own where there is what it takes. Fails where that does
    /// not start.
    pub(crate) fn find(store: Store) -> Result<Self, String> {
        let variable = store.engine().variable();
        if std::env::var_os(variable).is_some_and(|url| !url.is_empty()) {
            return Ok(Self::Given(store));
        }
        match Guarded::start(store, &format!("ci-{}", std::process::id())) {
            Ok(guarded) => Ok(Self::Own(guarded)),
            Err(Failure::Missing(why)) => Ok(Self::Missing(store, why)),
            Err(Failure::Failed(why)) => Err(why),
            Err(Failure::PortTaken) => Err("no port is free".to_owned()),
        }
    }

    /// What to set for tests. What the environment has, they inherit. Where a server can be
    /// started, the tests of starting them run, too.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let Self::Own(Guarded { server, .. }) = self else {
            return Vec::new();
        };
        let url = (server.store.engine().variable(), server.url.clone());
        // Tests that kill a server start one of their own by this program.
        let this = std::env::current_exe().ok();
        let this = this.and_then(|path| path.into_os_string().into_string().ok());
        let this = this.map(|path| ("SHELFWARD_XTASK", path));
        [url, ("SHELFWARD_TEST_STORES", "1".to_owned())]
            .into_iter()
            .chain(this)
            .collect()
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(store) => write!(f, "{} ({})", store.name(), store.engine().variable()),
            Self::Own(Guarded { server, .. }) => {
                write!(f, "{} {} (own server)", server.store.name(), server.version)
            }
            Self::Missing(store, why) => write!(f, "{} not run: {why}", store.name()),
        }
    }
}
