//! What can go wrong with a database, told apart as far as callers act differently.

use std::fmt;

/// An error of a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server does not answer, or there is none.
    #[error("{0}")]
    Unreachable(String),
    /// The login was refused.
    #[error("{0}")]
    Refused(String),
    /// There is no such database or file, or it is not ours.
    #[error("{0}")]
    NoDatabase(String),
    /// The connection was lost while something was under way, of which it is not known whether it was done.
    #[error("{0}")]
    Lost(String),
    /// The server has no more room on its disk.
    #[error("{0}")]
    Full(String),
    /// Something else that was under way was in the way: a deadlock, a serialization failure, or a lock that was waited for
    /// too long. The same may succeed when it is tried again.
    #[error("{0}")]
    Conflict(String),
    /// The server refused a statement because this login lacks a privilege.
    #[error("{0}")]
    Denied(String),
    /// The server refused a statement.
    #[error("{0}")]
    Statement(String),
}

impl Error {
    /// Whether the connection is gone, so that only a new one can go on.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Unreachable(_))
    }

    /// What the server said of a statement, with the place that the statement stands at. What is wrong with the connection is none of its.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        let placed = |words: String| format!("{place}: {words}");
        match self {
            Self::Statement(words) => Self::Statement(placed(words)),
            Self::Conflict(words) => Self::Conflict(placed(words)),
            Self::Full(words) => Self::Full(placed(words)),
            Self::Denied(words) => Self::Denied(placed(words)),
            Self::Unreachable(_) | Self::Refused(_) | Self::NoDatabase(_) | Self::Lost(_) => self,
        }
    }

    /// Whether the user asked for something that cannot be, rather than something having failed: a server that does not answer
    /// is no mistake of whoever asked for it.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::NoDatabase(_) | Self::Denied(_))
    }
}

/// What was tried when an error came.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doing<'a> {
    /// A connection was made.
    Connect,
    /// A statement or script was run.
    Run(&'a str),
    /// Rows were appended to the table of this name.
    Append(&'a str),
}

/// What was tried, and where: the beginning of each error's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) doing: Doing<'a>,
    /// The address without its password.
    pub(crate) target: &'a str,
}

/// Longest part of a statement that an error shows, in characters.
const SHOWN_SQL: usize = 120;

impl Attempt<'_> {
    /// `cannot … TARGET: WORDS; REMEDY`, without the last part if there is no remedy to tell.
    pub(crate) fn text(&self, words: impl fmt::Display, remedy: &str) -> String {
        let end = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        format!("cannot {} {}: {words}{end}", self.doing, self.target)
    }
}

impl fmt::Display for Doing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect => f.write_str("connect to"),
            Self::Append(table) => write!(f, "append rows to `{table}` in"),
            Self::Run(sql) => {
                let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
                match words.char_indices().nth(SHOWN_SQL) {
                    Some((end, _)) => write!(f, "run `{}…` in", &words[..end]),
                    None => write!(f, "run `{words}` in"),
                }
            }
        }
    }
}

/// Remedies that several engines share.
pub(crate) mod remedy {
    /// The connection broke.
    pub(crate) const LOST: &str =
        "the connection was lost, so it is unknown whether this was done; connect again";
    /// A log that could not be written or synced may have it all the same, which a server that starts again finds.
    pub(crate) const DISK: &str = "the server's disk failed, so it is unknown whether this was done: see the logs of the server and of the kernel";
    /// Others were in the way.
    pub(crate) const CONFLICT: &str = "try again";
    /// No room.
    pub(crate) const FULL: &str = "free space on the database's disk, or use another disk";
    /// No privilege, and nothing says which one.
    pub(crate) const DENIED: &str =
        "as an administrator, grant this login the privilege that the server names";
    /// The file may not become larger.
    pub(crate) const FILE_LIMIT: &str =
        "the files of this process may not become larger: raise the limit (`ulimit -f`)";
    /// The system gives no more threads.
    pub(crate) const THREADS: &str = "let this user have more threads and memory (`ulimit -u`, `ulimit -v`)";
    /// Nothing listens, or nothing answers.
    pub(crate) const UNREACHABLE: &str =
        "check host and port, and that the server is running and accepts connections from this machine";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_attempt_place_words_and_remedy() {
        let attempt =
            Attempt { doing: Doing::Run("SELECT 1\n  FROM nothing"), target: "postgres://localhost/x" };
        assert_eq!(
            attempt.text("relation \"nothing\" does not exist", "make it"),
            "cannot run `SELECT 1 FROM nothing` in postgres://localhost/x: relation \"nothing\" does not exist; \
             make it"
        );
        let long = "é".repeat(200);
        let shown = Attempt { doing: Doing::Run(&long), target: "t" }.text("w", "");
        assert_eq!(shown, format!("cannot run `{}…` in t: w", "é".repeat(120)));
    }
}
