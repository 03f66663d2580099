//! Spelling of parameters in sentences: as an option of the command line, or as a key of a study file.
//!
//! The libraries name parameters as [`record::Mention`]. This module writes them for the command that runs.

use std::sync::OnceLock;

use clap::CommandFactory;
use record::{Mention, Parameter};
use study::{MistakePlace, StudyError};

use crate::arguments::{Arguments, Command, Study, new_command, new_option};

/// Where parameters were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// On the command line.
    Flags,
    /// In a study file.
    Keys,
}

/// The spelling for the running command. A process runs one command.
static OF_THIS_COMMAND: OnceLock<Spelling> = OnceLock::new();

/// Sets the spelling of parameters for all sentences of this process.
pub(crate) fn begin() {
    record::spell_by(|mention| of_this_command().mention(mention));
}

/// Chooses options or keys for the running command.
pub(crate) fn set(command: &Command) {
    OF_THIS_COMMAND.get_or_init(|| match command {
        Command::Study(Study::Run(_) | Study::Plan(_) | Study::Resume(_)) => Spelling::Keys,
        _ => Spelling::Flags,
    });
}

fn of_this_command() -> Spelling {
    OF_THIS_COMMAND.get().copied().unwrap_or(Spelling::Flags)
}

/// A mistake of a study under the flag or the key that it was given by.
pub(crate) fn mistake(StudyError { place, problem }: &StudyError) -> String {
    format!("{}: {problem}", of_this_command().place(place))
}

impl Spelling {
    /// Where a mistake is.
    fn place(self, place: &MistakePlace) -> String {
        match (self, place) {
            (Self::Keys, place) => place.to_string(),
            // A profile's, which no flag gives.
            (Self::Flags, MistakePlace::Configuration(_)) => place.to_string(),
            (Self::Flags, MistakePlace::Key(key) | MistakePlace::Axis(key)) => flag_of(key),
            (Self::Flags, MistakePlace::Parameter { .. }) => flag(&Parameter::new(place.to_string())),
        }
    }

    fn mention(self, mention: &Mention<'_>) -> String {
        match mention {
            // A study file has keys with dots, and the table `search`.
            Mention::Parameter(parameter)
                if self == Self::Keys && (parameter.key.contains('.') || parameter.key == "search") =>
            {
                key(parameter)
            }
            Mention::Parameter(parameter) => flag(parameter),
            Mention::Command(command) => {
                let name = new_command(&command.name).unwrap_or(&command.name);
                let words = std::iter::once(format!("prony {name}"));
                words.chain(command.parameters.iter().map(flag)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// As the command line has it: by its name, and where two flags stand for the values of one key, by the value.
fn flag(parameter: &Parameter<'_>) -> String {
    if let Some(name) = without_flag(&parameter.key) {
        return name;
    }
    let (name, value) = match (parameter.key.as_ref(), parameter.value.as_deref()) {
        ("target.server.managed.engine", value) => ("managed", value),
        ("target.server.managed.settings", value) => ("setting", value),
        ("target.server.managed.tablespaces", value) => ("tablespace", value),
        ("target.server.managed.nodes", value) => ("node", value),
        ("target.server.managed.faults", value) => ("fault", value),
        ("target.database.existing", Some(existing)) => (existing, None),
        ("target.database.name", value) => ("database", value),
        ("target.database", value) => ("target", value),
        ("search", value) => ("find_max", value),
        (_, Some("true")) => (parameter.name(), None),
        (_, value) => (parameter.name(), value),
    };
    // Keys that are DVD Store's, and whose flags are those of every command.
    let name = match name {
        "n_threads" => "clients",
        "warmup_time" => "warm_up",
        "run_time" => "duration",
        name => name,
    };
    let name = name.replace('_', "-");
    let name = new_option(&name).map_or(name, str::to_owned);
    if value == Some("false") {
        return name.strip_prefix("no-").map_or_else(|| format!("--no-{name}"), |name| format!("--{name}"));
    }
    value.map_or_else(|| format!("--{name}"), |value| format!("--{name} {value}"))
}

/// What stands on the command line without a flag, by the name of its value: `FILE[@WEIGHT]`.
fn without_flag(key: &str) -> Option<String> {
    static PLACES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    if !key.starts_with("workload.") {
        return None;
    }
    let places = PLACES.get_or_init(|| {
        let program = Arguments::command();
        let of = |command: &clap::Command| {
            let places = command.get_positionals().filter_map(|place| {
                let name = place.get_value_names()?.first()?.to_string();
                Some((format!("workload.{}.{}", command.get_name(), place.get_id()), name))
            });
            places.collect::<Vec<_>>()
        };
        program.get_subcommands().flat_map(of).collect()
    });
    places.iter().find(|(place, _)| place == key).map(|(_, name)| name.clone())
}

/// The flag that gives a key of a study; a key that no flag gives is told as it is.
fn flag_of(key: &str) -> String {
    let is_flag = key.starts_with("workload.")
        || key.starts_with("target.database")
        || key.starts_with("target.server.managed.")
        || ["latency_tolerance", "expect", "disk_size", "prices", "search"].contains(&key);
    match key {
        "blocks" => "--repeats".to_owned(),
        "thresholds" => "--threshold".to_owned(),
        "accept_single" => "--accept-single-run".to_owned(),
        "cool_down" => "--cooldown".to_owned(),
        "target.paths" => "PATH".to_owned(),
        "target.database.at" => "--target".to_owned(),
        // The only one of its values that a study is refused for.
        "target.database.existing" => "--reuse".to_owned(),
        "search.start_per_s" => "--start-rate".to_owned(),
        "search.confirm" => "--confirm".to_owned(),
        "search.confirm_for" => "--confirm-for".to_owned(),
        _ if is_flag => flag(&Parameter::new(key)),
        _ => key.to_owned(),
    }
}

/// As a study file has it.
fn key(Parameter { key, value }: &Parameter<'_>) -> String {
    match value.as_deref() {
        None => key.to_string(),
        Some(value) if value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok() => {
            format!("{key} = {value}")
        }
        Some(value) => format!("{key} = \"{value}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_spelled_as_it_was_given() {
        for (parameter, flag, key) in [
            (Parameter::new("workload.orders.n_threads"), "--clients", "workload.orders.n_threads"),
            (Parameter::new("workload.orders.run_time"), "--duration", "workload.orders.run_time"),
            (
                Parameter::new("workload.disk.cache").of("buffered"),
                "--cache buffered",
                "workload.disk.cache = \"buffered\"",
            ),
            (Parameter::new("workload.disk.threads").of(8), "--threads 8", "workload.disk.threads = 8"),
            (Parameter::new("workload.disk.poll").of(true), "--poll", "workload.disk.poll = true"),
            (
                Parameter::new("workload.tables.crash").of(false),
                "--no-crash",
                "workload.tables.crash = false",
            ),
            (Parameter::new("workload.disk.no_fill").of(false), "--fill", "workload.disk.no_fill = false"),
            (
                Parameter::new("workload.historian.flush_rows").of(4),
                "--batch-rows 4",
                "workload.historian.flush_rows = 4",
            ),
            (
                Parameter::new("target.database.existing").of("replace"),
                "--replace",
                "target.database.existing = \"replace\"",
            ),
            (Parameter::new("target.database.name"), "--database", "target.database.name"),
            (Parameter::new("target.database"), "--target", "target.database"),
            (Parameter::new("search"), "--find-max", "search"),
            (Parameter::new("threads"), "--threads", "--threads"),
        ] {
            let mention = Mention::Parameter(&parameter);
            assert_eq!(
                (&*Spelling::Flags.mention(&mention), &*Spelling::Keys.mention(&mention)),
                (flag, key)
            );
        }
    }

    /// A mistake was headed by `block_size:`, which is neither a flag nor a key.
    #[test]
    fn a_mistake_stands_under_what_it_was_given_by() {
        let key = |key: &str| MistakePlace::Key(key.to_owned());
        let parameter = MistakePlace::Parameter { workload: "disk", name: "block_size".to_owned() };
        for (place, as_flag, as_key) in [
            (parameter, "--block-size", "workload.disk.block_size"),
            (
                MistakePlace::Parameter { workload: "script", name: "files".to_owned() },
                "FILE[@WEIGHT]",
                "workload.script.files",
            ),
            (
                MistakePlace::Axis("workload.disk.outstanding".to_owned()),
                "--outstanding",
                "workload.disk.outstanding",
            ),
            (
                MistakePlace::Configuration("page read".to_owned()),
                "configuration page read",
                "configuration page read",
            ),
            (key("blocks"), "--repeats", "blocks"),
            (key("thresholds"), "--threshold", "thresholds"),
            (key("cool_down"), "--cooldown", "cool_down"),
            (key("target.paths"), "PATH", "target.paths"),
            (key("target.database"), "--target", "target.database"),
            (key("target.database.name"), "--database", "target.database.name"),
            (key("target.server.managed.memory"), "--memory", "target.server.managed.memory"),
            (key("target.server.managed.cpu_set"), "--cpu-set", "target.server.managed.cpu_set"),
            (key("target.server.managed.tablespaces"), "--tablespace", "target.server.managed.tablespaces"),
            (key("target.server.managed.nodes"), "--node", "target.server.managed.nodes"),
            (key("target.server.managed.faults"), "--fault", "target.server.managed.faults"),
            (key("target.server.managed.settings"), "--setting", "target.server.managed.settings"),
            (key("target.server.managed.engine"), "--managed", "target.server.managed.engine"),
            (key("target.database.existing"), "--reuse", "target.database.existing"),
            (key("search.start_per_s"), "--start-rate", "search.start_per_s"),
            (key("disk_size"), "--disk-size", "disk_size"),
            (key("order"), "order", "order"),
        ] {
            assert_eq!((&*Spelling::Flags.place(&place), &*Spelling::Keys.place(&place)), (as_flag, as_key));
        }
    }

    #[test]
    fn a_command_is_one_of_the_command_line_wherever_it_is_told() {
        let command = record::Command::new("orders load")
            .with(Parameter::new("replace").of(true))
            .with(Parameter::new("size").of("10MB"));
        for spelling in [Spelling::Flags, Spelling::Keys] {
            assert_eq!(
                spelling.mention(&Mention::Command(&command)),
                "prony orders load --replace --size 10MB"
            );
        }
    }

    /// The last message of a client was once stored and reported with the libraries' spelling.
    #[test]
    fn a_sentence_is_written_as_the_command_line_has_it() {
        begin();
        let (command, clients) =
            (record::Command::new("orders verify"), Parameter::new("workload.orders.n_threads"));
        let what = format!("see {command} or {clients}, not ‹threads 2›");
        assert_eq!(what, "see prony orders verify or --clients, not ‹threads 2›");
    }
}
