//! A MariaDB of our own.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::mysqld::{self, argument, redo_log};
use crate::process::command;
use crate::server::{PASSWORD, Server, USER, url};
use crate::user::User;
use crate::{Group, InstanceError, Options, program};

/// Where packages put the files that describe an empty database.
const SHARES: [&str; 4] =
    ["/usr/share/mysql", "/usr/share/mariadb", "/usr/local/share/mysql", "/usr/local/share/mariadb"];

/// The files, by the two names that they have had.
const SYSTEM_TABLES: [[&str; 2]; 3] = [
    ["mysql_system_tables.sql", "mariadb_system_tables.sql"],
    ["mysql_performance_tables.sql", "mariadb_performance_tables.sql"],
    ["mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"],
];

/// A MariaDB of its own. It is killed and its directory removed when this is dropped.
#[derive(Debug)]
pub struct MariaDb {
    server: Server,
    program: PathBuf,
}

impl MariaDb {
    /// Makes an empty database, starts a server on it and waits until it answers; takes about 1 s.
    ///
    /// # Errors
    /// MariaDB or `setpriv` is not installed, the directory cannot be made, or the server does not start: then the end
    /// of its log is in the error.
    pub fn start(options: &Options) -> Result<Self, InstanceError> {
        if let Some(name) = options.tablespaces().keys().next() {
            return Err(InstanceError::NoTablespaces { engine: "MariaDB", name: name.clone() });
        }
        let user = User::unprivileged("mysql")?;
        let mut mariadb = Self {
            program: program::mariadbd()?,
            server: Server::make(("mariadbd", "mariadb"), options, user)?,
        };
        mariadb.make_system_tables()?;
        mariadb.server.limit()?;
        let program = &mariadb.program;
        mariadb.server.start_on_free_port(|server| mysqld::run(server, program, &[]))?;
        Ok(mariadb)
    }

    /// Where clients connect to, with a user who may do everything: `mysql://prony:secret@127.0.0.1:PORT/mysql`.
    pub fn url(&self) -> String {
        url("mysql", self.port(), "mysql")
    }

    /// The group in which it is limited, if it is.
    pub fn group(&self) -> Option<&Group> {
        self.server.group.as_ref()
    }

    /// The port on 127.0.0.1; it stays when the server is started again.
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// The server's process, or `None` while it does not run.
    pub fn pid(&mut self) -> Option<u32> {
        self.server.pid()
    }

    /// The directory of the data.
    pub fn data_directory(&self) -> PathBuf {
        self.server.directory.data()
    }

    /// Ends the server at once. What it had given to the operating system to write survives, unlike in a power cut. No
    /// error if it does not run.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn kill(&mut self) -> Result<(), InstanceError> {
        self.server.end_process()
    }

    /// Stops the server in order. No error if it does not run.
    ///
    /// # Errors
    /// It is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        self.server.stop(Signal::TERM)
    }

    /// Starts the server again after [`Self::kill`] or [`Self::stop`], on the same port and data, and waits until it has
    /// recovered and answers.
    ///
    /// # Errors
    /// It runs, or it does not start: then the end of its log is in the error.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        mysqld::run(&mut self.server, &self.program, &[])
    }

    /// The server with its directories.
    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Feeds a server without network the same files as `mariadb-install-db` does, but for the help texts and the `sys`
    /// schema, which take most of its time. Durability is off meanwhile: the files are synced when the server ends.
    fn make_system_tables(&self) -> Result<(), InstanceError> {
        let directory = &self.server.directory;
        let statements = statements_of_empty()?;
        let file = directory.write("bootstrap.sql", &statements)?;
        let input = std::fs::File::open(&file).map_err(InstanceError::file("open", file))?;
        let mut bootstrap = command(&self.program, directory.user(), None)?;
        bootstrap_args(&mut bootstrap, directory.path(), &directory.data());
        bootstrap.stdin(input);
        bootstrap.args(redo_log(directory.placement.log()));
        self.server.prepare("mariadbd --bootstrap", bootstrap)
    }
}

/// What makes an empty database of an empty directory, with our user.
pub(crate) fn statements_of_empty() -> Result<String, InstanceError> {
    let mut statements = String::from("CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n");
    for names in SYSTEM_TABLES {
        let file = system_tables(names)?;
        statements += &std::fs::read_to_string(&file).map_err(InstanceError::file("read", file))?;
        statements.push('\n');
    }
    // One statement a line: the reader of a bootstrap knows no other end of one. Grants are off until the flush.
    statements += &format!(
        "FLUSH PRIVILEGES;\nCREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n"
    );
    Ok(statements)
}

/// How a server without network is told that. Durability is off: the files are synced when it ends.
pub(crate) fn bootstrap_args(bootstrap: &mut Command, temporary: &Path, data: &Path) {
    bootstrap.args(["--no-defaults", "--bootstrap", "--skip-innodb-doublewrite"]);
    bootstrap.args(["--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync"]);
    // A starting server removes what is left of temporary tables in its `tmpdir`, also those of another that runs.
    bootstrap.arg(argument("tmpdir", temporary)).arg(argument("datadir", data));
}

fn system_tables(names: [&'static str; 2]) -> Result<PathBuf, InstanceError> {
    SHARES
        .iter()
        .flat_map(|share| names.map(|name| Path::new(share).join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| InstanceError::NoSystemTables { file: names[0], searched: SHARES.join(", ") })
}
