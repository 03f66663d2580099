//! Arguments of `prony inspect`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use report::Severity;

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Directories, files or block devices whose file systems and devices are looked at, beside those of servers on this machine
    /// [default: . without --target]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Server that is asked for its settings: postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE (MariaDB too). A password can be
    /// in the address, in PGPASSWORD or in MYSQL_PWD. Of sqlite:FILE the volume is looked at. Can be repeated
    #[arg(long, value_name = "URL", help_heading = "Target")]
    pub(crate) target: Vec<String>,

    /// Where /proc, /sys and /etc of the machine are, such as /host in a container that has them there [default: /]
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub(crate) root: Option<PathBuf>,

    /// Mildest severity that is a failure, which ends with 3
    #[arg(long, value_name = "SEVERITY", default_value = "danger", help_heading = "Output", value_parser = severities())]
    pub(crate) fail_on: Severity,

    /// Print one JSON document, with all facts that the advice rests on
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

fn severities() -> impl TypedValueParser<Value = Severity> {
    let help = |severity| match severity {
        Severity::Danger => "Data can be lost or damaged, or the server stops",
        Severity::Costs => "It is slower than it could be",
        Severity::Note => "Worth knowing",
    };
    let values = Severity::ALL.map(|severity| PossibleValue::new(severity.word()).help(help(severity)));
    PossibleValuesParser::new(values).map(|name| {
        let named = Severity::ALL.into_iter().find(|severity| severity.word() == name);
        named.unwrap_or(Severity::Danger)
    })
}
