//! Whom a server runs as. Postgres refuses to run as root.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A user, and how to run a command as that user.
#[derive(Debug, PartialEq)]
pub(super) struct RunAs {
    /// None where it is the caller.
    other: Option<(u32, u32)>,
}

impl RunAs {
    /// The caller, or `nobody` where the caller is root.
    pub(super) fn choose() -> Self {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        Self::of(rustix::process::geteuid().as_raw(), &users)
    }

    fn of(user: u32, users: &str) -> Self {
        if user != 0 {
            return Self { other: None };
        }
        let nobody = users.lines().find_map(|line| {
            let mut fields = line.strip_prefix("nobody:")?.split(':').skip(1);
            Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
        });
        let other = nobody
            .filter(|(user, _)| *user != 0)
            .or(Some((65534, 65534)));
        Self { other }
    }

    /// The words to put before a command.
    pub(super) fn words(&self) -> Vec<String> {
        match self.other {
            None => Vec::new(),
            Some((user, group)) => vec![
                "setpriv".to_owned(),
                format!("--reuid={user}"),
                format!("--regid={group}"),
                "--clear-groups".to_owned(),
            ],
        }
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
        command
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        command
    }

    /// Makes a file or folder that user's.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        match self.other {
            None => Ok(()),
            Some((user, group)) => std::os::unix::fs::chown(path, Some(user), Some(group)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RunAs;

    #[test]
    fn only_root_becomes_somebody_else() {
        let users = "root:x:0:0:root:/:/bin/sh\nnobody:x:99:98:nobody:/:/bin/false\n";
        assert_eq!(RunAs::of(1000, users).other, None);
        assert_eq!(RunAs::of(1000, users).words(), Vec::<String>::new());
        assert_eq!(RunAs::of(0, users).other, Some((99, 98)));
        let words = RunAs::of(0, users).words();
        assert_eq!(
            words,
            ["setpriv", "--reuid=99", "--regid=98", "--clear-groups"]
        );
    }

    #[test]
    fn a_nobody_that_is_missing_or_root_is_the_usual_one() {
        for users in [
            "",
            "nobody",
            "nobody:x:-2:-2:",
            "nobody:x:0:0:",
            "nobodyelse:x:5:5:",
        ] {
            assert_eq!(RunAs::of(0, users).other, Some((65534, 65534)), "{users:?}");
        }
    }
}
