//! Arguments of `prony inspect`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use report::Severity;

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Directories, files or block devices to inspect
    ///
    /// prony inspects their file systems and devices, and those of servers on this machine. [default: . without
    /// --target]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Server to inspect; can be repeated
    ///
    /// postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE (also MariaDB). The password can be in the
    /// address, in PGPASSWORD or in MYSQL_PWD. For sqlite:FILE prony inspects the volume that holds the file.
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Vec<String>,

    /// Root directory of the machine to inspect [default: /]
    ///
    /// Use this in a container that has the machine's /proc, /sys and /etc in a directory such as /host.
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub(crate) root: Option<PathBuf>,

    /// Lowest severity that causes exit code 3
    #[arg(long, value_name = "SEVERITY", default_value = "danger", help_heading = "Output", value_parser = severities())]
    pub(crate) fail_on: Severity,

    /// Print one JSON document, with all facts behind the advice
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

fn severities() -> impl TypedValueParser<Value = Severity> {
    let help = |severity| match severity {
        Severity::Danger => "Data can be lost or damaged, or the server stops",
        Severity::Costs => "Performance is lower than it could be",
        Severity::Note => "Worth knowing",
    };
    let values = Severity::ALL.map(|severity| PossibleValue::new(severity.word()).help(help(severity)));
    PossibleValuesParser::new(values).map(|name| {
        let named = Severity::ALL.into_iter().find(|severity| severity.word() == name);
        named.unwrap_or(Severity::Danger)
    })
}
