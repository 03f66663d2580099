//! Parameters of scripts as a user gives them: on the command line, in the environment, in a study file.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use load::Span;
use serde::{Deserialize, Serialize};

use super::builtin::BuiltinScript;
use super::language;
use super::replay::LogFormat;

/// Parameters of a load of scripts. What is not given comes from the defaults named here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Files with SQL and pgbench's meta-commands, each of which is a transaction. @WEIGHT behind one has it drawn more often, or
    /// less, than the others: a.sql@3 b.sql
    #[arg(value_name = "FILE[@WEIGHT]")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ScriptFile>,

    /// A script of pgbench's: select-only, simple-update or tpcb-like, with @WEIGHT behind it as behind a file; several times for several. Its
    /// tables are made where the database is, or are there already (`pgbench -i`); after the load their balances have to agree
    #[arg(short, long, value_name = "NAME[@WEIGHT]", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builtin: Vec<BuiltinScript>,

    /// Size of the tables that are made for --builtin: 100,000 accounts for each, about 15 MB. Of tables that are there it is counted
    /// [default: 1]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,

    /// Create the tables of --builtin in the database of --target, unless they are there. They stay. For tables of your own on a
    /// managed server see --init
    #[arg(long, help_heading = "Scripts", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialise: Option<bool>,

    /// Clients, each with a connection of its own [default: 1]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Clients that begin each second, until all do [default: all at once]
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub ramp_rate: Option<f64>,

    /// Time that a client thinks after a transaction: uniform from nothing to twice this [default: 0s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Transactions due a second, all clients together, whatever becomes of them. Without it each client begins its next
    /// transaction when its last one is done
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// With --rate: transactions come as independent users would send them (Poisson), as pgbench has them, instead of evenly spaced
    #[arg(long, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// A transaction that takes longer counts as late, with --rate from when it was due. One that is later than this before it could be
    /// sent is not sent, and counted too
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<Span>,

    /// Load that does not count, before the measured window [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 1m]
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// How statements are sent: simple (one text with its values), extended (parsed anew each time, values apart), prepared (once on each
    /// connection) or procedure (those of a script as a procedure of the server, made before the load and dropped after it, and called
    /// once a transaction). SQL Server has plans by their text, so that extended and prepared are the same there [default: prepared]
    #[arg(long, value_name = "PROTOCOL", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,

    /// How often a transaction is tried that others were in the way of (a deadlock, a serialization failure, a lock that was not to be
    /// had in time), with the same random numbers; one that is tried no more counts as failed [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tries: Option<u32>,

    /// A variable that all scripts have from the beginning: scale=10. Several times for several. Values are recorded and shown in
    /// reports, as texts of scripts are: put no secrets there
    #[arg(short = 'D', long, value_name = "NAME=VALUE", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<Definition>,

    /// CSV file whose first line names variables, and whose other lines have their values: each transaction takes the next one, and the
    /// first follows the last. With @random behind the file it takes any
    #[arg(long, value_name = "FILE[@random]", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ParameterFile>,

    /// File with plain SQL that creates your tables and rows on a server that --managed starts, once and before the load. For the tables of
    /// --builtin in the database of --target see --initialise
    #[arg(long, value_name = "FILE", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<PathBuf>,

    /// Replay a log of statements in place of scripts: PostgreSQL's csvlog, the general log of MariaDB or MySQL, or extended events of SQL
    /// Server as XML. Each logged session becomes a client that sends its statements in their order, each when it was due
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<PathBuf>,

    /// Format of the log: postgres-csv, mariadb-general (MySQL's too) or sqlserver-events [default: as its content shows]
    #[arg(long, value_name = "FORMAT", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<LogFormat>,

    /// Factor of the log's own pace: 2 replays it in half of its time [default: 1]
    #[arg(long, value_name = "FACTOR", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,

    /// Replay the statements of this database alone, where the log tells of several. All of them go to the one database of the target
    #[arg(long, value_name = "NAME", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_database: Option<String>,

    /// What the error of a replayed statement does: count (it is counted, and its session goes on) or stop (its session stops, and the
    /// trial is invalid) [default: count]
    #[arg(long, value_name = "WHAT", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,

    /// Statements that differ in their literals alone are timed together; so many of the most frequent have times of their own, and the
    /// others one together [default: 20]
    #[arg(long, value_name = "NUMBER", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shapes: Option<u32>,
}

/// What the error of a replayed statement does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is counted, and its session goes on.
    #[default]
    Count,
    /// Its session stops.
    Stop,
}

/// A text that says nothing that an error can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is nothing that an error can do: give count or stop")]
pub struct OnErrorError(String);

impl FromStr for OnError {
    type Err = OnErrorError;

    fn from_str(text: &str) -> Result<Self, OnErrorError> {
        match text.trim() {
            "count" => Ok(Self::Count),
            "stop" => Ok(Self::Stop),
            _ => Err(OnErrorError(text.to_owned())),
        }
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Stop => "stop",
        })
    }
}

load::serde_as_text!(OnError);

/// How statements are sent, in the words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Each by itself.
    Statements(database::Protocol),
    /// As a procedure of the server's, which is made of them before the load: a call for each transaction.
    Procedure,
}

impl Default for Protocol {
    fn default() -> Self {
        Self::Statements(database::Protocol::default())
    }
}

/// A text that is no way to send statements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no way to send statements: give simple, extended, prepared or procedure")]
pub struct ProtocolError(String);

impl FromStr for Protocol {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Self, ProtocolError> {
        Ok(Self::Statements(match text.trim() {
            "simple" => database::Protocol::Simple,
            "extended" => database::Protocol::Extended,
            "prepared" => database::Protocol::Prepared,
            "procedure" => return Ok(Self::Procedure),
            _ => return Err(ProtocolError(text.to_owned())),
        }))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Statements(database::Protocol::Simple) => "simple",
            Self::Statements(database::Protocol::Extended) => "extended",
            Self::Statements(database::Protocol::Prepared) => "prepared",
            Self::Procedure => "procedure",
        })
    }
}

load::serde_as_text!(Protocol);

/// A file and how often it is drawn, as a part of the sum of all weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFile {
    /// Path.
    pub path: PathBuf,
    /// Weight, 1 where none is given; 0 leaves it out.
    pub weight: u32,
}

/// A text that is no file with a weight.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no script: give a file, or FILE@WEIGHT with a weight from 0 to 1000000")]
pub struct ScriptFileError(String);

/// Most that a script can weigh.
pub(super) const WEIGHT_MAX: u32 = 1_000_000;

impl FromStr for ScriptFile {
    type Err = ScriptFileError;

    fn from_str(text: &str) -> Result<Self, ScriptFileError> {
        let refused = || ScriptFileError(text.to_owned());
        let (path, weight) = match text.rsplit_once('@') {
            Some((path, weight)) if weight.bytes().all(|digit| digit.is_ascii_digit()) => {
                (path, weight.parse().map_err(|_| refused())?)
            }
            _ => (text, 1),
        };
        if path.is_empty() || weight > WEIGHT_MAX {
            return Err(refused());
        }
        Ok(Self { path: PathBuf::from(path), weight })
    }
}

impl fmt::Display for ScriptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        // A name that ends like a weight needs one.
        let is_ambiguous = path.to_string().contains('@');
        if self.weight == 1 && !is_ambiguous {
            write!(f, "{path}")
        } else {
            write!(f, "{path}@{}", self.weight)
        }
    }
}

load::serde_as_text!(ScriptFile);

/// A CSV file, and how its rows are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterFile {
    /// Path.
    pub path: PathBuf,
    /// Whether a row is drawn, or each comes in its turn.
    pub is_random: bool,
}

/// Behind a file whose rows are drawn.
const RANDOM: &str = "@random";

impl FromStr for ParameterFile {
    type Err = ParameterFileError;

    fn from_str(text: &str) -> Result<Self, ParameterFileError> {
        let (path, is_random) = text.strip_suffix(RANDOM).map_or((text, false), |path| (path, true));
        match path.is_empty() {
            true => Err(ParameterFileError(text.to_owned())),
            false => Ok(Self { path: PathBuf::from(path), is_random }),
        }
    }
}

/// A text that names no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no file: give FILE or FILE@random")]
pub struct ParameterFileError(String);

impl fmt::Display for ParameterFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path.display(), if self.is_random { RANDOM } else { "" })
    }
}

load::serde_as_text!(ParameterFile);

/// A variable with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name.
    pub name: String,
    /// Value; an expression reads it as a number where it is one.
    pub value: String,
}

/// A text that defines no variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` defines no variable: give NAME=VALUE with a name of letters, digits and _, such as scale=10")]
pub struct DefinitionError(String);

impl FromStr for Definition {
    type Err = DefinitionError;

    fn from_str(text: &str) -> Result<Self, DefinitionError> {
        let (name, value) = text.split_once('=').ok_or_else(|| DefinitionError(text.to_owned()))?;
        // No server takes a text with a zero byte.
        if !language::is_name(name) || value.contains('\0') {
            return Err(DefinitionError(text.to_owned()));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

load::serde_as_text!(Definition);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_a_weight() {
        let read = |text: &str| {
            text.parse::<ScriptFile>().map(|file| (file.path.display().to_string(), file.weight))
        };
        assert_eq!(read("a.sql"), Ok(("a.sql".to_owned(), 1)));
        assert_eq!(read("d/a.sql@30"), Ok(("d/a.sql".to_owned(), 30)));
        assert_eq!(read("me@home/a.sql"), Ok(("me@home/a.sql".to_owned(), 1)));
        assert_eq!(read("a@1@2"), Ok(("a@1".to_owned(), 2)));
        for wrong in ["", "@3", "a@", "a@1000001", "a@99999999999"] {
            assert!(read(wrong).unwrap_err().to_string().contains("FILE@WEIGHT"), "{wrong}");
        }
        for text in ["a.sql", "a.sql@3", "a@1@1", "a.sql@0"] {
            assert_eq!(text.parse::<ScriptFile>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn rows_of_a_file_come_in_their_turn_or_are_drawn() {
        for (text, is_random) in [("d/users.csv", false), ("users.csv@random", true)] {
            let file: ParameterFile = text.parse().unwrap();
            assert_eq!((file.is_random, file.to_string().as_str()), (is_random, text));
        }
        assert!("@random".parse::<ParameterFile>().unwrap_err().to_string().contains("FILE@random"));
    }

    #[test]
    fn a_definition_has_a_name_and_any_value() {
        let read = |text: &str| text.parse::<Definition>().map(|of| (of.name, of.value));
        assert_eq!(read("scale=10"), Ok(("scale".to_owned(), "10".to_owned())));
        assert_eq!(read("where=a = b"), Ok(("where".to_owned(), "a = b".to_owned())));
        for wrong in ["scale", "=1", "a b=1", "1=2"] {
            assert!(read(wrong).unwrap_err().to_string().contains("NAME=VALUE"), "{wrong}");
        }
    }

    #[test]
    fn a_protocol_is_one_of_four_words() {
        for text in ["simple", "extended", "prepared", "procedure"] {
            assert_eq!(text.parse::<Protocol>().unwrap().to_string(), text);
        }
        assert!("plan".parse::<Protocol>().unwrap_err().to_string().contains("prepared or procedure"));
    }
}
