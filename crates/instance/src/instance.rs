//! A server of any engine, for those who start one because a study says so.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::clock::Clock;
use crate::process::{command, spawn};
use crate::server::Server;
use crate::user::User;
use crate::{
    CachedBytes, CachedFiles, Group, InstanceError, MariaDb, MySql, Options, Pair, PairError, Postgres,
    configuration, limits, mysql, power, program,
};

/// What can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    MariaDb,
    /// MySQL, 8.0 or later.
    MySql,
}

impl Engine {
    /// As it is stored.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::MariaDb => "mariadb",
            Self::MySql => "mysql",
        }
    }
}

/// A server of our own. It is ended and its directories are removed when this is dropped, unless it is kept.
#[derive(Debug)]
pub enum Instance {
    /// PostgreSQL.
    Postgres(Postgres),
    /// MariaDB.
    MariaDb(MariaDb),
    /// MySQL.
    MySql(MySql),
    /// Several that stand for each other.
    Pair(Box<Pair>),
}

impl Instance {
    /// Makes an empty server in directories of its own, starts it and waits until it answers.
    ///
    /// # Errors
    /// See [`Postgres::start`], [`MariaDb::start`] and [`MySql::start`].
    pub fn start(engine: Engine, options: &Options) -> Result<Self, InstanceError> {
        Ok(match engine {
            Engine::Postgres => Self::Postgres(Postgres::start(options)?),
            Engine::MariaDb => Self::MariaDb(MariaDb::start(options)?),
            Engine::MySql => Self::MySql(MySql::start(options)?),
        })
    }

    /// Looks whether one could be started: whether its programs are there, whether its directories can be made where they are wanted
    /// and entered by its user, and whether it can be limited so. Nothing is left.
    ///
    /// Where systemd manages the groups of the machine, the first look with limits begins the program anew, with its arguments and
    /// its number, in a scope that systemd gives away: so it comes before anything is made or told.
    ///
    /// # Errors
    /// What is missing, and what brings it.
    pub fn look(engine: Engine, options: &Options) -> Result<(), InstanceError> {
        let user = match engine {
            Engine::Postgres => {
                program::of_postgres("initdb")?;
                configuration::check_postgres(&program::of_postgres("postgres")?, options)?;
                User::unprivileged("postgres")?
            }
            Engine::MariaDb => {
                configuration::check_mariadb(&program::mariadbd()?, options)?;
                User::unprivileged("mysql")?
            }
            Engine::MySql => {
                mysql::look()?;
                User::unprivileged("mysql")?
            }
        };
        program::setpriv()?;
        if options.has_clock() {
            Clock::look()?;
        }
        if options.loses_power() {
            power::look(options)?;
        }
        limits::enter_scope(options.limited())?;
        Server::of_look(engine.name(), options, user)?.limit()
    }

    /// The one server that it is.
    pub(crate) fn server(&mut self) -> Result<&mut Server, InstanceError> {
        Ok(match self {
            Self::Postgres(server) => server.server(),
            Self::MariaDb(server) => server.server(),
            Self::MySql(server) => server.server(),
            Self::Pair(_) => return Err(PairError::NotOfPairs { what: "restoring an earlier state" }.into()),
        })
    }

    /// The pair that it is.
    pub fn pair(&mut self) -> Option<&mut Pair> {
        match self {
            Self::Pair(pair) => Some(pair),
            Self::Postgres(_) | Self::MariaDb(_) | Self::MySql(_) => None,
        }
    }

    /// Where clients connect to, with a user who may do everything. It stays over starts.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
            Self::MySql(server) => server.url(),
            Self::Pair(pair) => pair.url(),
        }
    }

    /// The server's first process, or `None` while it does not run.
    pub fn pid(&mut self) -> Option<u32> {
        match self {
            Self::Pair(pair) => pair.nodes().into_iter().find_map(|node| node.server_pid),
            one => one.server().ok()?.pid(),
        }
    }

    /// The group in which it is limited, if it is.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        match self {
            Self::Postgres(server) => server.group(),
            Self::MariaDb(server) => server.group(),
            Self::MySql(server) => server.group(),
            Self::Pair(_) => None,
        }
    }

    /// Runs a program to its end as whoever we are, within the limits of the server. Gives what it said on stdout.
    ///
    /// # Errors
    /// It cannot be run, or fails: then what it said on stderr is in the error.
    pub fn run_within(&self, program: &Path, arguments: &[&str]) -> Result<Vec<u8>, InstanceError> {
        let mut within = command(program, None, self.group())?;
        within.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let named = program.display().to_string();
        let child = spawn(within).map_err(|source| InstanceError::Spawn { program: named, source })?;
        let pid = child.id();
        let ended = child.wait_with_output();
        let ended = ended.map_err(|source| InstanceError::Process { action: "wait for", pid, source })?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let log = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        Err(InstanceError::Ended { program: "the proof of limits", status: ended.status.to_string(), log })
    }

    /// Stops the server in order. No error if it does not run.
    ///
    /// # Errors
    /// It is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.stop(),
            Self::MariaDb(server) => server.stop(),
            Self::MySql(server) => server.stop(),
            Self::Pair(pair) => pair.stop(),
        }
    }

    /// Ends all its processes at once, as SIGKILL does. What it had given to the operating system to write survives, unlike in a power
    /// cut. No error if it does not run.
    ///
    /// # Errors
    /// The processes cannot be found, signalled or waited for.
    pub fn kill(&mut self) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.kill(),
            Self::MariaDb(server) => server.kill(),
            Self::MySql(server) => server.server().end_process(),
            Self::Pair(pair) => pair.kill_everything(),
        }
    }

    /// Starts it again after [`Self::stop`] or [`Self::kill`], on the same port and data, and waits until it answers.
    ///
    /// # Errors
    /// It runs, or it does not start: then the end of its log is in the error.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.start_again(),
            Self::MariaDb(server) => server.start_again(),
            Self::MySql(server) => server.start_again(),
            Self::Pair(pair) => pair.start_again(),
        }
    }

    /// Changes settings and limits to those of options, from its next start on. It does not run.
    ///
    /// # Errors
    /// It runs, or it cannot be limited so.
    pub fn configure(&mut self, options: &Options) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.server().configure(options),
            Self::MariaDb(server) => server.server().configure(options),
            Self::MySql(server) => server.configure(options),
            Self::Pair(_) => Err(PairError::NotOfPairs { what: "other settings after its creation" }.into()),
        }
    }

    /// Keeps its data as they are for [`Self::restore`]. It does not run.
    ///
    /// # Errors
    /// It runs, or its files cannot be copied, above all because the volume is full.
    pub fn save(&mut self) -> Result<(), InstanceError> {
        let server = self.server()?;
        server.refuse_if_running()?;
        server.directory.placement.save()
    }

    /// Whether its data were kept.
    #[must_use]
    pub fn is_saved(&mut self) -> bool {
        self.server().is_ok_and(|server| server.directory.placement.is_saved())
    }

    /// Makes its data what they were. It does not run.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn restore(&mut self) -> Result<(), InstanceError> {
        let server = self.server()?;
        server.refuse_if_running()?;
        server.directory.placement.restore()
    }

    /// Has the kernel forget what it keeps of the server's files. It does not run.
    ///
    /// # Errors
    /// It runs, or a file cannot be read.
    pub fn drop_caches(&mut self) -> Result<(), InstanceError> {
        let server = self.server()?;
        server.refuse_if_running()?;
        server.directory.placement.drop_caches()
    }

    /// What the page cache holds of the server's files, as this function tells of each. It does not run.
    ///
    /// # Errors
    /// As [`Self::drop_caches`].
    pub fn cached(&mut self, cached_bytes: CachedBytes) -> Result<CachedFiles, InstanceError> {
        let server = self.server()?;
        server.refuse_if_running()?;
        server.directory.placement.cached(cached_bytes)
    }

    /// What it keeps where: `data`, `log` where that is apart, tablespaces by their names.
    pub fn places(&mut self) -> Vec<(String, PathBuf)> {
        match self {
            Self::Pair(pair) => pair.nodes().into_iter().map(|node| (node.name, node.data)).collect(),
            one => one.server().map(|server| placed(server)).unwrap_or_default(),
        }
    }

    /// Leaves it running with all that it has, for [`crate::Known`] to find: it was to live on.
    pub fn leave(self) {
        match self {
            Self::Postgres(mut server) => server.server().leave(),
            Self::MariaDb(mut server) => server.server().leave(),
            Self::MySql(mut server) => server.server().leave(),
            Self::Pair(pair) => pair.leave(),
        }
    }
}

fn placed(server: &Server) -> Vec<(String, PathBuf)> {
    let all = server.directory.placement.all();
    all.map(|(what, path)| (what.to_owned(), Path::to_owned(path))).collect()
}
