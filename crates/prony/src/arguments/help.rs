//! Layout of help: the first page with groups of commands, short help, usage lines, and exit codes.

use std::fmt::Write as _;

use clap::builder::styling::Style;
use clap::{Arg, ArgAction, Command};

use super::examples;

/// Heading of the options that every command has. It is the last heading.
pub(super) const GLOBAL: &str = "Global options";

/// Headings of a command that measures, in their order. The headings of the workload are between these two lists.
const FIRST: [&str; 2] = ["Target", "Load"];
const LAST: [&str; 4] = ["Output", "Repeats and thresholds", "Database of SQL Server", "Managed server"];

/// Position of a heading among those of a command. Arguments without a heading come first.
pub(super) fn rank(heading: Option<&str>) -> usize {
    let Some(heading) = heading else { return 0 };
    let of_workload = FIRST.len() + 1;
    let first = FIRST.iter().position(|first| *first == heading).map(|place| place + 1);
    let last = || LAST.iter().position(|last| *last == heading).map(|place| of_workload + 1 + place);
    first.or_else(last).unwrap_or(of_workload)
}

/// Groups of commands on the first page, one group per line.
const GROUPS: &str = include_str!("groups.txt");

/// Groups, each with the names of its commands.
pub(crate) fn groups() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let lines = GROUPS.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(group, names)| (group, names.split_whitespace()))
}

/// Examples on the first page.
const EXAMPLES: [(&str, &str); 3] = [
    ("Measure this machine in about 100 s", "prony check"),
    (
        "Find the highest record rate of a database",
        "prony historian --target postgres://me@localhost/postgres --find-max --quick",
    ),
    ("Compare two runs", "prony compare before after"),
];

/// Exit codes and their meanings.
const EXIT_CODES: [(&str, &str); 7] = [
    ("0", "Everything was measured, and no threshold or limit failed"),
    ("1", "Something failed or could not be reached, or data is wrong"),
    ("2", "Invalid arguments"),
    (
        "3",
        "A rate was not sustained, a threshold failed, a change exceeds its limit, a figure is worse than the baseline, or a setting \
         endangers data",
    ),
    (
        "4",
        "Inconclusive: a search found no sustained rate, or a rate, a threshold, a change or a setting could not be judged",
    ),
    ("5", "A trial is invalid: it was measured, but must not be used"),
    ("130", "Interrupted; measured results are saved"),
];

/// Exit codes and their meanings, for pages of help.
pub(crate) fn exit_codes() -> &'static [(&'static str, &'static str)] {
    &EXIT_CODES
}

/// The command line with arranged help.
pub(super) fn arranged(program: Command) -> Command {
    let program = each(program, &[]);
    let template = first_page(&program);
    program.help_template(template)
}

fn each(command: Command, path: &[&str]) -> Command {
    let command = match command.is_disable_help_flag_set() {
        true => command,
        false => command.disable_help_flag(true).arg(help_flag()),
    };
    let command = match usage(&command, path) {
        Some(usage) => command.override_usage(usage),
        None => command,
    };
    let command = short_examples(command, path);
    command.mut_subcommands(|inner| {
        let name = inner.get_name().to_owned();
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        each(inner, &path)
    })
}

/// Replaces clap's help option, which is under another heading.
fn help_flag() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print help; --help prints all options and details")
        .long_help("Print help; -h prints a summary")
        .help_heading(GLOBAL)
        // After all other options of a command.
        .display_order(10_000)
}

/// The command line for short help. If a list of values would need a second line or repeat the help text, only long help shows it.
pub(crate) fn brief(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let values = argument.get_possible_values();
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        if names.is_empty() || !argument.get_action().takes_values() {
            return argument;
        }
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let are_named = names.iter().all(|name| help.contains(name));
        let is_long = are_named || names.join(", ").len() > VALUES_MOST;
        argument.hide_possible_values(is_long)
    });
    command.mut_subcommands(brief)
}

/// Maximum length of a list of values in short help.
const VALUES_MOST: usize = 20;

/// A usage line with the required options of a command that connects to a server or starts one.
fn usage(command: &Command, path: &[&str]) -> Option<String> {
    let value = |id: &str| {
        let argument = command.get_arguments().find(|argument| argument.get_id() == id)?;
        argument.get_value_names()?.first().map(ToString::to_string)
    };
    // `tables` requires neither: its default is SQLite.
    if path.last() == Some(&"tables") {
        return None;
    }
    let (target, engine) = (value("target")?, value("managed")?);
    let mut usage =
        format!("prony {} [OPTIONS] (--target <{target}> | --managed <{engine}>)", path.join(" "));
    for place in command.get_positionals() {
        let name = place.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
        let _ = write!(usage, " [{name}]...");
    }
    Some(usage)
}

/// Adds up to two examples below the short help.
fn short_examples(command: Command, path: &[&str]) -> Command {
    let examples = examples::of(path);
    if examples.is_empty() || path.is_empty() {
        return command;
    }
    let mut text = "Examples:".to_owned();
    for (what, line) in examples.into_iter().take(2) {
        if !what.is_empty() {
            let _ = write!(text, "\n  {what}:");
        }
        let _ = write!(text, "\n      {line}");
    }
    command.after_help(text)
}

/// The first page: groups of commands, examples, and options.
fn first_page(program: &Command) -> String {
    let (header, literal) = (Style::new().bold().underline(), Style::new().bold());
    let mut page = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in groups() {
        let _ = writeln!(page, "\n{header}{group}:{header:#}");
        for name in names {
            let about = match program.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print the help of a command, or exit-codes".to_owned(),
            };
            let _ = writeln!(page, "  {literal}{name:<11}{literal:#}  {about}");
        }
    }
    let _ = writeln!(page, "\n{header}Examples:{header:#}");
    for (what, line) in EXAMPLES {
        let _ = writeln!(page, "  {what}:\n      {line}");
    }
    let _ = write!(page, "\n{header}{GLOBAL}:{header:#}\n{{options}}{{after-help}}");
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::arguments::program;

    fn visit(command: &mut Command, check: &mut impl FnMut(&mut Command)) {
        check(command);
        let names: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        for name in names {
            if let Some(inner) = command.find_subcommand_mut(&name) {
                visit(inner, check);
            }
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let program = program();
        let commands = program.get_subcommands().map(Command::get_name);
        let named = || groups().flat_map(|(_, names)| names);
        let commands: BTreeSet<&str> = commands.chain(["help"]).collect();
        assert_eq!(named().collect::<BTreeSet<&str>>(), commands);
        assert_eq!(named().count(), commands.len());
        EXAMPLES.iter().for_each(|(_, line)| {
            let words = line.split(' ').map(Into::into).collect();
            assert!(crate::parse(words, &crate::config::Config::default()).is_ok(), "{line}");
        });
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        brief(program()).debug_assert();
        let mut program = program();
        program.build();
        visit(&mut program, &mut |command| {
            let text = brief(command.clone()).render_help().to_string();
            assert!(text.lines().count() <= 60, "{} lines\n{text}", text.lines().count());
        });
    }

    /// Readers take in ten words at a glance. A default in brackets does not count.
    #[test]
    fn the_first_line_of_every_option_is_short() {
        let mut program = program();
        let mut long = Vec::new();
        visit(&mut program, &mut |command| {
            let helps = command.get_arguments().filter_map(|argument| argument.get_help());
            for help in helps.chain(command.get_about()).map(ToString::to_string) {
                let sentence = help.split(" [default").next().unwrap_or_default();
                if sentence.split_whitespace().count() > 10 || sentence.ends_with('.') {
                    long.push(format!("{}: {sentence}", command.get_name()));
                }
            }
        });
        assert!(long.is_empty(), "{long:#?}");
    }
}
