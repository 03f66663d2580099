//! What errors of SQL Server mean to a caller, by number:
//! <https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>.
//!
//! An error of the driver itself leaves it unknown where in the conversation it stands: such a session is lost.

use tiberius::error::{Error as Driver, IoErrorKind, TokenError};

use crate::error::{Attempt, remedy};
use crate::{Error, Mistake, Refusal};

/// From this class on an error ends the connection:
/// <https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-error-severities>.
pub(super) const FATAL: u8 = 20;

/// What Babelfish calls an error for which SQL Server has no number, or it knows none.
const NO_NUMBER: u32 = 33_557_097;
const IN_USE: [&str; 2] = ["could not be exclusively locked", "currently in use in another session"];
/// Two sessions created or deleted a database at the same time. PostgreSQL below Babelfish refuses one of them.
const AT_ONCE: &str = "tuple concurrently updated";
const ENDED: [&str; 3] =
    ["terminating connection due to", "the database system is", "terminating because of crash of another"];

/// A right that is missing.
const PERMISSION: [u32; 8] = [229, 230, 262, 297, 300, 916, 6102, 15_247];

const NOT_ONLINE: &str = "wait until the database is online (sys.databases.state_desc), or bring it online";
const READ_ONLY: &str = "give the address of the primary replica, or of a database that is writable";

/// Why the server does not take a statement that it prepares, if that is the statement's own fault. Other numbers may be of the way in which
/// it is prepared here.
pub(super) fn of_parse(wrong: &TokenError) -> Option<Refusal> {
    let mistake = match wrong.code() {
        // An object, a column, a procedure, a function.
        208 | 207 | 2812 | 195 => Mistake::Missing,
        // Syntax, and what stands where it cannot.
        102 | 103 | 105 | 156 | 170 | 213 | 1008 => Mistake::Other,
        _ => return None,
    };
    Some(Refusal { words: wrong.message().to_owned(), lines_before: 0, mistake })
}

/// What an error says of its cause.
enum Kind {
    NoDatabase,
    /// The database is there and cannot be used: offline, in recovery, a replica that lets nobody in.
    NotOnline,
    Lost,
    Full,
    Conflict,
    Permission,
    ReadOnly,
    Other,
}

fn kind(Answer { number, class, message, .. }: Answer<'_>) -> Kind {
    match number {
        911 | 4060 => Kind::NoDatabase,
        // In recovery, offline, being restored or taken over, single-user; of Azure.
        904 | 921 | 922 | 924 | 926 | 927 | 942 | 945 | 946 | 950 | 952 | 954 | 976 | 978 | 979 | 982
        | 983 | 988 | 40_613 => Kind::NotOnline,
        // Killed, the server shuts down or was paused, a replica changed its role.
        596 | 6005 | 17_142 | 17_148 | 35_202 | 40_197 => Kind::Lost,
        // A file group, a log, a disk.
        1101 | 1105 | 3257 | 5149 | 9002 | 40_544 => Kind::Full,
        // A deadlock, a lock timeout, the model database or another one in use, or a row that changed since the snapshot. The last codes
        // are the same conflicts of tables in memory.
        1205 | 1222 | 1807 | 3702 | 3960 | 5030 | 5061 | 41_301 | 41_302 | 41_305 | 41_325 | 41_839 => {
            Kind::Conflict
        }
        _ if PERMISSION.contains(&number) => Kind::Permission,
        3906 | 3908 | 3924 => Kind::ReadOnly,
        _ if class >= FATAL => Kind::Lost,
        // Babelfish has words of its own for what it gives no number.
        NO_NUMBER if IN_USE.iter().any(|words| message.contains(words)) => Kind::Conflict,
        NO_NUMBER if message.contains(AT_ONCE) => Kind::Conflict,
        NO_NUMBER if ENDED.iter().any(|words| message.contains(words)) => Kind::Lost,
        _ => Kind::Other,
    }
}

/// An error as the server tells it.
#[derive(Clone, Copy, Debug)]
struct Answer<'a> {
    number: u32,
    class: u8,
    state: u8,
    message: &'a str,
    /// Empty where it happened in no procedure.
    procedure: &'a str,
    line: u32,
}

impl<'a> From<&'a TokenError> for Answer<'a> {
    fn from(error: &'a TokenError) -> Self {
        Self {
            number: error.code(),
            class: error.class(),
            state: error.state(),
            message: error.message(),
            procedure: error.procedure(),
            line: error.line(),
        }
    }
}

/// An error of a connection that was there.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
pub(super) fn of(error: &Driver, attempt: Attempt<'_>) -> Error {
    match error {
        Driver::Server(answer) => meaning(Answer::from(answer), attempt),
        // A value that no column takes, known before it was sent.
        Driver::BulkInput(_) | Driver::Conversion(_) | Driver::Encoding(_) => {
            Error::Statement(attempt.text(words(error), ""))
        }
        _ => Error::Lost(attempt.text(words(error), remedy::LOST)),
    }
}

fn meaning(answer: Answer<'_>, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(answer.words(), remedy);
    match kind(answer) {
        Kind::NoDatabase => Error::NoDatabase(text("")),
        Kind::NotOnline => Error::Lost(text(NOT_ONLINE)),
        Kind::Lost => Error::Lost(text(remedy::LOST)),
        Kind::Full => Error::Full(text(remedy::FULL)),
        Kind::Conflict => Error::Conflict(text(remedy::CONFLICT)),
        Kind::Permission => Error::Denied(text(&answer.grant())),
        Kind::ReadOnly => Error::Statement(text(READ_ONLY)),
        Kind::Other => Error::Statement(text("")),
    }
}

/// Whether an error says that the login may not do something.
pub(super) fn is_denied(error: &Error) -> bool {
    let text = error.to_string();
    PERMISSION.iter().any(|number| text.contains(&format!("(error {number}, ")))
}

/// Whether the session can go on after an error: only where the server answered and lets it.
pub(super) fn keeps_session(error: &Driver) -> bool {
    matches!(error, Driver::Server(answer) if answer.class() < FATAL)
}

/// An error while a connection was made.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
pub(super) fn at_connect(error: &Driver, attempt: Attempt<'_>) -> Error {
    match error {
        Driver::Server(answer) => refusal(Answer::from(answer), attempt),
        _ => Error::Unreachable(attempt.text(words(error), remedy::UNREACHABLE)),
    }
}

fn refusal(answer: Answer<'_>, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(answer.words(), remedy);
    match answer.number {
        // Azure lets in by addresses.
        40_615 | 47_073 => Error::Refused(text("allow this machine's address in the server's firewall")),
        18_456 => Error::Refused(text(
            "check user and password in the address, SQLCMDPASSWORD, and that the server allows SQL logins (mixed mode); the \
            server's error log shows the reason (State)",
        )),
        18_470 => Error::Refused(text("ALTER LOGIN … ENABLE")),
        18_486..=18_488 => Error::Refused(text("unlock the login, or give it a new password")),
        18_452 => Error::Refused(text("use a SQL Server login, not a Windows login")),
        17_142 | 18_451 => Error::Unreachable(text("wait until the server is up")),
        17_809 | 17_810 | 10_928 | 10_929 | 40_501 => {
            Error::Unreachable(text("close other connections, or raise the server's connection limit"))
        }
        _ => match kind(answer) {
            Kind::NoDatabase => Error::NoDatabase(text(
                "omit the database from the address, name one that exists, or create a user for the login in this database",
            )),
            Kind::NotOnline => Error::Unreachable(text(NOT_ONLINE)),
            Kind::Full => Error::Full(text(remedy::FULL)),
            Kind::Permission => {
                Error::Refused(text("grant the login permission to connect (GRANT CONNECT SQL)"))
            }
            Kind::Lost | Kind::Conflict | Kind::ReadOnly | Kind::Other => Error::Unreachable(text("")),
        },
    }
}

impl Answer<'_> {
    /// The words, with what somebody looks them up by.
    fn words(&self) -> String {
        let Self { number, state, message, procedure, line, .. } = self;
        let within =
            if procedure.is_empty() { String::new() } else { format!(", in {procedure} at line {line}") };
        format!("{} (error {number}, state {state}{within})", message.trim_end())
    }

    /// The right that is missing, as the server names it: `The SELECT permission was denied on the object 'samples', database …`.
    fn grant(&self) -> String {
        let right = self.message.split(" permission").next().map(|words| words.trim_start_matches("The "));
        let right = right.filter(|words| words.chars().all(|sign| sign.is_ascii_uppercase() || sign == ' '));
        let thing = self.message.split('\'').nth(1);
        match (self.number, right, thing) {
            (229 | 230, Some(right), Some(thing)) => format!("GRANT {right} ON {thing} TO the login's user"),
            (262, Some(right), _) => format!("GRANT {right} TO the login's user there"),
            (300, Some(right), _) => format!("in master, GRANT {right} TO the login"),
            (6102, ..) => "in master, GRANT ALTER ANY CONNECTION TO the login".to_owned(),
            _ => remedy::DENIED.to_owned(),
        }
    }
}

/// The words of the server, or of the system, without the driver's around them.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn words(error: &Driver) -> String {
    match error {
        Driver::Server(answer) => Answer::from(answer).words(),
        Driver::Io { kind: IoErrorKind::UnexpectedEof, .. } => "the server closed the connection".to_owned(),
        Driver::Io { message, .. } => message.clone(),
        Driver::Protocol(words)
        | Driver::Encoding(words)
        | Driver::Conversion(words)
        | Driver::BulkInput(words) => words.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Doing;

    fn answer(number: u32, class: u8, message: &str) -> Answer<'_> {
        Answer { number, class, state: 1, message, procedure: "", line: 1 }
    }

    fn run(number: u32) -> Error {
        meaning(
            answer(number, 16, "words"),
            Attempt { doing: Doing::Run("SELECT 1"), target: "sqlserver://h/x" },
        )
    }

    fn connect(number: u32) -> Error {
        refusal(answer(number, 14, "words"), Attempt { doing: Doing::Connect, target: "sqlserver://h/x" })
    }

    #[test]
    fn errors_are_told_apart_by_number() {
        for conflict in [1205, 1222, 1807, 3960, 41_301, 41_302, 41_305, 41_325, 41_839] {
            assert!(matches!(run(conflict), Error::Conflict(_)), "{conflict}");
        }
        for statement in [207, 208, 547, 2601, 2627, 8134, 33_557_097] {
            assert!(matches!(run(statement), Error::Statement(_)), "{statement}");
        }
        for denied in [229, 262, 297] {
            assert!(matches!(run(denied), Error::Denied(_)), "{denied}");
        }
        for lost in [596, 922, 983, 6005, 40_613] {
            assert!(run(lost).is_lost(), "{lost}");
        }
        for full in [1105, 9002] {
            assert!(matches!(run(full), Error::Full(_)), "{full}");
        }
        assert!(matches!(run(911), Error::NoDatabase(_)));
        for (words, is_conflict) in [
            ("The database could not be exclusively locked to", true),
            ("tuple concurrently updated", true),
            ("relation \"x\" does not exist", false),
        ] {
            let attempt = Attempt { doing: Doing::Connect, target: "t" };
            assert_eq!(
                matches!(meaning(answer(NO_NUMBER, 16, words), attempt), Error::Conflict(_)),
                is_conflict
            );
        }
        let fatal = meaning(answer(50_000, 21, "gone"), Attempt { doing: Doing::Append("t"), target: "t" });
        assert!(matches!(fatal, Error::Lost(_)), "{fatal}");
    }

    #[test]
    fn who_is_not_let_in_is_told_why() {
        for refused in [18_456, 18_470, 18_452, 40_615] {
            assert!(matches!(connect(refused), Error::Refused(_)), "{refused}");
        }
        assert!(
            connect(18_456).to_string().contains("words (error 18456, state 1); check user and password")
        );
        assert!(matches!(connect(4060), Error::NoDatabase(_)));
        for (number, part) in [(922, "is online"), (17_142, "is up"), (17_810, "close other connections")] {
            let error = connect(number);
            assert!(matches!(&error, Error::Unreachable(text) if text.contains(part)), "{error}");
        }
    }

    #[test]
    fn who_may_not_do_something_is_told_apart() {
        assert!(is_denied(&run(300)) && is_denied(&run(297)) && is_denied(&run(229)));
        assert!(!is_denied(&run(208)) && !is_denied(&run(33_557_097)));
    }

    #[test]
    fn a_right_that_is_missing_is_named() {
        for (number, message, grant) in [
            (
                229,
                "The SELECT permission was denied on the object 'samples', database 'plant', schema 'dbo'.",
                "GRANT SELECT ON samples TO the login's user",
            ),
            (
                300,
                "VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.",
                "in master, GRANT VIEW SERVER PERFORMANCE STATE TO the login",
            ),
            (
                262,
                "CREATE DATABASE permission denied in database 'master'.",
                "GRANT CREATE DATABASE TO the login's user there",
            ),
            (
                6102,
                "User does not have permission to use the KILL statement.",
                "in master, GRANT ALTER ANY CONNECTION TO the login",
            ),
            (297, "The user does not have permission to perform this action.", remedy::DENIED),
        ] {
            let told = answer(number, 14, message).grant();
            assert_eq!(told, grant, "{number}");
        }
    }
}
