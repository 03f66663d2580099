//! Variables of the environment that are meant for prony and heeded by nothing: each is told, since what it was to set is not.

use std::collections::BTreeSet;

use crate::arguments::DETAILS;

/// What prony itself sets for the commands around a trial, in which it may run again.
const OWN: [&str; 3] = ["PRONY_TRIAL", "PRONY_BLOCK", "PRONY_CONFIGURATION"];
const OWN_LEVELS: &str = "PRONY_LEVEL_";

/// A sentence for each variable that begins with `PRONY_` and is that of no option.
pub(crate) fn warnings(command: &clap::Command, variables: impl Iterator<Item = String>) -> Vec<String> {
    // Of a flag, and so not clap's.
    let mut known = BTreeSet::from([DETAILS.to_owned()]);
    let mut options = BTreeSet::new();
    collect(command, &mut known, &mut options);
    let unknown = variables.filter(|name| {
        name.starts_with("PRONY_")
            && !known.contains(name)
            && !OWN.contains(&name.as_str())
            && !name.starts_with(OWN_LEVELS)
    });
    let told = unknown.map(|name| {
        let option = name["PRONY_".len()..].to_lowercase().replace('_', "-");
        if options.contains(&option) {
            return format!(
                "{name} is set and has no effect: --{option} is taken from the command line alone"
            );
        }
        let likeness = |known: &&String| strsim::jaro_winkler(known, &name);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.map_or("", String::as_str);
        format!("{name} is set and has no effect, since no option has this name; did you mean {nearest}?")
    });
    let told: BTreeSet<String> = told.collect();
    told.into_iter().collect()
}

/// Variables that options heed, and options that heed none.
fn collect(command: &clap::Command, known: &mut BTreeSet<String>, options: &mut BTreeSet<String>) {
    for argument in command.get_arguments() {
        match (argument.get_env(), argument.get_long()) {
            (Some(variable), _) => _ = known.insert(variable.to_string_lossy().into_owned()),
            (None, Some(long)) => _ = options.insert(long.to_owned()),
            (None, None) => {}
        }
    }
    command.get_subcommands().for_each(|inner| collect(inner, known, options));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::{Arguments, with_environment};

    fn told(name: &str) -> Vec<String> {
        warnings(&with_environment(Arguments::command()), [name.to_owned(), "PATH".to_owned()].into_iter())
    }

    /// A mistyped PRONY_BLOCKSIZE was ignored, and so was PRONY_JSON.
    #[test]
    fn a_variable_without_effect_is_told() {
        assert_eq!(
            told("PRONY_BLOCKSIZE"),
            [
                "PRONY_BLOCKSIZE is set and has no effect, since no option has this name; did you mean PRONY_BLOCK_SIZE?"
            ]
        );
        for (flag, option) in
            [("PRONY_JSON", "--json"), ("PRONY_OVERWRITE", "--overwrite"), ("PRONY_DESTROY", "--destroy")]
        {
            assert_eq!(
                told(flag),
                [format!("{flag} is set and has no effect: {option} is taken from the command line alone")]
            );
        }
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
