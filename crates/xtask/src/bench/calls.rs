//! `cargo xtask bench calls`: what a call over a session to SQL Server costs the client, in turn with the same call to PostgreSQL.
//!
//! What is compared is processor time of the program that calls, which hardly depends on the server: so a double that only speaks the protocol
//! will do.

use std::process::Command;

use anyhow::{Result, bail};
use instance::{Options, Postgres, TdsServer};

use super::encryption::session_program;
use super::program::numbers;
use super::{CallsOptions, ratio};
use crate::workspace::Workspace;

/// Most processor time of a call, as a share of that of the session to PostgreSQL.
const GOAL: f64 = 2.0;
const KINDS: [(&str, &str, Option<f64>); 2] =
    [("call", "calls with one parameter and one row", Some(GOAL)), ("flush", "flushes of 1,000 rows", None)];

pub(super) fn run(options: &CallsOptions, workspace: &Workspace) -> Result<()> {
    let program = session_program(workspace)?;
    // Held until the end: it is gone with this.
    let (_double, url) = match &options.url {
        Some(url) => (None, url.clone()),
        None => match TdsServer::start(&[])? {
            Some(double) => {
                let url = double.url();
                (Some(double), url)
            }
            None => bail!(
                "no server: give --url, or name a directory with `start` and `stop` of one in PRONY_TDS_SERVER"
            ),
        },
    };
    let postgres = Postgres::start(&Options::default())?;
    let postgres = format!("{}?sslmode=disable", postgres.url());
    println!("\nclient CPU, SQL Server/PostgreSQL, of {} pairs in turn", options.pairs);
    let seconds = options.seconds.to_string();
    for (kind, name, goal) in KINDS {
        let cost = |url: &str| -> Result<f64> {
            let [_, cpu_us] = numbers(Command::new(&program).args([kind, url, &seconds]))?;
            Ok(cpu_us)
        };
        let mut ratios = Vec::new();
        let mut costs = Vec::new();
        for _ in 0..options.pairs {
            let (of_postgres, of_sql_server) = (cost(&postgres)?, cost(&url)?);
            ratios.push(of_sql_server / of_postgres);
            costs.push((of_postgres, of_sql_server));
        }
        println!(
            "{}",
            goal.map_or_else(
                || ratio::told(name, ratios.clone()),
                |goal| ratio::at_most(name, ratios.clone(), goal)
            )
        );
        for (of_postgres, of_sql_server) in costs {
            println!("      PostgreSQL {of_postgres:.1} µs, SQL Server {of_sql_server:.1} µs");
        }
    }
    Ok(())
}
