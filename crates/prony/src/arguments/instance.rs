//! Arguments of `prony instance`: servers for hand work.

use clap::{Args, Subcommand};

use super::managed::ServerArguments;

/// Start, list and stop managed servers
///
/// Each server has its own directories on this machine. Location and limits work as in a study.
#[derive(Debug, Subcommand)]
pub(crate) enum Instance {
    /// Start a server that runs until it is stopped
    ///
    /// Prints its address.
    Start(Box<StartInstance>),
    /// List servers that prony started and has not deleted
    ///
    /// The list includes servers left by a prony that was killed.
    List(ListInstances),
    /// Stop a server and delete its data and log
    Stop(NamedInstance),
    /// Open the database client on a server: psql, mariadb, mysql
    Shell(NamedInstance),
    /// Print the end of a server's log
    Log(LogOfInstance),
}

#[derive(Debug, Args)]
pub(crate) struct StartInstance {
    /// Installed engine to start
    #[arg(value_parser = super::managed::engines())]
    pub(crate) engine: ::study::Engine,

    /// Name of the server
    #[arg(long, value_name = "NAME", default_value = "pg", default_value_ifs([("engine", "mariadb", "maria"), ("engine", "mysql", "mysql")]))]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ListInstances {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NamedInstance {
    /// Name of the server
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct LogOfInstance {
    /// Name of the server
    pub(crate) name: String,

    /// Lines to print, from the end of the log
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) lines: usize,
}
