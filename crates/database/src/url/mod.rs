//! Addresses of databases: `sqlite:FILE`, `postgres://user:password@host:port/database`, `mysql://…`, `sqlserver://…`,
//! `clickhouse://…`, `duckdb:FILE`.
//!
//! Parsing stands in `parse`. Nothing here opens a connection or reads the environment: what a text leaves open, `login` looks for.

pub(crate) mod auth;
pub(crate) mod encryption;
mod foreign;
mod form;
pub(crate) mod hosts;
mod interface;
mod parse;
pub(crate) mod sqlserver;
pub(crate) mod whole;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fake::FakeServer;
use crate::silence::Silence;
use crate::{Engine, Fake};
use encryption::Encryption;
use form::{CLICKHOUSE, Form, MYSQL, POSTGRES};
use hosts::Wanted;
pub use interface::Interface;
use sqlserver::SqlServerAddress;

/// An address. What is shown of it never holds the password.
///
/// - `sqlite:FILE`: the rest is the path as it stands, relative or absolute.
/// - `postgres://[user[:password]@][host][:port][,host…][/database][?options]`, also `postgresql://`; options `host` (a
///   directory with a socket), `port`, `user`, `service`, `target_session_attrs`, and those of `encryption`. What it leaves open: `login`.
///   Without a host: localhost. Without a database: `postgres`.
/// - `mysql://…` or `mariadb://…`, the same with the option `socket`; of several hosts the first that can be written to is taken.
/// - `sqlserver://…` or `mssql://…`, or a connection string of ADO.NET or ODBC; its options stand in `sqlserver::keyword`. Without a
///   password: `SQLCMDPASSWORD`. Without `encrypt`: `off` on this machine, else `on`.
/// - `clickhouse://[user[:password]@][host][:port][/database][?options]`: its HTTP interface. Without a user: `default`. Without
///   `sslmode`: not encrypted.
/// - `duckdb:FILE`: as of SQLite.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(pub(crate) Address);

/// What an address says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Address {
    /// File of an SQLite database.
    Sqlite(PathBuf),
    /// PostgreSQL.
    Postgres(Box<ServerAddress>),
    /// MySQL or MariaDB.
    Mysql(Box<ServerAddress>),
    /// SQL Server.
    SqlServer(Box<SqlServerAddress>),
    /// ClickHouse.
    #[serde(rename = "clickhouse")]
    ClickHouse(Box<ServerAddress>),
    /// File of a DuckDB database.
    #[serde(rename = "duckdb")]
    DuckDb(PathBuf),
    /// A fake, with the server that all clones of the address share.
    Fake(FakeServer),
}

/// Where a server is, and who logs in to what.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerAddress {
    pub(crate) host: Host,
    /// Further ones, if there are several of which one is taken.
    pub(crate) others: Vec<Host>,
    /// Which one.
    pub(crate) wanted: Wanted,
    /// Whether the text names neither host nor port, so that they may be looked for elsewhere.
    pub(crate) is_open: bool,
    /// Name of a service, whose file says what the address does not.
    pub(crate) service: Option<String>,
    /// What of where it is came from elsewhere than the text: `host from PGHOST`.
    pub(crate) taken: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// File whose first line is the password; `-` if it is asked for at the terminal.
    pub(crate) password_file: Option<PathBuf>,
    /// File of passwords of libpq.
    pub(crate) passfile: Option<PathBuf>,
    pub(crate) database: Option<String>,
    pub(crate) encryption: Encryption,
    /// How long it may say nothing.
    pub(crate) silence: Silence,
}

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Host {
    /// Name or number, and port.
    Tcp { name: String, port: u16 },
    /// A Unix socket: for PostgreSQL its directory and the port that is part of its name, for MySQL the socket.
    Socket { path: PathBuf, port: u16 },
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(pub(crate) String);

impl Url {
    /// The addresses of a list with commas between them. A comma before anything but the next address is part of one: an address may
    /// have several hosts. A connection string, which has commas of its own, stands alone.
    #[must_use]
    pub fn split(list: &str) -> Vec<&str> {
        if sqlserver::is_connection_string(list) {
            return vec![list];
        }
        let mut addresses = Vec::new();
        let mut begin = 0;
        for (comma, _) in list.match_indices(',') {
            if parse::begins_address(&list[comma + 1..]) {
                addresses.push(&list[begin..comma]);
                begin = comma + 1;
            }
        }
        addresses.push(&list[begin..]);
        addresses
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match &self.0 {
            Address::Sqlite(_) => Engine::Sqlite,
            Address::Postgres(_) => Engine::Postgres,
            Address::Mysql(_) => Engine::Mysql,
            Address::SqlServer(_) => Engine::SqlServer,
            Address::ClickHouse(_) => Engine::ClickHouse,
            Address::DuckDb(_) => Engine::DuckDb,
            Address::Fake(_) => Engine::Fake,
        }
    }

    /// The file of a database that is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Address::Sqlite(file) | Address::DuckDb(file) => Some(file),
            Address::Postgres(_)
            | Address::Mysql(_)
            | Address::SqlServer(_)
            | Address::ClickHouse(_)
            | Address::Fake(_) => None,
        }
    }

    /// Where the server listens, as `host:port` or the path of its socket; of several, with commas between them.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        if let Address::SqlServer(server) = &self.0 {
            return Some(server.place());
        }
        let hosts = |server: &ServerAddress| server.hosts().map(ToString::to_string).collect::<Vec<_>>();
        self.server().map(|server| hosts(server).join(","))
    }

    /// What of where it is came from elsewhere than the text, such as `host from PGHOST`.
    #[must_use]
    pub fn taken(&self) -> &[String] {
        self.server().map_or(&[], |server| &server.taken)
    }

    /// Whether both are of one file, or of one server: whoever logs in there, to whatever, and however the path is written. Links
    /// and names of hosts are not followed.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Address::Sqlite(own), Address::Sqlite(other))
            | (Address::DuckDb(own), Address::DuckDb(other)) => parts(own).eq(parts(other)),
            (Address::Postgres(own), Address::Postgres(other))
            | (Address::Mysql(own), Address::Mysql(other))
            | (Address::ClickHouse(own), Address::ClickHouse(other)) => {
                own.hosts().any(|host| other.hosts().any(|other| host.is_same(other)))
            }
            (Address::SqlServer(own), Address::SqlServer(other)) => own.is_same_place(other),
            (
                Address::Sqlite(_)
                | Address::Postgres(_)
                | Address::Mysql(_)
                | Address::SqlServer(_)
                | Address::ClickHouse(_)
                | Address::DuckDb(_)
                | Address::Fake(_),
                _,
            ) => self == other,
        }
    }

    /// Name of the database on the server, if the address has one.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        match &self.0 {
            Address::SqlServer(server) => server.database.as_deref(),
            Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => {
                server.database.as_deref()
            }
            Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => None,
        }
    }

    /// Whether the database is on this machine: a file, a socket, or a loopback address.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match &self.0 {
            Address::SqlServer(server) => server.is_local(),
            Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => {
                server.hosts().all(Host::is_local)
            }
            Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => true,
        }
    }

    /// Speed and faults of a fake.
    #[must_use]
    pub fn fake(&self) -> Option<&Fake> {
        self.fake_server().map(FakeServer::fake)
    }

    /// Rows that a fake has committed, those included that it threw away.
    #[cfg(test)]
    pub(crate) fn fake_rows(&self) -> Option<u64> {
        self.fake_server().map(FakeServer::rows)
    }

    fn fake_server(&self) -> Option<&FakeServer> {
        match &self.0 {
            Address::Fake(server) => Some(server),
            Address::Sqlite(_)
            | Address::Postgres(_)
            | Address::Mysql(_)
            | Address::SqlServer(_)
            | Address::ClickHouse(_)
            | Address::DuckDb(_) => None,
        }
    }

    /// The same server, another database. A file is its database, and a fake has one.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        let mut url = self.clone();
        match &mut url.0 {
            Address::SqlServer(server) => server.database = Some(name.to_owned()),
            Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => {
                server.database = Some(name.to_owned());
            }
            Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => {}
        }
        url
    }

    /// The same server, which counts as lost when it is silent for so long instead of for ten seconds: for tests.
    #[must_use]
    pub fn with_silence(mut self, limit: Duration) -> Self {
        match &mut self.0 {
            Address::SqlServer(server) => server.silence = Silence(limit),
            Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => {
                server.silence = Silence(limit);
            }
            Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => {}
        }
        self
    }

    fn server(&self) -> Option<&ServerAddress> {
        match &self.0 {
            Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => Some(server),
            Address::Sqlite(_) | Address::SqlServer(_) | Address::DuckDb(_) | Address::Fake(_) => None,
        }
    }
}

impl From<Fake> for Url {
    fn from(fake: Fake) -> Self {
        Self(Address::Fake(FakeServer::new(fake)))
    }
}

/// Parts of a path, without those that lead nowhere.
fn parts(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}

impl Host {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tcp { name: own, port: own_port }, Self::Tcp { name, port }) => {
                own.eq_ignore_ascii_case(name) && own_port == port
            }
            (Self::Tcp { .. } | Self::Socket { .. }, _) => self == other,
        }
    }

    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Socket { .. } => true,
            Self::Tcp { name, .. } => is_loopback(name),
        }
    }
}

/// Whether a host is this machine, as far as its name tells.
fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Sqlite(file) => write!(f, "sqlite:{}", file.display()),
            Address::Postgres(server) => server.show(f, &POSTGRES),
            Address::Mysql(server) => server.show(f, &MYSQL),
            Address::SqlServer(server) => server.fmt(f),
            Address::ClickHouse(server) => server.show(f, &CLICKHOUSE),
            Address::DuckDb(file) => write!(f, "duckdb:{}", file.display()),
            Address::Fake(server) => server.fake().fmt(f),
        }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { name, port } if name.contains(':') => write!(f, "[{name}]:{port}"),
            Self::Tcp { name, port } => write!(f, "{name}:{port}"),
            Self::Socket { path, .. } => write!(f, "{}", path.display()),
        }
    }
}

/// The port of a host, which is part of a socket's name too.
pub(crate) fn port_of(host: &Host) -> u16 {
    match host {
        Host::Tcp { port, .. } | Host::Socket { port, .. } => *port,
    }
}

impl ServerAddress {
    /// All hosts, in the order in which they are tried.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Host> + Clone {
        std::iter::once(&self.host).chain(&self.others)
    }

    /// The same with one of its hosts alone.
    pub(crate) fn at(&self, host: &Host) -> Self {
        Self { host: host.clone(), others: Vec::new(), wanted: Wanted::Any, ..self.clone() }
    }

    /// How often a host may be tried until one is taken.
    pub(crate) fn tries(&self) -> u32 {
        let hosts = self.others.len() as u32 + 1;
        if self.wanted == Wanted::PreferStandby { 2 * hosts } else { hosts }
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, form: &Form) -> fmt::Result {
        write!(f, "{}://", form.scheme)?;
        if let Some(user) = &self.user {
            write!(f, "{}@", Encoded(user))?;
        }
        let path = |path: &PathBuf| Encoded(&path.to_string_lossy()).to_string().replace("%2F", "/");
        let mut options = Vec::new();
        match &self.host {
            // A socket among several hosts stands with them, where nothing but letters can.
            Host::Socket { path: socket, port } if self.others.is_empty() => {
                options.push(format!("{}={}", form.socket.name(), path(socket)));
                if *port != form.default_port {
                    options.push(format!("port={port}"));
                }
            }
            Host::Socket { .. } | Host::Tcp { .. } => {
                for (number, host) in self.hosts().enumerate() {
                    let comma = if number == 0 { "" } else { "," };
                    let (name, port) = match host {
                        Host::Tcp { name, port } if name.contains(':') => (format!("[{name}]"), port),
                        Host::Tcp { name, port } => (Encoded(name).to_string(), port),
                        Host::Socket { path, port } => (Encoded(&path.to_string_lossy()).to_string(), port),
                    };
                    write!(f, "{comma}{name}")?;
                    if *port != form.default_port {
                        write!(f, ":{port}")?;
                    }
                }
            }
        }
        if let Some(database) = &self.database {
            write!(f, "/{}", Encoded(database))?;
        } else if !options.is_empty() {
            f.write_str("/")?;
        }
        let file = |file: &PathBuf| file.to_string_lossy().into_owned();
        let passwords = [
            ("password_file", self.password_file.as_ref().map(file)),
            ("passfile", self.passfile.as_ref().map(file)),
        ];
        let which = (self.wanted != Wanted::Any).then(|| self.wanted.name().to_owned());
        let elsewhere = [(hosts::WANTED, which), ("service", self.service.clone())];
        let elsewhere = elsewhere.into_iter().chain(passwords);
        let elsewhere = elsewhere.filter_map(|(name, value)| Some((name, value?)));
        for (name, value) in elsewhere.chain(self.encryption.options(form)) {
            options.push(format!("{name}={}", Encoded(&value).to_string().replace("%2F", "/")));
        }
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}

/// A part of an address in which everything is percent-encoded that could mean something.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            // Letters of other alphabets stay legible.
            if character.is_alphanumeric() || "-._~".contains(character) {
                write!(f, "{character}")?;
            } else {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    write!(f, "%{byte:02X}")?;
                }
            }
        }
        Ok(())
    }
}
