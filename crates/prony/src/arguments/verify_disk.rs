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

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
