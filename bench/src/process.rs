//! A peer in a process of its own, which is told when to run a round.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A peer in a process of its own. It reads a line for each round, and answers a line: how many
/// milliseconds each query took, as a list in JSON.
#[derive(Debug)]
pub struct Process {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it.
    ///
    /// # Errors
    /// What could not be started.
    pub fn new(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("no {name}: {e}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => Ok(Self {
                child,
                to,
                from: BufReader::new(from),
            }),
            _ => Err(format!("no {name}")),
        }
    }

    /// Asks for one line.
    ///
    /// # Errors
    /// When the process ended.
    pub fn ask(&mut self, what: &str) -> Result<String, String> {
        let ended = |e: std::io::Error| format!("the peer ended: {e}");
        writeln!(self.to, "{what}").map_err(ended)?;
        self.to.flush().map_err(ended)?;
        let mut line = String::new();
        self.from.read_line(&mut line).map_err(ended)?;
        if line.is_empty() {
            return Err("the peer ended".to_owned());
        }
        Ok(line)
    }

    /// How long each query takes in a round.
    ///
    /// # Errors
    /// When the process ended, or answered something else.
    pub fn round(&mut self, what: &str) -> Result<Vec<Duration>, String> {
        let line = self.ask(what)?;
        let millis: Vec<f64> = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let duration = |millis: f64| Duration::from_secs_f64(millis / 1e3);
        Ok(millis.into_iter().map(duration).collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
