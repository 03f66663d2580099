//! What PostgreSQL's errors mean to a caller, by SQLSTATE:
//! <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use std::error::Error as StdError;
use std::io;

use tokio_postgres::error::{DbError, ErrorPosition};

use super::auth::NotPermitted;
use super::message::Wrong;
use crate::error::{Attempt, Doing, remedy};
use crate::tls::Fault;
use crate::{Dialect, Error, Mistake, Refusal};

/// What can be done where nothing can be written.
const ONLY_READS: &str = "this server is read-only (a hot standby, a read replica, or default_transaction_read_only): connect to the \
primary server or to the cluster's writer address";
/// What can be done where the server does not have a statement that this program prepared.
const UNPREPARED: &str = "this session does not know a statement that prony prepared. With a pooler (PgBouncer with pool_mode = \
transaction), connect to the server itself, or set pool_mode = session. PgBouncer 1.21 or later also works with \
max_prepared_statements = 200. Without a pooler, remove DEALLOCATE and DISCARD from the script";
/// What can be done where a segment of shared memory does not fit, which lies on a file system of its own:
/// <https://www.postgresql.org/docs/current/runtime-config-resource.html>, `dynamic_shared_memory_type`.
const SHARED_MEMORY: &str = "enlarge /dev/shm on the server (for a container, set shm-size, such as 256m), or set \
max_parallel_workers_per_gather = 0, which needs less shared memory";

/// An error of a connection that was there.
pub(super) fn of(error: &tokio_postgres::Error, is_closed: bool, attempt: Attempt<'_>) -> Error {
    let text = |remedy: &str| attempt.text(words(error), remedy);
    if let Some(answer) = error.as_db_error() {
        return of_code((answer.code().code(), answer.message()), attempt, text);
    }
    if is_closed || error.is_closed() || io_error(error).is_some() {
        return Error::Lost(text(remedy::LOST));
    }
    Error::Statement(text(""))
}

/// What the server said of a statement.
pub(super) fn of_wrong(wrong: &Wrong, attempt: Attempt<'_>) -> Error {
    let words = told(&wrong.message, [wrong.detail.as_deref(), wrong.hint.as_deref()]);
    of_code((&wrong.code, &wrong.message), attempt, |remedy| attempt.text(&words, remedy))
}

/// A connection that broke, with what the server said last.
pub(super) fn of_line(error: &io::Error, last: Option<&Wrong>, attempt: Attempt<'_>) -> Error {
    match last.map(|wrong| (of_wrong(wrong, attempt), wrong)) {
        Some((error @ Error::Lost(_), _)) => error,
        Some((_, wrong)) => Error::Lost(attempt.text(&wrong.message, remedy::LOST)),
        None => Error::Lost(attempt.text(error, remedy::LOST)),
    }
}

fn of_code((code, message): (&str, &str), attempt: Attempt<'_>, text: impl Fn(&str) -> String) -> Error {
    match code {
        "57P01" | "57P02" | "57P03" | "57P05" => Error::Lost(text(remedy::LOST)),
        code if code.starts_with("08") => Error::Lost(text(remedy::LOST)),
        "58030" => Error::Lost(text(remedy::DISK)),
        "53100" if is_of_shared_memory(message) => Error::Statement(text(SHARED_MEMORY)),
        "53100" => Error::Full(text(remedy::FULL)),
        // Serialization failure, deadlock, a lock that was not to be had, a database that somebody is connected to.
        "40001" | "40P01" | "55P03" | "55006" => Error::Conflict(text(remedy::CONFLICT)),
        "3D000" => Error::NoDatabase(text("")),
        "25006" => Error::Refused(text(ONLY_READS)),
        // The statement of this name was prepared in another session of the server, or by somebody else in this one.
        "26000" | "42P05" if is_prepared_by_us(message, attempt) => Error::Refused(text(UNPREPARED)),
        "26000" => Error::Statement(text("PREPARE it in the same session before it is used")),
        "42P05" => Error::Statement(text("DEALLOCATE it first, or PREPARE it once per session")),
        "42501" => Error::Denied(text(&denied(message, attempt))),
        _ => Error::Statement(text("")),
    }
}

/// Whether the segment is one of `dynamic_shared_memory_type = posix`, by its name, which is the same in all languages.
fn is_of_shared_memory(message: &str) -> bool {
    message.contains("\"/PostgreSQL.") || message.contains("shared memory")
}

/// Whether the statement that an error names is one of this program: the driver calls its own `s1`, the rest are `prony1`. What a
/// statement itself spells is its author's.
fn is_prepared_by_us(message: &str, attempt: Attempt<'_>) -> bool {
    let is_ours = |name: &&str| {
        ["prony", "s"].iter().any(|head| {
            let number = name.strip_prefix(head).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|sign| sign.is_ascii_digit())
        })
    };
    let named = message.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_').find(is_ours);
    let spelled = match attempt.doing {
        Doing::Run(sql) => sql,
        Doing::Connect | Doing::Append(_) => "",
    };
    named.is_some_and(|name| !spelled.contains(name))
}

/// The statement that grants the privilege which is missing, as far as the server names it.
///
/// Source: <https://www.postgresql.org/docs/current/ddl-priv.html>. Since PostgreSQL 15 only the owner of a database may create in
/// its schema `public`.
fn denied(message: &str, attempt: Attempt<'_>) -> String {
    let login = login(attempt.target);
    let (role, owner) = (login.as_deref().unwrap_or("the login"), login.as_deref().unwrap_or("it"));
    let sql = match attempt.doing {
        Doing::Run(sql) => sql.trim_start().to_lowercase(),
        Doing::Append(_) => "insert".to_owned(),
        Doing::Connect => String::new(),
    };
    let of = |kind: &str| message.strip_prefix("permission denied for ")?.strip_prefix(kind);
    if message.ends_with("denied to create database") || message.ends_with("denied to rename database") {
        return format!("as an administrator: ALTER ROLE {role} CREATEDB");
    }
    match (of("schema "), of("table ")) {
        (Some(schema), _) if sql.contains("create ") => format!(
            "as an administrator: GRANT CREATE ON SCHEMA {schema} TO {role}, or use a database that {owner} owns. Since PostgreSQL \
            15 only its owner may create in schema public"
        ),
        (Some(schema), _) => format!("as an administrator: GRANT USAGE ON SCHEMA {schema} TO {role}"),
        (_, Some(table)) => {
            let first = sql.split_whitespace().next().unwrap_or_default();
            let privilege = match first {
                "select" | "insert" | "truncate" => first.to_uppercase(),
                // Both read the rows that they change.
                "update" | "delete" => format!("SELECT, {}", first.to_uppercase()),
                _ => "SELECT, INSERT, UPDATE, DELETE".to_owned(),
            };
            format!("as an administrator: GRANT {privilege} ON {table} TO {role}")
        }
        _ if message.starts_with("must be owner of") => "log in as its owner".to_owned(),
        _ => remedy::DENIED.to_owned(),
    }
}

/// The user of an address, as a statement takes the name of a role.
fn login(target: &str) -> Option<String> {
    let (_, rest) = target.split_once("://")?;
    let (login, _) = rest.split('/').next()?.rsplit_once('@')?;
    let user = login.split(':').next().filter(|user| !user.is_empty())?;
    let is_plain =
        user.bytes().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == b'_');
    Some(if is_plain { user.to_owned() } else { Dialect::Postgres.quoted(user) })
}

/// What can be done where a certificate is not trusted.
pub(super) const TRUST: &str = "use sslrootcert=FILE to name the authority that signed the certificate. If the network is trusted, \
sslmode=require without sslrootcert encrypts without any check";

/// Why no connection was made.
#[derive(Debug)]
pub(super) enum Unconnected {
    /// There is nobody.
    Socket(io::Error),
    Driver(tokio_postgres::Error),
}

impl Unconnected {
    /// Whether encryption may be what it takes.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Driver(error) if is_refusal(error))
    }

    /// Whether the server has encryption, and it failed.
    pub(super) fn is_of_tls(&self) -> bool {
        matches!(self, Self::Driver(error) if of_tls(error).is_some())
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Socket(error) => error.to_string(),
            Self::Driver(error) => words(error),
        }
    }

    /// The error; `also` where a second try failed after it, with encryption or without.
    pub(super) fn told(&self, also: Option<&Self>, attempt: Attempt<'_>) -> Error {
        match self {
            Self::Socket(error) => Error::Unreachable(attempt.text(error, remedy::UNREACHABLE)),
            Self::Driver(error) => at_connect(error, also.map(Self::words), attempt),
        }
    }
}

/// An error while a connection was made; `also` what a second try said after it.
pub(super) fn at_connect(error: &tokio_postgres::Error, also: Option<String>, attempt: Attempt<'_>) -> Error {
    let mut said = words(error);
    if let Some(other) = also.filter(|other| *other != said) {
        said = format!("{said} (second attempt, with the other kind of encryption: {other})");
    }
    let text = |remedy: &str| attempt.text(&said, remedy);
    if let Some(answer) = error.as_db_error() {
        return match answer.code().code() {
            "3D000" => Error::NoDatabase(text(
                "name an existing database at the end of the address, such as /postgres",
            )),
            "28P01" | "28000" => Error::Refused(text(of_refusal(answer.message()))),
            "42501" => Error::Refused(text("grant the login the CONNECT privilege for this database")),
            "57P03" => Error::Unreachable(text("wait until the server is up")),
            "53300" => Error::Unreachable(text("end other connections, or raise max_connections")),
            "53100" if is_of_shared_memory(answer.message()) => Error::Unreachable(text(SHARED_MEMORY)),
            "53100" => Error::Full(text(remedy::FULL)),
            _ => Error::Unreachable(text("")),
        };
    }
    if let Some(fault) = of_tls(error) {
        return Error::Refused(text(fault.remedy.as_deref().unwrap_or(TRUST)));
    }
    if let Some(ended) = io_error(error).and_then(not_permitted) {
        return Error::Refused(text(&ended.remedy));
    }
    if said.contains("does not support TLS") {
        return Error::Refused(text(
            "enable encryption on the server (ssl = on, with ssl_cert_file and ssl_key_file), or use sslmode=disable if the network is trusted",
        ));
    }
    if said.contains("channel binding") {
        return Error::Refused(text(
            "log in with scram-sha-256 over TLS (set password_encryption and pg_hba.conf on the server), or use channel_binding=prefer",
        ));
    }
    if said.contains("password missing") || said.contains("authentication") {
        return Error::Refused(text(
            "give a password with user:password@host, as PGPASSWORD, in ~/.pgpass (mode 600) or by password_file=FILE",
        ));
    }
    Error::Unreachable(text(remedy::UNREACHABLE))
}

/// What can be done about a login that was refused: <https://www.postgresql.org/docs/current/client-authentication-problems.html>.
fn of_refusal(message: &str) -> &'static str {
    let has_rule = !message.contains("no pg_hba.conf entry");
    if !has_rule && (message.ends_with("no encryption") || message.ends_with("SSL off")) {
        return "this server may require encryption: use sslmode=require, or add a rule to pg_hba.conf that allows unencrypted connections";
    }
    if message.contains("client certificate") {
        return "use sslcert=FILE and sslkey=FILE to give a certificate that the server trusts, and its key";
    }
    "check user and password in the address, PGPASSWORD, and the server's pg_hba.conf"
}

/// Whether the server answered that it does not let this login in so, but may otherwise encrypted.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|answer| answer.code().code().starts_with("28"))
}

/// What is wrong with the encryption, if that is it.
fn of_tls(error: &tokio_postgres::Error) -> Option<Fault> {
    Fault::within(io_error(error)?)
}

/// The words of the server, or of the system, without the driver's around them.
fn words(error: &tokio_postgres::Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return server_words(answer);
    }
    if let Some(fault) = of_tls(error) {
        return fault.words;
    }
    if let Some(error) = io_error(error) {
        return error.to_string();
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

fn server_words(answer: &DbError) -> String {
    told(answer.message(), [answer.detail(), answer.hint()])
}

/// Why the server does not take a statement that it parses, if that is the statement's own fault:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn refusal(wrong: &DbError, sql: &str) -> Option<Refusal> {
    let code = wrong.code().code();
    let mistake = match code {
        // Tables, columns, functions, types, schemas, prepared statements and cursors.
        "42P01" | "42703" | "42883" | "42704" | "3F000" | "26000" | "34000" => Mistake::Missing,
        // Also an operator or a function of which there are several.
        "42P18" | "42P08" | "42725" => Mistake::Type,
        // A right that is missing is told when it runs.
        "42501" => return None,
        code if code.starts_with("42") || code.starts_with("22") || code.starts_with("0A") => Mistake::Other,
        _ => return None,
    };
    let lines_before = match wrong.position() {
        // Letters from 1.
        Some(ErrorPosition::Original(position)) => {
            sql.chars().take((*position as usize).saturating_sub(1)).filter(|letter| *letter == '\n').count()
        }
        Some(ErrorPosition::Internal { .. }) | None => 0,
    };
    let words = told(wrong.message(), [wrong.detail(), wrong.hint()]);
    Some(Refusal { words, lines_before, mistake })
}

fn told(message: &str, more: [Option<&str>; 2]) -> String {
    more.into_iter().flatten().fold(message.to_owned(), |words, more| format!("{words} ({more})"))
}

/// Why we ended a log-in, if we did.
fn not_permitted(error: &io::Error) -> Option<&NotPermitted> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

fn io_error(error: &tokio_postgres::Error) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return Some(error);
        }
        source = cause.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an error means, and its text.
    fn meant((code, message): (&str, &str), sql: &str, target: &str) -> Error {
        let wrong = Wrong { code: code.to_owned(), message: message.to_owned(), ..Wrong::default() };
        of_wrong(&wrong, Attempt { doing: Doing::Run(sql), target })
    }

    /// A full /dev/shm was called a full disk, any statement that was not prepared a pooler, and a missing privilege was not named.
    #[test]
    fn a_code_with_several_causes_has_the_remedy_of_the_one_that_the_message_names() {
        let target = "postgres://depot@localhost/depot";
        let check = |code: (&str, &str), sql: &str, part: &str| {
            let text = meant(code, sql, target).to_string();
            assert!(text.ends_with(part), "{text}");
        };
        let segment = "could not resize shared memory segment \"/PostgreSQL.2846\" to 8388608 bytes: No space left on device";
        check(("53100", segment), "SELECT 1", SHARED_MEMORY);
        assert!(matches!(meant(("53100", segment), "SELECT 1", target), Error::Statement(_)));
        let german = "konnte Größe des Shared-Memory-Segments \"/PostgreSQL.7\" nicht auf 8 Bytes ändern";
        check(("53100", german), "SELECT 1", SHARED_MEMORY);
        check(("53100", "could not extend file \"base/5/16\": No space left"), "INSERT", remedy::FULL);
        let missing = |name: &str| format!("prepared statement \"{name}\" does not exist");
        check(("26000", &missing("level_of_tank")), "EXECUTE level_of_tank", "before it is used");
        check(("26000", &missing("s3")), "EXECUTE s3", "before it is used");
        check(("26000", &missing("prony3")), "SELECT 1", UNPREPARED);
        check(("26000", &missing("s12")), "SELECT 1", UNPREPARED);
        check(
            ("42P05", "prepared statement \"level\" already exists"),
            "PREPARE level AS SELECT 1",
            "once per session",
        );
        check(("42P05", "prepared statement \"prony1\" already exists"), "SELECT 1", UNPREPARED);
    }

    #[test]
    fn a_privilege_that_is_missing_is_named_with_the_statement_that_grants_it() {
        let check = |message: &str, sql: &str, target: &str, expected: &str| {
            let error = meant(("42501", message), sql, target);
            assert!(matches!(error, Error::Denied(_)) && error.is_usage(), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        };
        let depot = "postgres://depot@localhost/depot";
        let schema = "permission denied for schema public";
        let grant = "GRANT CREATE ON SCHEMA public TO depot, or use a database that depot owns";
        check(schema, "DROP TABLE IF EXISTS a; CREATE TABLE a (i int)", depot, grant);
        check(schema, "SELECT 1", depot, "GRANT USAGE ON SCHEMA public TO depot");
        check(
            schema,
            "CREATE TABLE a (i int)",
            "postgres://localhost/depot",
            "ON SCHEMA public TO the login",
        );
        check(schema, "CREATE TABLE a (i int)", "postgres://De-pot:…@h/x", "TO \"De-pot\"");
        let database = "permission denied to create database";
        check(database, "CREATE DATABASE prony", depot, "ALTER ROLE depot CREATEDB");
        check(
            "permission denied for table tank",
            "UPDATE tank SET n = 1",
            depot,
            "GRANT SELECT, UPDATE ON tank TO depot",
        );
        check("must be owner of table tank", "DROP TABLE tank", depot, "log in as its owner");
        check("permission denied for function f", "SELECT f()", depot, remedy::DENIED);
    }

    #[test]
    fn what_a_disk_failed_or_a_server_that_ends_did_not_answer_may_be_done() {
        let meaning = |code: &str| {
            let wrong = Wrong {
                code: code.to_owned(),
                message: "as the server has it".to_owned(),
                ..Wrong::default()
            };
            of_wrong(&wrong, Attempt { doing: Doing::Run("COMMIT"), target: "postgres://localhost/x" })
        };
        // A log that could not be written, when the power of its disk was cut: the server ends.
        for lost in ["58030", "57P01", "57P03", "08006"] {
            assert!(matches!(meaning(lost), Error::Lost(_)), "{lost}");
        }
        assert!(meaning("58030").to_string().contains("it is unknown whether this was done"));
        assert!(matches!(meaning("53100"), Error::Full(_)));
        assert!(matches!(meaning("40001"), Error::Conflict(_)));
        assert!(matches!(meaning("58P01"), Error::Statement(_)), "a file that is not there");
    }
}
