//! Arguments of `prony verify`.

use std::path::PathBuf;

use clap::Args;
use disk::{Settings, VerifyProfile};

use super::MustHold;

#[derive(Debug, Args)]
#[command(mut_arg("verify", |argument| argument.hide(true)), mut_arg("rate", |argument| argument.hide(true)))]
#[command(mut_args(of_verifying))]
pub(crate) struct Verify {
    /// Directories, files or block devices
    ///
    /// In a directory, prony creates its own test files and deletes them at the end.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Kind of load
    #[arg(long, value_name = "NAME", help_heading = "Load", default_value = "sqliosim")]
    pub(crate) profile: VerifyProfile,

    /// Use a SQLIOSim configuration file, such as sqliosim.cfg.ini
    ///
    /// Known settings are used, and the others are listed. Options on the command line take precedence.
    #[arg(long, hide_short_help = true, value_name = "FILE", help_heading = "Verify")]
    pub(crate) sqliosim_config: Option<PathBuf>,

    /// Compare the files with --journal after a crash
    ///
    /// Give the files of the run that wrote the journal as PATH. prony reports data that was acknowledged as durable
    /// but is missing. It writes nothing.
    #[arg(long, help_heading = "Verify", requires = "journal")]
    pub(crate) after_crash: bool,

    /// Keep the journal of another host: listen on ADDRESS
    ///
    /// Listens on an address such as 0.0.0.0:7645 until one run has ended, and writes that run's journal to the new file
    /// PATH. The other host specifies this host with --journal HOST:PORT. The connection has no password: use it in a
    /// trusted network only.
    #[arg(long, value_name = "ADDRESS", help_heading = "Verify", conflicts_with_all = ["after_crash", "profile", "sqliosim_config", "journal", "flush_honesty"])]
    pub(crate) serve_journal: Option<String>,

    /// Test whether flushes take as long as the medium requires
    ///
    /// Compares durable writes with other writes, in about 60 s. It looks for signs of a write cache that could
    /// lose its content in a power failure. Signs are evidence, not proof.
    #[arg(long, help_heading = "Verify", conflicts_with_all = ["after_crash", "profile", "sqliosim_config", "journal"])]
    pub(crate) flush_honesty: bool,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Options of verifying are common here and rare in `prony disk`; with others it is the other way round.
fn of_verifying(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "stall" | "audit_every" | "journal" => argument.hide_short_help(false),
        "read_share" | "pattern" | "outstanding" | "warm_up" => argument.hide_short_help(true),
        _ => argument,
    }
}
