//! Logs of statements with their times, read so that they can be sent again: each logged session in its order, each statement when it was due.
//!
//! Readers know the text of a log and nothing of a database: PostgreSQL's csvlog, the general log of MariaDB and MySQL, extended events of SQL
//! Server. They go through a file of any size; what is kept is the statements alone, each text once.

mod collect;
mod entry;
mod format;
mod general;
mod lines;
mod log;
mod postgres;
mod prepared;
mod shape;
mod sql;
mod sqlserver;
mod time;
mod transaction;
mod unsendable;

#[cfg(test)]
mod tests;

pub use format::LogFormat;
pub use log::{Log, Logs};

pub(super) use log::Logged;
pub(super) use sql::{Piece, Pieces, literal, with_values};
