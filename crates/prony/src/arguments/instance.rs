//! Arguments of `prony instance`: servers for hand work.

use clap::{Args, Subcommand};

use super::managed::ServerArguments;

/// Servers of prony's own on this machine, for hand work: started in directories of their own, placed and limited as in a study
#[derive(Debug, Subcommand)]
pub(crate) enum Instance {
    /// Start a server that lives on until it is stopped, and print its address
    Start(Box<StartInstance>),
    /// List the servers that prony started and has not removed, also those that a killed prony left
    List(ListInstances),
    /// End a server and remove it with all that it has
    Stop(NamedInstance),
    /// Open the database's own client on a server: psql, mariadb or mysql
    Shell(NamedInstance),
    /// Print the end of what a server said
    Log(LogOfInstance),
}

#[derive(Debug, Args)]
pub(crate) struct StartInstance {
    /// What is started, as it is installed
    #[arg(value_parser = super::managed::engines())]
    pub(crate) engine: ::study::Engine,

    /// What it is called
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
    /// What it is called
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct LogOfInstance {
    /// What it is called
    pub(crate) name: String,

    /// Lines from the end
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) lines: usize,
}
