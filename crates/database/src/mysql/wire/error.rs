//! Errors of a connection.

use std::io;

/// The result of an exchange with a server.
pub(crate) type DriverResult<T> = Result<T, DriverError>;

/// An error of a connection. After all but the first kind the connection is unusable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
    /// The server refused the login or the statement.
    #[error("{} (error {})", .0.message, .0.code)]
    Server(ServerError),
    /// The connection broke, or TLS failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The server broke the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(&'static str),
    /// The server does not offer TLS.
    #[error("the server has no TLS")]
    NoTls,
    /// The server wants a way to log in that this driver does not know.
    #[error("the server wants to authenticate the user with `{0}`, which prony does not support")]
    UnknownPlugin(String),
    /// The server wants the password in clear.
    #[error(
        "the server requested the password in clear text (mysql_clear_password), so prony did not send it"
    )]
    ClearPassword,
    /// The server wants the whole password over a connection that others can read.
    #[error(
        "the server requested the whole password (full authentication of caching_sha2_password), but the connection is not \
        encrypted, so prony did not send it"
    )]
    FullAuthentication,
    /// The number of parameters differs from that of the statement.
    #[error("the statement has {wanted} parameters, but {given} were given")]
    Parameters {
        /// Parameters of the statement.
        wanted: usize,
        /// Parameters that were given.
        given: usize,
    },
}

/// What the server says of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    /// SQLSTATE; `HY000` if there is none.
    pub(crate) state: String,
    pub(crate) message: String,
}
