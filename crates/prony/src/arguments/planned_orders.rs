//! Arguments of `prony plan orders`.

use std::ffi::OsString;

use clap::Subcommand;

use super::{LoadOrders, Measured, RunOrders};

#[derive(Debug, Subcommand)]
pub(crate) enum PlannedOrders {
    /// Plan of `prony orders run`; of the output options only --json has a meaning here
    Run(Box<Measured<RunOrders>>),
    /// Plan of `prony orders load`: how many rows of which tables, and where
    Load(LoadOrders),
}

/// Arguments with the word that may be left out: `plan orders --target …` is `plan orders run --target …`.
pub(crate) fn completed(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is = |place: usize, word: &str| arguments.get(place).is_some_and(|argument| argument == word);
    let asks_help = is(3, "-h") || is(3, "--help");
    let has_word = arguments.get(3).is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
    if is(1, "plan") && is(2, "orders") && !asks_help && !has_word {
        arguments.insert(3, "run".into());
    }
    arguments
}
