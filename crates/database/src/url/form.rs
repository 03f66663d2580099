//! How the addresses of each kind of server are written.

use super::auth::AUTH;
use super::encryption::{BINDING, FETCH_KEY, OLDEST, SERVER_KEY, Words};
use super::hosts::WANTED;

/// How addresses of a kind of server are written, beside what all have.
#[derive(Debug)]
pub(super) struct Form {
    /// What an address begins with when it is shown.
    pub(super) scheme: &'static str,
    /// Port where a server listens if nothing else is said.
    pub(super) default_port: u16,
    pub(super) socket: SocketOption,
    /// Whether an address may have several hosts, of which one is taken.
    pub(super) takes_several: bool,
    /// The options that say how a connection is encrypted. That of the mode is read in both spellings.
    pub(super) encryption: Names,
    /// Options that are known.
    pub(super) options: &'static [&'static str],
}

/// Names of the options that say how a connection is encrypted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) words: Words,
    pub(super) mode: &'static str,
    pub(super) roots: &'static str,
    pub(super) certificate: &'static str,
    pub(super) key: &'static str,
}

/// The option that names a Unix socket.
#[derive(Clone, Copy, Debug)]
pub(super) enum SocketOption {
    /// It is the host's, which may be a path, as may be the host itself.
    Host(&'static str),
    /// It holds nothing but a path.
    Path(&'static str),
}

pub(super) static POSTGRES: Form = Form {
    scheme: "postgres",
    default_port: 5432,
    socket: SocketOption::Host("host"),
    takes_several: true,
    encryption: Names {
        words: Words::Libpq,
        mode: "sslmode",
        roots: "sslrootcert",
        certificate: "sslcert",
        key: "sslkey",
    },
    options: &[
        "host",
        "port",
        "user",
        "password_file",
        "passfile",
        "service",
        WANTED,
        "sslmode",
        "ssl-mode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        OLDEST,
        BINDING,
        AUTH,
    ],
};

pub(super) static MYSQL: Form = Form {
    scheme: "mysql",
    default_port: 3306,
    socket: SocketOption::Path("socket"),
    takes_several: true,
    encryption: Names {
        words: Words::Mysql,
        mode: "ssl-mode",
        roots: "ssl-ca",
        certificate: "ssl-cert",
        key: "ssl-key",
    },
    options: &[
        "socket",
        "port",
        "user",
        "password_file",
        "ssl-mode",
        "sslmode",
        "ssl-ca",
        "ssl-cert",
        "ssl-key",
        OLDEST,
        SERVER_KEY,
        FETCH_KEY,
    ],
};

pub(super) static CLICKHOUSE: Form = Form {
    scheme: "clickhouse",
    default_port: 8123,
    // No option names it: there is none.
    socket: SocketOption::Path("socket"),
    takes_several: false,
    encryption: Names {
        words: Words::Libpq,
        mode: "sslmode",
        roots: "sslrootcert",
        certificate: "sslcert",
        key: "sslkey",
    },
    options: &[
        "port",
        "user",
        "password_file",
        "sslmode",
        "ssl-mode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        OLDEST,
    ],
};

impl SocketOption {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Host(name) | Self::Path(name) => name,
        }
    }
}
