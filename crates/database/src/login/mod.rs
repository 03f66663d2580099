//! What an address leaves open, from where the clients of the engine have it: variables, files of services, of passwords, of options.
//! Where each came from is told with the connection; a password itself is told nowhere.
//!
//! Where the server is (`place`) is known as soon as an address is read, so that a plan names it. Who logs in with which password and
//! encryption is looked for when a connection is made.

mod ask;
mod options;
mod passwords;
mod place;
mod service;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::Url;
use crate::tls::{Oldest, Roots};
use crate::url::auth::RequiredAuth;
use crate::url::encryption::{
    Binding, Encryption, FETCH_KEY, Mode, SERVER_KEY, Words, read_binding, read_oldest, read_server_key,
};
use crate::url::{Address, Host, ServerAddress};

/// Variables that are looked at begin so.
const PREFIXES: [&str; 4] = ["PG", "MYSQL", "HOME", "USER"];

/// What surrounds the program: handed in, so that tests have others. It holds passwords, and so is not to be printed.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) variables: HashMap<String, String>,
    /// Files of options of MySQL and MariaDB for everybody.
    pub(crate) option_files: Vec<PathBuf>,
    /// Files of services of PostgreSQL for everybody.
    pub(crate) service_files: Vec<PathBuf>,
}

impl Surroundings {
    pub(crate) fn here() -> Self {
        let text = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let variables = text.filter(|(name, value)| {
            !value.is_empty() && PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        });
        Self {
            variables: variables.collect(),
            option_files: ["/etc/my.cnf", "/etc/mysql/my.cnf"].map(PathBuf::from).to_vec(),
            // Of Debian's and Red Hat's packages.
            service_files: ["/etc/postgresql-common", "/etc/sysconfig/pgsql"]
                .map(|directory| Path::new(directory).join("pg_service.conf"))
                .to_vec(),
        }
    }

    /// Files of options of MySQL and MariaDB; the last that says something is heeded.
    fn files_of_options(&self) -> impl Iterator<Item = PathBuf> {
        self.option_files.iter().cloned().chain(self.at_home(".my.cnf"))
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn at_home(&self, name: &str) -> Option<PathBuf> {
        Some(Path::new(self.variable("HOME")?).join(name))
    }
}

/// A login with all that could be found.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) encryption: Encryption,
    /// What came from elsewhere than the address, and what was left lying: `user from PGUSER`.
    pub(crate) taken: Vec<String>,
    /// Why a file of passwords that is there was not read.
    pub(crate) ignored: Option<String>,
}

impl Login {
    fn of(address: &ServerAddress) -> Result<Self, String> {
        let mut login = Self {
            user: address.user.clone(),
            password: address.password.clone(),
            encryption: address.encryption.clone(),
            taken: address.taken.clone(),
            ignored: None,
        };
        if let Some(file) = &address.password_file {
            login.password = Some(first_line(file)?);
            login.taken.push(format!("password from {}", file.display()));
        }
        Ok(login)
    }

    /// As libpq: the address, then variables, then the file of passwords.
    /// <https://www.postgresql.org/docs/current/libpq-envars.html>
    ///
    /// # Errors
    /// A file that the address names cannot be read, or a variable holds what nobody knows.
    pub(crate) fn of_postgres(address: &ServerAddress, around: &Surroundings) -> Result<Self, String> {
        let mut login = Self::of(address)?;
        let service = address.service.as_ref().map(|name| service::read(name, around)).transpose();
        let service = service.map_err(|error| error.to_string())?;
        if let Some(service) = &service {
            login.take_service(service)?;
        }
        login.take_user(around, "PGUSER");
        login.take_encryption(around)?;
        if login.password.is_none()
            && let Some(password) = around.variable("PGPASSWORD")
        {
            login.password = Some(password.to_owned());
            login.taken.push("password from PGPASSWORD".to_owned());
        }
        if login.password.is_some() {
            return Ok(login);
        }
        let of_service = service.as_ref().and_then(|service| service.values.get("passfile"));
        let named = of_service.map(String::as_str).or(around.variable("PGPASSFILE")).map(PathBuf::from);
        let Some(file) = address.passfile.clone().or(named).or_else(|| around.at_home(".pgpass")) else {
            return Ok(login);
        };
        // As libpq: the login's name is the system's where no other is given.
        let user = login.user.as_deref().or(around.variable("USER")).unwrap_or_default();
        let database = address.database.as_deref().unwrap_or("postgres");
        let (host, port) = match &address.host {
            Host::Tcp { name, port } => (name.clone(), *port),
            Host::Socket { path, port }
                if path == Path::new("/run/postgresql") || path == Path::new("/var/run/postgresql") =>
            {
                ("localhost".to_owned(), *port)
            }
            Host::Socket { path, port } => (path.display().to_string(), *port),
        };
        match passwords::look_up(&file, [&host, &port.to_string(), database, user]) {
            passwords::Found::Password(password) => {
                login.password = Some(password);
                login.taken.push(format!("password from {}", file.display()));
            }
            passwords::Found::Nothing => {}
            passwords::Found::Ignored(why) => {
                login.ignored = Some(why.clone());
                login.taken.push(why);
            }
        }
        Ok(login)
    }

    /// As the client of MySQL and MariaDB: the address, then files of options, of which the last that says something is heeded, then
    /// the variable. <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>
    ///
    /// # Errors
    /// A file that the address names cannot be read, or one of options holds what nobody knows.
    pub(crate) fn of_mysql(address: &ServerAddress, around: &Surroundings) -> Result<Self, String> {
        let mut login = Self::of(address)?;
        let found = options::read(around.files_of_options());
        login.taken.extend(found.ignored);
        let mut take = |name: &str, is_open: bool| {
            let (value, file) = found.values.get(name).filter(|_| is_open)?;
            login.taken.push(format!("{name} from {}", file.display()));
            Some(value.clone())
        };
        let user = take("user", login.user.is_none());
        let password = take("password", login.password.is_none());
        let open = &address.encryption;
        let mode = take("ssl-mode", open.mode.is_none());
        let roots = take("ssl-ca", open.roots.is_none());
        let is_open = open.certificate.is_none();
        let identity = take("ssl-cert", is_open).zip(take("ssl-key", is_open));
        let is_open = open.server_key.is_none();
        let keys = (take(SERVER_KEY, is_open), take(FETCH_KEY, is_open));
        if let Some(mode) = mode {
            login.encryption.mode = Some(Mode::read(&mode, Words::Mysql).map_err(|error| error.to_string())?);
        }
        if let Some(roots) = roots {
            login.encryption.roots = Some(Roots::File(roots.into()));
        }
        if let Some((certificate, key)) = identity {
            (login.encryption.certificate, login.encryption.key) =
                (Some(certificate.into()), Some(key.into()));
        }
        if is_open {
            let key = read_server_key(keys.0.as_deref(), keys.1.as_deref());
            login.encryption.server_key = key.map_err(|error| error.to_string())?;
        }
        // As the clients: an empty user is whoever runs this.
        login.user = login.user.or(user).filter(|user| !user.is_empty());
        if let Some(file) =
            around.at_home(".mylogin.cnf").filter(|file| login.user.is_none() && file.exists())
        {
            login.taken.push(format!("{} was not read: give the user in the address", file.display()));
        }
        login.password = login.password.or(password);
        if login.password.is_none()
            && let Some(password) = around.variable("MYSQL_PWD")
        {
            login.password = Some(password.to_owned());
            login.taken.push("password from MYSQL_PWD".to_owned());
        }
        login.user = login.user.or_else(|| around.variable("USER").map(str::to_owned));
        Ok(login)
    }

    /// What a service says of the login and the encryption, where the address says nothing of it.
    fn take_service(&mut self, service: &service::Service) -> Result<(), String> {
        let from = service.told();
        let value = |key: &str| service.values.get(key).map(String::as_str);
        if let (None, Some(user)) = (&self.user, value("user")) {
            self.user = Some(user.to_owned());
            self.taken.push(format!("user from {from}"));
        }
        if let (None, Some(password)) = (&self.password, value("password")) {
            self.password = Some(password.to_owned());
            self.taken.push(format!("password from {from}"));
        }
        let names = [
            "sslmode",
            "sslrootcert",
            "sslcert",
            "sslkey",
            "ssl_min_protocol_version",
            "channel_binding",
            "require_auth",
        ];
        self.take_words(&names.map(|name| (format!("{name} of {from}"), value(name))))?;
        if !service.unheeded.is_empty() {
            self.taken.push(format!("ignored {} in {from}", service.unheeded.join(", ")));
        }
        Ok(())
    }

    fn take_user(&mut self, around: &Surroundings, name: &str) {
        if let (None, Some(user)) = (&self.user, around.variable(name)) {
            self.user = Some(user.to_owned());
            self.taken.push(format!("user from {name}"));
        }
    }

    /// What libpq's variables say of encryption, where the address says nothing of it.
    fn take_encryption(&mut self, around: &Surroundings) -> Result<(), String> {
        let names = [
            "PGSSLMODE",
            "PGSSLROOTCERT",
            "PGSSLCERT",
            "PGSSLKEY",
            "PGSSLMINPROTOCOLVERSION",
            "PGCHANNELBINDING",
            "PGREQUIREAUTH",
        ];
        self.take_words(&names.map(|name| (name.to_owned(), around.variable(name))))
    }

    /// Mode, authorities, certificate, key, oldest version, binding and ways to log in, each with where it is from, where they are open.
    fn take_words(&mut self, words: &[(String, Option<&str>); 7]) -> Result<(), String> {
        let mut taken = Vec::new();
        let mut take = |number: usize, is_open: bool| {
            let (name, value) = &words[number];
            let value = value.filter(|_| is_open)?;
            taken.push(name);
            Some(value)
        };
        let own = &mut self.encryption;
        let wrong = |number: usize| move |error: crate::UrlError| format!("{}: {error}", words[number].0);
        if let Some(mode) = take(0, own.mode.is_none()) {
            own.mode = Some(Mode::read(mode, Words::Libpq).map_err(wrong(0))?);
        }
        if let Some(roots) = take(1, own.roots.is_none()) {
            own.roots = Some(if roots == "system" { Roots::System } else { Roots::File(roots.into()) });
        }
        let is_open = own.certificate.is_none();
        if let Some((certificate, key)) = take(2, is_open).zip(take(3, is_open)) {
            (own.certificate, own.key) = (Some(certificate.into()), Some(key.into()));
        }
        if let Some(version) = take(4, own.oldest.is_none()) {
            let read: Oldest = read_oldest(version).map_err(wrong(4))?;
            own.oldest = Some(read);
        }
        if let Some(binding) = take(5, own.binding.is_none()) {
            let read: Binding = read_binding(binding).map_err(wrong(5))?;
            own.binding = Some(read);
        }
        if let Some(methods) = take(6, own.auth.is_none()) {
            own.auth = RequiredAuth::read(methods).map_err(wrong(6))?;
        }
        self.taken.extend(taken.into_iter().map(|name| format!("encryption by {name}")));
        Ok(())
    }
}

/// The address with the password that is typed at the terminal, where it is to be asked for; none where it is not. Time passes with it,
/// so that it comes before anything that has a limit.
///
/// # Errors
/// There is no terminal, or the question was ended.
pub(crate) fn typed(url: &Url) -> Result<Option<Url>, String> {
    let mut with = url.clone();
    let (file, password, user) = match &mut with.0 {
        Address::Postgres(server) | Address::Mysql(server) | Address::ClickHouse(server) => {
            (&mut server.password_file, &mut server.password, &server.user)
        }
        Address::SqlServer(server) => (&mut server.password_file, &mut server.password, &server.user),
        Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => return Ok(None),
    };
    if file.as_deref() != Some(Path::new(ask::TERMINAL)) {
        return Ok(None);
    }
    let place = url.host().unwrap_or_default();
    let of = user.as_ref().map_or_else(|| place.clone(), |user| format!("{user} at {place}"));
    (*file, *password) = (None, Some(ask::password(&of)?));
    if let Address::Postgres(server) | Address::Mysql(server) = &mut with.0 {
        server.taken.push("password from the terminal".to_owned());
    }
    Ok(Some(with))
}

/// The password of a file: its first line.
pub(crate) fn first_line(file: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read the password of {}: {error}", file.display()))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("the first line of {} has no password", file.display())),
    }
}
