//! Arguments of a server that is started for a run, in place of the address of one.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use ::study::{Engine, Failover, Faults, Pair, Pristine, Quiet};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command};
use load::{Size, Span};

/// Where this stands in a help.
const HEADING: &str = "Managed server";
/// The option that asks for a server, and the one that gives the address of one.
const MANAGED: &str = "managed";
const TARGET: &str = "target";

/// A server that is started for a run, on this machine; without an engine there is none, and nothing else is given.
#[derive(Clone, Debug, Args)]
#[group(id = "started_server")]
pub(crate) struct Managed {
    /// Start postgres, mariadb or mysql for this run; see --help
    ///
    /// The server runs on a free port of this machine, with the directories, settings and limits below. Data is
    /// loaded without limits. prony deletes the server with all its data at the end.
    #[arg(long, value_name = "ENGINE", help_heading = "Target", value_parser = engines())]
    pub(crate) managed: Option<Engine>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,

    /// Number of servers, which share the limits [default: 1]
    ///
    /// Each has its own database.
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = HEADING)]
    pub(crate) instances: Option<u32>,

    /// Add standbys: sync, async or, for PostgreSQL, quorum
    ///
    /// Works with PostgreSQL and MariaDB. `sync` adds a standby that takes over automatically (pg_auto_failover, Galera).
    /// `async` adds a standby that follows. `quorum` adds two standbys, and one must confirm each commit.
    #[arg(long, hide_short_help = true, value_name = "HOW", help_heading = HEADING, value_parser = pairs())]
    pub(crate) pair: Option<Pair>,

    /// Data directory for one node of a pair
    ///
    /// Give this option once per node. If each node has its own volume, such as from prony lab create, the volumes
    /// can fail independently (power-cut, fill, throttle).
    #[arg(long, hide_short_help = true, value_name = "DIR", help_heading = HEADING)]
    pub(crate) node: Vec<PathBuf>,

    /// How fast a failure is detected [default: default]
    ///
    /// `default` keeps the settings of the cluster tool. `tuned` detects a failure within seconds.
    #[arg(long, hide_short_help = true, value_name = "HOW", help_heading = HEADING, value_parser = failovers())]
    pub(crate) failover: Option<Failover>,

    /// Break the server during the load: "kill at 20s"
    ///
    /// Faults: "kill at 20s", "freeze for 2s at 30s", "throttle for 5s at 30s", "restart at 30s", "fill for 5s at
    /// 30s". Faults of pairs: "kill-node for 30s at 20s", "freeze-receiver for 5s at 20s", "switchover at 20s",
    /// "promote at 20s", "cut for 5s at 20s". A time is counted from the start of the load, and can be a range:
    /// 20s..40s. prony repairs the server afterwards. Separate several faults with commas, or repeat the option.
    #[arg(long, hide_short_help = true, value_name = "FAULT", help_heading = HEADING)]
    pub(crate) fault: Vec<Faults>,

    /// State of the server between two trials [default: keep]
    #[arg(long, hide_short_help = true, value_name = "WHAT", help_heading = HEADING, value_parser = pristine())]
    pub(crate) between_trials: Option<Pristine>,

    /// Evict the server's cached files before each trial
    ///
    /// prony restarts the server for this. If memory, reads or bytes read are limited, prony always evicts the files
    /// once, when the limit takes effect.
    #[arg(long, hide_short_help = true, help_heading = HEADING)]
    pub(crate) cold: bool,

    /// Keep the server's files in the page cache despite limits
    ///
    /// The limits on memory and reads do not restrict reads from cached pages. The report shows how much was cached.
    #[arg(long, hide_short_help = true, help_heading = HEADING, conflicts_with = "cold")]
    pub(crate) warm: bool,

    /// Let the server rest before each trial
    ///
    /// The time starts once the server is running.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = HEADING)]
    pub(crate) rest: Option<Span>,

    /// Wait before each trial until its devices are quieter
    ///
    /// The limit is a share of busy time, such as 5%, or bytes per second, such as 1MiB. Each device of the server
    /// must stay below the limit.
    #[arg(long, hide_short_help = true, value_name = "SHARE_OR_SIZE", help_heading = HEADING)]
    pub(crate) quiet_below: Option<Quiet>,

    /// Time for which the devices must be quiet [default: 5s]
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = HEADING)]
    pub(crate) quiet_for: Option<Span>,

    /// Longest wait for quiet devices [default: 10m]
    ///
    /// The report says if the devices did not become quiet.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = HEADING)]
    pub(crate) quiet_within: Option<Span>,
}

/// A server that a check starts beside its other tests; without an engine there is none, and nothing else is given.
#[derive(Clone, Debug, Args)]
#[group(id = "checked_server")]
pub(crate) struct CheckedServer {
    /// Also test postgres, mariadb or mysql, started here; see --help
    ///
    /// After the disk tests, a short historian and a short order store run on a server that prony starts for them. The
    /// server runs on a free port of this machine, with the directories, settings and limits below. Data is loaded
    /// without limits. prony deletes the server with all its data at the end.
    #[arg(long, value_name = "ENGINE", help_heading = HEADING, value_parser = engines())]
    pub(crate) managed: Option<Engine>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// Where a server is placed, what it may use, and how it is set.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerArguments {
    /// Parent directory for its data [default: directory for temporary files]
    ///
    /// prony creates a directory there. For `prony check`, the default is the directory that it measures.
    #[arg(long, hide_short_help = true, value_name = "DIR", help_heading = HEADING)]
    pub(crate) data: Option<PathBuf>,

    /// Parent directory for its log, separate from the data
    ///
    /// prony creates a directory there for the WAL, the redo log or the binary log.
    #[arg(long, hide_short_help = true, value_name = "DIR", help_heading = HEADING)]
    pub(crate) log: Option<PathBuf>,

    /// Parent directory for a PostgreSQL tablespace of this name
    ///
    /// Can be repeated.
    #[arg(long, hide_short_help = true, value_name = "NAME=DIR", help_heading = HEADING, value_parser = super::study::pair)]
    pub(crate) tablespace: Vec<(String, String)>,

    /// Memory limit, including the server's part of the page cache
    ///
    /// The server's caches are sized to fit, unless you set their sizes.
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) memory: Option<Size>,

    /// CPU limit, such as 1.5
    #[arg(long, hide_short_help = true, value_name = "NUMBER", help_heading = HEADING)]
    pub(crate) cpus: Option<f64>,

    /// CPUs that the server runs on, such as 0-3,8
    #[arg(long, hide_short_help = true, value_name = "LIST", help_heading = HEADING)]
    pub(crate) cpu_set: Option<String>,

    /// Maximum reads per second from each device of its directories
    #[arg(long, hide_short_help = true, value_name = "PER_SECOND", help_heading = HEADING)]
    pub(crate) read_iops: Option<u64>,

    /// Maximum writes per second to each device of its directories
    #[arg(long, hide_short_help = true, value_name = "PER_SECOND", help_heading = HEADING)]
    pub(crate) write_iops: Option<u64>,

    /// Bytes read per second from each device, such as 100MiB
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) read_rate: Option<Size>,

    /// Bytes written per second to each device, such as 100MiB
    #[arg(long, hide_short_help = true, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) write_rate: Option<Size>,

    /// Setting of the server, such as max_wal_size=8GB
    ///
    /// Use the server's own name for the setting. Can be repeated.
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", help_heading = HEADING, value_parser = super::study::pair)]
    pub(crate) setting: Vec<(String, String)>,
}

impl Managed {
    /// Options that say something of a server, as they were given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--instances", self.instances.is_some()),
            ("--pair", self.pair.is_some()),
            ("--node", !self.node.is_empty()),
            ("--failover", self.failover.is_some()),
            ("--fault", !self.fault.is_empty()),
            ("--between-trials", self.between_trials.is_some()),
            ("--cold", self.cold),
            ("--warm", self.warm),
            ("--rest", self.rest.is_some()),
            ("--quiet-below", self.quiet_below.is_some()),
            ("--quiet-for", self.quiet_for.is_some()),
            ("--quiet-within", self.quiet_within.is_some()),
        ];
        let own = all.into_iter().filter_map(|(option, is_given)| is_given.then_some(option));
        self.server.given().into_iter().chain(own).collect()
    }
}

impl ServerArguments {
    /// Options as they were given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--data", self.data.is_some()),
            ("--log", self.log.is_some()),
            ("--tablespace", !self.tablespace.is_empty()),
            ("--memory", self.memory.is_some()),
            ("--cpus", self.cpus.is_some()),
            ("--cpu-set", self.cpu_set.is_some()),
            ("--read-iops", self.read_iops.is_some()),
            ("--write-iops", self.write_iops.is_some()),
            ("--read-rate", self.read_rate.is_some()),
            ("--write-rate", self.write_rate.is_some()),
            ("--setting", !self.setting.is_empty()),
        ];
        all.into_iter().filter_map(|(option, is_given)| is_given.then_some(option)).collect()
    }
}

pub(crate) fn engines() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(["postgres", "mariadb", "mysql"]).map(|name| match name.as_str() {
        "postgres" => Engine::Postgres,
        "mysql" => Engine::Mysql,
        _ => Engine::Mariadb,
    })
}

fn pairs() -> impl TypedValueParser<Value = Pair> {
    PossibleValuesParser::new(["sync", "async", "quorum"]).map(|name| match name.as_str() {
        "async" => Pair::Async,
        "quorum" => Pair::Quorum,
        _ => Pair::Sync,
    })
}

fn failovers() -> impl TypedValueParser<Value = Failover> {
    PossibleValuesParser::new(["default", "tuned"]).map(|name| match name.as_str() {
        "tuned" => Failover::Tuned,
        _ => Failover::Default,
    })
}

fn pristine() -> impl TypedValueParser<Value = Pristine> {
    let values = [
        ("keep", "The server keeps running, with its data"),
        ("restart", "The server is restarted with the same data"),
        ("restore", "The files are restored to the state after loading, and the server is restarted"),
        ("recreate", "The server is created and loaded again"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "restart" => Pristine::Restart,
        "restore" => Pristine::Restore,
        "recreate" => Pristine::Recreate,
        _ => Pristine::Keep,
    })
}

/// What the command line decides is not decided once more by the environment or by a file of defaults: who asks for a server has no
/// use for an address that stands there for every day, and the other way round.
pub(crate) fn decided(command: Command, arguments: &[OsString]) -> Command {
    let has = |option: &str| arguments.iter().take_while(|word| *word != "--").any(|word| is(word, option));
    match (has(MANAGED), has(TARGET)) {
        (true, false) => without_defaults(command, &|id| id == TARGET),
        (false, true) => {
            let own = Managed::augment_args(Command::new(""));
            let own: Vec<String> = own.get_arguments().map(|own| own.get_id().to_string()).collect();
            without_defaults(command, &|id| own.iter().any(|own| own == id))
        }
        (true, true) | (false, false) => command,
    }
}

/// Whether a word gives an option.
fn is(word: &OsStr, option: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix("--")?.strip_prefix(option));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The commands that can start a server, without what the environment or a file says of these arguments.
fn without_defaults(command: Command, is_meant: &dyn Fn(&str) -> bool) -> Command {
    let starts = command.get_arguments().any(|argument| argument.get_id() == MANAGED);
    let command = match starts {
        true => command.mut_args(|argument| match is_meant(argument.get_id().as_str()) {
            true => argument.env(None::<&str>).default_values(Vec::<String>::new()),
            false => argument,
        }),
        false => command,
    };
    command.mut_subcommands(|inner| without_defaults(inner, is_meant))
}
