//! Old names of options and commands. They still work, and prony prints a note.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// Old and new names of options. The id of an argument is its old name.
const OPTIONS: [(&str, &str); 9] = [
    ("accept-single", "accept-single-run"),
    ("between", "run-sd"),
    ("flush-interval", "batch-interval"),
    ("flush-rows", "batch-rows"),
    ("initialise", "initialize"),
    ("pause", "cooldown"),
    ("place", "location"),
    ("smallest", "min-effect"),
    ("with", "candidate"),
];

/// Old and new names of commands.
fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("renamed.txt").lines().filter_map(|line| line.split_once(' '))
}

/// The new name of an option with this old name.
pub(crate) fn new_option(old: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(name, _)| *name == old).map(|(_, new)| *new)
}

/// The new name of a command with this old name.
pub(crate) fn new_command(old: &str) -> Option<&'static str> {
    commands().find(|(name, _)| *name == old).map(|(_, new)| new)
}

/// The old name of an option that has a new one.
fn old_option(argument: &Arg) -> Option<&'static str> {
    let id = argument.get_id().as_str().replace('_', "-");
    let renamed = OPTIONS.iter().find(|(old, new)| *old == id && argument.get_long() == Some(*new));
    renamed.map(|(old, _)| *old)
}

/// Accepts the old name of each option and of each command too.
pub(super) fn with_old_names(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.aliases(commands().filter(|(_, new)| *new == name).map(|(old, _)| old));
    let command = command.mut_args(|argument| match old_option(&argument) {
        Some(old) => argument.alias(old),
        None => argument,
    });
    let command = command.mut_args(underscored);
    command.mut_subcommands(with_old_names)
}

/// Accepts option names with underscores, as in DVD Store and in study files: `--n_threads`.
fn underscored(argument: Arg) -> Arg {
    let aliases = argument.get_all_aliases().unwrap_or_default();
    let names = argument.get_long().into_iter().chain(aliases).filter(|name| name.contains('-'));
    let names: Vec<String> = names.map(|name| name.replace('-', "_")).collect();
    argument.aliases(names)
}

fn in_environment(option: &str) -> String {
    format!("PRONY_{}", option.to_uppercase().replace('-', "_"))
}

/// The environment variable of an option. It is the old variable if only the old one is set.
pub(super) fn variable(argument: &Arg, long: &str) -> String {
    let new = in_environment(long);
    let old = old_option(argument).map(in_environment);
    old.filter(|old| std::env::var_os(&new).is_none() && std::env::var_os(old).is_some()).unwrap_or(new)
}

/// A note for each old name on the command line.
pub(crate) fn notes(arguments: &[OsString], program: &Command, matches: &ArgMatches) -> Vec<String> {
    let words: Vec<&str> =
        arguments.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str()).collect();
    let (mut leaf, mut command) = (matches, program);
    let mut notes = Vec::new();
    while let Some((name, inner)) = leaf.subcommand() {
        let Some(found) = command.find_subcommand(name) else { return notes };
        (leaf, command) = (inner, found);
        let old = commands().find(|(old, new)| *new == name && words.contains(old) && !words.contains(new));
        notes.extend(old.map(|(old, new)| format!("note: prony {old} is now called prony {new}")));
    }
    let is_given = |old: &str| {
        let rests = words.iter().filter_map(|word| word.strip_prefix("--")?.strip_prefix(old));
        rests.into_iter().any(|rest| rest.is_empty() || rest.starts_with('='))
    };
    for argument in command.get_arguments() {
        let (Some(old), Some(new)) = (old_option(argument), argument.get_long()) else { continue };
        let negative = |name: &str| format!("no-{name}");
        if is_given(old) {
            notes.push(format!("note: --{old} is now called --{new}"));
        } else if is_given(&negative(old)) {
            notes.push(format!("note: --{} is now called --{}", negative(old), negative(new)));
        }
        let variable = in_environment(old);
        let is_set = leaf.value_source(argument.get_id().as_str()) == Some(ValueSource::EnvVariable);
        if is_set && argument.get_env().is_some_and(|name| *name == *variable) {
            notes.push(format!("note: {variable} is now called {}", in_environment(new)));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;

    fn notes_of(line: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        let words = crate::arguments::spelled_out(words, &program());
        let matches =
            program().try_get_matches_from(&words).unwrap_or_else(|error| panic!("{line:?}\n{error}"));
        notes(&line.iter().map(OsString::from).collect::<Vec<_>>(), &program(), &matches)
    }

    /// Names as in the driver of DVD Store 2.1.
    #[test]
    fn parameters_of_dvd_store_are_read_with_underscores() {
        let line = "prony orders run --target fake: --n_threads 8 --ramp_rate 10 --run_time 2m --db_size 10MB --warmup_time 1m \
                    --think_time 1s --pct_newcustomers 20 --n_searches 3 --search_batch_size 5 --n_line_items 5";
        let read = crate::parse(
            line.split_whitespace().map(Into::into).collect(),
            &crate::config::Config::default(),
        );
        assert!(read.is_ok(), "{}", read.unwrap_err());
    }

    #[test]
    fn every_old_name_is_read_and_its_new_one_is_printed() {
        for (line, note) in [
            (&["disk", ".", "--pause", "5s"][..], "--pause is now called --cooldown"),
            (&["disk", ".", "--pause=5s"], "--pause is now called --cooldown"),
            (&["disk", ".", "--accept-single"], "--accept-single is now called --accept-single-run"),
            (&["historian", "--flush-rows", "4"], "--flush-rows is now called --batch-rows"),
            (&["historian", "--flush-interval", "4s"], "--flush-interval is now called --batch-interval"),
            (&["script", "--initialise"], "--initialise is now called --initialize"),
            (&["study", "run", "s", "--place", "a=b"], "--place is now called --location"),
            (&["study", "run", "s", "--smallest", "5%"], "--smallest is now called --min-effect"),
            (&["compare", "a", "--with", "b"], "--with is now called --candidate"),
            (&["compare", "a", "--between", "2%"], "--between is now called --run-sd"),
            (&["register"], "prony register is now called prony failover"),
            (&["reporting"], "prony reporting is now called prony analytics"),
            (&["plan", "reporting"], "prony reporting is now called prony analytics"),
        ] {
            let line: Vec<&str> = std::iter::once("prony").chain(line.iter().copied()).collect();
            assert_eq!(notes_of(&line), [format!("note: {note}")], "{line:?}");
        }
        let tested = OPTIONS.map(|(old, _)| old);
        assert_eq!(tested.len() + commands().count(), 11, "test a new entry above");
    }

    #[test]
    fn a_new_name_has_no_note() {
        for line in [
            &["prony", "disk", ".", "--cooldown", "5s"][..],
            &["prony", "tables", "--batch-rows", "5"],
            &["prony", "failover", "--cooldown=1s"],
            &["prony", "compare", "a", "--candidate", "b"],
        ] {
            assert_eq!(notes_of(line), [""; 0], "{line:?}");
        }
    }
}
