//! Arguments of `prony plan orders`, and the conversion of a command to its plan.

use std::ffi::OsString;

use clap::Subcommand;

use super::super::{Command, Measured, Planned, Study};
use super::{LoadOrders, Orders, RunOrders};

#[derive(Debug, Subcommand)]
pub(crate) enum PlannedOrders {
    /// Show the plan of `prony orders run`
    ///
    /// Among the output options, only --json has an effect.
    Run(Box<Measured<RunOrders>>),
    /// Show the plan of `prony orders load`
    Load(LoadOrders),
}

impl PlannedOrders {
    /// Inserts the optional word: `plan orders --target …` means `plan orders run --target …`.
    pub(crate) fn completed(mut arguments: Vec<OsString>) -> Vec<OsString> {
        let is = |place: usize, word: &str| arguments.get(place).is_some_and(|argument| argument == word);
        let asks_help = is(3, "-h") || is(3, "--help");
        let has_word = arguments.get(3).is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
        if is(1, "plan") && is(2, "orders") && !asks_help && !has_word {
            arguments.insert(3, "run".into());
        }
        arguments
    }
}

impl Command {
    /// The command that shows the plan of this command, for `--dry-run`.
    pub(crate) fn planned(self) -> Self {
        match self {
            Self::Measuring(measuring) => Self::Plan(Planned::Measuring(measuring)),
            Self::Orders(Orders::Run(run)) => Self::Plan(Planned::Orders(PlannedOrders::Run(run))),
            Self::Orders(Orders::Load(load)) => Self::Plan(Planned::Orders(PlannedOrders::Load(load))),
            Self::Study(Study::Run(run)) => Self::Study(Study::Plan(run.plan())),
            command => command,
        }
    }
}
