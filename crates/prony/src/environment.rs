//! Variables of the environment that are meant for prony: those that nothing heeds are told, since what they were to set is not, and
//! one that commands would heed in different ways is refused.

use std::collections::{BTreeMap, BTreeSet};

use clap::ArgMatches;
use clap::error::ErrorKind;
use clap::parser::ValueSource;

use crate::arguments::{DETAILS, yes_or_no};

/// What prony itself sets for the commands around a trial, in which it may run again.
const OWN: [&str; 3] = ["PRONY_TRIAL", "PRONY_BLOCK", "PRONY_CONFIGURATION"];
const OWN_LEVELS: &str = "PRONY_LEVEL_";

/// A sentence for each variable that begins with `PRONY_` and is that of no option.
pub(crate) fn warnings(command: &clap::Command, variables: impl Iterator<Item = String>) -> Vec<String> {
    // Of a flag, and so not clap's.
    let mut known = BTreeSet::from([DETAILS.to_owned()]);
    let mut options = BTreeSet::new();
    let mut aliases = BTreeMap::new();
    collect(command, &mut known, &mut options, &mut aliases);
    let unknown = variables.filter(|name| {
        name.starts_with("PRONY_")
            && !known.contains(name)
            && !OWN.contains(&name.as_str())
            && !name.starts_with(OWN_LEVELS)
    });
    let told = unknown.map(|name| {
        let option = name["PRONY_".len()..].to_lowercase().replace('_', "-");
        if options.contains(&option) {
            return format!("{name} has no effect: --{option} is accepted on the command line only");
        }
        if let Some(variable) = aliases.get(&option) {
            return format!("{name} has no effect: use {variable} for --{option}");
        }
        let likeness = |known: &&String| strsim::jaro_winkler(known, &name);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.map_or("", String::as_str);
        format!("{name} has no effect: no option has this name. Did you mean {nearest}?")
    });
    let told: BTreeSet<String> = told.collect();
    told.into_iter().collect()
}

/// That the variable of a flag says neither yes nor no.
pub(crate) fn flag_warning(value: Option<&std::ffi::OsStr>) -> Option<String> {
    let value = value.filter(|value| yes_or_no(value).is_none())?;
    Some(format!("{DETAILS}={} has no effect: use 1 or 0", value.to_string_lossy()))
}

/// The option that every command has, and of which a bare number is one a second for some and one a minute for others.
const RATE: &str = "rate";

/// Value name of a rate that needs a unit, because some people count per second and others per minute.
const WITH_UNIT: &str = "RATE";

/// Rejects a rate without a unit if it is in the environment, or if the option requires a unit.
pub(crate) fn check(command: &mut clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let (mut leaf, mut of) = (matches, Some(&*command));
    while let Some((name, inner)) = leaf.subcommand() {
        leaf = inner;
        of = of.and_then(|command| command.find_subcommand(name));
    }
    let argument = of.and_then(|command| command.get_arguments().find(|argument| argument.get_id() == RATE));
    let names = argument.and_then(clap::Arg::get_value_names).unwrap_or_default();
    let needs_unit = names.iter().any(|name| *name == WITH_UNIT);
    // Of a command that has none, clap would not be asked.
    if !leaf.ids().any(|id| id == RATE) {
        return Ok(());
    }
    let name = match leaf.value_source(RATE) {
        Some(ValueSource::EnvVariable) => "PRONY_RATE=",
        Some(ValueSource::CommandLine) if needs_unit => "--rate ",
        _ => return Ok(()),
    };
    let given = leaf.get_raw(RATE).and_then(|mut values| values.next()).unwrap_or_default().to_string_lossy();
    if given.trim().parse::<f64>().is_err() {
        return Ok(());
    }
    Err(command.error(
        ErrorKind::ValueValidation,
        format!("{name}{given} has no unit. Use {name}{given}/s or {name}{given}/min"),
    ))
}

/// Variables that options heed, options that heed none, and other names of options by their variables.
fn collect(
    command: &clap::Command,
    known: &mut BTreeSet<String>,
    options: &mut BTreeSet<String>,
    aliases: &mut BTreeMap<String, String>,
) {
    for argument in command.get_arguments() {
        match (argument.get_env(), argument.get_long()) {
            (Some(variable), _) => {
                let variable = variable.to_string_lossy().into_owned();
                let names = argument.get_all_aliases().unwrap_or_default().into_iter();
                aliases.extend(names.map(|name| (name.to_owned(), variable.clone())));
                known.insert(variable);
            }
            (None, Some(long)) => _ = options.insert(long.to_owned()),
            (None, None) => {}
        }
    }
    command.get_subcommands().for_each(|inner| collect(inner, known, options, aliases));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;

    fn told(name: &str) -> Vec<String> {
        warnings(&program(), [name.to_owned(), "PATH".to_owned()].into_iter())
    }

    /// A mistyped PRONY_BLOCKSIZE was ignored, and so was PRONY_JSON.
    #[test]
    fn a_variable_without_effect_is_told() {
        assert_eq!(
            told("PRONY_BLOCKSIZE"),
            ["PRONY_BLOCKSIZE has no effect: no option has this name. Did you mean PRONY_BLOCK_SIZE?"]
        );
        for (flag, option) in
            [("PRONY_JSON", "--json"), ("PRONY_OVERWRITE", "--overwrite"), ("PRONY_DESTROY", "--destroy")]
        {
            assert_eq!(
                told(flag),
                [format!("{flag} has no effect: {option} is accepted on the command line only")]
            );
        }
    }

    /// Only `true` had an effect, and nothing told of any other word.
    #[test]
    fn a_flag_of_the_environment_takes_the_usual_words_and_tells_of_others() {
        let says = |value: &str| yes_or_no(value.as_ref());
        for (words, expected) in [
            (&["1", "true", "yes", "on", "YES"][..], Some(true)),
            (&["0", "false", "no", "off", ""], Some(false)),
        ] {
            words.iter().for_each(|word| assert_eq!(says(word), expected, "{word}"));
        }
        let warning = |value: &str| flag_warning(Some(value.as_ref()));
        assert_eq!(warning("1"), None);
        assert_eq!(flag_warning(None), None);
        assert_eq!(warning("maybe").unwrap(), "PRONY_DETAILS=maybe has no effect: use 1 or 0");
    }

    /// A variable of one command's own name for what all have set nothing, and its neighbour everything.
    #[test]
    fn another_name_of_an_option_is_told_with_its_variable() {
        assert_eq!(
            told("PRONY_RUN_TIME"),
            ["PRONY_RUN_TIME has no effect: use PRONY_DURATION for --run-time"]
        );
    }

    #[test]
    fn a_variable_that_is_heeded_or_our_own_is_no_mistake() {
        for name in
            ["PRONY_BLOCK_SIZE", "PRONY_TARGET", "PRONY_DETAILS", "PRONY_TRIAL", "PRONY_LEVEL_FLUSH_ROWS"]
        {
            assert_eq!(told(name), [""; 0], "{name}");
        }
    }
}
