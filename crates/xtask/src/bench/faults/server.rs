//! Throwaway servers, and what is asked of them by their own clients: what prony says of them is never taken as evidence.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use instance::{MariaDb, Options, Postgres};

use crate::workspace::line_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Kind {
    Postgres,
    MariaDb,
}

pub(in crate::bench) enum Server {
    Postgres(Postgres),
    MariaDb(MariaDb),
}

impl Server {
    pub(in crate::bench) fn start(kind: Kind) -> Result<Self> {
        Self::start_with(kind, &Options::default())
    }

    pub(in crate::bench) fn start_with(kind: Kind, options: &Options) -> Result<Self> {
        Ok(match kind {
            Kind::Postgres => Self::Postgres(Postgres::start(options)?),
            Kind::MariaDb => Self::MariaDb(MariaDb::start(options)?),
        })
    }

    pub(in crate::bench) fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::MariaDb(server) => server.url(),
        }
    }

    pub(in crate::bench) fn port(&self) -> u16 {
        match self {
            Self::Postgres(server) => server.port(),
            Self::MariaDb(server) => server.port(),
        }
    }

    /// Ends it as a power cut would, but for what the operating system has.
    pub(in crate::bench) fn kill(&mut self) -> Result<()> {
        match self {
            Self::Postgres(server) => server.kill()?,
            Self::MariaDb(server) => server.kill()?,
        }
        Ok(())
    }

    pub(in crate::bench) fn start_again(&mut self) -> Result<()> {
        match self {
            Self::Postgres(server) => server.start_again()?,
            Self::MariaDb(server) => server.start_again()?,
        }
        Ok(())
    }

    /// What a statement answers in a database, or in the one that everybody logs in to.
    pub(in crate::bench) fn ask(&self, database: Option<&str>, sql: &str) -> Result<String> {
        let mut command = self.client(database);
        match self {
            Self::Postgres(_) => command.args(["--command", sql]),
            Self::MariaDb(_) => command.args(["--execute", sql]),
        };
        let line = line_of(&command);
        let output =
            command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{line}` ended with {}: {error}", output.status);
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A statement again and again, until the process is ended.
    pub(in crate::bench) fn again_and_again(&self, database: &str, sql: &str) -> Result<Child> {
        let client = self.client(Some(database));
        let mut command = Command::new("/bin/sh");
        let option = match self {
            Self::Postgres(_) => "--command",
            Self::MariaDb(_) => "--execute",
        };
        // The shell is what is ended; its statement then ends by itself.
        command
            .args(["-c", "while \"$@\"; do :; done", "sh"])
            .arg(client.get_program())
            .args(client.get_args());
        command.args([option, sql]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        for (name, value) in client.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let line = line_of(&command);
        command.spawn().with_context(|| format!("cannot start `{line}`"))
    }

    /// The one number that a statement answers.
    pub(in crate::bench) fn number(&self, database: &str, sql: &str) -> Result<u64> {
        let answer = self.ask(Some(database), sql)?;
        answer.parse().with_context(|| format!("`{sql}` in {database} answered `{answer}`"))
    }

    fn client(&self, database: Option<&str>) -> Command {
        match self {
            Self::Postgres(server) => {
                let url = server.url();
                let inside = match (database, url.rsplit_once('/')) {
                    (Some(name), Some((base, _))) => format!("{base}/{name}"),
                    _ => url,
                };
                let mut command = Command::new("psql");
                command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname", &inside]);
                command.args(["--set", "ON_ERROR_STOP=1"]);
                command
            }
            Self::MariaDb(server) => {
                let mut command = Command::new("mariadb");
                command.args(["--no-defaults", "--host=127.0.0.1", "--user=prony", "--password=secret"]);
                command.args([&format!("--port={}", server.port()), "--batch", "--skip-column-names"]);
                command.arg(database.unwrap_or("mysql"));
                command
            }
        }
    }

    /// Names of the databases.
    pub(in crate::bench) fn databases(&self) -> Result<BTreeSet<String>> {
        let sql = match self {
            Self::Postgres(_) => "SELECT datname FROM pg_database",
            Self::MariaDb(_) => "SHOW DATABASES",
        };
        Ok(self.ask(None, sql)?.lines().map(str::to_owned).collect())
    }

    /// Removes a database whoever is connected to it; none is no error.
    pub(in crate::bench) fn drop_database(&self, name: &str) -> Result<()> {
        let sql = match self {
            Self::Postgres(_) => format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
            Self::MariaDb(_) => format!("DROP DATABASE IF EXISTS `{name}`"),
        };
        self.ask(None, &sql).map(drop)
    }

    /// Removes every database that was not there at a time.
    pub(in crate::bench) fn drop_new(&self, before: &BTreeSet<String>) -> Result<()> {
        self.databases()?.difference(before).try_for_each(|name| self.drop_database(name))
    }
}
