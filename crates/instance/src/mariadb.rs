//! A MariaDB of our own.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::directory::Directory;
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

const GREETING_WAIT: Duration = Duration::from_millis(20);

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
            server: Server::new("mariadbd", Directory::make(options, user)?, options),
        };
        mariadb.server.register("mariadb")?;
        mariadb.make_system_tables()?;
        mariadb.server.limit()?;
        let program = &mariadb.program;
        mariadb.server.start_on_free_port(|server| run(server, program))?;
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
        run(&mut self.server, &self.program)
    }

    /// The server with its directories.
    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Feeds a server without network the same files as `mariadb-install-db` does, but for the help texts and the `sys`
    /// schema, which take most of its time. Durability is off meanwhile: the files are synced when the server ends.
    fn make_system_tables(&self) -> Result<(), InstanceError> {
        let directory = &self.server.directory;
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
        let file = directory.write("bootstrap.sql", &statements)?;
        let input = std::fs::File::open(&file).map_err(InstanceError::file("open", file))?;
        let mut bootstrap = command(&self.program, directory.user(), None)?;
        bootstrap.args(["--no-defaults", "--bootstrap", "--skip-innodb-doublewrite"]);
        bootstrap.args(["--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync"]);
        // A starting server removes what is left of temporary tables in its `tmpdir`, also those of another that runs.
        bootstrap.arg(argument("tmpdir", directory.path()));
        bootstrap.arg(argument("datadir", &directory.data())).stdin(input);
        bootstrap.args(redo_log(directory.placement.log()));
        self.server.prepare("mariadbd --bootstrap", bootstrap)
    }
}

fn run(server: &mut Server, program: &Path) -> Result<(), InstanceError> {
    let directory = &server.directory;
    let socket = directory.path().join("socket");
    let mut command = server.command(program)?;
    command.arg("--no-defaults").args(redo_log(directory.placement.log()));
    for (name, value) in server.options.settings() {
        match directory.placement.log().filter(|_| matches!(name, "log_bin" | "log-bin")) {
            // A log of changes that is asked for is where the logs are.
            Some(log) => command.arg(argument("log-bin", &log.join("binary"))),
            None => command.arg(format!("--{name}={value}")),
        };
    }
    command.args(["--bind-address=127.0.0.1", "--skip-name-resolve", &format!("--port={}", server.port)]);
    for (name, path) in [
        ("datadir", directory.data()),
        ("socket", socket.clone()),
        ("tmpdir", directory.path().to_owned()),
        ("pid-file", directory.path().join("pid")),
    ] {
        command.arg(argument(name, &path));
    }
    command.stdin(Stdio::null());
    let mut connection = None;
    let url = url("mysql", server.port, "mysql");
    server.run(command, &url, |_| is_greeted(&socket, &mut connection))
}

/// Whether the server greets whoever connects. It listens before it recovers and greets afterwards, so that one
/// connection waits for both. The socket is asked and not the port, which another server may have taken.
fn is_greeted(socket: &Path, connection: &mut Option<UnixStream>) -> bool {
    if connection.is_none() {
        let connected = UnixStream::connect(socket)
            .and_then(|stream| stream.set_read_timeout(Some(GREETING_WAIT)).map(|()| stream));
        *connection = connected.ok();
    }
    let Some(stream) = connection else { return false };
    match stream.read(&mut [0; 256]) {
        Ok(0) => *connection = None,
        Ok(_) => return true,
        // Nothing yet.
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
        Err(_) => *connection = None,
    }
    false
}

/// Where the redo log is, if apart from the data.
fn redo_log(log: Option<&Path>) -> Option<std::ffi::OsString> {
    log.map(|log| argument("innodb-log-group-home-dir", log))
}

fn argument(name: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(format!("--{name}="));
    argument.push(path);
    argument
}

fn system_tables(names: [&'static str; 2]) -> Result<PathBuf, InstanceError> {
    SHARES
        .iter()
        .flat_map(|share| names.map(|name| Path::new(share).join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| InstanceError::NoSystemTables { file: names[0], searched: SHARES.join(", ") })
}
