//! What is told of an option that there is not: its name here where it is one of fio, sysbench or pgbench, and never an option
//! that lets something be overwritten, which nobody should find by a slip.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use record::Workload;

use crate::arguments::COSTS_DATA;

/// Options of other programs, and how a command here has them.
type Words = &'static [(&'static str, &'static str)];

/// Of fio, and sysbench's of files.
const DISK: Words = &[
    ("--rw", BY_ITS_KIND),
    ("--readwrite", BY_ITS_KIND),
    ("--file-test-mode", BY_ITS_KIND),
    ("--bs", "--block-size"),
    ("--blocksize", "--block-size"),
    ("--iodepth", "--outstanding"),
    ("--numjobs", "--threads"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 5s"),
    ("--warmup-time", "--warm-up, with a unit: --warm-up 5s"),
    ("--size", "--file-size"),
    ("--nrfiles", "--files"),
    ("--rwmixread", "--read-share"),
    ("--rwmixwrite", "--read-share, of which it is the rest to 100"),
    ("--rate_iops", "--rate"),
    ("--thinktime", "--think-time, with a unit: --think-time 1ms"),
    ("--ioengine", "--engine"),
    ("--direct", "--cache direct, which is the default"),
    ("--buffered", "--cache buffered"),
    ("--sync", "--write-through"),
    ("--fsync", "--flush-every"),
    ("--fdatasync", "--flush-every"),
    ("--hipri", "--poll"),
    ("--sqthread_poll", "--kernel-submission"),
    ("--cpus_allowed", "--affinity"),
    ("--randseed", "--seed"),
    ("--loops", "--repeats"),
    ("--filename", "PATH, without an option before it"),
    ("--directory", "PATH, without an option before it"),
    ("--time_based", "always so: --duration says how long"),
    ("--group_reporting", "always so: threads are reported together"),
    ("--file-total-size", "--file-size, of each of --files"),
    ("--file-num", "--files"),
    ("--file-block-size", "--block-size"),
    ("--file-fsync-freq", "--flush-every"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("-j", "--threads"),
    ("-c", "--outstanding, of each of --threads"),
];

/// Of sysbench and pgbench, and fio's for the same.
const HISTORIAN: Words = &[
    ("-c", "--writers"),
    ("--client", "--writers"),
    ("--clients", "--writers"),
    ("--threads", "--writers"),
    ("--numjobs", "--writers"),
    ("-j", "not needed: each of --writers has a thread of its own"),
    ("--jobs", "not needed: each of --writers has a thread of its own"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 30s"),
    ("--warmup-time", "--warm-up, with a unit: --warm-up 30s"),
    ("-R", "--rate, in records a second"),
    ("--rate_iops", "--rate, in records a second"),
    ("-s", "--tags"),
    ("--scale", "--tags"),
    ("--bs", "--flush-rows, the rows of a transaction"),
    ("--iodepth", "--writers, each with one flush at a time"),
    ("-L", "--p99-limit"),
    ("--latency-limit", "--p99-limit"),
    ("-h", "--target"),
    ("-p", "--target"),
    ("-U", "--target"),
    ("-d", "--target"),
    ("--host", "--target"),
    ("--dbname", "--target"),
];

const SCRIPT: Words = &[
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
    ("-j", "not needed: clients share as many threads as there are CPUs"),
    ("--jobs", "not needed: clients share as many threads as there are CPUs"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("-f", "FILE@WEIGHT, without an option before it"),
    ("--file", "FILE@WEIGHT, without an option before it"),
    ("-M", "--protocol"),
    ("-R", "--rate, with --poisson"),
    ("-i", "--initialise"),
    ("--initialize", "--initialise"),
    ("-L", "--latency-limit, with a unit: --latency-limit 50ms"),
    ("-N", "--builtin simple-update"),
    ("--skip-some-updates", "--builtin simple-update"),
    ("-S", "--builtin select-only"),
    ("--select-only", "--builtin select-only"),
    ("-t", "--duration: a load ends after a time, not after a number of transactions"),
    ("--transactions", "--duration: a load ends after a time, not after a number of transactions"),
    ("-n", "not needed: no table is vacuumed before a load"),
    ("--no-vacuum", "not needed: no table is vacuumed before a load"),
    ("--vacuum-all", "VACUUM in the file of --init, or with psql before the load"),
    ("-C", "left out: a client keeps its connection"),
    ("--connect", "left out: a client keeps its connection"),
    (
        "--continue-on-error",
        "left out: an error stops its client and makes the trial invalid; have the server catch it, such as by ON CONFLICT DO NOTHING",
    ),
    ("-P", "not needed: the live line and the report have every second"),
    ("--progress", "not needed: the live line and the report have every second"),
    ("--progress-timestamp", "not needed: the live line and the report have every second"),
    ("-r", "not needed: the report has each statement"),
    ("--report-per-command", "not needed: the report has each statement"),
    ("--report-latencies", "not needed: the report has each statement"),
    ("--failures-detailed", "not needed: the report counts them, and has the first"),
    ("--verbose-errors", "not needed: the report counts errors, and has the first"),
    ("--debug", DEBUG),
    ("-l", NO_LOG),
    ("--log-prefix", NO_LOG),
    ("--sampling-rate", NO_LOG),
    ("--aggregate-interval", "not needed: `prony export --csv --series` has every second"),
    ("--show-script", "not needed: the report has the text of each script"),
    ("--exit-on-abort", "left out: a client that stops makes the trial invalid"),
    ("-F", "left out: make the tables with `pgbench -i`"),
    ("--fillfactor", "left out: make the tables with `pgbench -i`"),
    ("--foreign-keys", "left out: make the tables with `pgbench -i`"),
    ("--unlogged-tables", "left out: make the tables with `pgbench -i`"),
    ("--partitions", "left out: make the tables with `pgbench -i`"),
    ("--partition-method", "left out: make the tables with `pgbench -i`"),
    ("--init-steps", "left out: make the tables with `pgbench -i`"),
    ("--index-tablespace", "left out: make the tables with `pgbench -i`"),
    ("-I", "left out: make the tables with `pgbench -i`"),
    ("--random-seed", "--seed"),
    ("--pace", "--speed"),
    ("--factor", "--speed"),
    ("-h", ADDRESS),
    ("--host", ADDRESS),
    ("-p", ADDRESS),
    ("--port", ADDRESS),
    ("-U", ADDRESS),
    ("--username", ADDRESS),
    ("--dbname", ADDRESS),
    (
        "-d",
        "--target, which names the database; pgbench before 17 has debugging by it, here --verbose tells what is done",
    ),
    ("-V", "prony --version"),
    ("--version", "prony --version"),
];

/// Of options that `prony script` has too, for something else.
const SCRIPT_OTHERWISE: Words = &[
    ("--log", LOG),
    ("--init", "a FILE with your own SQL; --initialise creates the tables of --builtin"),
    (
        "--tablespace",
        "of a server that is started, as NAME=DIR; those of pgbench's tables are left out: make them with `pgbench -i`",
    ),
];

/// What `--log` is, and pgbench's is not.
pub(crate) const LOG: &str = "the directory of the log (WAL) of a server that is started; pgbench's log of transactions is left out, and \
                              `prony export` has every second";
const NO_LOG: &str = "left out: no transaction is logged by itself; `prony export` has every second";
const ADDRESS: &str = "--target, such as postgres://USER@HOST:PORT/DATABASE";
const DEBUG: &str = "--verbose, which tells what is done; each script's text is in the report";

const REPORTING: Words = &[
    ("--rows", "--events"),
    ("--scale", "--events"),
    ("-s", "--events"),
    ("--iterations", "--runs"),
    ("-i", "--runs"),
    ("--rate", "--arrivals, of the events that arrive; reports follow each other"),
    ("-R", "--arrivals, of the events that arrive; reports follow each other"),
    ("--duration", "--runs, the number of reports; each takes as long as it takes"),
    ("-T", "--runs, the number of reports; each takes as long as it takes"),
    ("--clients", "not needed: reports follow each other over one connection"),
    ("-c", "not needed: reports follow each other over one connection"),
    ("-h", "--target"),
    ("-p", "--target"),
    ("-U", "--target"),
    ("-d", "--target"),
    ("--host", "--target"),
    ("--dbname", "--target"),
];

const REGISTER: Words = &[
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--concurrency", "--clients"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--time-limit", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--key-count", "--keys"),
    ("-h", "--target"),
    ("-p", "--target"),
    ("-U", "--target"),
    ("-d", "--target"),
    ("--host", "--target"),
    ("--dbname", "--target"),
];

const TABLES: Words = &[
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--table-size", "--rows"),
    ("--table_size", "--rows"),
    ("--mysql-storage-engine", "--kind"),
    ("--mysql_storage_engine", "--kind"),
    ("--unlogged-tables", "--kind volatile"),
    ("-M", "--access"),
    ("--protocol", "--access"),
    ("--loops", "--repeats"),
    ("--dbname", "--target"),
    ("--host", "--target"),
];

const ORDERS: Words = &[
    ("--results", "not needed: only orders run stores results"),
    ("-c", "--clients"),
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
    ("--iodepth", "--clients, each with one statement at a time"),
    ("-j", "not needed: clients share as many threads as there are CPUs"),
    ("--jobs", "not needed: clients share as many threads as there are CPUs"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 60s"),
    ("-R", "--rate, in orders a minute"),
    ("--rate_iops", "--rate, in orders a minute"),
    ("--thinktime", "--think-time, with a unit: --think-time 20ms"),
    ("-s", "--size, of prony orders load"),
    ("--scale", "--size, of prony orders load"),
    ("--tables", "--size, of prony orders load"),
    ("--table-size", "--size, of prony orders load"),
    ("-i", "prony orders load"),
    ("--initialize", "prony orders load"),
];

/// Of other commands here, and of other programs: a check decides itself what it measures.
const CHECK: Words = &[
    ("--warm-up", WARM_UP),
    ("--warmup-time", WARM_UP),
    ("--ramp_time", WARM_UP),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("-T", "--duration, with a unit: --duration 60s"),
    ("--size", "--file-size"),
    ("--repeats", "prony disk --profile quick --repeats 5, which has a check's tests of the disk"),
    ("--engine", "--managed, of a server that is started; the disk's is prony disk --engine"),
    (
        "--target",
        "prony historian --target and prony orders run --target, for a server that is there; --managed starts one",
    ),
];

/// What to do in place of a longer warm-up.
const WARM_UP: &str = "--duration, with a unit: each test warms up for 0.5 s to 2 s before it, which a longer one makes small; prony disk, \
                       prony historian and prony orders run have --warm-up";

/// fio's kinds of load, with sysbench's.
const LOADS: &[(&str, &str)] = &[
    ("read", "--pattern sequential --read-share 100"),
    ("write", "--pattern sequential --read-share 0"),
    ("rw", "--pattern sequential --read-share 50"),
    ("readwrite", "--pattern sequential --read-share 50"),
    ("randread", "--pattern random --read-share 100"),
    ("randwrite", "--pattern random --read-share 0"),
    ("randrw", "--pattern random --read-share 50"),
    ("seqrd", "--pattern sequential --read-share 100"),
    ("seqwr", "--pattern sequential --read-share 0"),
    ("rndrd", "--pattern random --read-share 100"),
    ("rndwr", "--pattern random --read-share 0"),
    ("rndrw", "--pattern random --read-share 60"),
];

/// Of an option whose value says which of these it is.
const BY_ITS_KIND: &str = "";

/// Those of all workloads in their order.
const HINTS: [Words; Workload::ALL.len()] = [DISK, HISTORIAN, ORDERS, SCRIPT, REPORTING, REGISTER, TABLES];

/// The same of options that they have too, for something else.
const OTHERWISE: [Words; Workload::ALL.len()] = [&[], &[], &[], SCRIPT_OTHERWISE, &[], &[], &[]];

/// An error with the hints that it should have.
pub(crate) fn hinted(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    let given = given.split(['=', ' ']).next().unwrap_or_default().to_owned();
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let of = |hints: [Words; Workload::ALL.len()], word: &str| {
        let workloads = Workload::ALL.into_iter().map(|workload| workload.name());
        let mut hints = workloads.zip(hints).chain([("check", CHECK)]);
        hints.find(|(command, _)| *command == word).map(|(_, hints)| named(&given, hints))
    };
    if error.kind() != ErrorKind::UnknownArgument {
        if let Some(hint) = words.iter().find_map(|word| of(OTHERWISE, word)).flatten() {
            tell(&mut error, &given, hint);
        }
        return error;
    }
    let hint = words.iter().find_map(|word| of(HINTS, word)).map(|hint| match hint {
        Some(BY_ITS_KIND) => Some(load(&given, &words)),
        hint => hint.map(str::to_owned),
    });
    let costs_data = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(option)) => {
            COSTS_DATA.contains(&option.trim_start_matches('-').split(' ').next().unwrap_or_default())
        }
        _ => false,
    };
    let hint = hint.flatten();
    if hint.is_some() || costs_data {
        // The usage would name the option that was suggested.
        for kind in
            [ContextKind::SuggestedArg, ContextKind::Suggested, ContextKind::TrailingArg, ContextKind::Usage]
        {
            error.remove(kind);
        }
    }
    if let Some(hint) = hint {
        tell(&mut error, &given, &hint);
    }
    error
}

fn tell(error: &mut clap::Error, given: &str, hint: &str) {
    let hint = format!("{given} is here: {hint}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
}

fn named(given: &str, words: Words) -> Option<&'static str> {
    words.iter().find(|(word, _)| *word == given).map(|(_, ours)| *ours)
}

/// How a kind of load is said here, with the value that stands in the same argument or in the one after it.
fn load(given: &str, words: &[std::borrow::Cow<'_, str>]) -> String {
    let place = words.iter().position(|word| word.split('=').next() == Some(given));
    let value = place.and_then(|place| match words[place].split_once('=') {
        Some((_, value)) => Some(value),
        None => words.get(place + 1).map(AsRef::as_ref),
    });
    let known = LOADS.iter().find(|(load, _)| Some(*load) == value);
    known.map_or("--pattern random or sequential, with --read-share", |(_, ours)| ours).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use crate::config::Config;
    use clap::CommandFactory;

    /// `prony disk . --rw randread` was answered by "a similar argument exists: '--overwrite'".
    #[test]
    fn no_slip_is_answered_by_an_option_that_costs_data() {
        for slip in ["--rw", "--overwrit", "--over-write", "--write", "--destro", "--creat", "--replac"] {
            for command in [
                &["disk", "."][..],
                &["historian", "--target", "fake:"],
                &["orders", "load", "--target", "fake:"],
            ] {
                let mut arguments = vec!["prony"];
                arguments.extend(command);
                arguments.push(slip);
                let told = crate::parse(arguments.iter().map(OsString::from).collect(), &Config::default())
                    .unwrap_err()
                    .to_string();
                assert!(told.contains(slip), "{told}");
                for option in COSTS_DATA {
                    assert!(
                        !told.contains(&format!("--{option}'")) && !told.contains(&format!("--{option} ")),
                        "{told}"
                    );
                }
            }
        }
    }

    /// A hint that names no option of its command would send its reader on.
    #[test]
    fn hints_name_options_that_the_command_has() {
        let program = Arguments::command();
        let find = |names: &[&str]| {
            names.iter().fold(&program, |command, name| command.find_subcommand(name).unwrap())
        };
        let loads: Vec<(&str, &str)> = LOADS.to_vec();
        for (command, words) in [
            (find(&["disk"]), [DISK, &loads].concat()),
            (find(&["historian"]), HISTORIAN.to_vec()),
            // It has `--results`; of the commands for orders only `load` needs that hint.
            (
                find(&["orders", "run"]),
                ORDERS.iter().copied().filter(|(word, _)| *word != "--results").collect(),
            ),
            (find(&["check"]), CHECK.to_vec()),
            (find(&["script"]), SCRIPT.to_vec()),
            (find(&["reporting"]), REPORTING.to_vec()),
            (find(&["register"]), REGISTER.to_vec()),
            (find(&["tables"]), TABLES.to_vec()),
        ] {
            let has = |long: &str| command.get_arguments().any(|argument| argument.get_long() == Some(long));
            for (word, ours) in words {
                assert!(!word.starts_with("--") || !has(&word[2..]), "{word} is an option itself");
                let options = ours.split([' ', ',', ':']).filter_map(|part| part.strip_prefix("--"));
                for option in options {
                    assert!(has(option) || ours.contains("prony "), "{word}: {ours}");
                    assert!(!COSTS_DATA.contains(&option), "{word}: {ours}");
                }
            }
        }
    }

    /// `--log`, which pgbench has too, was told as an option of some server alone.
    #[test]
    fn options_that_are_there_for_something_else_are_told_of_by_script_alone() {
        let script = Arguments::command();
        let script = script.find_subcommand("script").unwrap();
        for (word, _) in SCRIPT_OTHERWISE {
            assert!(script.get_arguments().any(|argument| argument.get_long() == Some(&word[2..])), "{word}");
        }
        assert!(told(&["script", "a.sql", "--log"]).contains("pgbench"));
        assert!(!told(&["historian", "--log"]).contains("pgbench"));
    }

    #[test]
    fn words_of_other_programs_are_translated() {
        for (arguments, hint) in [
            (&["disk", ".", "--rw", "randread"][..], "--rw is here: --pattern random --read-share 100"),
            (&["disk", ".", "--rw=write"], "--rw is here: --pattern sequential --read-share 0"),
            (&["disk", ".", "--bs=4k"], "--bs is here: --block-size"),
            (&["disk", ".", "--iodepth", "8"], "--iodepth is here: --outstanding"),
            (&["plan", "disk", ".", "--runtime=60"], "--runtime is here: --duration, with a unit"),
            (&["historian", "--target", "fake:", "-c", "4"], "-c is here: --writers"),
            (&["historian", "--target", "fake:", "-T", "60"], "-T is here: --duration"),
            (&["orders", "run", "--target", "fake:", "-c", "4"], "-c is here: --clients"),
            (&["orders", "run", "--target", "fake:", "--threads=4"], "--threads is here: --clients"),
            (
                &["check", ".", "--warm-up", "5s"],
                "--warm-up is here: --duration, with a unit: each test warms up",
            ),
            (&["reporting", "--duration=60"], "--duration is here: --runs"),
            (
                &["orders", "load", "--target", "sqlite:o.db", "--results", "x"],
                "--results is here: not needed: only orders run stores results",
            ),
            (&["tables", "--table-size=10"], "--table-size is here: --rows"),
            (&["check", "--repeats=3"], "--repeats is here: prony disk --profile quick --repeats 5"),
            (&["disk", ".", "--blok-size", "4k"], "a similar argument exists: '--block-size'"),
        ] {
            check_told(arguments, hint);
        }
    }

    #[test]
    fn words_of_pgbench_are_translated() {
        for (arguments, hint) in [
            (&["script", "a.sql", "-M", "simple"][..], "-M is here: --protocol"),
            (&["script", "a.sql", "-t", "100"], "-t is here: --duration: a load ends after a time"),
            (
                &["script", "a.sql", "--sampling-rate=0.1"],
                "--sampling-rate is here: left out: no transaction is",
            ),
            (&["script", "a.sql", "--log-prefix", "x"], "--log-prefix is here: left out"),
            (
                &["script", "a.sql", "--log"],
                "--log is here: the directory of the log (WAL) of a server that is started",
            ),
            (
                &["plan", "script", "a.sql", "--tablespace=x"],
                "--tablespace is here: of a server that is started",
            ),
            (&["script", "a.sql", "--index-tablespace=x"], "--index-tablespace is here: left out"),
            (&["script", "a.sql", "--progress-timestamp"], "--progress-timestamp is here: not needed"),
            (&["script", "a.sql", "--aggregate-interval=5"], "--aggregate-interval is here: not needed"),
            (&["script", "a.sql", "--verbose-errors"], "--verbose-errors is here: not needed"),
            (&["script", "a.sql", "--continue-on-error"], "--continue-on-error is here: left out"),
            (
                &["script", "a.sql", "--port=1"],
                "--port is here: --target, such as postgres://USER@HOST:PORT/",
            ),
            (&["script", "a.sql", "--username", "me"], "--username is here: --target, such as postgres://"),
            (&["script", "a.sql", "-U", "me"], "-U is here: --target, such as postgres://"),
            (&["script", "a.sql", "-d"], "-d is here: --target, which names the database"),
            (&["script", "a.sql", "--debug"], "--debug is here: --verbose"),
            (&["script", "a.sql", "-V"], "-V is here: prony --version"),
            (&["script", "a.sql", "--version"], "--version is here: prony --version"),
            (&["script", "a.sql", "-C"], "-C is here: left out: a client keeps its connection"),
        ] {
            check_told(arguments, hint);
        }
    }

    #[track_caller]
    fn check_told(arguments: &[&str], hint: &str) {
        let told = told(arguments);
        assert!(told.contains(hint), "{arguments:?}: {told}");
        assert!(!told.contains("to pass '"), "{arguments:?}: {told}");
    }

    /// The error of arguments that are wrong.
    fn told(arguments: &[&str]) -> String {
        let all = std::iter::once("prony").chain(arguments.iter().copied());
        crate::parse(all.map(OsString::from).collect(), &Config::default()).unwrap_err().to_string()
    }
}
