//! What a reader finds: an entry is a statement, the end of a session, or something that is left out, with the reason.

use database::Protocol;

/// Takes each entry of a log, with the line that it begins in.
pub(super) type Each<'a> = dyn FnMut(u64, Entry) + 'a;

/// One entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Statement(Found),
    /// What comes later under the same name is another session.
    Ended {
        session: String,
        why: Left,
    },
    /// No session goes on behind it, whatever its name.
    AllEnded(Left),
    Left(Left),
}

/// A statement as it was logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// When it began, in microseconds since 1970; of what zone is the same for all.
    pub(super) at_us: i64,
    /// Name of its session, as the log has it.
    pub(super) session: String,
    /// Database, where the log tells it.
    pub(super) database: Option<String>,
    pub(super) sql: String,
    /// Values beside it; none for NULL.
    pub(super) values: Vec<Option<String>>,
    pub(super) sent: Protocol,
}

/// Why an entry is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Left {
    /// A message of the server that is no statement.
    Message,
    /// Connections that begin or end, and what is asked beside statements.
    Connection,
    /// The server starts again, and its sessions are gone.
    Restart,
    /// The parts of an exchange whose execution is told by itself.
    Parts,
    DurationAlone,
    /// More rows of a statement whose rows are all read already.
    FurtherRows,
    Copy,
    /// It would leave the database that is the target.
    ChangesDatabase,
    /// It would set what all sessions of the server have.
    ChangesServer,
    /// It would have the server read what is sent in other letters than it is sent in.
    CharacterSet,
    /// The same of a text that does something else too.
    CharacterSetAmong,
    /// It would forget a statement that the replay prepares under another name.
    Deallocates,
    OtherDatabase,
    /// The log names values that it does not have.
    NoValues,
    CutValues,
    /// It names what the server gave the logged session alone.
    Handle,
    Unsupported,
    UnknownCommand,
    NoTime,
    NoSession,
    NoText,
    /// It is no entry of this format.
    Malformed,
    TooLong,
    /// The file ends within it.
    CutShort,
}

impl Left {
    /// Why, as part of a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Message => "messages of the server that are not statements",
            Self::Connection => "connections that begin or end, and requests other than statements",
            Self::Restart => "starts of the server, at which all sessions end",
            Self::Parts => "parses, binds and prepares; their executions are separate entries",
            Self::DurationAlone => "durations without a statement",
            Self::FurtherRows => "further rows of a statement; all its rows are read",
            Self::Copy => "COPY, because its data are not in the log",
            Self::ChangesDatabase => "changes of the database: the replay stays in its target",
            Self::ChangesServer => {
                "settings of the whole server (such as SET GLOBAL): the replay changes nothing that others use"
            }
            Self::CharacterSet => {
                "settings of the client's character set: the replay sends every statement in UTF-8, as the log has it"
            }
            Self::CharacterSetAmong => {
                "commands that also set the client's character set: the replay sends every statement in UTF-8"
            }
            Self::Deallocates => {
                "DEALLOCATE of statements that the session did not PREPARE in SQL: the replay uses different names for these statements"
            }
            Self::OtherDatabase => "of another database",
            Self::NoValues => "without their values (log_parameter_max_length = 0)",
            Self::CutValues => "with a value that was cut short (log_parameter_max_length)",
            Self::Handle => "handles of statements and cursors that only the logged session had",
            Self::Unsupported => "not to be sent as a statement",
            Self::UnknownCommand => "of an unknown command",
            Self::NoTime => "without a time",
            Self::NoSession => "without a session",
            Self::NoText => "no text in UTF-8",
            Self::Malformed => "not in this format",
            Self::TooLong => "larger than 64 MiB",
            Self::CutShort => "cut short by the end of the file",
        }
    }

    /// Whether it says that the log is not whole, or not read as it should be.
    pub(super) fn is_loss(self) -> bool {
        match self {
            Self::Message
            | Self::Connection
            | Self::Restart
            | Self::Parts
            | Self::DurationAlone
            | Self::FurtherRows
            | Self::ChangesDatabase
            | Self::CharacterSet
            | Self::Deallocates
            | Self::OtherDatabase => false,
            Self::Copy
            | Self::ChangesServer
            | Self::CharacterSetAmong
            | Self::NoValues
            | Self::CutValues
            | Self::Handle
            | Self::Unsupported
            | Self::UnknownCommand
            | Self::NoTime
            | Self::NoSession
            | Self::NoText
            | Self::Malformed
            | Self::TooLong
            | Self::CutShort => true,
        }
    }
}
