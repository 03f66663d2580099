//! What is sent to a kind of server for databases of our own: one set of statements an engine, each beside its session.
//!
//! Here stands what an engine has to answer; in which order and under which locks it is asked, is the affair of `server` and of
//! the two ways.

use super::layout::LayoutStatements;
use crate::{Dialect, Value};

/// The statements of an engine. What stands in braces is put in.
#[derive(Debug)]
pub(crate) struct Administration {
    pub(crate) dialect: Dialect,
    /// Number of tables with the name of the mark in the database of a session.
    pub(crate) count_marks: &'static str,
    /// Selects a row if there is a database of this name.
    pub(crate) exists: &'static str,
    /// Selects the ids of sessions in the database of this name, but for the one that asks.
    pub(crate) sessions: &'static str,
    /// Ends the session `{id}`.
    pub(crate) end_session: &'static str,
    /// Takes the lock under which databases of a name are made and removed: answers 1 if nobody else has it.
    pub(crate) lock_name: &'static str,
    /// What stands for a name there.
    pub(crate) lock_key: fn(&str) -> Value,
    /// Takes the lock of the database of the session that asks: answers 1 if nobody else has it.
    pub(crate) lock: &'static str,
    /// Whether these wait for a lock that somebody has, as long as is worth it.
    pub(crate) waits_for_locks: bool,
    /// Answers 1 if the session `{id}` has the lock of the database of the session that asks.
    pub(crate) is_held: &'static str,
    /// Keeps the server from ending a session that does nothing; none of one that never does.
    pub(crate) stay: Option<&'static str>,
    /// How it is told where a database lies and what it logs; none where that cannot be said of one database.
    pub(crate) layout: Option<&'static LayoutStatements>,
    /// Whether there are servers that do not know that setting, and never end such a session.
    pub(crate) stay_may_be_unknown: bool,
    pub(crate) way: Way,
}

/// How a database never stands there without a mark, and is removed only with the one that was read.
#[derive(Debug)]
pub(crate) enum Way {
    /// It gets its name when it has its mark, and loses it before the mark is read for the last time.
    Renaming(Renaming),
    /// It is made with a comment that is its mark until there is a table, and removed in the packet that reads that.
    Commenting(Commenting),
}

/// Where a database can be given another name in one step while nobody is connected to it.
#[derive(Debug)]
pub(crate) struct Renaming {
    /// Makes the database `{name}`; what is said of its files follows.
    pub(crate) create: &'static str,
    /// Gives the database `{name}` the name `{other}`.
    pub(crate) rename: &'static str,
    /// Counts what somebody made in the database of the session, but for a mark.
    pub(crate) count_relations: &'static str,
}

/// Where a packet of several statements is worked through whatever becomes of the client.
#[derive(Debug)]
pub(crate) struct Commenting {
    /// Makes the database `{name}` with a `{comment}`, if any.
    pub(crate) create: &'static str,
    /// A comment of this `{text}` in that statement.
    pub(crate) comment: &'static str,
    /// Answers 1 if the server knows comments.
    pub(crate) has_comments: &'static str,
    /// Selects the comment of a database, where comments are known.
    pub(crate) read_comment: &'static str,
    /// Selects the tables of a database.
    pub(crate) tables: &'static str,
    /// Runs `{drop}` if the database `{name}` has one mark, which also says `{of_run}`.
    pub(crate) drop_marked: &'static str,
}

/// A statement with what stands in braces put in.
pub(super) fn filled(statement: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(statement.to_owned(), |filled, (name, value)| filled.replace(&format!("{{{name}}}"), value))
}
