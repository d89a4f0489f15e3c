//! The segment of shared memory that a killed server leaves behind.

use std::time::Duration;

use super::super::process::within;
use super::super::run_as::RunAs;
use super::pid_file::PidFile;
use crate::run::output;

/// Removes the segment that a server made, when nobody uses it any more. Ids are given out again:
/// it is the server's only when its key and its maker are the ones of the pid file.
pub(super) fn remove(file: &PidFile, run_as: &RunAs) {
    let Some((key, id)) = file.shared_memory else {
        return;
    };
    let users = || {
        let listed = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        users(&listed, key, id, file.pid)
    };
    // Its last processes end by themselves when they find their server gone.
    if within(Duration::from_secs(2), || {
        users().is_none_or(|users| users == 0)
    }) && users() == Some(0)
    {
        let _ = output(run_as.command("ipcrm").args(["-m", &id.to_string()]));
    }
}

/// How many processes use a segment, if it is there. The list has the columns key, shmid, perms,
/// size, cpid, lpid, nattch, and more.
fn users(listed: &str, key: i64, id: u64, maker: u32) -> Option<u64> {
    let wanted = [key.to_string(), id.to_string(), maker.to_string()];
    listed.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let found = [columns.first()?, columns.get(1)?, columns.get(4)?];
        let is_it = found.iter().zip(&wanted).all(|(a, b)| **a == b.as_str());
        is_it.then(|| columns.get(6)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::users;

    #[test]
    fn a_segment_is_known_by_its_key_its_id_and_its_maker() {
        let listed = "       key      shmid perms                  size  cpid  lpid nattch   uid\n\
                      \x20  9994890          9   600                    56 12457 12461      3 65534\n";
        assert_eq!(users(listed, 9_994_890, 9, 12457), Some(3));
        assert_eq!(users(listed, 9_994_891, 9, 12457), None);
        assert_eq!(users(listed, 9_994_890, 8, 12457), None);
        assert_eq!(users(listed, 9_994_890, 9, 12458), None);
        assert_eq!(users("", 9_994_890, 9, 12457), None);
    }
}
