//! Processes: whom a server runs as, which command a process runs, and ending one.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::run::output;

/// Whom a server runs as, since many refuse to run as root: the caller, or another by user and group.
pub(super) struct RunAs(Option<(u32, u32)>);

impl RunAs {
    /// The caller, or `nobody` where the caller is root.
    pub(super) fn choose() -> Self {
        if !rustix::process::geteuid().is_root() {
            return Self(None);
        }
        let of_nobody = |what: &str| {
            let told = output(Command::new("id").args([what, "nobody"])).ok()?;
            told.trim().parse().ok().filter(|id| *id != 0)
        };
        let id = |what| of_nobody(what).unwrap_or(65534);
        Self(Some((id("-u"), id("-g"))))
    }

    /// The words to put before a command.
    pub(super) fn words(&self) -> Vec<String> {
        let Some((user, group)) = self.0 else {
            return Vec::new();
        };
        let (user, group) = (format!("--reuid={user}"), format!("--regid={group}"));
        vec![
            "setpriv".to_owned(),
            user,
            group,
            "--clear-groups".to_owned(),
        ]
    }

    /// A command of that user, with nothing of the caller's environment: `PGDATA` and its like
    /// would lead it elsewhere, and the caller's folder may be closed to that user.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let words = self.words();
        let mut command = match words.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        command.env_clear().env("PATH", path).env("LC_ALL", "C");
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Makes a file or folder that user's.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        match self.0 {
            None => Ok(()),
            Some((user, group)) => std::os::unix::fs::chown(path, Some(user), Some(group)),
        }
    }
}

/// The words of a process's command; none where there is no such process, or it has ended and was
/// not waited for. Ids are given out again, so that an id alone tells nothing.
pub(super) fn words(pid: u32) -> Vec<String> {
    if Path::new("/proc/self/cmdline").exists() {
        let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = text
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty());
        return words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
    }
    let listed = output(Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]));
    let line = listed.unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

/// Sends a signal. Whoever is gone needs none.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits until something holds, for a time; answers whether it does.
pub(super) fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > time {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_words_until_it_ends() {
        let mut child = Command::new("sleep").arg("612.5").spawn().unwrap();
        let pid = child.id();
        let runs = || words(pid).iter().any(|word| word == "612.5");
        assert!(within(Duration::from_secs(5), runs));
        signal(pid, Signal::KILL);
        // Ended, and not yet waited for.
        assert!(within(Duration::from_secs(5), || !runs()));
        child.wait().unwrap();
        assert!(!runs());
    }

    #[test]
    fn only_root_becomes_somebody_else() {
        assert_eq!(RunAs(None).words(), Vec::<String>::new());
        let words = RunAs(Some((99, 98))).words();
        assert_eq!(
            words,
            ["setpriv", "--reuid=99", "--regid=98", "--clear-groups"]
        );
    }
}
