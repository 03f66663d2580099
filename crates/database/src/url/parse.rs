//! Texts to addresses.
//!
//! No message quotes what stands before the host: a password could be in it, also where it was not meant to be one.

use std::path::PathBuf;

use super::encryption::Encryption;
use super::foreign;
use super::form::{CLICKHOUSE, Form, MYSQL, POSTGRES, SocketOption};
use super::hosts::{WANTED, Wanted, ports};
use super::sqlserver::{SqlServerAddress, connection_string, is_connection_string};
use super::{Address, Host, ServerAddress, Url, UrlError};
use crate::silence::Silence;
use crate::{Engine, Fake};

pub(super) const ENCODING: &str =
    "in a user, password or name write : as %3A, @ as %40, / as %2F, ? as %3F, and a comma as %2C";
pub(super) const FORMS: &str = "give sqlite:FILE, postgres://user@host:port/database, mysql://user@host:port/database, \
                     sqlserver://user@host:port/database, clickhouse://user@host:port/database or duckdb:FILE";

/// Whether an address of a known kind begins here.
pub(super) fn begins_address(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| Engine::ALL.into_iter().any(|engine| schemes(engine).contains(&scheme)))
}

impl Url {
    /// What a text says, and nothing else.
    pub(crate) fn read(text: &str) -> Result<Self, UrlError> {
        if let Some(mistake) = foreign::mistake(text) {
            return Err(mistake);
        }
        if is_connection_string(text) {
            return connection_string(text).map(|server| Self(Address::SqlServer(Box::new(server))));
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(UrlError(format!("not an address of a database: {FORMS}")));
        };
        let Some(engine) = Engine::ALL.into_iter().find(|&engine| schemes(engine).contains(&scheme)) else {
            // What is no word could be the user of a login, or more.
            let is_word = scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign));
            let what =
                if is_word && !rest.contains('@') { format!("`{scheme}:`") } else { "this".to_owned() };
            return Err(UrlError(format!("unknown kind of address {what}: {FORMS}")));
        };
        match engine {
            Engine::Sqlite => file(rest, scheme).map(|file| Self(Address::Sqlite(file))),
            Engine::DuckDb => file(rest, scheme).map(|file| Self(Address::DuckDb(file))),
            Engine::Postgres => {
                Parts::of(rest, &POSTGRES)?.server().map(|server| Self(Address::Postgres(Box::new(server))))
            }
            Engine::Mysql => {
                Parts::of(rest, &MYSQL)?.server().map(|server| Self(Address::Mysql(Box::new(server))))
            }
            Engine::SqlServer => {
                SqlServerAddress::read(rest).map(|server| Self(Address::SqlServer(Box::new(server))))
            }
            Engine::ClickHouse => Parts::of(rest, &CLICKHOUSE)?
                .server()
                .map(|server| Self(Address::ClickHouse(Box::new(server)))),
            Engine::Fake => rest.parse::<Fake>().map(Self::from),
        }
    }
}

/// What addresses of an engine begin with.
fn schemes(engine: Engine) -> &'static [&'static str] {
    match engine {
        Engine::Sqlite => &["sqlite"],
        Engine::Postgres => &["postgres", "postgresql"],
        Engine::Mysql => &["mysql", "mariadb"],
        Engine::SqlServer => &["sqlserver", "mssql"],
        Engine::ClickHouse => &["clickhouse"],
        Engine::DuckDb => &["duckdb"],
        Engine::Fake => &["fake"],
    }
}

fn file(path: &str, scheme: &str) -> Result<PathBuf, UrlError> {
    match path {
        "" => Err(UrlError(format!(
            "`{scheme}:` needs a file: give {scheme}:FILE, such as {scheme}:historian.db"
        ))),
        // Each session would have a database of its own, and none would be written to a disk.
        ":memory:" => {
            Err(UrlError(format!("`{scheme}::memory:` is not a file: give a file on the disk to measure")))
        }
        _ => Ok(PathBuf::from(path)),
    }
}

/// An address of a server, taken apart.
struct Parts<'a> {
    form: &'static Form,
    user: Option<&'a str>,
    password: Option<&'a str>,
    /// Hosts and their ports.
    places: Vec<(&'a str, Option<&'a str>)>,
    database: &'a str,
    options: Vec<(&'a str, String)>,
}

impl<'a> Parts<'a> {
    fn of(rest: &'a str, form: &'static Form) -> Result<Self, UrlError> {
        let Some(rest) = rest.strip_prefix("//") else {
            return Err(UrlError(format!("`{0}:` needs two slashes: give {0}://host/database", form.scheme)));
        };
        let rest_of_all = rest;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        if database.contains('@') || query.contains('@') {
            // Most likely the end of a password that has a / or a ? in it, so nothing of it is quoted.
            return Err(UrlError(format!("there is an @ after the host; {ENCODING}")));
        }
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let (user, password) = match login.map(|login| login.split_once(':').ok_or(login)) {
            Some(Ok((user, password))) => (Some(user), Some(password)),
            Some(Err(user)) => (Some(user), None),
            None => (None, None),
        };
        if database.contains(',') {
            return Err(UrlError(format!(
                "a comma follows the database: put several hosts before the database, and begin another address with its scheme; {ENCODING}"
            )));
        }
        let places = place.split(',').map(host_and_port).collect::<Result<_, _>>()?;
        let options = options(query, form).map_err(|mistake| mistake.told(form, rest_of_all))?;
        Ok(Self { form, user, password, places, database, options })
    }

    fn server(&self) -> Result<ServerAddress, UrlError> {
        let mut hosts = self.hosts()?.into_iter();
        let Some(host) = hosts.next() else { return Err(UrlError("the host is missing".to_owned())) };
        let user = match self.option("user") {
            Some(user) => Some(user.to_owned()),
            None => self.user.map(|user| decoded(user, "the user")).transpose()?,
        };
        let is_named = |name: &str| self.option(name).is_some();
        let is_open = matches!(self.places[..], [("", None)])
            && !is_named("port")
            && !is_named(self.form.socket.name());
        Ok(ServerAddress {
            host,
            others: hosts.collect(),
            wanted: self.option(WANTED).map(Wanted::read).transpose()?.unwrap_or_default(),
            is_open,
            service: self.option("service").map(str::to_owned),
            taken: Vec::new(),
            user: user.filter(|user| !user.is_empty()),
            password: self.password.map(|password| decoded(password, "the password")).transpose()?,
            password_file: self.option("password_file").map(PathBuf::from),
            passfile: self.option("passfile").map(PathBuf::from),
            database: Some(decoded(self.database, "the database")?).filter(|name| !name.is_empty()),
            encryption: Encryption::read(self.form, |name| self.option(name))?,
            silence: Silence::default(),
        })
    }

    /// Where it listens, or where each of several does.
    fn hosts(&self) -> Result<Vec<Host>, UrlError> {
        let form = self.form;
        let named = self.places.iter().map(|(host, _)| decoded(host, "the host"));
        let mut names = named.collect::<Result<Vec<_>, _>>()?;
        match (self.option(form.socket.name()), form.socket) {
            (Some(""), _) => {
                return Err(UrlError("the socket has no path: give one that begins with /".to_owned()));
            }
            (Some(path), SocketOption::Path(_)) if !path.starts_with('/') => {
                return Err(UrlError("the path of a socket begins with /".to_owned()));
            }
            (Some(path), SocketOption::Path(_)) => names = vec![path.to_owned()],
            (Some(hosts), SocketOption::Host(_)) => names = hosts.split(',').map(str::to_owned).collect(),
            (None, _) => {}
        }
        if names.len() > 1 && !form.takes_several {
            return Err(UrlError(
                "only PostgreSQL, MySQL and MariaDB support several hosts in one address: name the host to measure"
                    .to_owned(),
            ));
        }
        let given: Vec<String> = match self.option("port") {
            Some(ports) => ports.split(',').map(str::to_owned).collect(),
            None if self.places.iter().all(|(_, port)| port.is_none()) => Vec::new(),
            None => self.places.iter().map(|(_, port)| port.unwrap_or_default().to_owned()).collect(),
        };
        names.iter().try_for_each(|name| host_name(name))?;
        let ports = ports(names.len(), &given, form.default_port)?;
        Ok(names.into_iter().zip(ports).map(|(name, port)| Host::of(name, port)).collect())
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }
}

pub(super) fn host_and_port(place: &str) -> Result<(&str, Option<&str>), UrlError> {
    let Some(numeric) = place.strip_prefix('[') else {
        return Ok(place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))));
    };
    let Some((host, after)) = numeric.split_once(']') else {
        return Err(UrlError("the address of the host begins with [ and has no ]".to_owned()));
    };
    match after.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if after.is_empty() => Ok((host, None)),
        None => Err(UrlError("only :port and /database can follow ]".to_owned())),
    }
}

/// Refuses what can be no name of a host, such as pairs that other programs write behind it. The path of a socket may hold any sign.
pub(super) fn host_name(name: &str) -> Result<(), UrlError> {
    let is_sign = |sign: char| sign.is_alphanumeric() || "-._:%~".contains(sign);
    if name.starts_with('/') || name.chars().all(is_sign) {
        return Ok(());
    }
    Err(UrlError(format!("the host contains a character that is not allowed in host names; {ENCODING}")))
}

impl Host {
    /// What begins with a slash is a socket, and nothing is this machine.
    pub(crate) fn of(name: String, port: u16) -> Self {
        match name {
            path if path.starts_with('/') => Self::Socket { path: PathBuf::from(path), port },
            empty if empty.is_empty() => Self::Tcp { name: "localhost".to_owned(), port },
            name => Self::Tcp { name, port },
        }
    }
}

pub(super) fn port_number(text: &str) -> Result<u16, UrlError> {
    let wrong = || UrlError(format!("the port must be a number from 1 to 65535; {ENCODING}"));
    text.parse().ok().filter(|&port| port > 0).ok_or_else(wrong)
}

/// What is wrong with options.
enum OptionMistake<'a> {
    Wrong(UrlError),
    /// Names that nobody knows.
    Unknown(Vec<&'a str>),
}

impl OptionMistake<'_> {
    fn told(self, form: &Form, rest: &str) -> UrlError {
        match self {
            Self::Wrong(error) => error,
            Self::Unknown(names) => foreign::unknown_options(form.scheme, rest, &names, form.options),
        }
    }
}

fn options<'a>(query: &'a str, form: &Form) -> Result<Vec<(&'a str, String)>, OptionMistake<'a>> {
    let mut options: Vec<(&str, String)> = Vec::new();
    let mut unknown = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = |words: String| Err(OptionMistake::Wrong(UrlError(words)));
        if ["password", "passwd", "pwd", "pass", "pw"].iter().any(|key| name.eq_ignore_ascii_case(key)) {
            return wrong("a password stands after the user: user:password@host".to_owned());
        }
        if !form.options.contains(&name) {
            unknown.push(name);
            continue;
        }
        if options.iter().any(|(given, _)| *given == name) {
            return wrong(format!("the option `{name}` is given twice"));
        }
        options.push((name, decoded(value, "an option").map_err(OptionMistake::Wrong)?));
    }
    if unknown.is_empty() { Ok(options) } else { Err(OptionMistake::Unknown(unknown)) }
}

/// `%41` is `A`.
pub(super) fn decoded(text: &str, what: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            let number = digits
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let Some(number) = number else {
                return Err(UrlError(format!(
                    "{what} has a % without two hexadecimal digits: write % as %25"
                )));
            };
            bytes.push(number);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| UrlError(format!("{what} is not UTF-8")))?;
    if text.contains('\0') {
        return Err(UrlError(format!("{what} has a character of the value 0")));
    }
    Ok(text)
}
