//! Addresses as other programs write them (JDBC, SQLAlchemy, libpq, Go), and the address here that says the same.
//!
//! They are refused: what this program connects to is always one that it shows. No password is part of an answer. Where a part
//! could be a piece of a password, the answer holds a general form.

use super::form::{Form, MYSQL, POSTGRES};
use super::sqlserver;
use super::{Encoded, UrlError};
use crate::Engine;

/// Kinds of addresses of other programs, with the engine that each one means.
const KINDS: [(&str, Engine); 15] = [
    ("postgres", Engine::Postgres),
    ("postgresql", Engine::Postgres),
    ("pgsql", Engine::Postgres),
    ("psql", Engine::Postgres),
    ("pg", Engine::Postgres),
    ("mysql", Engine::Mysql),
    ("mysqlx", Engine::Mysql),
    ("mariadb", Engine::Mysql),
    ("sqlserver", Engine::SqlServer),
    ("mssql", Engine::SqlServer),
    ("clickhouse", Engine::ClickHouse),
    ("ch", Engine::ClickHouse),
    ("sqlite", Engine::Sqlite),
    ("sqlite3", Engine::Sqlite),
    ("duckdb", Engine::DuckDb),
];
/// Keys of connection strings of libpq.
const LIBPQ: [&str; 18] = [
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "passfile",
    "service",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "ssl_min_protocol_version",
    "channel_binding",
    "require_auth",
    "target_session_attrs",
    "connect_timeout",
    "application_name",
];
const NAME_MAX: usize = 63;

/// The mistake of an address of another program; none if the text may be one of ours.
pub(super) fn mistake(text: &str) -> Option<UrlError> {
    if let Some(pairs) = libpq_pairs(text) {
        return Some(of_libpq(&pairs));
    }
    let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))?;
    if scheme.eq_ignore_ascii_case("jdbc") {
        let (kind, rest) = rest.split_once(':').unwrap_or((rest, ""));
        return Some(told("`jdbc:` is used only in Java programs", kind, rest));
    }
    if let Some((kind, _)) = scheme.split_once('+') {
        return Some(told(&format!("leave out `+{}`", &scheme[kind.len() + 1..]), kind, rest));
    }
    let is_ours = super::parse::begins_address(text);
    if !is_ours && (engine(scheme).is_some()) {
        return Some(told(&format!("`{scheme}:` is written otherwise here"), scheme, rest));
    }
    if !is_ours && text.contains("@tcp(") {
        let meant = Meant::of_go(text);
        return Some(UrlError(format!("this is the syntax of Go programs: use {}", meant.told())));
    }
    (is_ours && !is_file(scheme) && has_properties(rest))
        .then(|| told("a host cannot contain `;`, and `;name=value` is JDBC syntax", scheme, rest))
}

/// Whether pairs with semicolons follow the host. A password before the `@` may have one.
fn has_properties(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix("//") else { return false };
    let authority =
        rest.split(['?', '/']).next().unwrap_or_default().to_ascii_lowercase().replace("%3b", ";");
    match authority.rsplit_once('@') {
        Some((login, place)) => {
            place.contains(';') || !login.contains(':') && login.contains(';') && login.contains('=')
        }
        None => authority.contains(';'),
    }
}

/// The mistake of options that nobody knows, with the address that does without them.
pub(super) fn unknown_options(scheme: &str, rest: &str, unknown: &[&str], known: &[&str]) -> UrlError {
    let meant = engine(scheme).map(|engine| Meant::of_url(engine, rest));
    let mut names: Vec<String> = Vec::new();
    // What stands behind a password could be a part of it.
    let is_shown = !meant.as_ref().is_some_and(|meant| meant.has_option_password);
    names.extend(unknown.iter().filter(|name| is_shown && is_name(name)).map(|name| format!("`{name}`")));
    let begin = match names.as_slice() {
        [] => "an option is not known".to_owned(),
        [one] => format!("the option {one} is not known"),
        several => format!("the options {} are not known", several.join(", ")),
    };
    match meant.filter(|meant| meant.knows_some) {
        Some(meant) => UrlError(format!("{begin}: give {}", meant.told())),
        None => UrlError(format!("{begin}: give {}", known.join(", "))),
    }
}

fn is_scheme(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "+-._".contains(sign);
    !text.is_empty() && text.len() <= NAME_MAX && text.chars().all(is_sign)
}

fn engine(kind: &str) -> Option<Engine> {
    KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind)).map(|(_, engine)| *engine)
}

fn is_file(scheme: &str) -> bool {
    matches!(engine(scheme), Some(Engine::Sqlite | Engine::DuckDb) | None)
}

fn told(begin: &str, kind: &str, rest: &str) -> UrlError {
    let Some(engine) = engine(kind) else {
        return UrlError(format!("{begin}: {}", super::parse::FORMS));
    };
    if matches!(engine, Engine::Sqlite | Engine::DuckDb) {
        let scheme = if engine == Engine::Sqlite { "sqlite" } else { "duckdb" };
        // What begins with three slashes is relative, and with four absolute.
        let file = rest.strip_prefix("///").or_else(|| rest.strip_prefix("//")).unwrap_or(rest);
        let is_plain = !file.is_empty() && !file.contains(['@', '?', ':', '=', ';']);
        return UrlError(format!("{begin}: give {scheme}:{}", if is_plain { file } else { "FILE" }));
    }
    UrlError(format!("{begin}: give {}", Meant::of_url(engine, rest).told()))
}

/// What an address of another program means.
struct Meant {
    engine: Engine,
    user: Option<String>,
    /// Hosts with ports, as they were written.
    place: String,
    database: String,
    options: Vec<String>,
    has_password: bool,
    /// Whether an option was the password.
    has_option_password: bool,
    /// Whether an option is one of another program that is known.
    knows_some: bool,
    /// What becomes of options that are not ours.
    remarks: Vec<String>,
    /// Whether a part of it could be a piece of a password.
    is_unclear: bool,
}

/// What becomes of an option of another program.
enum Becomes {
    /// An option here.
    Own(String),
    /// Nothing, with what does the same.
    Nothing(&'static str),
    User,
    Database,
    Password,
    /// It is ours.
    Same,
}

impl Meant {
    fn new(engine: Engine) -> Self {
        Self {
            engine,
            user: None,
            place: String::new(),
            database: String::new(),
            options: Vec::new(),
            has_password: false,
            has_option_password: false,
            knows_some: false,
            remarks: Vec::new(),
            is_unclear: false,
        }
    }

    /// Of what follows the scheme of an address.
    fn of_url(engine: Engine, rest: &str) -> Self {
        let mut meant = Self::new(engine);
        let rest = rest.trim_start_matches('/');
        let authority_end = rest.find(['?', '/']).unwrap_or(rest.len());
        let (login, rest) = match rest[..authority_end].rfind('@') {
            Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
            None => (None, rest),
        };
        let (front, query) = rest.split_once(['?', ';']).unwrap_or((rest, ""));
        let (place, database) = front.split_once('/').unwrap_or((front, ""));
        if let Some(login) = login {
            let (user, password) =
                login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
            meant.user = Some(user.to_owned());
            meant.has_password = password.is_some();
        }
        meant.is_unclear = database.contains('@') || query.contains('@');
        (meant.place, meant.database) = (place.to_owned(), database.to_owned());
        for pair in query.split(['&', ';']).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            meant.take(name, value);
        }
        meant
    }

    /// Of `user:password@tcp(host:port)/database?options`.
    fn of_go(text: &str) -> Self {
        let (login, rest) = text.split_once("@tcp(").unwrap_or(("", text));
        let (place, rest) = rest.split_once(')').unwrap_or((rest, ""));
        let (user, _) = login.split_once(':').unwrap_or((login, ""));
        let mut meant = Self::of_url(Engine::Mysql, &format!("//{place}/{}", rest.trim_start_matches('/')));
        meant.user = Some(user.to_owned()).filter(|user| !user.is_empty());
        meant.has_password = login.contains(':');
        meant
    }

    fn take(&mut self, name: &str, value: &str) {
        let becomes = becomes(self.engine, name, value);
        self.knows_some |= matches!(
            becomes,
            Some(Becomes::Own(_) | Becomes::Nothing(_) | Becomes::User | Becomes::Database)
        );
        match becomes {
            Some(Becomes::Same) => {
                if is_plain_value(value) {
                    self.options.push(format!("{name}={value}"));
                }
            }
            Some(Becomes::Own(option)) => {
                self.remarks.push(format!("`{name}` is here `{option}`"));
                self.options.push(option);
            }
            Some(Becomes::Nothing("")) => self.remarks.push(format!("leave out `{name}`")),
            Some(Becomes::Nothing(instead)) => self.remarks.push(format!("omit `{name}`: {instead}")),
            Some(Becomes::User) => self.user = self.user.take().or_else(|| Some(value.to_owned())),
            Some(Becomes::Database) => self.database = value.to_owned(),
            Some(Becomes::Password) => (self.has_password, self.has_option_password) = (true, true),
            // What follows a password could be a part of it.
            None if is_name(name) && !self.has_option_password && !self.is_unclear => {
                self.remarks.push(format!("leave out `{name}`"));
            }
            None => self.remarks.push("omit the text after the password".to_owned()),
        }
    }

    /// The address, and what else is to be known of it.
    fn told(&self) -> String {
        let mut told = self.address();
        if self.has_password {
            let variable = match self.engine {
                Engine::Postgres => ", in PGPASSWORD",
                Engine::Mysql => ", in MYSQL_PWD",
                Engine::SqlServer => ", in SQLCMDPASSWORD",
                Engine::ClickHouse | Engine::Sqlite | Engine::DuckDb | Engine::Fake => "",
            };
            told += &format!(
                "; give the password after the user (user:password@host){variable} or in password_file=FILE"
            );
        }
        for (number, remark) in self.remarks.iter().enumerate() {
            if !self.remarks[..number].contains(remark) {
                told += &format!("; {remark}");
            }
        }
        told
    }

    fn address(&self) -> String {
        let scheme = match self.engine {
            Engine::Postgres => POSTGRES.scheme,
            Engine::Mysql => MYSQL.scheme,
            Engine::SqlServer => "sqlserver",
            Engine::ClickHouse => "clickhouse",
            Engine::Sqlite | Engine::DuckDb | Engine::Fake => "",
        };
        let is_place =
            self.place.chars().all(|sign| sign.is_ascii_alphanumeric() || ".-_:,[]".contains(sign));
        // A port that is no number could be a password.
        let ports = self.place.split(',').filter_map(|one| Some(one.rsplit_once(':')?.1));
        let is_ports = ports.into_iter().all(|port| port.parse::<u16>().is_ok() || port.ends_with(']'));
        let is_user = self.user.as_deref().is_none_or(is_part);
        if self.is_unclear || !is_place || !is_ports || !is_user || !is_part(&self.database) {
            return format!("{scheme}://USER@HOST:PORT/DATABASE");
        }
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let host = if self.place.is_empty() { "localhost" } else { &self.place };
        let database = if self.database.is_empty() { String::new() } else { format!("/{}", self.database) };
        let query =
            if self.options.is_empty() { String::new() } else { format!("?{}", self.options.join("&")) };
        format!("{scheme}://{user}{host}{database}{query}")
    }
}

/// Whether a text is a user or a database, as an address has it.
fn is_part(text: &str) -> bool {
    text.chars().all(|sign| sign.is_alphanumeric() || ".-_%$".contains(sign))
}

fn is_name(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    !text.is_empty() && text.len() <= NAME_MAX && text.chars().all(is_sign)
}

fn is_plain_value(text: &str) -> bool {
    text.chars().all(|sign| sign.is_alphanumeric() || ".-_%/,".contains(sign))
}

/// What an option becomes; none if nobody knows it.
fn becomes(engine: Engine, name: &str, value: &str) -> Option<Becomes> {
    let plain: String = name.to_ascii_lowercase().chars().filter(|sign| !"-_ ".contains(*sign)).collect();
    match plain.as_str() {
        "password" | "passwd" | "pwd" | "pass" | "pw" => return Some(Becomes::Password),
        "user" | "username" | "uid" => return Some(Becomes::User),
        "databasename" | "database" | "initialcatalog" => return Some(Becomes::Database),
        _ => {}
    }
    let is_ours = match form(engine) {
        Some(form) => form.options.contains(&name),
        None => sqlserver::is_option(name),
    };
    if is_ours {
        return Some(Becomes::Same);
    }
    match engine {
        Engine::Postgres => of_postgres(&plain, value),
        Engine::Mysql => of_mysql(&plain, value),
        Engine::SqlServer | Engine::ClickHouse | Engine::Sqlite | Engine::DuckDb | Engine::Fake => None,
    }
}

fn form(engine: Engine) -> Option<&'static Form> {
    match engine {
        Engine::Postgres => Some(&POSTGRES),
        Engine::Mysql => Some(&MYSQL),
        Engine::ClickHouse => Some(&super::form::CLICKHOUSE),
        Engine::SqlServer | Engine::Sqlite | Engine::DuckDb | Engine::Fake => None,
    }
}

fn is_yes(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
}

/// Options of JDBC, SQLAlchemy, Prisma and Npgsql for PostgreSQL.
fn of_postgres(plain: &str, value: &str) -> Option<Becomes> {
    const SCHEMA: &str = "set the search_path of the role (ALTER ROLE … SET search_path)";
    let own = |option: &str| Some(Becomes::Own(option.to_owned()));
    match plain {
        "ssl" if is_yes(value) => own("sslmode=require"),
        "ssl" => own("sslmode=disable"),
        "targetservertype" if value.eq_ignore_ascii_case("primary") => own("target_session_attrs=primary"),
        "schema" | "currentschema" | "searchpath" | "options" => Some(Becomes::Nothing(SCHEMA)),
        "applicationname"
        | "connecttimeout"
        | "logintimeout"
        | "sockettimeout"
        | "tcpkeepalive"
        | "preparethreshold"
        | "charset"
        | "connectionlimit"
        | "pooltimeout"
        | "pgbouncer"
        | "statementcachesize"
        | "rewritebatchedinserts"
        | "loggerlevel"
        | "stringtype"
        | "gssencmode" => Some(Becomes::Nothing("")),
        _ => None,
    }
}

/// Options of JDBC, SQLAlchemy, Prisma, PyMySQL and Go for MySQL and MariaDB.
fn of_mysql(plain: &str, value: &str) -> Option<Becomes> {
    let own = |option: &str| Some(Becomes::Own(option.to_owned()));
    let mode = || super::encryption::Mode::read(value, super::encryption::Words::Mysql).ok();
    match plain {
        "usessl" | "requiressl" | "ssl" | "tls" if is_yes(value) || value == "skip-verify" => {
            own("ssl-mode=REQUIRED")
        }
        "usessl" | "ssl" | "tls" => own("ssl-mode=DISABLED"),
        "requiressl" => Some(Becomes::Nothing("")),
        "verifyservercertificate" if is_yes(value) => own("ssl-mode=VERIFY_IDENTITY"),
        "sslmode" => mode()
            .map(|mode| Becomes::Own(format!("ssl-mode={}", mode.name(super::encryption::Words::Mysql)))),
        "allowpublickeyretrieval" if is_yes(value) => own("get-server-public-key=true"),
        "serverrsapublickeyfile" if is_plain_value(value) => {
            Some(Becomes::Own(format!("server-public-key-path={value}")))
        }
        "unixsocket" if is_plain_value(value) => Some(Becomes::Own(format!("socket={value}"))),
        "servertimezone"
        | "characterencoding"
        | "useunicode"
        | "charset"
        | "parsetime"
        | "loc"
        | "timeout"
        | "autoreconnect"
        | "usecursorfetch"
        | "useserverprepstmts"
        | "cacheprepstmts"
        | "allowmultiqueries"
        | "rewritebatchedstatements"
        | "zerodatetimebehavior"
        | "connecttimeout"
        | "sockettimeout"
        | "collation"
        | "allowpublickeyretrieval"
        | "verifyservercertificate"
        | "connectionlimit"
        | "interpolateparams"
        | "uselegacydatetimecode"
        | "nullcatalogmeanscurrent"
        | "tinyint1isbit" => Some(Becomes::Nothing("")),
        _ => None,
    }
}

/// Keys and values of a connection string of libpq; none if a text is no such string.
/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-KEYWORD-VALUE>
fn libpq_pairs(text: &str) -> Option<Vec<(&str, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else { break };
        let key = key.trim();
        if !LIBPQ.contains(&key) {
            break;
        }
        let (value, behind) = libpq_value(after.trim_start());
        pairs.push((key, value));
        rest = behind.trim_start();
    }
    // A string of SQL Server begins with some of the same keys, and has semicolons.
    let is_all = rest.is_empty() && pairs.iter().all(|(_, value)| !value.contains(';'));
    let is_of_libpq =
        pairs.first().is_some_and(|(key, _)| matches!(*key, "host" | "hostaddr" | "dbname" | "service"));
    (is_of_libpq && !text.contains(';') || is_all && pairs.len() > 1).then_some(pairs)
}

fn libpq_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let is_quoted = text.starts_with('\'');
    let mut signs = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => value.extend(signs.next().map(|(_, next)| next)),
            '\'' if is_quoted => return (value, &text[at + 1..]),
            sign if !is_quoted && sign.is_whitespace() => return (value, &text[at..]),
            sign => value.push(sign),
        }
    }
    (value, "")
}

fn of_libpq(pairs: &[(&str, String)]) -> UrlError {
    let mut meant = Meant::new(Engine::Postgres);
    let mut port = String::new();
    for (key, value) in pairs {
        match *key {
            "host" | "hostaddr" if value.starts_with('/') && is_plain_value(value) => {
                meant.options.push(format!("host={value}"));
            }
            "host" | "hostaddr" => meant.place.clone_from(value),
            "port" => port.clone_from(value),
            "dbname" => meant.database = Encoded(value).to_string(),
            "user" => meant.user = Some(Encoded(value).to_string()),
            "password" => meant.has_password = true,
            key => meant.take(key, value),
        }
    }
    if !port.is_empty() && !meant.place.contains(':') {
        meant.place = format!("{}:{port}", if meant.place.is_empty() { "localhost" } else { &meant.place });
    }
    UrlError(format!("this is a connection string of libpq: give {}", meant.told()))
}

#[cfg(test)]
mod tests {
    use crate::Url;

    fn refused(text: &str) -> String {
        Url::read(text).unwrap_err().to_string()
    }

    /// Addresses of other programs, with parts of the answers.
    const ANSWERED: &[(&str, &[&str])] = &[
        (
            "postgresql+asyncpg://u:Geheim7@depot/db",
            &["leave out `+asyncpg`", "give postgres://u@depot/db;", "PGPASSWORD"],
        ),
        (
            "jdbc:postgresql://depot:5432/db?user=u&password=Geheim7",
            &["give postgres://u@depot:5432/db", "PGPASSWORD"],
        ),
        (
            "mysql://u:Geheim7@depot/db?useSSL=false&serverTimezone=UTC",
            &[
                "`useSSL`, `serverTimezone` are not known",
                "give mysql://u@depot/db?ssl-mode=DISABLED",
                "`useSSL` is here `ssl-mode=DISABLED`",
                "leave out `serverTimezone`",
            ],
        ),
        (
            "postgresql://u:Geheim7@depot/db?schema=public",
            &["`schema` is not known", "give postgres://u@depot/db", "search_path of the role"],
        ),
        (
            "host=depot port=5433 dbname=db user=u password=Geheim7",
            &["libpq", "give postgres://u@depot:5433/db", "PGPASSWORD"],
        ),
        ("host = depot user = u password = 'Geheim7 it\\'s'", &["give postgres://u@depot;"]),
        ("host=/run/postgresql dbname=db", &["give postgres://localhost/db?host=/run/postgresql"]),
        ("user=u password=Geheim7 host=h sslmode=require", &["give postgres://u@h?sslmode=require"]),
        (
            "jdbc:sqlserver://h:1433;databaseName=x;user=sa;password={Geh;eim7};encrypt=true",
            &["give sqlserver://sa@h:1433/x", "SQLCMDPASSWORD"],
        ),
        ("sqlserver://h;user=sa;password=Geheim7", &["a host cannot contain `;`", "give sqlserver://sa@h"]),
        (
            "sqlserver://h%3Buser%3Dsa%3Bpassword%3DGeheim7",
            &["a host cannot contain `;`", "sqlserver://USER@HOST:PORT/DATABASE"],
        ),
        ("postgres://h;user=joe;password=Geheim7/x", &["a host cannot contain `;`"]),
        (
            "jdbc:mysql://h/x?user=u&password=Geheim7&allowPublicKeyRetrieval=true",
            &["give mysql://u@h/x?get-server-public-key=true"],
        ),
        (
            "u:Geheim7@tcp(h:3306)/x?parseTime=true",
            &["Go", "use mysql://u@h:3306/x", "leave out `parseTime`"],
        ),
        ("mssql+pyodbc://sa:Geheim7@h/x?driver=ODBC", &["leave out `+pyodbc`", "give sqlserver://sa@h/x"]),
        ("POSTGRES://u:Geheim7@h/x", &["`POSTGRES:` is written otherwise here", "give postgres://u@h/x"]),
        ("sqlite:///plant.db", &["nothing"]),
        ("sqlite+aiosqlite:///plant.db", &["give sqlite:plant.db"]),
        ("jdbc:sqlite:plant.db", &["give sqlite:plant.db"]),
        ("jdbc:oracle:thin:joe/Geheim7@h:1521", &["jdbc", "give sqlite:FILE"]),
        ("mysql://u:Geheim7@depot/db?foo=1&bar=2", &["`foo`, `bar` are not known"]),
    ];

    #[test]
    fn an_address_of_another_program_is_answered_with_ours() {
        for (text, parts) in ANSWERED {
            if *parts == ["nothing"] {
                assert!(Url::read(text).is_ok(), "{text}");
                continue;
            }
            let message = refused(text);
            assert!(!message.contains("eim7"), "{text}: {message}");
            for part in *parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }

    #[test]
    fn what_could_be_a_piece_of_a_password_is_in_no_answer() {
        for text in [
            "postgresql+asyncpg://u:a/Geheim7@h/x",
            "postgresql+asyncpg://u:a?Geheim7@h/x",
            "jdbc:postgresql://h/x?user=u&password=a&Geheim7",
            "jdbc:postgresql://h/x?user=u&password=a&Geheim7=1",
            "jdbc:postgresql://u:Geheim7/x",
            "jdbc:mysql://h/x?password=a@Geheim7",
            "host=h:Geheim7 user=u",
            "host=h password=a Geheim7",
            "mysql://h/x?foo=1&password=a&Geheim7=1",
            "sqlserver://h?foo=1&password=a&Geheim7=1",
            "u:Geheim7@tcp(h:3306/x",
        ] {
            let message = refused(text);
            assert!(!message.contains("Geheim7"), "{text}: {message}");
        }
    }
}
