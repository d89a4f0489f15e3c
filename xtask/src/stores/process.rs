//! Processes: which command one runs, and ending one.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::run::output;

/// The words of a process's command; none where there is no such process, or it has ended and was
/// not waited for. Ids are given out again, so that an id alone tells nothing.
pub(super) fn words(pid: u32) -> Vec<String> {
    if Path::new("/proc/self/cmdline").exists() {
        let text = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        return text
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
    }
    let listed = output(Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]));
    let line = listed.unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

/// Sends a signal. Whoever is gone needs none.
pub(super) fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}

/// Waits until something holds, for a time.
pub(super) fn within(time: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if begun.elapsed() > time {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use rustix::process::Signal;

    use super::{signal, within, words};

    #[test]
    fn a_process_is_known_by_its_words_until_it_ends() {
        let mut child = Command::new("sleep").arg("612.5").spawn().unwrap();
        let pid = child.id();
        let runs = || words(pid).iter().any(|word| word == "612.5");
        assert!(within(Duration::from_secs(5), runs));
        signal(pid, Signal::KILL);
        // Ended, and not yet waited for.
        assert!(within(Duration::from_secs(5), || words(pid).is_empty() || !runs()));
        child.wait().unwrap();
        assert!(!runs());
    }
}
