//! The file by which a server says that it runs: `postmaster.pid` in its data.

use std::fs;
use std::path::Path;

/// What of the file is used here.
#[derive(Debug, PartialEq)]
pub(super) struct PidFile {
    pub(super) pid: u32,
    /// The key and the id of its segment of shared memory.
    pub(super) shared_memory: Option<(i64, u64)>,
}

impl PidFile {
    /// The pid file of some data, if it is theirs.
    pub(super) fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
        Self::parse(&text, data)
    }

    /// Lines: the process, the data, the time of its start, the port, the folder of its sockets,
    /// the address, the segment, the state. A server that is starting has not written all.
    fn parse(text: &str, data: &Path) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let pid = lines.first()?.trim().parse().ok()?;
        if Path::new(lines.get(1)?) != data {
            return None;
        }
        let shared_memory = lines.get(6).and_then(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        });
        Some(Self { pid, shared_memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str =
        "12457\n/tmp/a/data\n1796049768\n23456\n\n127.0.0.1\n  9994890         9\nready   \n";

    #[test]
    fn a_pid_file_is_read_as_far_as_it_is_written() {
        let data = Path::new("/tmp/a/data");
        let (pid, shared_memory) = (12457, Some((9_994_890, 9)));
        assert_eq!(
            PidFile::parse(WHOLE, data),
            Some(PidFile { pid, shared_memory })
        );
        let begun = "12457\n/tmp/a/data\n";
        let shared_memory = None;
        assert_eq!(
            PidFile::parse(begun, data),
            Some(PidFile { pid, shared_memory })
        );
    }

    #[test]
    fn a_pid_file_of_other_data_or_of_no_server_is_none() {
        assert_eq!(PidFile::parse(WHOLE, Path::new("/tmp/b/data")), None);
        // A negative one is a single session without a server.
        for text in ["", "12457", "-5\n/tmp/a/data\n", "x\n/tmp/a/data\n"] {
            assert_eq!(
                PidFile::parse(text, Path::new("/tmp/a/data")),
                None,
                "{text:?}"
            );
        }
    }
}
