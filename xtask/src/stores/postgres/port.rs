//! A port for a server.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// Ports that the system gives to no client by itself, on Linux and elsewhere: a server that a test
/// kills and starts again finds its own still free.
const FIRST: u16 = 15_000;
const COUNT: u16 = 15_000;

/// A port that nobody listens on.
pub(super) fn free() -> io::Result<u16> {
    let begin = RandomState::new().hash_one(0_u8);
    let mut last = io::Error::other("none was tried");
    for step in 0..100 {
        let offset = begin.wrapping_add(step) % u64::from(COUNT);
        let port = FIRST + u16::try_from(offset).unwrap_or_default();
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(e) => last = e,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_of_ours_and_free() {
        let port = free().unwrap();
        assert!((FIRST..FIRST + COUNT).contains(&port));
    }
}
