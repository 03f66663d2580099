//! A command that measures. Its options are in the order of a reader's questions: target, load, output.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::{Output, help, switches};

/// A command that measures: its workload options and its output options.
#[derive(Debug)]
pub(crate) struct Measured<W> {
    pub(crate) asked: W,
    pub(crate) output: Output,
}

impl<W: Args> Args for Measured<W> {
    fn augment_args(command: Command) -> Command {
        laid_out(command, &Output::augment_args(W::augment_args(Command::new(""))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        laid_out(command, &Output::augment_args_for_update(W::augment_args_for_update(Command::new(""))))
    }
}

impl<W: FromArgMatches> FromArgMatches for Measured<W> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { asked: W::from_arg_matches(matches)?, output: Output::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.asked.update_from_arg_matches(matches)?;
        self.output.update_from_arg_matches(matches)
    }
}

/// Adds the arguments and groups of another command, sorted by heading. clap orders headings by their first arguments.
fn laid_out(command: Command, of: &Command) -> Command {
    let mut arguments: Vec<Arg> = of.get_arguments().cloned().collect();
    arguments.sort_by_key(|argument| help::rank(argument.get_help_heading()));
    let arguments = arguments.into_iter().flat_map(switches::with_shown);
    let arguments = arguments.enumerate().map(|(place, argument)| argument.display_order(place));
    command.args(arguments).groups(of.get_groups())
}
