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
    /// Files with SQL and pgbench meta-commands, one transaction each
    ///
    /// @WEIGHT after a file changes how often it is chosen: a.sql@3 b.sql
    #[arg(value_name = "FILE[@WEIGHT]")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ScriptFile>,

    /// A pgbench script: select-only, simple-update or tpcb-like
    ///
    /// @WEIGHT can follow the name, as it can follow a file. Can be repeated. The tables can exist already (`pgbench -i`),
    /// or --initialize creates them. On a managed server, prony always creates them. After the load, their balances must
    /// agree.
    #[arg(short, long, value_name = "NAME[@WEIGHT]", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builtin: Vec<BuiltinScript>,

    /// Size of the tables of --builtin [default: 1]
    ///
    /// Each unit is 100,000 accounts, about 15 MB. If the tables exist, prony determines the scale from them.
    #[arg(short, long, value_name = "NUMBER", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,

    /// Create the tables of --builtin in the database [default: no]
    ///
    /// This applies to the database of --target. Existing tables are used, and new tables are kept. For your own tables on
    /// a managed server use --init.
    #[arg(long = "initialize", help_heading = "Scripts", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialise: Option<bool>,

    /// Clients, each with its own connection [default: 1]
    #[arg(short, long, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,

    /// Clients that start per second [default: all at once]
    #[arg(long, hide_short_help = true, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub ramp_rate: Option<f64>,

    /// Mean wait between transactions of a client [default: 0s]
    ///
    /// Waits are uniformly distributed, from zero to twice this time.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<Span>,

    /// Target rate in transactions per second
    ///
    /// The rate is the total of all clients. Transactions are sent on time even if the database is slow.
    /// Without --rate each client starts its next transaction when its last one is done.
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load", value_parser = load::per_second::parse)]
    #[serde(with = "load::per_second", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,

    /// Space transactions as independent users would [default: evenly]
    ///
    /// Applies with --rate. With --poisson the gaps are exponential (a Poisson process), as in pgbench.
    #[arg(long, hide_short_help = true, help_heading = "Load", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<bool>,

    /// Count transactions slower than this as late
    ///
    /// With --rate the time starts when the transaction was due. A transaction that cannot be sent within the limit
    /// is not sent, but is counted as well.
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<Span>,

    /// Time under load before the measured window [default: 5s]
    #[arg(long, alias = "warmup", value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Span>,

    /// Length of the measured window [default: 1m]
    #[arg(short = 'T', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,

    /// Seed of all random choices [default: 42]
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,

    /// simple, extended, prepared or procedure [default: prepared]
    ///
    /// How statements are sent. `simple`: as text with the values. `extended`: parsed each time, with separate values.
    /// `prepared`: prepared once per connection. `procedure`: one procedure call per transaction. prony creates the procedure
    /// from the script before the load, and drops it afterwards. SQL Server finds plans by text, so `extended` and
    /// `prepared` are equivalent there.
    #[arg(long, value_name = "PROTOCOL", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,

    /// Maximum tries of a transaction after conflicts [default: 1]
    ///
    /// prony retries with the same random numbers after a deadlock, a serialization failure or a lock timeout.
    /// After the last try the transaction counts as failed.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tries: Option<u32>,

    /// Variable for all scripts, such as scale=10
    ///
    /// Can be repeated. Reports record and show these values and the texts of scripts: do not use secrets.
    #[arg(short = 'D', long, value_name = "NAME=VALUE", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<Definition>,

    /// CSV file with variables; each transaction uses the next line
    ///
    /// The first line names the variables. After the last line, prony starts over. With @random after the file
    /// name, each transaction uses a random line.
    #[arg(long, hide_short_help = true, value_name = "FILE[@random]", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ParameterFile>,

    /// SQL file that creates your tables on a managed server
    ///
    /// prony runs it once, before the load. To create the tables of --builtin in the database of --target, use --initialize.
    #[arg(long, value_name = "FILE", help_heading = "Scripts")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<PathBuf>,

    /// Replay a log of statements instead of scripts
    ///
    /// Accepts PostgreSQL's csvlog, the general log of MariaDB or MySQL, or SQL Server's extended events as XML. Each
    /// logged session becomes a client, which sends its statements in order and at the logged times.
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<PathBuf>,

    /// Format of the log [default: as its content shows]
    ///
    /// postgres-csv, mariadb-general (also MySQL's) or sqlserver-events.
    #[arg(long, hide_short_help = true, value_name = "FORMAT", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<LogFormat>,

    /// Replay the log this many times faster [default: 1]
    #[arg(long, hide_short_help = true, value_name = "FACTOR", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,

    /// Replay only the statements of this database
    ///
    /// Use this if the log covers several databases. All replayed statements go to the one database of the target.
    #[arg(long, hide_short_help = true, value_name = "NAME", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_database: Option<String>,

    /// Action if a replayed statement fails: count or stop [default: count]
    ///
    /// With `count`, the error is counted and the session continues. With `stop`, the session ends and the trial is invalid.
    #[arg(long, hide_short_help = true, value_name = "WHAT", help_heading = "Replay")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,

    /// Kinds of statements to time separately [default: 20]
    ///
    /// Statements that differ only in their literals are the same kind. The most frequent kinds are timed separately,
    /// the others together.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = "Replay")]
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
#[error("unknown choice `{0}`: use `count` or `stop`")]
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
#[error("unknown way to send statements `{0}`: use simple, extended, prepared or procedure")]
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
#[error("`{0}` is not a script: use FILE, or FILE@WEIGHT with a weight from 0 to 1000000")]
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
