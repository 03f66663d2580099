//! Questions to the nodes, by the engines' own client programs. A node that hangs answers nobody: each question has a limit.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::error::PairError;
use crate::InstanceError;
use crate::process::{Handle, command_of, spawn};
use crate::server::USER;

/// What is looked at again and again answers at once or not at all.
pub(crate) const LOOK_WITHIN: Duration = Duration::from_secs(3);
/// What changes something may wait for a disk.
pub(crate) const DONE_WITHIN: Duration = Duration::from_secs(60);

/// Runs a program to its end and gives what it said, or says why not. It must say little: nobody reads meanwhile.
pub(crate) fn answer(
    program: &'static str,
    node: &str,
    mut command: Command,
    limit: Duration,
) -> Result<String, InstanceError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = spawn(command);
    let mut child = spawned.map_err(|source| InstanceError::Spawn { program: program.to_owned(), source })?;
    let pid = child.id();
    let fault = |source| InstanceError::Process { action: "wait for", pid, source };
    let in_time = match Handle::open(pid)? {
        Some(handle) => handle.wait(limit)?,
        None => true,
    };
    if !in_time {
        child.kill().and_then(|()| child.wait()).map_err(fault)?;
        let limit_s = limit.as_secs();
        return Err(PairError::Silent { program, node: node.to_owned(), limit_s }.into());
    }
    let status = child.wait().map_err(fault)?;
    let said = |pipe: Option<&mut dyn std::io::Read>| {
        let mut bytes = Vec::new();
        // What it has not said is missed below.
        let _ = pipe.map(|pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let told = said(child.stdout.as_mut().map(|pipe| pipe as &mut dyn std::io::Read));
    if status.success() {
        return Ok(told);
    }
    let why = child.stderr.take().map(|pipe| {
        let mut text = String::new();
        let _ = pipe.take(4096).read_to_string(&mut text);
        text.trim().to_owned()
    });
    let said = why.filter(|why| !why.is_empty()).unwrap_or(told);
    Err(PairError::Asked { program, node: node.to_owned(), said }.into())
}

/// A PostgreSQL, by the socket in a directory that only its user and we enter: there our user needs no password.
#[derive(Clone, Debug)]
pub(crate) struct Psql {
    pub(crate) program: PathBuf,
    pub(crate) sockets: PathBuf,
}

impl Psql {
    /// What it says to a statement: rows in lines, columns apart by `|`.
    pub(crate) fn ask(
        &self,
        (node, port): (&str, u16),
        database: &str,
        statement: &str,
        limit: Duration,
    ) -> Result<String, InstanceError> {
        let mut psql = command_of(&self.program, None, None, true)?;
        psql.env("PGCONNECT_TIMEOUT", limit.as_secs().max(2).to_string());
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        psql.arg("--host").arg(&self.sockets).args(["--port", &port.to_string(), "--username", USER]);
        psql.args(["--dbname", database, "--command", statement]);
        answer("psql", node, psql, limit)
    }
}

/// A MariaDB, by its socket.
#[derive(Clone, Debug)]
pub(crate) struct MariaDbClient {
    pub(crate) program: PathBuf,
}

impl MariaDbClient {
    /// What it says to a statement: rows in lines, columns apart by tabs.
    pub(crate) fn ask(
        &self,
        at: (&str, &Path),
        statement: &str,
        limit: Duration,
    ) -> Result<String, InstanceError> {
        self.ask_in(at, &["--skip-column-names"], statement, limit)
    }

    /// The same of one long row: each column in a line, after its name.
    pub(crate) fn ask_of_row(
        &self,
        at: (&str, &Path),
        statement: &str,
        limit: Duration,
    ) -> Result<String, InstanceError> {
        self.ask_in(at, &["--vertical"], statement, limit)
    }

    fn ask_in(
        &self,
        (node, socket): (&str, &Path),
        form: &[&str],
        statement: &str,
        limit: Duration,
    ) -> Result<String, InstanceError> {
        let mut client = command_of(&self.program, None, None, true)?;
        client.env("MYSQL_PWD", crate::server::PASSWORD);
        client.args(["--no-defaults", "--batch", "--connect-timeout=2"]).args(form);
        client.arg(crate::mysqld::argument("socket", socket));
        client.args([&format!("--user={USER}"), &format!("--execute={statement}")]);
        answer("mariadb", node, client, limit)
    }
}
