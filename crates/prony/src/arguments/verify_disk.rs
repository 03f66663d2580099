//! Arguments of `prony verify`.

use std::path::PathBuf;

use clap::Args;
use disk::{Settings, VerifyProfile};

use super::MustHold;

#[derive(Debug, Args)]
#[command(mut_arg("verify", |argument| argument.hide(true)), mut_arg("rate", |argument| argument.hide(true)))]
pub(crate) struct Verify {
    /// Directories (test files of our own are made there), files or block devices
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// What the load is like
    #[arg(long, value_name = "NAME", help_heading = "Study", default_value = "sqliosim")]
    pub(crate) profile: VerifyProfile,

    /// Take over what is known here of SQLIOSim's configuration file, such as sqliosim.cfg.ini; what is not mapped is told. Options win
    /// over it
    #[arg(long, value_name = "FILE", help_heading = "Verify")]
    pub(crate) sqliosim_config: Option<PathBuf>,

    /// After a crash: look at the files PATH of the run that wrote --journal, and tell what was acknowledged as durable and is gone.
    /// Writes nothing
    #[arg(long, help_heading = "Verify", requires = "journal")]
    pub(crate) after_crash: bool,

    /// Keep the journal of one run of another host in the new file PATH: listen at this address, such as 0.0.0.0:7645, until that run
    /// ends. It names this host by --journal HOST:PORT. There is no password: for a network that is trusted
    #[arg(long, value_name = "ADDRESS", help_heading = "Verify", conflicts_with_all = ["after_crash", "profile", "sqliosim_config", "journal", "flush_honesty"])]
    pub(crate) serve_journal: Option<String>,

    /// Look whether a flush takes as long as this medium must take: durable writes beside others, in about a minute. Signs of a write
    /// cache that a loss of power may empty; evidence, and no proof
    #[arg(long, help_heading = "Verify", conflicts_with_all = ["after_crash", "profile", "sqliosim_config", "journal"])]
    pub(crate) flush_honesty: bool,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
