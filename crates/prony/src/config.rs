//! A user's own defaults: a TOML file with a table for each command, whose keys are its options. What stands there counts where
//! neither the command line nor the environment says anything, and is told, so that no run differs from another for a reason that
//! nobody sees.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use load::Size;
use toml::de::{DeTable, DeValue};
use workload::given_file;

use crate::arguments::{COSTS_DATA, SHOWN, new_command};

/// More than anybody's defaults.
const BYTES_MAX: Size = Size(1 << 20);
/// The table of what holds for all commands that have such an option.
const DEFAULT: &str = "default";
/// What says which file is read cannot stand in it.
const OF_THE_FILE: [&str; 2] = ["config", "no-config"];

/// Values that this run has from the file, as the command line would give them.
static TAKEN: OnceLock<Vec<String>> = OnceLock::new();

/// What this run has from the file, as the command line would give it.
pub(crate) fn taken() -> &'static [String] {
    TAKEN.get().map(Vec::as_slice).unwrap_or_default()
}

/// A file of defaults.
#[derive(Debug, Default)]
pub(crate) struct Config {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// A value for an option.
#[derive(Debug)]
struct Entry {
    line: usize,
    /// Words of its command; none of what holds for all.
    path: Vec<String>,
    key: String,
    values: Vec<String>,
}

impl Entry {
    fn option(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Whether it is meant for the command of these words; a plan has the defaults of what it plans.
    fn is_for(&self, path: &[&str]) -> bool {
        let path = path.strip_prefix(&["plan"]).unwrap_or(path);
        self.path.is_empty() || self.path.iter().map(String::as_str).eq(path.iter().copied())
    }
}

/// The file that this command line means, if there is one.
///
/// # Errors
/// When it cannot be read, or is none: all of its mistakes, a line for each.
pub(crate) fn read(arguments: &[OsString], command: &Command) -> Result<Config, Vec<String>> {
    let Some((path, is_asked_for)) = path(arguments) else { return Ok(Config::default()) };
    let text = match given_file::read_text(&path, BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_asked_for => {
            return Ok(Config::default());
        }
        Err(error) if !is_asked_for => {
            tell!("note: cannot read {}: {error}. prony runs without defaults from a file", path.display());
            return Ok(Config::default());
        }
        Err(error) => {
            return Err(vec![format!(
                "cannot read {}: {error}. Fix it, name another file with --config, or use --no-config",
                path.display()
            )]);
        }
    };
    let shown = path.display().to_string();
    let entries = entries(&text).map_err(|problem| vec![format!("{shown}: {problem}")])?;
    let mistakes: Vec<String> = entries
        .iter()
        .filter_map(|entry| Some((entry, mistake(entry, command)?)))
        .map(|(entry, problem)| {
            let table = if entry.path.is_empty() { DEFAULT.to_owned() } else { entry.path.join(".") };
            format!("{shown}: line {}: [{table}] {}: {problem}", entry.line, entry.key)
        })
        .collect();
    if mistakes.is_empty() { Ok(Config { path, entries }) } else { Err(mistakes) }
}

/// The file, and whether somebody asked for it. Read before clap reads the rest, which needs its values.
fn path(arguments: &[OsString]) -> Option<(PathBuf, bool)> {
    let mut words = arguments.iter().skip(1).take_while(|word| *word != "--");
    let (mut named, mut command) = (None, None);
    while let Some(word) = words.next() {
        if word == "--no-config" {
            return None;
        }
        let is_command = command.is_none() && !word.as_encoded_bytes().starts_with(b"-");
        if is_command && *command.insert(word) == "sqlio" {
            // What follows is SQLIO's.
            break;
        }
        if word == "--config" {
            named = words.next().map(PathBuf::from);
        } else if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--config=")) {
            named = Some(PathBuf::from(path));
        }
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = named.or_else(|| variable("PRONY_CONFIG")) {
        return Some((path, true));
    }
    // A path there that is not absolute is to be ignored: <https://specifications.freedesktop.org/basedir/latest/>.
    let directory = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let directory = directory.or_else(|| Some(variable("HOME")?.join(".config")))?;
    Some((directory.join("prony/config.toml"), false))
}

/// All entries with their lines.
fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let table = DeTable::parse(text).map_err(|error| study::toml_problem(text, &error))?;
    let mut entries = Vec::new();
    collect(text, table.get_ref(), &[], &mut entries)?;
    Ok(entries)
}

fn collect(text: &str, table: &DeTable<'_>, path: &[String], entries: &mut Vec<Entry>) -> Result<(), String> {
    for (key, value) in table {
        let line = 1 + text.as_bytes()[..key.span().start].iter().filter(|&&byte| byte == b'\n').count();
        let name = key.get_ref().to_string();
        let values = match value.get_ref() {
            DeValue::Table(inner) => {
                let inner_path: Vec<String> = path.iter().cloned().chain([name]).collect();
                collect(text, inner, &inner_path, entries)?;
                continue;
            }
            DeValue::Array(values) => values.iter().map(|value| plain(value.get_ref())).collect(),
            value => plain(value).map(|value| vec![value]),
        };
        let values = values.ok_or_else(|| {
            format!("line {line}: invalid value of {name}: use a text, a number, or a list of these")
        })?;
        if path.is_empty() {
            return Err(format!(
                "line {line}: {name} is in no table. Put it under [{DEFAULT}], or under its command, such as [disk]"
            ));
        }
        let mut path = if path == [DEFAULT] { Vec::new() } else { path.to_vec() };
        if let Some(new) = path.first().and_then(|command| new_command(command)) {
            path[0] = new.to_owned();
        }
        entries.push(Entry { line, path, key: name, values });
    }
    Ok(())
}

/// A value as the command line would have it.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// What is wrong with an entry, and what to do.
fn mistake(entry: &Entry, command: &Command) -> Option<String> {
    if let Some(refused) = never_there(entry) {
        return Some(refused);
    }
    let option = entry.option();
    let mut known = BTreeSet::new();
    let mut has_option = false;
    let mut has_command = false;
    let mut problem = None;
    each(command, &mut Vec::new(), &mut |path, command| {
        if path.first() == Some(&"plan") || !entry.is_for(path) {
            return;
        }
        has_command |= !entry.path.is_empty();
        for argument in command.get_arguments().filter(|argument| argument.get_long().is_some()) {
            let long = argument.get_long().unwrap_or_default();
            let names = names(argument);
            if !names.contains(&option.as_str()) {
                known.extend(argument.get_action().takes_values().then(|| long.to_owned()));
                continue;
            }
            has_option = true;
            if !argument.get_action().takes_values() {
                problem = Some("has no value, and is accepted on the command line only".to_owned());
            } else {
                problem = problem.take().or_else(|| refused(command, long, &entry.values));
            }
        }
    });
    match (has_option, has_command || entry.path.is_empty()) {
        (true, _) => problem,
        (false, false) => Some(format!("unknown command prony {}", entry.path.join(" "))),
        (false, true) => {
            let likeness = |known: &&String| strsim::jaro_winkler(known, &option);
            let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
            let nearest = nearest
                .map_or_else(String::new, |name| format!(". Did you mean {}?", name.replace('-', "_")));
            Some(format!("unknown option{nearest}"))
        }
    }
}

/// Why something can stand in no file of defaults, or not for all commands at once.
fn never_there(entry: &Entry) -> Option<String> {
    let option = entry.option();
    if COSTS_DATA.contains(&option.as_str()) {
        return Some("allows overwriting or deleting, and is accepted on the command line only".to_owned());
    }
    if OF_THE_FILE.contains(&option.as_str()) {
        return Some("chooses this file, so the file cannot contain it".to_owned());
    }
    if entry.path.is_empty()
        && option == "rate"
        && entry.values.iter().any(|rate| rate.trim().parse::<f64>().is_ok())
    {
        return Some(format!(
            "has no unit. A number without a unit is per second for some commands, and per minute for others. Use \"{0}/s\" or \
             \"{0}/min\"",
            entry.values[0]
        ));
    }
    None
}

/// All names of an option. Returns no names for arguments that are not options, and for options allowed on the command line only.
fn names(argument: &clap::Arg) -> Vec<&str> {
    let long = argument.get_long().filter(|_| !SHOWN.contains(&argument.get_id().as_str()));
    let Some(long) = long else { return Vec::new() };
    argument.get_all_aliases().unwrap_or_default().into_iter().chain([long]).collect()
}

/// Why an option does not take these values, in its own words.
fn refused(command: &Command, option: &str, values: &[String]) -> Option<String> {
    let given = values.iter().map(|value| format!("--{option}={value}"));
    let error = command.clone().no_binary_name(true).try_get_matches_from(given).err()?;
    // Only here it is known where a value ends in the sentence.
    let told = values.iter().fold(error.to_string(), |told, value| {
        told.replace(value.as_str(), &record::value_without_password(value))
    });
    let first = told.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let is_of_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
        && first.contains(&format!("'--{option} "));
    let others = told.lines().nth(1).map(str::trim).filter(|line| line.starts_with('[')).unwrap_or_default();
    is_of_value.then(|| format!("{first} {others}").trim_end().to_owned())
}

fn each<'a>(command: &'a Command, path: &mut Vec<&'a str>, visit: &mut impl FnMut(&[&str], &'a Command)) {
    visit(path, command);
    for inner in command.get_subcommands() {
        path.push(inner.get_name());
        each(inner, path, visit);
        path.pop();
    }
}

impl Config {
    /// A command line whose options default to what stands in the file.
    pub(crate) fn laid_under(&self, command: Command) -> Command {
        self.laid(command, &[])
    }

    fn laid(&self, command: Command, path: &[&str]) -> Command {
        let command = command.mut_args(|argument| match self.of(path, &argument) {
            Some(entry) => argument.default_values(&entry.values),
            None => argument,
        });
        command.mut_subcommands(|inner| {
            let name = inner.get_name().to_owned();
            let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
            self.laid(inner, &path)
        })
    }

    /// The entry for an option; one of its command wins over one for all.
    fn of(&self, path: &[&str], argument: &clap::Arg) -> Option<&Entry> {
        let names = names(argument);
        let meant = self
            .entries
            .iter()
            .filter(|entry| entry.is_for(path) && names.contains(&entry.option().as_str()));
        meant.max_by_key(|entry| entry.path.len())
    }

    /// Says what this run has from the file, and keeps it for the record.
    pub(crate) fn tell(&self, command: &Command, matches: &ArgMatches) {
        let (mut leaf, mut of, mut path) = (matches, command, Vec::new());
        while let Some((name, inner)) = leaf.subcommand() {
            let Some(command) = of.find_subcommand(name) else { break };
            (leaf, of) = (inner, command);
            path.push(name);
        }
        let is_default = |argument: &&clap::Arg| {
            leaf.value_source(argument.get_id().as_str()) == Some(ValueSource::DefaultValue)
        };
        let used = of.get_arguments().filter(is_default).filter_map(|argument| {
            let entry = self.of(&path, argument)?;
            let long = argument.get_long()?;
            Some(
                entry
                    .values
                    .iter()
                    .map(move |value| format!("--{long}={}", record::value_without_password(value))),
            )
        });
        let used: Vec<String> = used.flatten().collect();
        if !used.is_empty() {
            announce!("from {}: {}", self.path.display(), used.join(" "));
        }
        // Set once: there is one command a process.
        let _ = TAKEN.set(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;

    fn mistakes(text: &str) -> Vec<String> {
        let command = program();
        match entries(text) {
            Ok(entries) => entries.iter().filter_map(|entry| mistake(entry, &command)).collect(),
            Err(problem) => vec![problem],
        }
    }

    #[test]
    fn every_mistake_names_its_remedy() {
        for (text, told) in [
            ("[disk]\nblok_size = \"8KiB\"", "Did you mean block_size?"),
            ("[disk]\nblock_size = \"lots\"", "`lots` is not a size"),
            ("[disk]\nread_share = 0.7", "write 0.7% or 70"),
            ("[disc]\nblock_size = \"8KiB\"", "unknown command prony disc"),
            ("[disk]\noverwrite = true", "command line only"),
            ("[historian]\nreplace = true", "command line only"),
            ("[disk]\njson = true", "has no value"),
            ("[default]\nrate = 500", "Use \"500/s\" or \"500/min\""),
            ("[default]\nconfig = \"x\"", "cannot contain it"),
            ("[default]\nwriter = 5", "Did you mean writers?"),
            ("block_size = \"8KiB\"", "line 1: block_size is in no table"),
            ("[disk]\n\nduration = 2026-01-01", "line 3: invalid value of duration: use a text"),
            ("[disk]\nduration = ", "line 2: "),
        ] {
            let all = mistakes(text);
            assert!(all.len() == 1 && all[0].contains(told), "{text}: {all:?}");
        }
    }

    #[test]
    fn keys_are_options_of_any_command_under_either_name() {
        let text = "[default]\nresults = \"/r\"\nrate = \"500/s\"\n[disk]\nblock_size = \"8KiB\"\nread_share = 70\n\
                    [orders.run]\nn_threads = 8\ntag = [\"a=b\", \"c=d\"]\n[study.run]\nblocks = 6\n";
        assert_eq!(mistakes(text), [""; 0]);
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_a_command_over_all() {
        let text = "[default]\nduration = \"1m\"\n[disk]\nduration = \"2m\"\nblock_size = \"8KiB\"\n";
        let config = Config { path: PathBuf::new(), entries: entries(text).unwrap() };
        let parsed = |line: &str| {
            let command = config.laid_under(program());
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            let mut leaf = &matches;
            while let Some((_, inner)) = leaf.subcommand() {
                leaf = inner;
            }
            let raw =
                |id: &str| leaf.get_raw(id).map(|mut all| all.next().unwrap().to_str().unwrap().to_owned());
            (raw("duration"), leaf.try_contains_id("block_size").is_ok().then(|| raw("block_size")).flatten())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("prony disk ."), (some("2m"), some("8KiB")));
        assert_eq!(parsed("prony plan disk ."), (some("2m"), some("8KiB")));
        assert_eq!(parsed("prony disk . --duration 3m"), (some("3m"), some("8KiB")));
        assert_eq!(parsed("prony check"), (some("1m"), None));
    }
}
