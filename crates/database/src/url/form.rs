//! How the addresses of each kind of server are written.

/// How addresses of a kind of server are written, beside what all have.
#[derive(Debug)]
pub(super) struct Form {
    /// What an address begins with when it is shown.
    pub(super) scheme: &'static str,
    /// Port where a server listens if nothing else is said.
    pub(super) default_port: u16,
    pub(super) socket: SocketOption,
    /// The option that says how a connection is encrypted, when an address is shown; both spellings are read.
    pub(super) encryption: &'static str,
    /// Options that are known.
    pub(super) options: &'static [&'static str],
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
    encryption: "sslmode",
    options: &["host", "port", "user", "sslmode", "ssl-mode"],
};

pub(super) static MYSQL: Form = Form {
    scheme: "mysql",
    default_port: 3306,
    socket: SocketOption::Path("socket"),
    encryption: "ssl-mode",
    options: &["socket", "port", "user", "ssl-mode", "sslmode"],
};

impl SocketOption {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Host(name) | Self::Path(name) => name,
        }
    }
}
