//! The page of a command: usage, examples, and options by heading.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::{INDEX, Page, escaped};
use crate::arguments::{examples_of, exit_codes, groups};

/// Pages of all commands, with their index and the page of exit codes.
pub(super) fn pages(program: &Command) -> Vec<Page> {
    let mut pages = vec![index(program), codes()];
    for command in program.get_subcommands() {
        below(command, &[command.get_name()], &mut pages);
    }
    pages
}

/// Adds the page of a command, and the pages of its subcommands.
fn below(command: &Command, path: &[&str], pages: &mut Vec<Page>) {
    // Subcommands of `plan` take the options of the commands that they plan, and have no pages.
    let is_plan = path == ["plan"];
    pages.push(Page { name: path.join("-"), text: page(command, path) });
    for inner in command.get_subcommands().filter(|inner| !is_plan && !is_help(inner)) {
        let path: Vec<&str> = path.iter().copied().chain([inner.get_name()]).collect();
        below(inner, &path, pages);
    }
}

fn is_help(command: &Command) -> bool {
    command.get_name() == "help"
}

fn file_name(path: &[&str]) -> String {
    format!("{}.md", path.join("-"))
}

/// All commands by group, as on the first page of help.
fn index(program: &Command) -> Page {
    let mut text =
        "# Commands\n\n`-h` prints the common options of a command, and `--help` prints all of them.\n"
            .to_owned();
    for (group, names) in groups() {
        let _ = write!(text, "\n## {group}\n\n| command | purpose |\n|---|---|\n");
        for name in names.filter(|name| *name != "help") {
            let about = program.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(|about| escaped(&about.to_string())).unwrap_or_default();
            let _ = writeln!(text, "| [`prony {name}`]({}) | {about} |", file_name(&[name]));
        }
    }
    Page { name: INDEX.to_owned(), text }
}

/// The page of exit codes.
fn codes() -> Page {
    let mut text = "# Exit codes\n\nOn codes 3, 4 and 5, prony prints the reason on stderr.\n\n| code | meaning |\n|---|---|\n".to_owned();
    for (code, meaning) in exit_codes() {
        let _ = writeln!(text, "| {code} | {} |", escaped(meaning));
    }
    Page { name: "exit-codes".to_owned(), text }
}

fn page(command: &Command, path: &[&str]) -> String {
    let name = path.join(" ");
    let mut text = format!("# prony {name}\n");
    let about = command.get_long_about().or(command.get_about());
    if let Some(about) = about.map(ToString::to_string) {
        let _ = write!(text, "\n{}\n", escaped(&about));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().map(str::trim_start);
    text += "\n## Usage\n\n";
    usage.for_each(|line| {
        let _ = writeln!(text, "    {line}");
    });
    text += &examples(path);
    text += &commands(command, path);
    text += &options(command);
    text
}

fn examples(path: &[&str]) -> String {
    let examples = examples_of(path);
    if examples.is_empty() {
        return String::new();
    }
    let mut text = "\n## Examples\n".to_owned();
    for (what, line) in examples {
        if !what.is_empty() {
            let _ = write!(text, "\n{}:\n", escaped(what));
        }
        let _ = write!(text, "\n    {line}\n");
    }
    text
}

/// Subcommands. Those of `plan` have the options of the commands that they plan.
fn commands(command: &Command, path: &[&str]) -> String {
    let inner: Vec<&Command> = command.get_subcommands().filter(|inner| !is_help(inner)).collect();
    if inner.is_empty() {
        return String::new();
    }
    let mut text = "\n## Commands\n\n".to_owned();
    if path == ["plan"] {
        text += "`prony plan` takes the options of the command that it plans.\n\n";
    }
    for inner in inner {
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        let target: Vec<&str> = match path {
            ["plan"] => vec![inner.get_name()],
            path => path.iter().copied().chain([inner.get_name()]).collect(),
        };
        let _ = writeln!(
            text,
            "- [`prony {} {}`]({}): {}",
            path.join(" "),
            inner.get_name(),
            file_name(&target),
            escaped(&about)
        );
    }
    text
}

/// Arguments and options by heading, in the order of help.
fn options(command: &Command) -> String {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let mut headings: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for argument in shown {
        let heading = match argument.get_help_heading() {
            _ if argument.is_positional() => "Arguments",
            Some(heading) => heading,
            None => "Options",
        };
        match headings.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => headings.push((heading, vec![argument])),
        }
    }
    let mut text = String::new();
    for (heading, arguments) in headings {
        let _ = write!(text, "\n## {heading}\n");
        arguments.into_iter().for_each(|argument| text += &option(argument));
    }
    text
}

/// An entry of a definition list: names, help, default and values.
fn option(argument: &Arg) -> String {
    let mut text = format!("\n`{}`\n", names(argument));
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = escaped(&help);
    let mut facts = vec![];
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !values.is_empty() && !argument.is_hide_possible_values_set() {
        let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        facts.push(format!("Values: {}.", names.join(", ")));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        facts.push(format!("Default: `{}`.", defaults.join(" ")));
    }
    let mut paragraphs: Vec<String> = help.split("\n\n").map(|part| part.replace('\n', " ")).collect();
    paragraphs.extend((!facts.is_empty()).then(|| facts.join(" ")));
    let mut mark = ": ";
    for paragraph in paragraphs {
        let _ = write!(text, "{mark}{}\n\n", paragraph.trim());
        mark = "  ";
    }
    text
}

/// For example `-c, --clients <N>`.
fn names(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names = [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let values = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(|value| format!("<{value}>")).collect();
    match (names.is_empty(), argument.get_action().takes_values()) {
        (true, _) => values.join(" "),
        (false, true) if !values.is_empty() => format!("{names} {}", values.join(" ")),
        (false, _) => names,
    }
}
