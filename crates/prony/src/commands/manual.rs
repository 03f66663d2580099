//! Manual pages and completions, from the same definitions as `--help`.

use std::io::Write as _;

use anyhow::anyhow;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use clap_mangen::Man;
use study::ReadyStudy;

use crate::arguments::{Arguments, command, examples_of, exit_codes, for_shells};
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let mut command = for_shells(with_runs(with_names(Arguments::command())));
    clap_complete::generate(shell, &mut command, "prony", &mut script);
    let script = String::from_utf8(script).map_err(Failure::runtime)?;
    let script = match shell {
        Shell::Bash => script.replace(RUNS, "$(prony list --names 2>/dev/null)"),
        Shell::Zsh => zsh_runs(&with_files(&script)),
        Shell::Fish => fish_runs(&script, &command),
        // They offer what is known now, and no run is.
        _ => script.lines().filter(|line| !line.contains(RUNS)).map(|line| format!("{line}\n")).collect(),
    };
    write_all(script.as_bytes())
}

/// What begins the help of a study that is a file or a ready one.
const FILE_OR_NAME: &str = "Study file, or the name";

/// What stands for the value of an argument that names a run.
const DIRECTORY_OR_NAME: &str = "DIR|NAME";
/// Stands in a script for the runs that there are when a shell asks: no script that was written once knows them.
const RUNS: &str = "PRONY-RUNS";

/// The same, with a word that stands for runs where one is named.
fn with_runs(command: clap::Command) -> clap::Command {
    let is_run = |argument: &clap::Arg| {
        argument.get_value_names().is_some_and(|names| names.iter().any(|name| *name == DIRECTORY_OR_NAME))
    };
    let command = command.mut_args(|argument| match is_run(&argument) {
        true => argument.value_parser(PossibleValuesParser::new([RUNS])),
        false => argument,
    });
    command.mut_subcommands(with_runs)
}

/// zsh asks for the runs within a function, which offers files beside them.
fn zsh_runs(script: &str) -> String {
    const FUNCTION: &str = r#"
(( $+functions[_prony_runs] )) ||
_prony_runs() {
    local -a runs
    runs=(${(f)"$(_call_program runs prony list --names 2>/dev/null)"})
    _alternative 'runs:run:compadd -a runs' 'files:directory:_files'
}
"#;
    let script = script.replace(&format!(":({RUNS})"), ":_prony_runs");
    let (head, rest) = script.split_once("\n(( $+functions").unwrap_or((&script, ""));
    format!("{head}{FUNCTION}(( $+functions{rest}")
}

/// fish asks for the runs where an option names one; its script is told of options alone, so that arguments follow beside them.
fn fish_runs(script: &str, command: &clap::Command) -> String {
    let listed = format!("-r -f -a \"{RUNS}\\t''\"");
    let options = script.replace(&listed, "-r -a \"(prony list --names 2>/dev/null)\"");
    options + &fish_arguments(command, &mut Vec::new())
}

/// A line for each argument of a command, and of those within it, that has values to offer.
fn fish_arguments(command: &clap::Command, path: &mut Vec<String>) -> String {
    let mut lines = String::new();
    let values = command.get_positionals().filter_map(|argument| {
        let values = argument.get_possible_values();
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        (!names.is_empty()).then(|| names.join(" ").replace(RUNS, "(prony list --names 2>/dev/null)"))
    });
    for names in values {
        let when = path.join("; and __fish_seen_subcommand_from ");
        lines += &format!("complete -c prony -n \"__fish_prony_using_subcommand {when}\" -a \"{names}\"\n");
    }
    for inner in command.get_subcommands() {
        path.push(inner.get_name().to_owned());
        lines += &fish_arguments(inner, path);
        path.pop();
    }
    lines
}

/// The same with the names that a shell may offer where any text is taken. What is wrong is told by the commands, better than by a
/// list.
fn with_names(command: clap::Command) -> clap::Command {
    let pages = PossibleValuesParser::new(pages(&command, ""));
    let studies = || PossibleValuesParser::new(ReadyStudy::all().map(|study| study.name));
    let named = |id: &'static str| {
        move |command: clap::Command| command.mut_arg(id, |argument| argument.value_parser(studies()))
    };
    command
        .mut_subcommand("man", |man| man.mut_arg("command", |argument| argument.value_parser(pages)))
        .mut_subcommand("study", |study| {
            let study = study.mut_subcommand("show", named("name"));
            study.mut_subcommand("run", named("study")).mut_subcommand("plan", named("study"))
        })
}

/// Names of the pages of all commands within one.
fn pages(command: &clap::Command, before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for inner in command.get_subcommands() {
        let name = format!("{before}{}", inner.get_name());
        names.extend(pages(inner, &format!("{name}-")));
        names.push(name);
    }
    names.sort();
    names
}

/// zsh offers nothing but the names of a list: where a file may stand, it is told so. The others fall back to files by themselves.
fn with_files(script: &str) -> String {
    let names: Vec<&str> = ReadyStudy::all().map(|study| study.name).collect();
    let list = format!(":({})", names.join(" "));
    let both = format!(":{{_alternative \"studies:study:({})\" \"files:file:_files\"}}", names.join(" "));
    let line = |line: &str| {
        if line.contains(FILE_OR_NAME) { line.replace(&list, &both) } else { line.to_owned() }
    };
    script.lines().map(|text| line(text) + "\n").collect()
}

/// The page of prony, or of a command by its words, such as `disk`, `orders run` or `plan-disk`.
pub(crate) fn page(words: &[String]) -> Result<Exit, Failure> {
    let mut command = command();
    command.build();
    let path: Vec<&str> = words.iter().flat_map(|word| word.split(['-', ' '])).collect();
    for part in &path {
        let known: Vec<String> =
            command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        command = command.find_subcommand(part).cloned().ok_or_else(|| {
            let asked = words.join(" ");
            Failure::usage(anyhow!("unknown command `{asked}`. Commands: {}", known.join(", ")))
        })?;
    }
    let title = command.get_display_name().unwrap_or("prony").to_owned();
    write_all(&rendered(command, title, &path).map_err(Failure::runtime)?)
}

/// As [`Man::render`], with examples after all else that is told of the command.
fn rendered(command: clap::Command, title: String, path: &[&str]) -> std::io::Result<Vec<u8>> {
    let has_more = command.get_after_help().is_some();
    let has_version = command.get_version().is_some();
    let (has_options, has_commands) = (command.get_arguments().count() > 0, command.has_subcommands());
    let page = Man::new(command).title(title);
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    if has_options {
        page.render_options_section(&mut text)?;
    }
    if has_commands {
        page.render_subcommands_section(&mut text)?;
    }
    if has_more {
        page.render_extra_section(&mut text)?;
    }
    let examples = examples_of(path);
    if !examples.is_empty() {
        writeln!(text, ".SH EXAMPLES")?;
    }
    for (what, line) in examples {
        if !what.is_empty() {
            writeln!(text, ".PP\n{}:", escaped(what))?;
        }
        writeln!(text, ".PP\n.RS 4\n.nf\n{}\n.fi\n.RE", escaped(&line))?;
    }
    writeln!(text, ".SH EXIT STATUS")?;
    for (code, meaning) in exit_codes() {
        writeln!(text, ".TP\n{code}\n{}", escaped(meaning))?;
    }
    if has_version {
        page.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// Prints the help page on exit codes.
pub(crate) fn print_exit_codes() -> Result<Exit, Failure> {
    let mut text = "Exit codes\n".to_owned();
    for (code, meaning) in exit_codes() {
        let lines = report::format::wrapped(meaning, WIDTH);
        let indented = lines.join(&format!("\n  {:5}", ""));
        text += &format!("  {code:<5}{indented}\n");
    }
    write_all(text.as_bytes())
}

/// Width of a meaning, in columns.
const WIDTH: usize = 70;

/// A text as troff takes it for itself. None of ours begins with a sign of its requests.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

fn write_all(bytes: &[u8]) -> Result<Exit, Failure> {
    terminal::print_file(bytes)?;
    Ok(Exit::Pass)
}
