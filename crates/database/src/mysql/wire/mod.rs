//! A driver for MySQL and MariaDB: packets, log-in, commands and their answers. It knows nothing of this program's sessions.
//!
//! The protocol: <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>, and what MariaDB adds:
//! <https://mariadb.com/docs/server/reference/clientserver-protocol>. Whatever a server says against it is an error.

mod answer;
mod auth;
mod column;
mod conn;
mod error;
mod execute;
mod fields;
mod greeting;
mod key;
mod packets;
mod row;

#[cfg(test)]
mod tests;

pub(super) use auth::{Credentials, Security, TlsSettings, log_in};
pub(super) use column::ColumnDefinition;
pub(super) use conn::{AnswerKind, Conn, Statement};
pub(super) use error::{DriverError, DriverResult, ServerError};
pub(super) use execute::Parameters;
pub(super) use key::{RsaKey, modulus_bytes};
pub(super) use packets::BoxedTransport;
#[cfg(test)]
pub(super) use row::{ClockTime, Moment};
pub(super) use row::{Raw, Row};
