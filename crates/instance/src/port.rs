//! Free ports of loopback.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use crate::InstanceError;

/// Below the range from which Linux takes the ports of outgoing connections (32768 and up): a client that tries again
/// and again to reach a killed server would one day get the server's port as its own, connect to itself, and keep the
/// server from starting again.
const FIRST: u16 = 20_000;
const LAST: u16 = 31_999;

/// A port that nothing listens on at this moment. Somebody may take it before the server does, so that the caller must
/// be ready to try another.
pub(crate) fn free() -> Result<u16, InstanceError> {
    let count = u64::from(LAST - FIRST + 1);
    // Begins anywhere, so that servers that start side by side seldom try the same port.
    let begin = RandomState::new().hash_one(std::process::id()) % count;
    (0..count)
        .map(|step| FIRST + ((begin + step) % count) as u16)
        .find(|&port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok())
        .ok_or(InstanceError::NoPort { first: FIRST, last: LAST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_free_and_no_port_of_outgoing_connections() {
        let port = free().unwrap();
        assert!((FIRST..=LAST).contains(&port), "{port}");
        assert_ne!(port, 0);
    }
}
