//! The same load by sysbench, where it is installed: <https://github.com/akopytov/sysbench>.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use instance::Postgres;

use super::pgbench::{Ran, after};
use super::program::output;
use super::tool::children_cpu_us;

/// pgbench's select-only, prepared, in sysbench's language; a thread has a connection.
const SELECT_ONLY: &str = r#"
sysbench.cmdline.options = { rows = {"accounts", 100000} }

function thread_init()
    connection = sysbench.sql.driver():connect()
    statement = connection:prepare("SELECT abalance FROM pgbench_accounts WHERE aid = ?")
    aid = statement:bind_create(sysbench.sql.type.INT)
    statement:bind_param(aid)
end

function event()
    aid:set(sysbench.rand.uniform(1, sysbench.opt.rows))
    statement:execute():free()
end
"#;

/// A sysbench that can send to PostgreSQL.
pub(super) struct Sysbench {
    script: PathBuf,
    rows: String,
    port: String,
}

impl Sysbench {
    /// None where it is not installed, which is said.
    pub(super) fn new(place: &Path, server: &Postgres, rows: u64) -> Result<Option<Self>> {
        if Command::new("sysbench").arg("--version").output().is_err() {
            println!("sysbench is not installed: prony is compared with pgbench alone");
            return Ok(None);
        }
        let script = place.join("select-only.lua");
        fs::write(&script, SELECT_ONLY)?;
        Ok(Some(Self {
            script,
            rows: format!("--rows={rows}"),
            port: format!("--pgsql-port={}", server.port()),
        }))
    }

    /// One run, with a thread a client.
    pub(super) fn run(&self, clients: u32, seconds: u32) -> Result<Ran> {
        let begin_us = children_cpu_us()?;
        let mut command = Command::new("sysbench");
        command.arg(&self.script).args([
            "--db-driver=pgsql",
            "--pgsql-host=127.0.0.1",
            "--pgsql-db=postgres",
        ]);
        // As the server's address has them.
        command.args(["--pgsql-user=prony", "--pgsql-password=secret"]).env("PGSSLMODE", "disable");
        command.args([&self.port, &self.rows, "--rand-type=uniform", "--db-ps-mode=auto"]);
        command.args([&format!("--threads={clients}"), &format!("--time={seconds}"), "--events=0", "run"]);
        let told = output(&mut command)?;
        let cpu_us = children_cpu_us()? - begin_us;
        let events = after(&told, "total number of events:").context("sysbench told no events")?;
        let took_s = after(&told, "total time:").context("sysbench told no time")?;
        Ok(Ran { per_s: events / took_s, cpu_us: cpu_us / events })
    }
}
