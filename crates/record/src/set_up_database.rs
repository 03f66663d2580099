//! A database that a trial found, and the server or file of its address.

use crate::Server;

/// A database as a trial found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetUpDatabase<'a> {
    /// Its name on the server.
    pub name: &'a str,
    /// Where it is, without a password.
    pub address: &'a str,
    /// Its engine, as people call it.
    pub engine: &'a str,
    /// The server that answered.
    pub server: &'a Server,
}

impl SetUpDatabase<'_> {
    /// The file, or the server with its port or socket, which all databases of a server share. Returns none for an unknown form of address.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        place(self.address)
    }
}

/// The file of an address, or its engine with the host and port, or with the socket. It leaves out the database and the user, which a
/// setup has and a target may lack.
pub(crate) fn place(address: &str) -> Option<String> {
    if address.starts_with("sqlite:") {
        return Some(address.to_owned());
    }
    let (scheme, rest) = address.split_once("://")?;
    let (engine, usual) = match scheme {
        "postgres" | "postgresql" => ("postgres", "5432"),
        "mysql" | "mariadb" => ("mysql", "3306"),
        _ => return None,
    };
    let (authority, options) = rest.split_once('?').unwrap_or((rest, ""));
    let option = |key: &str| options.split('&').find_map(|one| one.strip_prefix(key)?.strip_prefix('='));
    let authority = authority.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let (host, port) = host.rsplit_once(':').filter(|(_, port)| is_port(port)).unwrap_or((host, usual));
    let host = option("host").or(option("socket")).unwrap_or(host).to_lowercase().replace("%2f", "/");
    let host = if host.is_empty() { "localhost" } else { &host };
    Some(format!("{engine}://{host}:{}", option("port").unwrap_or(port)))
}
