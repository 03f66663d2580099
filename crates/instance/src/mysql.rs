//! A MySQL of our own, 8.0 or later.
//!
//! It was not run against a real one here, since Debian has none: what is called with which arguments is tested with a program that
//! stands in for it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;

use crate::mysqld::{self, argument, redo_log};
use crate::process::command;
use crate::program::{self, MysqlVersion};
use crate::server::{PASSWORD, Server, USER, url};
use crate::user::User;
use crate::{Group, InstanceError, Options};

/// From this version on the size of the redo log is one setting, and what it was before is on its way out.
/// <https://dev.mysql.com/doc/refman/8.0/en/innodb-redo-log.html>
const REDO_LOG_CAPACITY: MysqlVersion = MysqlVersion { major: 8, minor: 0, patch: 30 };
const CAPACITY: &str = "innodb_redo_log_capacity";
/// Files of the redo log in a group, before.
const REDO_LOG_FILES: u64 = 2;

/// A MySQL of its own. It is killed and its directory removed when this is dropped.
#[derive(Debug)]
pub struct MySql {
    server: Server,
    program: PathBuf,
    version: MysqlVersion,
}

impl MySql {
    /// Makes an empty database, starts a server on it and waits until it answers.
    ///
    /// # Errors
    /// MySQL 8.0 or later or `setpriv` is not installed, the directory cannot be made, or the server does not start: then the end of
    /// its log is in the error.
    pub fn start(options: &Options) -> Result<Self, InstanceError> {
        Self::start_program(program::mysqld()?, options)
    }

    fn start_program(
        (program, version): (PathBuf, MysqlVersion),
        options: &Options,
    ) -> Result<Self, InstanceError> {
        if let Some(name) = options.tablespaces().keys().next() {
            return Err(InstanceError::NoTablespaces { engine: "MySQL", name: name.clone() });
        }
        let user = User::unprivileged("mysql")?;
        let options = of_version(options, version);
        let server = Server::make(("mysqld", "mysql"), &options, user)?;
        let mut mysql = Self { server, program, version };
        mysql.initialize()?;
        let users = mysql.server.directory.write("users.sql", &users())?;
        mysql.server.limit()?;
        let mut own = mysql.own_options();
        // Accounts cannot be made while the data are initialised.
        own.push(argument("init-file", &users));
        let program = &mysql.program;
        mysql.server.start_on_free_port(|server| mysqld::run(server, program, &own))?;
        Ok(mysql)
    }

    /// Where clients connect to, with a user who may do everything: `mysql://prony:secret@127.0.0.1:PORT/mysql`.
    pub fn url(&self) -> String {
        url("mysql", self.server.port, "mysql")
    }

    /// The group in which it is limited, if it is.
    pub fn group(&self) -> Option<&Group> {
        self.server.group.as_ref()
    }

    /// Stops the server in order. No error if it does not run.
    ///
    /// # Errors
    /// It is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        self.server.stop(Signal::TERM)
    }

    /// Starts the server again after [`Self::stop`], on the same port and data, and waits until it has recovered and answers.
    ///
    /// # Errors
    /// It runs, or it does not start: then the end of its log is in the error.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        let own = self.own_options();
        mysqld::run(&mut self.server, &self.program, &own)
    }

    /// Changes settings and limits, from its next start on.
    pub(crate) fn configure(&mut self, options: &Options) -> Result<(), InstanceError> {
        self.server.configure(&of_version(options, self.version))
    }

    /// The server with its directories.
    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// An empty database without a password for its first account, which [`users`] then locks.
    fn initialize(&self) -> Result<(), InstanceError> {
        let directory = &self.server.directory;
        let mut initialize = command(&self.program, directory.user(), None)?;
        initialize.args(["--no-defaults", "--initialize-insecure"]).stdin(Stdio::null());
        initialize.arg(argument("datadir", &directory.data()));
        initialize.arg(argument("tmpdir", directory.path()));
        initialize.args(redo_log(directory.placement.log()));
        self.server.prepare("mysqld --initialize-insecure", initialize)
    }

    /// Options that MariaDB does not know: no second protocol on a port that others may have, no directory of the package's own.
    fn own_options(&self) -> Vec<OsString> {
        let mut own: Vec<OsString> = ["--mysqlx=OFF", "--secure-file-priv=NULL"].map(OsString::from).into();
        // It keeps a log of changes unless it is told not to.
        own.extend(self.server.directory.placement.log().map(|log| argument("log-bin", &log.join("binary"))));
        own
    }
}

/// A user who may do everything over the network of this machine, with a password; nobody else may do anything. A statement a line.
fn users() -> String {
    format!(
        "CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n\
         ALTER USER 'root'@'localhost' ACCOUNT LOCK;\n"
    )
}

/// Options with the size of the redo log as a version knows it.
fn of_version(options: &Options, version: MysqlVersion) -> Options {
    if version >= REDO_LOG_CAPACITY {
        return options.clone();
    }
    options.with_settings(|name, value| {
        let bytes = value.parse::<u64>().ok().filter(|_| name.replace('-', "_") == CAPACITY);
        match bytes {
            Some(bytes) => ("innodb_log_file_size".to_owned(), (bytes / REDO_LOG_FILES).to_string()),
            None => (name.to_owned(), value.to_owned()),
        }
    })
}

/// Looks whether a program of MySQL is there.
pub(crate) fn look() -> Result<(), InstanceError> {
    program::mysqld().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// Stands in for MySQL: writes down how it was called, and greets over its socket until it is asked to end.
    const STAND_IN: &str = r#"#!/usr/bin/perl
use strict;
use warnings;
use IO::Socket::UNIX;
my %given = map { /^--([^=]+)=(.*)$/ ? ($1 => $2) : () } @ARGV;
open(my $calls, '>>', "$given{tmpdir}/calls") or die "calls: $!";
print $calls join(' ', @ARGV), "
";
close $calls;
if (grep { $_ eq '--initialize-insecure' } @ARGV) {
    opendir(my $data, $given{datadir}) or die "datadir: $!";
    die "--initialize specified but the data directory has files in it" if grep { !/^\.\.?$/ } readdir $data;
    open(my $made, '>', "$given{datadir}/ibdata1") or die "ibdata1: $!";
    exit 0;
}
die "unknown variable 'innodb_log_files_in_vain'" if exists $given{innodb_log_files_in_vain};
die "no data" unless -e "$given{datadir}/ibdata1";
unlink $given{socket};
my $socket = IO::Socket::UNIX->new(Local => $given{socket}, Listen => 5) or die "socket: $!";
$SIG{TERM} = sub { exit 0 };
while (1) {
    my $client = $socket->accept or next;
    print $client "8.0.36 stands in";
    close $client;
}
"#;

    const OLD: MysqlVersion = MysqlVersion { major: 8, minor: 0, patch: 29 };
    const NEW: MysqlVersion = MysqlVersion { major: 8, minor: 4, patch: 2 };

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let program = place.path().join("mysqld");
            fs::write(&program, STAND_IN).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            for directory in ["data", "log"] {
                fs::create_dir(place.path().join(directory)).unwrap();
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(place.path().join(directory), mode).unwrap();
            }
            Self(place)
        }

        fn options(&self) -> Options {
            Options::default().parent_directory(self.0.path().join("data"))
        }

        fn start(&self, version: MysqlVersion, options: &Options) -> Result<MySql, InstanceError> {
            MySql::start_program((self.0.path().join("mysqld"), version), options)
        }
    }

    /// What the program was called with, call by call.
    fn calls(mysql: &mut MySql) -> Vec<Vec<String>> {
        let text = fs::read_to_string(mysql.server().directory.path().join("calls")).unwrap();
        text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }

    fn has(call: &[String], argument: &str) -> bool {
        call.iter().any(|given| given == argument)
    }

    #[test]
    fn it_is_initialised_started_stopped_and_started_again_with_what_mysql_knows() {
        let place = Place::new();
        let options =
            place.options().setting("innodb_buffer_pool_size", "67108864").setting(CAPACITY, "104857600");
        let mut mysql = place.start(NEW, &options).unwrap();
        assert!(mysql.url().starts_with("mysql://prony:secret@127.0.0.1:"), "{}", mysql.url());
        assert!(mysql.server().pid().is_some());
        mysql.stop().unwrap();
        assert!(mysql.server().pid().is_none());
        mysql.configure(&place.options().setting("max_connections", "7")).unwrap();
        mysql.start_again().unwrap();
        let calls = calls(&mut mysql);
        let [first, second, third] = calls.as_slice() else { panic!("{calls:?}") };
        let data = mysql.server().directory.data();
        assert!(first[0] == "--no-defaults" && has(first, "--initialize-insecure"), "{first:?}");
        assert!(has(first, &format!("--datadir={}", data.display())));
        for argument in [
            "--no-defaults",
            "--mysqlx=OFF",
            "--bind-address=127.0.0.1",
            "--innodb_redo_log_capacity=104857600",
        ] {
            assert!(has(second, argument), "{argument} in {second:?}");
        }
        let users = second.iter().find_map(|argument| argument.strip_prefix("--init-file=")).unwrap();
        let users = fs::read_to_string(users).unwrap();
        assert!(
            users.lines().count() == 3 && users.contains("CREATE USER IF NOT EXISTS 'prony'@'%'"),
            "{users}"
        );
        assert!(!third.iter().any(|argument| argument.starts_with("--init-file")), "there are users already");
        assert!(has(third, "--max_connections=7") && !has(third, "--innodb_buffer_pool_size=67108864"));
        for call in &calls {
            let of_mariadb = ["--bootstrap", "--skip-innodb-doublewrite", "--innodb-flush-method=nosync"];
            assert!(!of_mariadb.iter().any(|argument| has(call, argument)), "{call:?}");
        }
    }

    #[test]
    fn both_logs_are_where_logs_are_asked_for() {
        let place = Place::new();
        let options = place.options().log_parent(place.0.path().join("log"));
        let mut mysql = place.start(NEW, &options).unwrap();
        let log = mysql.server().directory.placement.log().unwrap().to_owned();
        assert!(log.starts_with(place.0.path().join("log")));
        let calls = calls(&mut mysql);
        for call in &calls {
            assert!(has(call, &format!("--innodb-log-group-home-dir={}", log.display())), "{call:?}");
        }
        assert!(has(&calls[1], &format!("--log-bin={}/binary", log.display())), "{:?}", calls[1]);
    }

    #[test]
    fn a_version_before_the_capacity_of_the_redo_log_is_given_files() {
        let place = Place::new();
        let mut mysql = place.start(OLD, &place.options().setting(CAPACITY, "104857600")).unwrap();
        let calls = calls(&mut mysql);
        assert!(has(&calls[1], "--innodb_log_file_size=52428800"), "{:?}", calls[1]);
        assert!(!calls[1].iter().any(|argument| argument.contains("capacity")));
    }

    #[test]
    fn a_server_that_does_not_start_tells_the_end_of_its_log() {
        let place = Place::new();
        let wrong = place.options().setting("innodb_log_files_in_vain", "1");
        let error = place.start(NEW, &wrong).unwrap_err().to_string();
        assert!(error.starts_with("mysqld ended with") && error.contains("unknown variable"), "{error}");
    }
}
