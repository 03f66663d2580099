//! Options that are on or off: `--x` and `--no-x`. Study files, the environment and the file of defaults give them a value, as does the
//! older form `--x false`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Value name that marks an option as a switch.
const VALUE: &str = "BOOL";
/// Prefix that inverts a switch.
const NO: &str = "no-";
/// Prefix that shows both forms in help.
pub(crate) const BOTH: &str = "[no-]";

/// True for an option that is on or off.
fn is_switch(argument: &Arg) -> bool {
    argument.get_value_names().is_some_and(|names| names.iter().any(|name| *name == VALUE))
}

/// The argument. For a switch, a second argument replaces it in help, because clap would show the value too.
pub(super) fn with_shown(argument: Arg) -> Vec<Arg> {
    let Some(long) = argument.get_long().filter(|_| is_switch(&argument)) else { return vec![argument] };
    let positive = long.strip_prefix(NO).unwrap_or(long);
    let shown = Arg::new(format!("{BOTH}{positive}"))
        .long(format!("{BOTH}{positive}"))
        .action(ArgAction::SetTrue)
        .hide_short_help(argument.is_hide_short_help_set())
        .help(argument.get_help().cloned().unwrap_or_default());
    let shown = match argument.get_long_help() {
        Some(help) => shown.long_help(help.clone()),
        None => shown,
    };
    let shown = match argument.get_help_heading() {
        Some(heading) => shown.help_heading(heading.to_owned()),
        None => shown,
    };
    let shown = shown.hide(argument.is_hide_set());
    vec![argument.hide(true), shown]
}

/// The command with both forms of its switches, for shell completion.
pub(crate) fn for_shells(command: Command) -> Command {
    let longs: Vec<String> =
        command.get_arguments().filter_map(|one| one.get_long().map(str::to_owned)).collect();
    let command = command.mut_args(|argument| {
        let Some(positive) = argument.get_long().and_then(|long| long.strip_prefix(BOTH)).map(str::to_owned)
        else {
            return if is_switch(&argument) { argument.hide(false) } else { argument };
        };
        // The opposite form of the switch.
        let other = if longs.contains(&positive) { format!("{NO}{positive}") } else { positive };
        argument.long(other)
    });
    command.mut_subcommands(for_shells)
}

/// Converts switches to the form that clap reads: `--x` to `--x=true`, and `--no-x` to `--x=false`.
pub(crate) fn spelled_out(mut arguments: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let (mut command, mut begin) = (program, 1);
    for (place, word) in arguments.iter().enumerate().skip(1) {
        match word.to_str().and_then(|word| command.find_subcommand(word)) {
            Some(inner) => (command, begin) = (inner, place + 1),
            None if command.has_subcommands() => {}
            None => break,
        }
    }
    let longs = command.get_arguments().filter(|argument| is_switch(argument)).map(all_longs);
    let longs: Vec<String> = longs.flatten().collect();
    for place in begin..arguments.len() {
        if arguments[place] == "--" {
            break;
        }
        let has_value = arguments.get(place + 1).is_some_and(|next| next == "true" || next == "false");
        let Some(word) = arguments[place].to_str().and_then(|word| word.strip_prefix("--")) else { continue };
        if let Some(plain) = plain(word, &longs, has_value) {
            arguments[place] = plain.into();
        }
    }
    arguments
}

fn all_longs(argument: &Arg) -> Vec<String> {
    let aliases = argument.get_all_aliases().unwrap_or_default().into_iter();
    aliases.chain(argument.get_long()).map(str::to_owned).collect()
}

/// The form of a word that clap reads. Returns none if clap reads the word unchanged.
fn plain(word: &str, longs: &[String], has_value: bool) -> Option<String> {
    let has = |long: &str| longs.iter().any(|one| one == long);
    let turned = match word.strip_prefix(NO) {
        Some(positive) => positive.to_owned(),
        None => format!("{NO}{word}"),
    };
    if has(word) {
        return (!has_value).then(|| format!("--{word}=true"));
    }
    has(&turned).then(|| format!("--{turned}=false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;

    fn read(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = spelled_out(words, &program()).into_iter().map(|word| word.into_string().unwrap());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn both_forms_of_a_switch_and_the_older_one_are_read() {
        for (line, read_as) in [
            ("prony disk /data --poll", "prony disk /data --poll=true"),
            ("prony disk --poll /data", "prony disk --poll=true /data"),
            ("prony disk --no-poll /data", "prony disk --poll=false /data"),
            ("prony disk . --no-fill", "prony disk . --no-fill=true"),
            ("prony disk . --fill", "prony disk . --no-fill=false"),
            ("prony plan historian --no-index", "prony plan historian --index=false"),
            (
                "prony --config c.toml orders run --no-poisson",
                "prony --config c.toml orders run --poisson=false",
            ),
            ("prony disk . --no-fill false", "prony disk . --no-fill false"),
            ("prony disk . --poll=false", "prony disk . --poll=false"),
            ("prony disk . -- --poll", "prony disk . -- --poll"),
            ("prony script --no-initialise", "prony script --initialise=false"),
            ("prony list --no-config", "prony list --no-config"),
        ] {
            assert_eq!(read(line), read_as);
        }
    }
}
