//! Names of hosts to addresses.
//!
//! On a thread of our own: the drivers would have tokio do it, which ends the program where there is no thread to be had, and
//! whose end waits for a name server that does not answer.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};

use tokio::sync::oneshot;

use crate::Error;
use crate::error::{Attempt, remedy};

/// The addresses of a host, in the order in which they are to be tried. One that is written in numbers is its own.
pub(crate) async fn addresses(name: &str, attempt: Attempt<'_>) -> Result<Vec<IpAddr>, Error> {
    if let Ok(address) = name.parse() {
        return Ok(vec![address]);
    }
    let (tell, told) = oneshot::channel();
    let host = name.to_owned();
    std::thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(move || {
            // Whoever asked may have given up.
            let _ = tell.send((host.as_str(), 0).to_socket_addrs().map(Vec::from_iter));
        })
        .map_err(|error| Error::Unreachable(attempt.text(error, remedy::THREADS)))?;
    let found = told.await.unwrap_or_else(|_| Err(io::Error::other("nobody answered")));
    let unknown = |words: String| Error::Unreachable(attempt.text(words, remedy::UNREACHABLE));
    let found = found.map_err(|error| unknown(error.to_string()))?;
    if found.is_empty() {
        return Err(unknown(format!("`{name}` has no address")));
    }
    let mut addresses: Vec<IpAddr> = found.into_iter().map(|address| address.ip()).collect();
    addresses.dedup();
    Ok(addresses)
}
