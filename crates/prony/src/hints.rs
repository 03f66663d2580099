//! What is told of an option that there is not: its name here where it is one of fio, sysbench or pgbench, and never an option
//! that lets something be overwritten, which nobody should find by a slip.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use record::Workload;

use crate::arguments::{BOTH, COSTS_DATA, new_command};

/// Options of other programs, and how a command here has them.
type Words = &'static [(&'static str, &'static str)];

/// Of fio, and sysbench's of files.
const DISK: Words = &[
    ("--rw", BY_ITS_KIND),
    ("--readwrite", BY_ITS_KIND),
    ("--file-test-mode", BY_ITS_KIND),
    ("--blocksize", "--block-size"),
    ("--numjobs", "--threads"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 5s"),
    ("--warmup-time", "--warm-up, with a unit: --warm-up 5s"),
    ("--size", "--file-size"),
    ("--nrfiles", "--files"),
    ("--rwmixwrite", "--read-share, which is 100 minus this value"),
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
    ("--filename", "PATH without an option"),
    ("--directory", "PATH without an option"),
    ("--time_based", "the default: --duration sets the length"),
    ("--group_reporting", "the default: threads are reported together"),
    ("--file-total-size", "--file-size for each of --files"),
    ("--file-num", "--files"),
    ("--file-block-size", "--block-size"),
    ("--file-fsync-freq", "--flush-every"),
    ("-j", "--threads"),
    ("-c", "--outstanding for each of --threads"),
];

/// Of sysbench and pgbench, and fio's for the same.
const HISTORIAN: Words = &[
    ("--client", "--writers"),
    ("--clients", "--writers"),
    ("--threads", "--writers"),
    ("--numjobs", "--writers"),
    ("-j", "not needed: each of --writers has its own thread"),
    ("--jobs", "not needed: each of --writers has its own thread"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 30s"),
    ("--warmup-time", "--warm-up, with a unit: --warm-up 30s"),
    ("-R", "--rate, in records per second"),
    ("--rate_iops", "--rate, in records per second"),
    ("-s", "--tags"),
    ("--scale", "--tags"),
    ("--bs", "--batch-rows, the rows per transaction"),
    ("--iodepth", "--writers, each with one batch at a time"),
    ("-L", "--p99-limit"),
    ("--latency-limit", "--p99-limit"),
    ("-h", "--target"),
    ("-p", "--target"),
    ("-U", "--target"),
    ("--host", "--target"),
    ("--dbname", "--target"),
];

const SCRIPT: Words = &[
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
    ("-j", "not needed: clients share as many threads as there are CPUs"),
    ("--jobs", "not needed: clients share as many threads as there are CPUs"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("-f", "FILE@WEIGHT without an option"),
    ("--file", "FILE@WEIGHT without an option"),
    ("-M", "--protocol"),
    ("-R", "--rate, with --poisson"),
    ("-i", "--initialize"),
    ("-L", "--latency-limit, with a unit: --latency-limit 50ms"),
    ("-N", "--builtin simple-update"),
    ("--skip-some-updates", "--builtin simple-update"),
    ("-S", "--builtin select-only"),
    ("--select-only", "--builtin select-only"),
    ("-t", "--duration: a load has a length, not a number of transactions"),
    ("--transactions", "--duration: a load has a length, not a number of transactions"),
    ("-n", "not needed: prony vacuums no table before a load"),
    ("--no-vacuum", "not needed: prony vacuums no table before a load"),
    ("--vacuum-all", "VACUUM in the --init file, or in psql before the load"),
    ("-C", "not supported: a client keeps its connection"),
    ("--connect", "not supported: a client keeps its connection"),
    (
        "--continue-on-error",
        "not supported: an error stops its client and makes the trial invalid. Handle it in SQL, such as by ON CONFLICT DO NOTHING",
    ),
    ("-P", "not needed: the live line and the report show every second"),
    ("--progress", "not needed: the live line and the report show every second"),
    ("--progress-timestamp", "not needed: the live line and the report show every second"),
    ("-r", "not needed: the report shows each statement"),
    ("--report-per-command", "not needed: the report shows each statement"),
    ("--report-latencies", "not needed: the report shows each statement"),
    ("--failures-detailed", "not needed: the report counts failures, and shows the first"),
    ("--verbose-errors", "not needed: the report counts errors, and shows the first"),
    ("--debug", DEBUG),
    ("-l", NO_LOG),
    ("--log-prefix", NO_LOG),
    ("--sampling-rate", NO_LOG),
    ("--aggregate-interval", "not needed: `prony export --csv --series` writes every second"),
    ("--show-script", "not needed: the report shows the text of each script"),
    ("--exit-on-abort", "not needed: a client that stops makes the trial invalid"),
    ("-F", "not supported: create the tables with `pgbench -i`"),
    ("--fillfactor", "not supported: create the tables with `pgbench -i`"),
    ("--foreign-keys", "not supported: create the tables with `pgbench -i`"),
    ("--unlogged-tables", "not supported: create the tables with `pgbench -i`"),
    ("--partitions", "not supported: create the tables with `pgbench -i`"),
    ("--partition-method", "not supported: create the tables with `pgbench -i`"),
    ("--init-steps", "not supported: create the tables with `pgbench -i`"),
    ("--index-tablespace", "not supported: create the tables with `pgbench -i`"),
    ("-I", "not supported: create the tables with `pgbench -i`"),
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
    ("-d", "--target, which names the database. For debugging use --verbose"),
    ("-V", "prony --version"),
    ("--version", "prony --version"),
];

/// Of options that `prony script` has too, for something else.
const SCRIPT_OTHERWISE: Words = &[
    ("--log", LOG),
    ("--init", "a FILE with your own SQL. To create the tables of --builtin use --initialize"),
    (
        "--tablespace",
        "an option of managed servers, as NAME=DIR. To put pgbench's tables in a tablespace, create them with `pgbench -i`",
    ),
];

/// What `--log` is, and pgbench's is not.
pub(crate) const LOG: &str = "the directory of the log (WAL) of a managed server, unlike in pgbench. prony does not log individual \
transactions; `prony export` writes every second";
const NO_LOG: &str =
    "not supported: prony does not log individual transactions. `prony export` writes every second";
const ADDRESS: &str = "--target, such as postgres://USER@HOST:PORT/DATABASE";
const DEBUG: &str = "--verbose, which prints each step. The report shows the text of each script";

const REPORTING: Words = &[
    ("--rows", "--events"),
    ("--scale", "--events"),
    ("-s", "--events"),
    ("--iterations", "--runs"),
    ("-i", "--runs"),
    ("--rate", "--arrivals, the rate of arriving events. Reports run one after another"),
    ("-R", "--arrivals, the rate of arriving events. Reports run one after another"),
    ("--duration", "--runs, the number of reports. Their only time limit is --time-limit"),
    ("-T", "--runs, the number of reports. Their only time limit is --time-limit"),
    ("--clients", "not needed: reports run one after another on one connection"),
    ("-c", "not needed: reports run one after another on one connection"),
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
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--time-limit", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--key-count", "--keys"),
    ("-h", "--target"),
    ("-p", "--target"),
    ("-U", "--target"),
    ("--host", "--target"),
    ("--dbname", "--target"),
];

const TABLES: Words = &[
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
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
    ("--results", "not needed: only prony orders run stores results"),
    ("--client", "--clients"),
    ("--threads", "--clients"),
    ("--numjobs", "--clients"),
    ("--iodepth", "--clients, each with one statement at a time"),
    ("-j", "not needed: clients share as many threads as there are CPUs"),
    ("--jobs", "not needed: clients share as many threads as there are CPUs"),
    ("--time", "--duration, with a unit: --duration 60s"),
    ("--runtime", "--duration, with a unit: --duration 60s"),
    ("--ramp_time", "--warm-up, with a unit: --warm-up 60s"),
    ("-R", "--rate, with a unit: --rate 500/s"),
    ("--rate_iops", "--rate, with a unit: --rate 500/s"),
    ("--thinktime", "--think-time, with a unit: --think-time 20ms"),
    ("-s", "--size with prony orders load"),
    ("--scale", "--size with prony orders load"),
    ("--tables", "--size with prony orders load"),
    ("--table-size", "--size with prony orders load"),
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
    ("--size", "--file-size"),
    ("--repeats", "prony disk --profile quick --repeats 5, which has the disk tests of a check"),
    ("--engine", "--managed for a server that prony starts. For the disk use prony disk --engine"),
    (
        "--target",
        "prony historian --target and prony orders run --target for an existing server. --managed starts one",
    ),
];

/// What to do in place of a longer warm-up.
const WARM_UP: &str = "--duration, with a unit. Each test warms up for 0.5 s to 2 s, a negligible time with a longer duration. \
                       To set the warm-up use prony disk, prony historian or prony orders run";

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
        let workloads = workloads.map(|name| new_command(name).unwrap_or(name));
        let mut hints = workloads.zip(hints).chain([("check", CHECK)]);
        hints
            .find(|(command, _)| *command == new_command(word).unwrap_or(word))
            .map(|(_, hints)| named(&given, hints))
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
            let option = option.trim_start_matches('-').trim_start_matches(BOTH);
            COSTS_DATA.contains(&option.split(' ').next().unwrap_or_default())
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
    let is_ours = ["--", "PATH", "FILE", "prony ", "VACUUM"].iter().any(|ours| hint.starts_with(ours));
    let hint = if is_ours { format!("instead of {given} use {hint}") } else { format!("{given} is {hint}") };
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

    /// Rows of a page as command, option and text. The command comes from the heading.
    fn rows(page: &str) -> Vec<(String, String, String)> {
        let mut command = String::new();
        let mut rows = Vec::new();
        for line in page.lines() {
            if line.starts_with("## ") {
                let named = line.split('`').nth(1).and_then(|name| name.strip_prefix("prony "));
                command = named.unwrap_or_default().to_owned();
            } else if let (false, Some((option, text))) =
                (command.is_empty(), line.strip_prefix("| `").and_then(|row| row.split_once("` | ")))
            {
                rows.push((command.clone(), option.to_owned(), text.trim_end_matches(" |").to_owned()));
            }
        }
        rows
    }

    /// The pages for users of other tools contain all hints of `disk` and `script`, and no text that differs from a hint.
    #[test]
    fn pages_on_other_tools_say_what_the_hints_say() {
        let tables = [
            ("disk", DISK),
            ("historian", HISTORIAN),
            ("orders run", ORDERS),
            ("script", SCRIPT),
            ("script", SCRIPT_OTHERWISE),
            ("analytics", REPORTING),
            ("failover", REGISTER),
            ("tables", TABLES),
            ("check", CHECK),
        ];
        let pages = [
            include_str!("../../../docs/from-fio.md"),
            include_str!("../../../docs/from-pgbench.md"),
            include_str!("../../../docs/from-sysbench.md"),
        ];
        let rows: Vec<_> = pages.into_iter().flat_map(rows).collect();
        for (command, option, text) in &rows {
            let mut of_command = tables.iter().filter(|(name, _)| name == command);
            let hint = of_command.find_map(|(_, words)| named(option, words));
            let hint = hint.map(|hint| if hint == BY_ITS_KIND { BY_THE_PAGE } else { hint });
            assert_eq!(hint, Some(text.as_str()), "prony {command}: {option}");
        }
        for (command, words) in [("disk", DISK), ("script", SCRIPT), ("script", SCRIPT_OTHERWISE)] {
            for (option, _) in words {
                let has = rows.iter().any(|(of, known, _)| of == command && known == option);
                assert!(has, "no page has {option} of prony {command}");
            }
        }
        for (load, ours) in LOADS {
            assert!(pages.iter().any(|page| page.contains(&format!("| `{load}` | {ours} |"))), "{load}");
        }
    }

    /// Text of a page for an option whose replacement depends on its value.
    const BY_THE_PAGE: &str = "--pattern and --read-share; see the table of loads";

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
            (find(&["analytics"]), REPORTING.to_vec()),
            (find(&["failover"]), REGISTER.to_vec()),
            (find(&["tables"]), TABLES.to_vec()),
        ] {
            let has = |long: &str| {
                command.get_arguments().any(|argument| {
                    let aliases = argument.get_all_aliases().unwrap_or_default();
                    argument.get_long() == Some(long) || aliases.contains(&long)
                })
            };
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
            (&["disk", ".", "--rw", "randread"][..], "instead of --rw use --pattern random --read-share 100"),
            (&["disk", ".", "--rw=write"], "instead of --rw use --pattern sequential --read-share 0"),
            (&["disk", ".", "--numjobs=4"], "instead of --numjobs use --threads"),
            (&["plan", "disk", ".", "--runtime=60"], "instead of --runtime use --duration, with a unit"),
            (&["historian", "--target", "fake:", "--clients", "4"], "instead of --clients use --writers"),
            (&["historian", "--target", "fake:", "--time", "60"], "instead of --time use --duration"),
            (&["orders", "run", "--target", "fake:", "--threads=4"], "instead of --threads use --clients"),
            (
                &["check", ".", "--warm-up", "5s"],
                "instead of --warm-up use --duration, with a unit. Each test warms up",
            ),
            (&["reporting", "--duration=60"], "instead of --duration use --runs"),
            (&["analytics", "--duration=60"], "instead of --duration use --runs"),
            (
                &["orders", "load", "--target", "sqlite:o.db", "--results", "x"],
                "--results is not needed: only prony orders run stores results",
            ),
            (&["tables", "--table-size=10"], "instead of --table-size use --rows"),
            (&["check", "--repeats=3"], "instead of --repeats use prony disk --profile quick --repeats 5"),
            (&["disk", ".", "--blok-size", "4k"], "a similar argument exists: '--block-size'"),
        ] {
            check_told(arguments, hint);
        }
    }

    #[test]
    fn words_of_pgbench_are_translated() {
        for (arguments, hint) in [
            (&["script", "a.sql", "-M", "simple"][..], "instead of -M use --protocol"),
            (&["script", "a.sql", "-t", "100"], "instead of -t use --duration: a load has a length"),
            (
                &["script", "a.sql", "--sampling-rate=0.1"],
                "--sampling-rate is not supported: prony does not log individual transactions",
            ),
            (&["script", "a.sql", "--log-prefix", "x"], "--log-prefix is not supported"),
            (&["script", "a.sql", "--log"], "--log is the directory of the log (WAL) of a managed server"),
            (&["plan", "script", "a.sql", "--tablespace=x"], "--tablespace is an option of managed servers"),
            (&["script", "a.sql", "--index-tablespace=x"], "--index-tablespace is not supported"),
            (&["script", "a.sql", "--progress-timestamp"], "--progress-timestamp is not needed"),
            (&["script", "a.sql", "--aggregate-interval=5"], "--aggregate-interval is not needed"),
            (&["script", "a.sql", "--verbose-errors"], "--verbose-errors is not needed"),
            (&["script", "a.sql", "--continue-on-error"], "--continue-on-error is not supported"),
            (
                &["script", "a.sql", "--port=1"],
                "instead of --port use --target, such as postgres://USER@HOST:PORT/",
            ),
            (
                &["script", "a.sql", "--username", "me"],
                "instead of --username use --target, such as postgres://",
            ),
            (&["script", "a.sql", "-U", "me"], "instead of -U use --target, such as postgres://"),
            (&["script", "a.sql", "-d"], "instead of -d use --target, which names the database"),
            (&["script", "a.sql", "--debug"], "instead of --debug use --verbose"),
            (&["script", "a.sql", "-V"], "instead of -V use prony --version"),
            (&["script", "a.sql", "--version"], "instead of --version use prony --version"),
            (&["script", "a.sql", "-C"], "-C is not supported: a client keeps its connection"),
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
