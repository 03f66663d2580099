//! What errors of MySQL and MariaDB mean to a caller, by number:
//! <https://mariadb.com/docs/server/reference/error-codes>.

use super::wire::{DriverError, ServerError};
use crate::error::{Attempt, remedy};
use crate::tls::Fault;
use crate::{Error, Mistake, Refusal};

/// Why the server does not take a statement that it prepares, if that is the statement's own fault.
pub(super) fn refusal(wrong: &ServerError) -> Option<Refusal> {
    let mistake = match wrong.code {
        // A database, a table, a column, a function or procedure, a prepared statement, a view's table.
        1049 | 1146 | 1054 | 1109 | 1305 | 1243 | 1356 => Mistake::Missing,
        // A right that is missing is told when it runs.
        1044 | 1142 | 1143 | 1227 | 1370 => return None,
        _ if wrong.state.starts_with("42") || wrong.state.starts_with("21") => Mistake::Other,
        _ => return None,
    };
    Some(Refusal { words: wrong.message.clone(), lines_before: 0, mistake })
}

/// An error of a connection that was there.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
pub(super) fn of(error: &DriverError, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(words(error), remedy);
    match error {
        DriverError::Server(answer) => match answer.code {
            // The server shuts down, or somebody ended the connection.
            1053 | 1077 | 1079 | 1152 | 1184 | 1927 | 2006 | 2013 | 3169 | 4031 => {
                Error::Lost(text(remedy::LOST))
            }
            // A node of Galera that is no member of the group takes nothing; another one may.
            1047 | 1180 if is_apart(&answer.message) => Error::Lost(text(remedy::LOST)),
            1021 => Error::Full(text(remedy::FULL)),
            1114 => Error::Full(text(table_is_full(&answer.message))),
            // A lock waited for too long, a deadlock, a row that changed since the transaction's snapshot.
            1205 | 1213 | 1020 => Error::Conflict(text(remedy::CONFLICT)),
            // Options --read-only and its like, and transactions that only read.
            1290 | 1792 | 1836 if answer.message.to_lowercase().contains("read") => Error::Refused(text(
                "this server is read-only (a replica, or read_only is set): connect to the primary, at its own address or at the \
                cluster's writer address",
            )),
            1419 => Error::Statement(text(
                "on the server, SET GLOBAL log_bin_trust_function_creators = 1, or grant the login the SUPER privilege",
            )),
            20 | 1026 | 1030 if says_no_space(answer) => Error::Full(text(remedy::FULL)),
            // A log that could not be written or synced may have the transaction all the same, which a server that starts again finds.
            code if is_of_disk(code, answer) => Error::Lost(text(remedy::DISK)),
            1044 | 1142 | 1143 | 1227 | 1370 => {
                Error::Denied(attempt.text(words(error), &denied(&answer.message)))
            }
            _ => Error::Statement(text("")),
        },
        DriverError::Parameters { .. } => Error::Statement(text("")),
        _ => Error::Lost(text(remedy::LOST)),
    }
}

/// What can be done about a table that is full (1114): the number does not tell which limit was met.
///
/// Source: <https://mariadb.com/docs/server/server-usage/storage-engines/memory-storage-engine>, `max_heap_table_size`.
fn table_is_full(message: &str) -> &'static str {
    // What a statement needs besides its tables has names such as `/tmp/#sql-temptable-1f`.
    if message.contains("#sql") {
        return "this is a temporary table of the server: free space in the server's tmpdir and temporary tablespace";
    }
    "free space on the disk of the database, or let its tablespace grow; for ENGINE=MEMORY, increase max_heap_table_size and create the table again"
}

/// The statement that grants a privilege which is missing, as far as the server names it:
/// `INSERT command denied to user 'depot'@'localhost' for table `plant`.`tank``.
fn denied(message: &str) -> String {
    let told = message.split_once(" command denied to user ").and_then(|(privilege, rest)| {
        let (user, rest) = rest.split_once(" for ")?;
        let (kind, thing) = rest.split_once(' ')?;
        (kind == "table").then(|| format!("as an administrator: GRANT {privilege} ON {thing} TO {user}"))
    });
    let database = || {
        let (user, database) =
            message.strip_prefix("Access denied for user ")?.split_once(" to database '")?;
        let database = database.strip_suffix('\'')?;
        Some(format!("as an administrator: GRANT ALL ON `{database}`.* TO {user}"))
    };
    told.or_else(database).unwrap_or_else(|| remedy::DENIED.to_owned())
}

/// Whether a node of Galera says that it has no group to agree with, before a statement or at its commit.
fn is_apart(message: &str) -> bool {
    message.contains("WSREP") || message.contains("Primary Component")
}

/// What can be done where a certificate is not trusted.
pub(super) const TRUST: &str = "use ssl-ca=FILE to name the authority that signed the certificate. If the network is trusted, \
ssl-mode=REQUIRED without ssl-ca encrypts without any check";

/// What can be done where the whole password would have to be sent without TLS.
const UNENCRYPTED: &str = "use ssl-mode=VERIFY_IDENTITY, or REQUIRED if nobody can intercept the connection, or give the server's \
public key with server-public-key-path=FILE; get-server-public-key=true trusts any server that answers";

/// An error while a connection was made.
pub(super) fn at_connect(error: &DriverError, attempt: Attempt<'_>) -> Error {
    let text = |remedy| attempt.text(words(error), remedy);
    if let Some(fault) = of_tls(error) {
        return Error::Refused(text(fault.remedy.as_deref().unwrap_or(TRUST)));
    }
    match error {
        DriverError::Server(answer) if answer.message.contains("insecure transport") => {
            Error::Refused(text("use ssl-mode=REQUIRED: this server requires encrypted connections"))
        }
        DriverError::Server(answer) => match answer.code {
            1049 => Error::NoDatabase(text("omit the database from the address, or name one that exists")),
            1044 | 1045 | 1130 | 1251 | 1698 | 1820 | 4151 => Error::Refused(text(
                "check user and password in the address, and MYSQL_PWD; if the user must use encryption, the same message appears \
                without ssl-mode=REQUIRED",
            )),
            1040 | 1203 | 1226 => Error::Unreachable(text("end other connections, or raise max_connections")),
            1021 | 1114 => Error::Full(text(remedy::FULL)),
            _ => Error::Unreachable(text("")),
        },
        DriverError::NoTls => Error::Refused(text(
            "enable encryption on the server (ssl_cert and ssl_key), or use ssl-mode=DISABLED if the network is trusted",
        )),
        DriverError::UnknownPlugin(_) | DriverError::ClearPassword => {
            Error::Refused(text("configure the user to log in with a password"))
        }
        DriverError::FullAuthentication => Error::Refused(text(UNENCRYPTED)),
        DriverError::Io(_) | DriverError::Protocol(_) | DriverError::Parameters { .. } => {
            Error::Unreachable(text(remedy::UNREACHABLE))
        }
    }
}

/// Whether the disk below a server answers it with an error: numbers below 1000 are those of the layer that asks it for files.
fn is_of_disk(code: u16, answer: &ServerError) -> bool {
    let is_of_files = code < 1000 || matches!(code, 1026 | 1030 | 1105);
    is_of_files
        && (answer.message.contains("Input/output error") || answer.message.contains("Read-only file system"))
}

/// 28 is ENOSPC, which the server hands on from its storage engine or file system.
fn says_no_space(answer: &ServerError) -> bool {
    answer.message.split(|letter: char| !letter.is_ascii_digit()).any(|number| number == "28")
}

/// What is wrong with the encryption, if that is it.
fn of_tls(error: &DriverError) -> Option<Fault> {
    let DriverError::Io(error) = error else { return None };
    Fault::within(error)
}

fn words(error: &DriverError) -> String {
    of_tls(error).map_or_else(|| error.to_string(), |fault| fault.words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Doing;

    fn meaning(code: u16, message: &str) -> Error {
        let answer = ServerError { code, message: message.to_owned(), state: "HY000".to_owned() };
        of(&DriverError::Server(answer), Attempt { doing: Doing::Append("samples"), target: "mysql://h/x" })
    }

    /// A table in memory that was full had people make room on the disk.
    #[test]
    fn a_table_that_is_full_may_be_one_in_memory_or_a_temporary_one() {
        let text = meaning(1114, "The table 'alarm' is full").to_string();
        assert!(text.contains("max_heap_table_size") && text.contains("free space on the disk"), "{text}");
        let temporary = meaning(1114, "The table '/tmp/#sql-temptable-1f-3' is full").to_string();
        assert!(temporary.contains("tmpdir") && !temporary.contains("max_heap"), "{temporary}");
        assert!(matches!(meaning(1114, "The table 'alarm' is full"), Error::Full(_)));
    }

    #[test]
    fn a_privilege_that_is_missing_is_named_with_the_statement_that_grants_it() {
        for (number, message, expected) in [
            (
                1142,
                "INSERT command denied to user 'depot'@'localhost' for table `plant`.`tank`",
                "GRANT INSERT ON `plant`.`tank` TO 'depot'@'localhost'",
            ),
            (
                1044,
                "Access denied for user 'depot'@'%' to database 'prony_orders'",
                "GRANT ALL ON `prony_orders`.* TO 'depot'@'%'",
            ),
            (1227, "Access denied; you need (at least one of) the SUPER privilege(s)", remedy::DENIED),
        ] {
            let error = meaning(number, message);
            assert!(matches!(error, Error::Denied(_)) && error.is_usage(), "{error}");
            assert!(error.to_string().ends_with(expected), "{error}");
        }
    }

    #[test]
    fn errors_are_told_apart_by_number_and_words() {
        let full = "Got error 28 \"No space left on device\" from storage engine InnoDB";
        assert!(matches!(meaning(1030, full), Error::Full(_)));
        assert!(matches!(meaning(1026, "Error writing file 'x' (Errcode: 28 \"No space\")"), Error::Full(_)));
        // It had been written to the log that could not be synced, and was there when the server came back.
        let sync = "Can't sync file './binlog.000001' to disk (Errcode: 5 \"Input/output error\")";
        assert!(matches!(meaning(27, sync), Error::Lost(_)));
        assert!(matches!(meaning(1064, sync), Error::Statement(_)), "a text of somebody's");
        assert!(matches!(meaning(1114, "The table 'samples' is full"), Error::Full(_)));
        assert!(matches!(meaning(1030, "Got error 128 from storage engine"), Error::Statement(_)));
        let apart = "WSREP has not yet prepared node for application use";
        assert!(matches!(meaning(1047, apart), Error::Lost(_)));
        assert!(matches!(meaning(1047, "Unknown command"), Error::Statement(_)));
        let at_commit = "Error while appending streaming replication fragment(provider status: Not connected to Primary Component)";
        assert!(matches!(meaning(1180, at_commit), Error::Lost(_)));
        assert!(matches!(meaning(1180, "Got error 168 during COMMIT"), Error::Statement(_)));
        assert!(matches!(meaning(1927, "Connection was killed"), Error::Lost(_)));
        assert!(matches!(meaning(1020, "Record has changed since last read"), Error::Conflict(_)));
        assert!(matches!(meaning(1146, "Table 'x.samples' doesn't exist"), Error::Statement(_)));
    }
}
