//! Arguments of a server that is started for a run, in place of the address of one.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use ::study::{Engine, Failover, Faults, Pair, Pristine, Quiet};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command};
use load::{Size, Span};

/// Where this stands in a help.
const HEADING: &str = "Server that is started";
/// The option that asks for a server, and the one that gives the address of one.
const MANAGED: &str = "managed";
const TARGET: &str = "target";

/// A server that is started for a run, on this machine; without an engine there is none, and nothing else is given.
#[derive(Clone, Debug, Args)]
#[group(id = "started_server")]
pub(crate) struct Managed {
    /// Start a server for this run instead, on a free port of this machine, with directories, settings and limits as given below. It is
    /// loaded without limits, and removed at the end with all that it has
    #[arg(long, value_name = "ENGINE", help_heading = HEADING, value_parser = engines())]
    pub(crate) managed: Option<Engine>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,

    /// Servers that are started, which share the limits; each has a database of its own [default: 1]
    #[arg(long, value_name = "NUMBER", help_heading = HEADING)]
    pub(crate) instances: Option<u32>,

    /// Others that stand by, of PostgreSQL and MariaDB: sync (one that takes over by itself, by pg_auto_failover or Galera), async (one that
    /// follows) or, of PostgreSQL, quorum (two, of which one must have a commit)
    #[arg(long, value_name = "HOW", help_heading = HEADING, value_parser = pairs())]
    pub(crate) pair: Option<Pair>,

    /// Directory in which one is made for the data of a node of a pair, on a volume of its own, such as prony lab create makes: with one for
    /// each node their volumes can fail one by one (power-cut, fill, throttle). Given once for each node
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) node: Vec<PathBuf>,

    /// How fast the others believe that it failed: default (as the tool has it) or tuned (within seconds)
    #[arg(long, value_name = "HOW", help_heading = HEADING, value_parser = failovers())]
    pub(crate) failover: Option<Failover>,

    /// Break it while it is loaded, such as "kill at 20s", "freeze for 2s at 30s", "throttle for 5s at 30s", "restart at 30s", "fill for 5s at
    /// 30s", and of pairs "kill-node for 30s at 20s", "freeze-receiver for 5s at 20s", "switchover at 20s", "promote at 20s" or "cut for 5s at 20s", at a time since the load began or between two (20s..40s). Mends it again. Separate several by commas, or repeat the option
    #[arg(long, value_name = "FAULT", help_heading = HEADING)]
    pub(crate) fault: Vec<Faults>,

    /// What becomes of it between two trials [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = HEADING, value_parser = pristine())]
    pub(crate) between_trials: Option<Pristine>,

    /// Evict its files from the page cache before each trial, for which it is started again. With a limit of memory, reads or bytes read they are
    /// evicted once anyway, when the limit comes into force
    #[arg(long, help_heading = HEADING)]
    pub(crate) cold: bool,

    /// Evict nothing when a limit comes into force: pages that were cached before serve reads past limits of memory and reads. The report
    /// says how many there were
    #[arg(long, help_heading = HEADING, conflicts_with = "cold")]
    pub(crate) warm: bool,

    /// Leave it alone for so long before each trial, once it runs
    #[arg(long, value_name = "TIME", help_heading = HEADING)]
    pub(crate) rest: Option<Span>,

    /// Wait before each trial until each device of its directories works less than this share of the time, such as 5%, or moves less
    /// than so many bytes a second, such as 1MiB
    #[arg(long, value_name = "SHARE_OR_SIZE", help_heading = HEADING)]
    pub(crate) quiet_below: Option<Quiet>,

    /// Time for which they are to be as quiet [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = HEADING)]
    pub(crate) quiet_for: Option<Span>,

    /// The longest that they are waited for; the report says if that was in vain [default: 10m]
    #[arg(long, value_name = "TIME", help_heading = HEADING)]
    pub(crate) quiet_within: Option<Span>,
}

/// A server that a check starts beside its other tests; without an engine there is none, and nothing else is given.
#[derive(Clone, Debug, Args)]
#[group(id = "checked_server")]
pub(crate) struct CheckedServer {
    /// After the disk, a short historian and a short order store also on a server that is started for them, on a free port of this
    /// machine, with directories, settings and limits as given below. It is loaded without limits, and removed at the end with all that
    /// it has
    #[arg(long, value_name = "ENGINE", help_heading = HEADING, value_parser = engines())]
    pub(crate) managed: Option<Engine>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

/// Where a server is placed, what it may use, and how it is set.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServerArguments {
    /// Directory in which one is made for its data [default: that of temporary files, and of a check the one that it measures]
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) data: Option<PathBuf>,

    /// Directory in which one is made for its log (WAL, redo log, binary log), apart from the data
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) log: Option<PathBuf>,

    /// Directory in which one is made for a tablespace of this name; PostgreSQL's alone. Can be repeated
    #[arg(long, value_name = "NAME=DIR", help_heading = HEADING, value_parser = super::study::pair)]
    pub(crate) tablespace: Vec<(String, String)>,

    /// Memory that it may use, its part of the page cache included. Its caches follow from that unless they are set
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) memory: Option<Size>,

    /// Processors' worth of time that it may use; parts count
    #[arg(long, value_name = "NUMBER", help_heading = HEADING)]
    pub(crate) cpus: Option<f64>,

    /// Processors that it runs on, such as 0-3,8
    #[arg(long, value_name = "LIST", help_heading = HEADING)]
    pub(crate) cpu_set: Option<String>,

    /// Reads a second from each device that its directories lie on
    #[arg(long, value_name = "PER_SECOND", help_heading = HEADING)]
    pub(crate) read_iops: Option<u64>,

    /// Writes a second to each of them
    #[arg(long, value_name = "PER_SECOND", help_heading = HEADING)]
    pub(crate) write_iops: Option<u64>,

    /// Bytes a second read from each of them, such as 100MiB
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) read_rate: Option<Size>,

    /// Bytes a second written to each of them
    #[arg(long, value_name = "SIZE", help_heading = HEADING)]
    pub(crate) write_rate: Option<Size>,

    /// Setting by the server's own name, such as max_wal_size=8GB. Can be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = HEADING, value_parser = super::study::pair)]
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
        ("keep", "It goes on as it is"),
        ("restart", "It is started again, on the same data"),
        ("restore", "Its files become what they were after loading, and it is started again"),
        ("recreate", "It is made and loaded anew"),
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
